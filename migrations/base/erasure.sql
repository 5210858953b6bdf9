-- What was erased, and when, without what it said.

CREATE TABLE erasures (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    status text NOT NULL,
    subject text,
    subject_hash bytea,
    scopes uuid[] NOT NULL DEFAULT '{}',
    counts jsonb NOT NULL DEFAULT '{}',
    ids_digest bytea,
    digest bytea,
    actor text NOT NULL,
    started_at timestamptz NOT NULL,
    finished_at timestamptz,
    CONSTRAINT pk_erasures PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_erasures_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT ck_erasures_kind CHECK (kind IN ('memory', 'user')),
    CONSTRAINT ck_erasures_status CHECK (status IN ('running', 'finished')),
    CONSTRAINT ck_erasures_subject CHECK (status = 'running' OR subject IS NULL)
);

CREATE UNIQUE INDEX uq_erasures_running ON erasures (tenant_id, subject_hash) WHERE status = 'running';

CREATE TABLE erased_ids (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    erasure_id uuid NOT NULL,
    content_digest bytea,
    CONSTRAINT pk_erased_ids PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_erased_ids_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_erased_ids_tenant_id_erasure_id FOREIGN KEY (tenant_id, erasure_id)
        REFERENCES erasures (tenant_id, id)
);

CREATE INDEX ix_erased_ids_erasure ON erased_ids (tenant_id, erasure_id);
