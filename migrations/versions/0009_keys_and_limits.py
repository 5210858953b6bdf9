"""Keys that are bound to a user or an agent; limits of tenants and keys, and what was used of them each day."""

from __future__ import annotations

from alembic import op

from migrations import live

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

TABLES = ("limits", "daily_usage")

GRANTS = tuple(f"SELECT, INSERT, UPDATE, DELETE ON {table}" for table in TABLES)

LIMITS = """
CREATE TABLE limits (
    tenant_id uuid NOT NULL,
    key_id uuid NOT NULL,
    requests_per_minute bigint,
    memories_per_day bigint,
    turns_per_day bigint,
    tokens_per_day bigint,
    CONSTRAINT pk_limits PRIMARY KEY (tenant_id, key_id),
    CONSTRAINT fk_limits_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id)
)
"""

DAILY_USAGE = """
CREATE TABLE daily_usage (
    tenant_id uuid NOT NULL,
    key_id uuid NOT NULL,
    day date NOT NULL,
    memories bigint NOT NULL DEFAULT 0,
    turns bigint NOT NULL DEFAULT 0,
    tokens bigint NOT NULL DEFAULT 0,
    CONSTRAINT pk_daily_usage PRIMARY KEY (tenant_id, key_id, day),
    CONSTRAINT fk_daily_usage_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id)
)
"""


def upgrade() -> None:
    op.execute("ALTER TABLE api_keys ADD COLUMN user_id text, ADD COLUMN agent_id text")
    op.execute(LIMITS)
    op.execute(DAILY_USAGE)
    live.grant(GRANTS)
    live.isolate(TABLES)


def downgrade() -> None:
    for table in TABLES:
        op.execute(f"DROP TABLE {table}")
    op.execute("ALTER TABLE api_keys DROP COLUMN user_id, DROP COLUMN agent_id")
