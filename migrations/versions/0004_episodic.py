"""The episodic memory type: a trace of an interaction in its session."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

memory_types = sa.table("memory_types", sa.column("name", sa.Text), sa.column("description", sa.Text))


def upgrade() -> None:
    op.bulk_insert(memory_types, [{"name": "episodic", "description": "A trace of an interaction in its session."}])


def downgrade() -> None:
    op.execute(memory_types.delete().where(memory_types.c.name == "episodic"))
