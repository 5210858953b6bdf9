"""The calibration of embedding models: medians of their cosines of unrelated and related pairs of sentences."""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE embedding_models ADD COLUMN unrelated float8, ADD COLUMN related float8")


def downgrade() -> None:
    op.execute("ALTER TABLE embedding_models DROP COLUMN unrelated, DROP COLUMN related")
