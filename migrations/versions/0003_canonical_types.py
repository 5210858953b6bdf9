"""The five canonical memory types of seed 000."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TYPES = {
    "fact": "A stable predicate.",
    "preference": "A mutable choice.",
    "event": "A timestamped occurrence.",
    "entity": "An identity with aliases.",
    "relation": "A typed edge between two entities.",
}

memory_types = sa.table("memory_types", sa.column("name", sa.Text), sa.column("description", sa.Text))


def upgrade() -> None:
    op.bulk_insert(memory_types, [{"name": name, "description": text} for name, text in TYPES.items()])


def downgrade() -> None:
    op.execute(memory_types.delete().where(memory_types.c.name.in_(TYPES)))
