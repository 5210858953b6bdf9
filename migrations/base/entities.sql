-- Entities and the names they go by.

-- When the change is made that a transaction makes: by the service's clock, if it said so.
CREATE FUNCTION changed_at() RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT coalesce(nullif(current_setting('app.changed_at', true), '')::timestamptz, now())
$$;

CREATE TABLE entities (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    scope_id uuid NOT NULL,
    canonical_name text NOT NULL,
    entity_type text NOT NULL,
    attributes jsonb NOT NULL DEFAULT '{}',
    mention_count integer NOT NULL DEFAULT 0,
    merged_into uuid,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT changed_at(),
    CONSTRAINT pk_entities PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_entities_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_entities_tenant_id_merged_into FOREIGN KEY (tenant_id, merged_into)
        REFERENCES entities (tenant_id, id),
    CONSTRAINT fk_entities_tenant_id_scope_id FOREIGN KEY (tenant_id, scope_id)
        REFERENCES scopes (tenant_id, id)
);

CREATE INDEX ix_entities_merged_into ON entities (tenant_id, merged_into) WHERE merged_into IS NOT NULL;

CREATE INDEX ix_entities_scope ON entities (tenant_id, scope_id, canonical_name);

CREATE TABLE entity_aliases (
    tenant_id uuid NOT NULL,
    scope_id uuid NOT NULL,
    alias text NOT NULL,
    entity_id uuid NOT NULL,
    display text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_entity_aliases PRIMARY KEY (tenant_id, scope_id, alias, entity_id),
    CONSTRAINT fk_entity_aliases_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_entity_aliases_tenant_id_entity_id FOREIGN KEY (tenant_id, entity_id)
        REFERENCES entities (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_entity_aliases_tenant_id_scope_id FOREIGN KEY (tenant_id, scope_id)
        REFERENCES scopes (tenant_id, id)
);

CREATE INDEX ix_entity_aliases_entity ON entity_aliases (tenant_id, entity_id);
