"""Feedback on memories is counted, and a use can be taken back; a turn may say how what it yields fades."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

COUNTERS = ("useful_count", "not_useful_count", "wrong_count")
CATEGORIES = "category IN ('episodic', 'semantic', 'procedural', 'core', 'control')"


def upgrade() -> None:
    for name in COUNTERS:
        op.add_column("memory_usage", sa.Column(name, sa.Integer, nullable=False, server_default=sa.text("0")))
    op.add_column("memory_usage", sa.Column("previous_accessed_at", sa.DateTime(timezone=True)))
    op.create_check_constraint(
        op.f("ck_memory_usage_counts"),
        "memory_usage",
        "access_count >= 0 AND useful_count >= 0 AND not_useful_count >= 0 AND wrong_count >= 0",
    )
    op.add_column("turns", sa.Column("category", sa.Text))
    op.add_column("turns", sa.Column("importance", sa.Float))
    op.create_check_constraint(op.f("ck_turns_category"), "turns", CATEGORIES)
    op.create_check_constraint(op.f("ck_turns_importance"), "turns", "importance BETWEEN 0 AND 1")


def downgrade() -> None:
    op.drop_column("turns", "importance")
    op.drop_column("turns", "category")
    op.drop_constraint(op.f("ck_memory_usage_counts"), "memory_usage")
    for name in ("previous_accessed_at", *COUNTERS):
        op.drop_column("memory_usage", name)
