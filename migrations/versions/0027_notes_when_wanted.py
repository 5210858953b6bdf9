"""Changes are noted for scopes in memory from when a process first holds any: their triggers cost each write time.

The functions and `scope_changes` stay; `app.db.change_notes` makes the triggers at the start of a service that wants
them.
"""

from __future__ import annotations

from app.db import change_notes
from migrations import live

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    live.separately(change_notes.dropping())


def downgrade() -> None:
    live.separately(UNLESS_DISTRIBUTED.format(statement=one) for one in change_notes.making())


UNLESS_DISTRIBUTED = """
DO $do$ BEGIN
    IF to_regclass('pg_dist_partition') IS NULL THEN
        {statement};
    END IF;
END $do$
"""
