-- Turns as they are received, extracted and processed; whom pronouns meant lately; the costs of extraction.

CREATE TABLE turns (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    scope_id uuid NOT NULL,
    session_id text,
    sequence_number integer,
    role text NOT NULL,
    content text NOT NULL,
    occurred_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    metadata jsonb NOT NULL DEFAULT '{}',
    speaker text,
    timezone text NOT NULL DEFAULT 'UTC',
    status text NOT NULL DEFAULT 'received',
    reason text,
    extraction jsonb,
    report jsonb,
    processed_at timestamptz,
    erased_at timestamptz,
    category text,
    importance float8,
    CONSTRAINT pk_turns PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_turns_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_turns_tenant_id_scope_id FOREIGN KEY (tenant_id, scope_id) REFERENCES scopes (tenant_id, id),
    CONSTRAINT ck_turns_category CHECK (category IN ('episodic', 'semantic', 'procedural', 'core', 'control')),
    CONSTRAINT ck_turns_importance CHECK (importance BETWEEN 0 AND 1),
    CONSTRAINT ck_turns_role CHECK (role IN ('user', 'assistant', 'tool', 'system')),
    CONSTRAINT ck_turns_status CHECK (status IN ('received', 'processed', 'skipped', 'extraction_failed'))
);

CREATE INDEX ix_turns_occurred ON turns (tenant_id, scope_id, occurred_at);

CREATE INDEX ix_turns_session ON turns (tenant_id, scope_id, session_id, occurred_at, sequence_number, id);

CREATE INDEX ix_turns_unsettled ON turns (tenant_id, status, id) WHERE status <> 'processed';

ALTER TABLE turns ALTER content SET STATISTICS 0, ALTER metadata SET STATISTICS 0,
    ALTER extraction SET STATISTICS 0, ALTER report SET STATISTICS 0;

CREATE TABLE pronoun_bindings (
    tenant_id uuid NOT NULL,
    scope_id uuid NOT NULL,
    pronoun text NOT NULL,
    position smallint NOT NULL,
    number bigint NOT NULL,
    name text NOT NULL,
    entity_type text NOT NULL,
    session_id text,
    said_at timestamptz NOT NULL,
    CONSTRAINT pk_pronoun_bindings PRIMARY KEY (tenant_id, scope_id, pronoun, position),
    CONSTRAINT fk_pronoun_bindings_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_pronoun_bindings_tenant_id_scope_id FOREIGN KEY (tenant_id, scope_id)
        REFERENCES scopes (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE extraction_costs (
    tenant_id uuid NOT NULL,
    day date NOT NULL,
    turns bigint NOT NULL DEFAULT 0,
    skipped bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    requests bigint NOT NULL DEFAULT 0,
    input_tokens bigint NOT NULL DEFAULT 0,
    output_tokens bigint NOT NULL DEFAULT 0,
    cost float8 NOT NULL DEFAULT 0,
    CONSTRAINT pk_extraction_costs PRIMARY KEY (tenant_id, day),
    CONSTRAINT fk_extraction_costs_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
