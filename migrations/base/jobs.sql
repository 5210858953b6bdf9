-- Background jobs, the latest run of each worker, and daily figures of a store.

CREATE TABLE jobs (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    status text NOT NULL,
    payload jsonb NOT NULL DEFAULT '{}',
    scope_id uuid,
    progress_done integer NOT NULL DEFAULT 0,
    progress_total integer,
    attempts integer NOT NULL DEFAULT 0,
    interrupted integer NOT NULL DEFAULT 0,
    cancel_requested boolean NOT NULL DEFAULT false,
    ticket bigint,
    error text,
    result jsonb,
    created_at timestamptz NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    only_one text,
    CONSTRAINT pk_jobs PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_jobs_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT ck_jobs_status CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled'))
);

CREATE INDEX ix_jobs_finished ON jobs (tenant_id, finished_at) WHERE finished_at IS NOT NULL;

CREATE INDEX ix_jobs_kind ON jobs (tenant_id, kind, id);

CREATE INDEX ix_jobs_status ON jobs (tenant_id, status, id);

CREATE UNIQUE INDEX uq_jobs_only_one ON jobs (tenant_id, only_one)
    WHERE only_one IS NOT NULL AND status IN ('queued', 'running');

ALTER TABLE jobs ALTER payload SET STATISTICS 0, ALTER error SET STATISTICS 0, ALTER result SET STATISTICS 0;

CREATE TABLE worker_runs (
    tenant_id uuid NOT NULL,
    worker text NOT NULL,
    job_id uuid NOT NULL,
    began_at timestamptz NOT NULL,
    ended_at timestamptz,
    cursor jsonb NOT NULL DEFAULT '{}',
    counts jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT pk_worker_runs PRIMARY KEY (tenant_id, worker),
    CONSTRAINT fk_worker_runs_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);

CREATE TABLE store_days (
    tenant_id uuid NOT NULL,
    day date NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    count bigint NOT NULL,
    total bigint NOT NULL,
    computed_at timestamptz NOT NULL,
    CONSTRAINT pk_store_days PRIMARY KEY (tenant_id, day, kind, name),
    CONSTRAINT fk_store_days_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
