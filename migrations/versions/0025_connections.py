"""Connections of MCP clients by OAuth: what a user granted, the tokens of it, and invitations to grant."""

from __future__ import annotations

from alembic import op

from migrations import live

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

TABLES = {
    "oauth_grants": """
        tenant_id uuid NOT NULL,
        id uuid NOT NULL,
        client_id text NOT NULL,
        client_name text NOT NULL,
        redirect_host text NOT NULL,
        user_id text NOT NULL,
        agent_id text,
        scopes text[] NOT NULL,
        resource text NOT NULL,
        approved_by text NOT NULL,
        key_id uuid,
        created_at timestamptz NOT NULL,
        connected_at timestamptz,
        last_used_at timestamptz,
        revoked_at timestamptz,
        revoked_because text,
        CONSTRAINT pk_oauth_grants PRIMARY KEY (tenant_id, id)
    """,
    "oauth_tokens": """
        tenant_id uuid NOT NULL,
        secret_hash bytea NOT NULL,
        grant_id uuid NOT NULL,
        kind text NOT NULL,
        scopes text[] NOT NULL,
        expires_at timestamptz NOT NULL,
        used_at timestamptz,
        code_challenge text,
        redirect_uri text,
        CONSTRAINT pk_oauth_tokens PRIMARY KEY (tenant_id, secret_hash),
        CONSTRAINT ck_oauth_tokens_kind CHECK (kind IN ('code', 'access', 'refresh'))
    """,
    "oauth_invitations": """
        tenant_id uuid NOT NULL,
        id uuid NOT NULL,
        secret_hash bytea NOT NULL,
        user_id text NOT NULL,
        scopes text[] NOT NULL,
        created_by text NOT NULL,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        used_at timestamptz,
        CONSTRAINT pk_oauth_invitations PRIMARY KEY (tenant_id, id)
    """,
}

OF_TENANT = "(tenant_id) REFERENCES tenants (id)"

FURTHER_KEYS = {
    "oauth_tokens": {
        "fk_oauth_tokens_tenant_id_grant_id": (
            "(tenant_id, grant_id) REFERENCES oauth_grants (tenant_id, id) ON DELETE CASCADE"
        )
    }
}

INDEXES = {
    "ix_oauth_grants_listed": "oauth_grants (tenant_id, created_at, id)",
    "ix_oauth_grants_user": "oauth_grants (tenant_id, user_id)",
    "ix_oauth_tokens_grant": "oauth_tokens (tenant_id, grant_id)",
    "ix_oauth_invitations_secret": "oauth_invitations (tenant_id, secret_hash)",
    "ix_oauth_invitations_user": "oauth_invitations (tenant_id, user_id)",
}

GRANTS = tuple(f"SELECT, INSERT, UPDATE, DELETE ON {table}" for table in TABLES)


def upgrade() -> None:
    for table, columns in TABLES.items():
        keys = {f"fk_{table}_tenant_id": OF_TENANT, **FURTHER_KEYS.get(table, {})}
        live.create_table(table, columns, keys)
    live.isolate(TABLES)
    for name, over in INDEXES.items():
        op.execute(f"CREATE INDEX {name} ON {over}")
    live.grant(GRANTS)


def downgrade() -> None:
    for table in reversed(TABLES):
        op.execute(f"DROP TABLE {table}")
