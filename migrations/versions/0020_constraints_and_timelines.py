"""The constraint type, and indexes for a session's timeline and for what is known about a caller's own id."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

memory_types = sa.table("memory_types", sa.column("name", sa.Text), sa.column("description", sa.Text))

INDEXES = {
    "ix_memories_type_episodic_session": (
        "(tenant_id, session_id, sequence_number, (CASE WHEN sequence_number IS NULL THEN stated_at END), id)"
        " WHERE type = 'episodic'"
    ),
    "ix_memories_type_semantic_entity": "(tenant_id, subject, id) WHERE type = 'semantic'",
}


def upgrade() -> None:
    op.bulk_insert(memory_types, [{"name": "constraint", "description": "A hard rule, until it is taken back."}])
    for name, over in INDEXES.items():
        op.execute(f"CREATE INDEX {name} ON memories {over}")


def downgrade() -> None:
    for name in INDEXES:
        op.execute(f"DROP INDEX {name}")
    op.execute(memory_types.delete().where(memory_types.c.name == "constraint"))
