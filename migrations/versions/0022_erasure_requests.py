"""Reasons of review for what a user asked to forget: the beliefs, and the turns that are kept back with them.

The rows are looked at in a transaction of their own, in which the table stays open to readers and writers.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import context, op
from sqlalchemy.engine import Connection

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

HARMLESS = {"ban-drop-constraint": "it comes back, wider"}

BEFORE = "'contradiction', 'doubtful', 'reported_wrong', 'volatile', 'constraint', 'entity_merge', 'asked'"
NAME = "ck_memories_review_reason"

AS_OPERATOR = "SELECT set_config('app.operator', 'on', true), set_config('app.tenant_id', '', true)"
AS_TENANT = "SELECT set_config('app.operator', '', true), set_config('app.tenant_id', :tenant, true)"
AS_NOBODY = "SELECT set_config('app.operator', '', true), set_config('app.tenant_id', '', true)"

KEEP_BACK = """
    UPDATE memories SET review_reason = 'doubtful'
    WHERE tenant_id = :tenant AND review_reason IN ('erasure', 'withheld')
"""


def upgrade() -> None:
    admit(f"{BEFORE}, 'erasure', 'withheld'")


def downgrade() -> None:
    if not context.is_offline_mode():
        keep_back(op.get_bind())
    admit(BEFORE)


def admit(reasons: str) -> None:
    """Let memories wait for these reasons alone."""
    op.execute(f"ALTER TABLE memories DROP CONSTRAINT IF EXISTS {NAME}")
    op.execute(f"ALTER TABLE memories ADD CONSTRAINT {NAME} CHECK (review_reason IN ({reasons})) NOT VALID")
    with op.get_context().autocommit_block():
        op.execute(f"ALTER TABLE memories VALIDATE CONSTRAINT {NAME}")


def keep_back(connection: Connection) -> None:
    """Let what is kept back wait for a reason that the release before knows; a tenant at a time, as by RLS it must."""
    connection.execute(sa.text(AS_OPERATOR))
    for tenant in connection.execute(sa.text("SELECT id FROM tenants ORDER BY id")).scalars().all():
        connection.execute(sa.text(AS_TENANT), {"tenant": str(tenant)})
        connection.execute(sa.text(KEEP_BACK), {"tenant": tenant})
    connection.execute(sa.text(AS_NOBODY))
