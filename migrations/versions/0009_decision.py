"""The decision memory type: a choice that was made, replaced by a later one on the same subject."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

memory_types = sa.table("memory_types", sa.column("name", sa.Text), sa.column("description", sa.Text))


def upgrade() -> None:
    op.bulk_insert(memory_types, [{"name": "decision", "description": "A choice that was made."}])


def downgrade() -> None:
    op.execute(memory_types.delete().where(memory_types.c.name == "decision"))
