"""Reasons of review for what a user asked to forget: the beliefs, and the turns that are kept back with them.

The new check admits all that the old one does, so that it is valid without a look at the rows while the old one stands.
"""

from __future__ import annotations

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

HARMLESS = {"ban-drop-constraint": "it comes back, wider"}

BEFORE = "'contradiction', 'doubtful', 'reported_wrong', 'volatile', 'constraint', 'entity_merge', 'asked'"
NAME = "ck_memories_review_reason"


def upgrade() -> None:
    admit(f"{BEFORE}, 'erasure', 'withheld'")


def downgrade() -> None:
    # What was kept back needs a reason that the release before knows: a person looks at it.
    op.execute("UPDATE memories SET review_reason = 'doubtful' WHERE review_reason IN ('erasure', 'withheld')")
    admit(BEFORE)


def admit(reasons: str) -> None:
    """Let memories wait for these reasons alone; the table is not locked while its rows are looked at."""
    op.execute(f"ALTER TABLE memories DROP CONSTRAINT {NAME}")
    op.execute(f"ALTER TABLE memories ADD CONSTRAINT {NAME} CHECK (review_reason IN ({reasons})) NOT VALID")
    op.execute(f"ALTER TABLE memories VALIDATE CONSTRAINT {NAME}")
