-- Backfills and what each would change.

CREATE TABLE backfills (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    sources text[] NOT NULL,
    classifier text NOT NULL,
    scopes uuid[],
    status text NOT NULL,
    actor text NOT NULL,
    counts jsonb NOT NULL DEFAULT '{}',
    cursor uuid,
    job_id uuid,
    created_at timestamptz NOT NULL,
    previewed_at timestamptz,
    committed_at timestamptz,
    undone_at timestamptz,
    CONSTRAINT pk_backfills PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_backfills_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT ck_backfills_classifier CHECK (classifier IN ('rules', 'model')),
    CONSTRAINT ck_backfills_status CHECK (status IN ('previewing', 'previewed', 'cancelled', 'committing',
        'committed', 'undoing', 'undone'))
);

CREATE TABLE backfill_items (
    tenant_id uuid NOT NULL,
    backfill_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    scope_id uuid NOT NULL,
    unit text NOT NULL,
    state text NOT NULL,
    effect text NOT NULL,
    source text NOT NULL,
    reason text,
    note text,
    why text,
    adopted jsonb,
    before jsonb NOT NULL DEFAULT '{}',
    after jsonb NOT NULL DEFAULT '{}',
    stamped text[] NOT NULL DEFAULT '{}',
    links jsonb NOT NULL DEFAULT '[]',
    rests_on jsonb NOT NULL DEFAULT '{}',
    seen_at timestamptz NOT NULL,
    applied_at timestamptz,
    CONSTRAINT pk_backfill_items PRIMARY KEY (tenant_id, backfill_id, memory_id),
    CONSTRAINT fk_backfill_items_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_backfill_items_tenant_id_backfill_id FOREIGN KEY (tenant_id, backfill_id)
        REFERENCES backfills (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_backfill_items_tenant_id_memory_id FOREIGN KEY (tenant_id, memory_id)
        REFERENCES memories (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT ck_backfill_items_state CHECK (state IN ('found', 'planned', 'left', 'committed', 'skipped',
        'undone', 'kept'))
);

CREATE INDEX ix_backfill_items_memory ON backfill_items (tenant_id, memory_id);

CREATE INDEX ix_backfill_items_unit ON backfill_items (tenant_id, backfill_id, state, scope_id, unit);
