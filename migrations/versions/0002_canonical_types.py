"""The five canonical memory types: fact, preference, event, entity, relation."""

from __future__ import annotations

from migrations import live

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TYPES = {
    "fact": "A stable predicate.",
    "preference": "A mutable choice.",
    "event": "A timestamped occurrence.",
    "entity": "An identity with aliases.",
    "relation": "A typed edge between two entities.",
}


def upgrade() -> None:
    live.add_types(TYPES)


def downgrade() -> None:
    live.remove_types(TYPES)
