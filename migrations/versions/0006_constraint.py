"""The constraint memory type."""

from __future__ import annotations

from migrations import live

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TYPES = {
    "constraint": "A hard rule, until it is taken back.",
}
INDEXES: dict[str, str] = {}


def upgrade() -> None:
    live.create_indexes(INDEXES)
    live.add_types(TYPES)


def downgrade() -> None:
    live.drop_indexes(INDEXES)
    live.remove_types(TYPES)
