"""The time from which a key is replaced by its successor, beside the time when it expires.

A rotation moved the old key's expiry to the end of its grace. The successor of a key that was rotated once more,
because the first answer was lost, took that for its own expiry.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import context, op
from sqlalchemy.engine import Connection

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

AS_OPERATOR = "SELECT set_config('app.operator', 'on', true), set_config('app.tenant_id', '', true)"
AS_TENANT = "SELECT set_config('app.operator', '', true), set_config('app.tenant_id', :tenant, true)"
AS_NOBODY = "SELECT set_config('app.operator', '', true), set_config('app.tenant_id', '', true)"

EXPIRE = """
    UPDATE api_keys SET expires_at = least(expires_at, replaced_from)
    WHERE tenant_id = :tenant AND replaced_from IS NOT NULL
"""


def upgrade() -> None:
    op.execute("ALTER TABLE api_keys ADD COLUMN replaced_from timestamptz")


def downgrade() -> None:
    if not context.is_offline_mode():
        expire_replaced(op.get_bind())
    op.execute("ALTER TABLE api_keys DROP COLUMN replaced_from")


def expire_replaced(connection: Connection) -> None:
    """Let replaced keys expire; a tenant at a time, because row-level security holds for an ordinary owner, too."""
    connection.execute(sa.text(AS_OPERATOR))
    for tenant in connection.execute(sa.text("SELECT id FROM tenants ORDER BY id")).scalars().all():
        connection.execute(sa.text(AS_TENANT), {"tenant": str(tenant)})
        connection.execute(sa.text(EXPIRE), {"tenant": tenant})
    connection.execute(sa.text(AS_NOBODY))
