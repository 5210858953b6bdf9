-- The audit log, its seals, and the events that wait to be sealed.

CREATE TABLE audit_events (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    occurred_at timestamptz NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    memory_id uuid,
    scope_id uuid,
    detail jsonb NOT NULL DEFAULT '{}',
    position bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    salt uuid DEFAULT gen_random_uuid(),
    detail_digest bytea,
    redacted_by uuid,
    CONSTRAINT pk_audit_events PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_audit_events_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT ck_audit_events_redaction CHECK ((redacted_by IS NULL) = (detail_digest IS NULL))
);

CREATE INDEX ix_audit_events_memory ON audit_events (tenant_id, memory_id, position);

CREATE INDEX ix_audit_events_others ON audit_events (tenant_id, position) WHERE action NOT LIKE 'memory.%';

CREATE INDEX ix_audit_events_position ON audit_events (tenant_id, position);

CREATE INDEX ix_audit_events_scope ON audit_events (tenant_id, scope_id, position);

ALTER TABLE audit_events ALTER detail SET STATISTICS 0;

CREATE TABLE audit_seals (
    tenant_id uuid NOT NULL,
    seq bigint NOT NULL,
    sealed_at timestamptz NOT NULL,
    events uuid[] NOT NULL,
    digests bytea STORAGE EXTERNAL NOT NULL,
    previous bytea NOT NULL,
    digest bytea NOT NULL,
    CONSTRAINT pk_audit_seals PRIMARY KEY (tenant_id, seq),
    CONSTRAINT fk_audit_seals_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);

CREATE TABLE audit_unsealed (
    tenant_id uuid NOT NULL,
    position bigint NOT NULL,
    event_id uuid NOT NULL,
    CONSTRAINT pk_audit_unsealed PRIMARY KEY (tenant_id, position),
    CONSTRAINT fk_audit_unsealed_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
