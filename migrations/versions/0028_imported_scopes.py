"""A scope names the export that filled it: a file fills only scopes that nothing else was written to."""

from __future__ import annotations

from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE scopes ADD COLUMN IF NOT EXISTS imported_from text")


def downgrade() -> None:
    op.execute("ALTER TABLE scopes DROP COLUMN IF EXISTS imported_from")
