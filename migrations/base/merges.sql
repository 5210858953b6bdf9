-- What merging entities moved, so that it can be moved back.

CREATE TABLE entity_merges (
    tenant_id uuid NOT NULL,
    entity_id uuid NOT NULL,
    into_id uuid NOT NULL,
    merged_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_entity_merges PRIMARY KEY (tenant_id, entity_id),
    CONSTRAINT fk_entity_merges_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_entity_merges_tenant_id_entity_id FOREIGN KEY (tenant_id, entity_id)
        REFERENCES entities (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_entity_merges_tenant_id_into_id FOREIGN KEY (tenant_id, into_id)
        REFERENCES entities (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_entity_merges_into ON entity_merges (tenant_id, into_id);

CREATE TABLE entity_merge_aliases (
    tenant_id uuid NOT NULL,
    entity_id uuid NOT NULL,
    alias text NOT NULL,
    display text NOT NULL,
    created_at timestamptz NOT NULL,
    lent boolean NOT NULL,
    CONSTRAINT pk_entity_merge_aliases PRIMARY KEY (tenant_id, entity_id, alias),
    CONSTRAINT fk_entity_merge_aliases_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_entity_merge_aliases_tenant_id_entity_id FOREIGN KEY (tenant_id, entity_id)
        REFERENCES entities (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE entity_merge_memories (
    tenant_id uuid NOT NULL,
    entity_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    subject_id uuid,
    slot text,
    slot_value text,
    contested boolean NOT NULL DEFAULT false,
    needs_review boolean NOT NULL DEFAULT false,
    contradicts uuid,
    CONSTRAINT pk_entity_merge_memories PRIMARY KEY (tenant_id, entity_id, memory_id),
    CONSTRAINT fk_entity_merge_memories_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_entity_merge_memories_tenant_id_entity_id FOREIGN KEY (tenant_id, entity_id)
        REFERENCES entities (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_entity_merge_memories_tenant_id_memory_id FOREIGN KEY (tenant_id, memory_id)
        REFERENCES memories (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_entity_merge_memories_memory ON entity_merge_memories (tenant_id, memory_id);
