-- Tenants, their API keys and scopes, and the answers kept for retries.

CREATE TABLE tenants (
    id uuid NOT NULL,
    name text NOT NULL,
    settings jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    types_version bigint NOT NULL DEFAULT 0,
    CONSTRAINT pk_tenants PRIMARY KEY (id),
    CONSTRAINT uq_tenants_name UNIQUE (name)
);

CREATE TABLE api_keys (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    secret_hash bytea NOT NULL,
    roles text[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    CONSTRAINT pk_api_keys PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_api_keys_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);

CREATE INDEX ix_api_keys_secret_hash ON api_keys (secret_hash);

CREATE TABLE scopes (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    user_id text,
    agent_id text,
    version bigint NOT NULL DEFAULT 0,
    memory_count bigint NOT NULL DEFAULT 0,
    context_count bigint NOT NULL DEFAULT 0,
    ann boolean NOT NULL DEFAULT false,
    lexical_documents bigint NOT NULL DEFAULT 0,
    lexical_length bigint NOT NULL DEFAULT 0,
    lexical_average float8 NOT NULL DEFAULT 0,
    lexical_settled boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT now(),
    written_at timestamptz,
    CONSTRAINT pk_scopes PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_scopes_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT ck_scopes_kind CHECK (kind IN ('global', 'user', 'agent'))
);

CREATE INDEX ix_scopes_tenant_id_agent_id ON scopes (tenant_id, agent_id);

CREATE INDEX ix_scopes_tenant_id_user_id ON scopes (tenant_id, user_id);

CREATE TABLE idempotency_keys (
    tenant_id uuid NOT NULL,
    route text NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    status smallint NOT NULL,
    response jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_idempotency_keys PRIMARY KEY (tenant_id, route, key),
    CONSTRAINT fk_idempotency_keys_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);

CREATE INDEX ix_idempotency_keys_created ON idempotency_keys (tenant_id, created_at);

ALTER TABLE idempotency_keys ALTER response SET STATISTICS 0;
