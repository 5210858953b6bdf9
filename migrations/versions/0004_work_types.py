"""Types about choices, plans and passing states, and the five older types of agents that learn from their work."""

from __future__ import annotations

from migrations import live

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TYPES = {
    "decision": "A choice that was made.",
    "plan": "An intention with a time ahead of it.",
    "transient_state": "A condition that will pass.",
    "standard": "Anything worth remembering that no other type fits.",
    "strategy": "A strategy that worked.",
    "reflection": "A lesson learnt.",
    "progress": "How far the work of a session has come.",
    "feature": "The state of a feature.",
}


def upgrade() -> None:
    live.add_types(TYPES)


def downgrade() -> None:
    live.remove_types(TYPES)
