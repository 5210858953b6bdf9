"""Why and since when a memory waits for review; a trigram index that nothing reads any more is dropped."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

REASONS = (
    "review_reason IN ('contradiction', 'doubtful', 'reported_wrong', 'volatile', 'constraint', 'entity_merge', "
    "'asked')"
)


def upgrade() -> None:
    op.add_column("memories", sa.Column("review_reason", sa.Text))
    op.add_column("memories", sa.Column("review_note", sa.Text))
    op.add_column("memories", sa.Column("review_since", sa.DateTime(timezone=True)))
    op.execute("UPDATE memories SET review_since = updated_at, review_reason = CASE status"
               " WHEN 'pending' THEN 'doubtful' ELSE 'contradiction' END WHERE needs_review")  # fmt: skip
    op.drop_column("memories", "needs_review")
    op.add_column(
        "memories",
        sa.Column(
            "needs_review",
            sa.Boolean,
            sa.Computed("review_reason IS NOT NULL", persisted=True),
            nullable=False,
        ),
    )
    op.create_check_constraint(op.f("ck_memories_review_reason"), "memories", REASONS)
    op.create_check_constraint(
        op.f("ck_memories_review_since"), "memories", "(review_reason IS NULL) = (review_since IS NULL)"
    )
    op.create_index(
        "ix_memories_review",
        "memories",
        ["tenant_id", "review_since", "id"],
        postgresql_where=sa.text("review_reason IS NOT NULL"),
    )
    op.drop_index("ix_entity_aliases_trigram", "entity_aliases")


def downgrade() -> None:
    op.execute(
        "CREATE INDEX ix_entity_aliases_trigram ON entity_aliases USING gin (tenant_id, scope_id, alias gin_trgm_ops)"
    )
    op.drop_index("ix_memories_review", "memories")
    op.drop_constraint(op.f("ck_memories_review_since"), "memories")
    op.drop_constraint(op.f("ck_memories_review_reason"), "memories")
    op.add_column("memories", sa.Column("waits", sa.Boolean, nullable=False, server_default=sa.text("false")))
    op.execute("UPDATE memories SET waits = true WHERE needs_review")
    op.drop_column("memories", "needs_review")
    op.alter_column("memories", "waits", new_column_name="needs_review")
    for name in ("review_since", "review_note", "review_reason"):
        op.drop_column("memories", name)
