"""Types for agents and for people: procedures, rules, plans, states, medicines, and the five older ones of ACE."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

memory_types = sa.table("memory_types", sa.column("name", sa.Text), sa.column("description", sa.Text))

TYPES = {
    "control": "What to avoid.",
    "feature": "The state of a feature.",
    "medication": "A medicine someone takes.",
    "plan": "An intention with a time ahead of it.",
    "procedural": "How to do something.",
    "progress": "How far the work of a session has come.",
    "reflection": "A lesson learnt.",
    "standard": "Anything worth remembering that no other type fits.",
    "strategy": "A strategy that worked.",
    "transient_state": "A condition that will pass.",
}


def upgrade() -> None:
    op.bulk_insert(memory_types, [{"name": name, "description": told} for name, told in TYPES.items()])
    op.execute(
        "CREATE INDEX ix_memories_type_medication_class ON memories (tenant_id, scope_id, (payload ->> 'drug_class'))"
        " WHERE type = 'medication'"
    )


def downgrade() -> None:
    op.execute("DROP INDEX ix_memories_type_medication_class")
    op.execute(memory_types.delete().where(memory_types.c.name.in_(list(TYPES))))
