-- Versions of memories and entities before each change, so that any past moment can be read exactly.

CREATE TABLE memory_past (
    tenant_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    believed_until timestamptz NOT NULL,
    scope_id uuid NOT NULL,
    type text NOT NULL,
    topic text,
    status text NOT NULL,
    confidence float8 NOT NULL,
    stated_at timestamptz NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_until timestamptz,
    ended_at timestamptz,
    was jsonb NOT NULL,
    CONSTRAINT pk_memory_past PRIMARY KEY (tenant_id, memory_id, believed_until),
    CONSTRAINT fk_memory_past_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_memory_past_tenant_id_memory_id FOREIGN KEY (tenant_id, memory_id)
        REFERENCES memories (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_memory_past_scope ON memory_past (tenant_id, scope_id, believed_until);

CREATE TABLE entity_past (
    tenant_id uuid NOT NULL,
    entity_id uuid NOT NULL,
    believed_until timestamptz NOT NULL,
    canonical_name text NOT NULL,
    entity_type text NOT NULL,
    attributes jsonb NOT NULL,
    merged_into uuid,
    CONSTRAINT pk_entity_past PRIMARY KEY (tenant_id, entity_id, believed_until),
    CONSTRAINT fk_entity_past_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_entity_past_tenant_id_entity_id FOREIGN KEY (tenant_id, entity_id)
        REFERENCES entities (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_entity_past_merged_into ON entity_past (tenant_id, merged_into) WHERE merged_into IS NOT NULL;

CREATE FUNCTION keep_memory_past() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO memory_past (tenant_id, memory_id, believed_until, scope_id, type, topic, status, confidence,
        stated_at, valid_from, valid_until, ended_at, was)
    VALUES (OLD.tenant_id, OLD.id, NEW.updated_at, OLD.scope_id, OLD.type, OLD.topic, OLD.status, OLD.confidence,
        OLD.stated_at, OLD.valid_from, OLD.valid_until, OLD.ended_at, to_jsonb(OLD) - ARRAY['tenant_id', 'id',
        'scope_id', 'recorded_at', 'updated_at', 'context', 'identity'])
    ON CONFLICT DO NOTHING; -- of two changes at one instant, what was before the first
    RETURN NULL;
END $$;

CREATE TRIGGER tg_memories_past AFTER UPDATE ON memories FOR EACH ROW
    WHEN (OLD.recorded_at < NEW.updated_at AND OLD.* IS DISTINCT FROM NEW.*)
    EXECUTE FUNCTION keep_memory_past();

CREATE FUNCTION keep_entity_past() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO entity_past
        (tenant_id, entity_id, believed_until, canonical_name, entity_type, attributes, merged_into)
    VALUES (OLD.tenant_id, OLD.id, NEW.updated_at, OLD.canonical_name, OLD.entity_type, OLD.attributes,
        OLD.merged_into)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER tg_entities_past AFTER UPDATE ON entities FOR EACH ROW
    WHEN (OLD.created_at < NEW.updated_at
        AND (OLD.canonical_name, OLD.entity_type, OLD.attributes, OLD.merged_into)
            IS DISTINCT FROM (NEW.canonical_name, NEW.entity_type, NEW.attributes, NEW.merged_into))
    EXECUTE FUNCTION keep_entity_past();

-- A change is stamped by the service's clock, where its transaction names it, and never before the one that it follows,
-- whatever clock the writer has; a later stamp that the statement gives itself stays. By its name the trigger fires
-- before the others of an update, which read the stamp.
CREATE FUNCTION stamp_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.updated_at := greatest(OLD.updated_at, changed_at());
    RETURN NEW;
END $$;

CREATE FUNCTION stamp_memory() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was memories := OLD;
BEGIN
    was.needs_review := NEW.needs_review; -- computed only after this
    IF NEW IS DISTINCT FROM was THEN
        NEW.updated_at := greatest(OLD.updated_at, changed_at());
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER a_stamp BEFORE UPDATE ON memories FOR EACH ROW
    WHEN (NEW.updated_at <= OLD.updated_at) EXECUTE FUNCTION stamp_memory();

CREATE TRIGGER a_stamp BEFORE UPDATE ON entities FOR EACH ROW
    WHEN ((OLD.canonical_name, OLD.entity_type, OLD.attributes, OLD.merged_into)
        IS DISTINCT FROM (NEW.canonical_name, NEW.entity_type, NEW.attributes, NEW.merged_into))
    EXECUTE FUNCTION stamp_change();
