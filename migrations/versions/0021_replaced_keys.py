"""The time from which a key is replaced by its successor, beside the time when it expires.

A rotation moved the old key's expiry to the end of its grace. The successor of a key that was rotated once more,
because the first answer was lost, took that for its own expiry.
"""

from __future__ import annotations

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE api_keys ADD COLUMN replaced_from timestamptz")


def downgrade() -> None:
    op.execute("UPDATE api_keys SET expires_at = least(expires_at, replaced_from) WHERE replaced_from IS NOT NULL")
    op.execute("ALTER TABLE api_keys DROP COLUMN replaced_from")
