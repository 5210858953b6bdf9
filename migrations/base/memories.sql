-- Memories, what they are about and rest on, and how they are used.

CREATE TABLE memories (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    scope_id uuid NOT NULL,
    type text NOT NULL,
    category text NOT NULL,
    status text NOT NULL,
    content text NOT NULL,
    context text,
    identity bytea NOT NULL,
    payload jsonb NOT NULL DEFAULT '{}',
    subject text,
    subject_id uuid,
    slot text,
    slot_value text,
    contested boolean NOT NULL DEFAULT false,
    speech_act text NOT NULL DEFAULT 'assertion',
    source_strength float8 NOT NULL,
    extractor_confidence float8 NOT NULL,
    prior float8 NOT NULL,
    mentions integer NOT NULL DEFAULT 1,
    confidence float8 NOT NULL,
    importance float8 NOT NULL,
    half_life_days float8,
    floor float8 NOT NULL DEFAULT 0,
    topic text,
    session_id text,
    sequence_number integer,
    stated_at timestamptz NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_until timestamptz,
    ended_at timestamptz,
    recorded_at timestamptz NOT NULL,
    retired_at timestamptz,
    updated_at timestamptz NOT NULL DEFAULT changed_at(),
    supersedes uuid,
    superseded_by uuid,
    provenance jsonb NOT NULL DEFAULT '{}',
    metadata jsonb NOT NULL DEFAULT '{}',
    review_reason text,
    review_note text,
    review_since timestamptz,
    needs_review boolean NOT NULL GENERATED ALWAYS AS (review_reason IS NOT NULL) STORED,
    status_since timestamptz,
    volatile boolean NOT NULL DEFAULT false,
    filter_key text,
    type_tenant uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    type_version integer NOT NULL DEFAULT 0,
    CONSTRAINT pk_memories PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_memories_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_memories_tenant_id_scope_id FOREIGN KEY (tenant_id, scope_id)
        REFERENCES scopes (tenant_id, id),
    CONSTRAINT fk_memories_tenant_id_superseded_by FOREIGN KEY (tenant_id, superseded_by)
        REFERENCES memories (tenant_id, id) DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT fk_memories_type_tenant_type FOREIGN KEY (type_tenant, type)
        REFERENCES memory_types (tenant_id, name),
    CONSTRAINT ck_memories_category CHECK (category IN ('episodic', 'semantic', 'procedural', 'core',
        'control')),
    CONSTRAINT ck_memories_confidence CHECK (confidence BETWEEN 0 AND 1),
    CONSTRAINT ck_memories_ended CHECK (status <> 'active' OR ended_at IS NULL),
    CONSTRAINT ck_memories_floor CHECK (floor BETWEEN 0 AND 1),
    CONSTRAINT ck_memories_half_life CHECK (half_life_days > 0 AND half_life_days < 'Infinity'),
    CONSTRAINT ck_memories_importance CHECK (importance BETWEEN 0 AND 1),
    CONSTRAINT ck_memories_mentions CHECK (mentions >= 1),
    CONSTRAINT ck_memories_parts CHECK (
        source_strength BETWEEN 0 AND 1 AND extractor_confidence BETWEEN 0 AND 1 AND prior BETWEEN 0 AND 1
    ),
    CONSTRAINT ck_memories_pending CHECK (status <> 'pending' OR review_reason IS NOT NULL),
    CONSTRAINT ck_memories_review_reason CHECK (review_reason IN ('contradiction', 'doubtful',
        'reported_wrong', 'volatile', 'constraint', 'entity_merge', 'asked')),
    CONSTRAINT ck_memories_review_since CHECK ((review_reason IS NULL) = (review_since IS NULL)),
    CONSTRAINT ck_memories_speech_act CHECK (speech_act IN ('assertion', 'hypothetical', 'roleplay',
        'sarcasm', 'quotation', 'question', 'negation')),
    CONSTRAINT ck_memories_status CHECK (status IN ('active', 'superseded', 'expired', 'forgotten',
        'pending')),
    CONSTRAINT ck_memories_type_tenant CHECK (
        type_tenant IN ('00000000-0000-0000-0000-000000000000', tenant_id)
    ),
    CONSTRAINT ck_memories_type_version CHECK (
        (type_tenant = '00000000-0000-0000-0000-000000000000') = (type_version = 0)
    ),
    CONSTRAINT ck_memories_validity CHECK (valid_until IS NULL OR valid_until > valid_from)
);

CREATE INDEX ix_memories_contested ON memories (tenant_id, scope_id, type, slot)
    WHERE contested AND status = 'active';

CREATE INDEX ix_memories_ending ON memories (tenant_id, valid_until)
    WHERE status = 'active' AND valid_until IS NOT NULL;

CREATE INDEX ix_memories_faded ON memories (tenant_id, status, id) WHERE status IN ('expired', 'forgotten');

CREATE INDEX ix_memories_filter ON memories (tenant_id, filter_key, type, id) WHERE filter_key IS NOT NULL;

CREATE INDEX ix_memories_identity ON memories (tenant_id, scope_id, identity);

CREATE INDEX ix_memories_names_user ON memories (tenant_id, id) WHERE (provenance ->> 'user_id') IS NOT NULL;

CREATE INDEX ix_memories_own_type ON memories (type_tenant, type)
    WHERE type_tenant <> '00000000-0000-0000-0000-000000000000';

CREATE INDEX ix_memories_recorded ON memories (tenant_id, scope_id, id);

CREATE INDEX ix_memories_review ON memories (tenant_id, review_since, id) WHERE review_reason IS NOT NULL;

CREATE INDEX ix_memories_session ON memories (tenant_id, session_id, sequence_number)
    WHERE session_id IS NOT NULL;

CREATE INDEX ix_memories_slot ON memories (tenant_id, scope_id, type, slot, stated_at) WHERE slot IS NOT NULL;

CREATE INDEX ix_memories_subject ON memories (tenant_id, subject_id, scope_id, type);

CREATE INDEX ix_memories_superseded_by ON memories (tenant_id, superseded_by);

CREATE UNIQUE INDEX uq_memories_active_slot ON memories (tenant_id, scope_id, type, slot)
    WHERE status = 'active' AND slot IS NOT NULL AND NOT contested;

-- No plan asks for statistics of these columns, and ANALYZE would keep samples of them after they are erased.
ALTER TABLE memories ALTER content SET STATISTICS 0, ALTER context SET STATISTICS 0,
    ALTER payload SET STATISTICS 0, ALTER provenance SET STATISTICS 0, ALTER metadata SET STATISTICS 0,
    ALTER review_note SET STATISTICS 0;

-- Refuses changes of status that the lifecycle does not know.
CREATE FUNCTION guard_memory_status() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    legal CONSTANT text[] := ARRAY['pending>active', 'pending>forgotten', 'active>superseded', 'active>expired',
        'active>pending', 'active>forgotten', 'expired>active', 'expired>forgotten', 'expired>superseded',
        'superseded>active', 'superseded>expired', 'pending>superseded', 'superseded>forgotten'];
BEGIN
    IF (OLD.status || '>' || NEW.status) <> ALL (legal) THEN
        RAISE EXCEPTION 'a memory that is % cannot become %', OLD.status, NEW.status USING
            ERRCODE = 'check_violation',
            TABLE = 'memories',
            CONSTRAINT = 'memories_status_changes',
            DETAIL = format('memory %s of tenant %s', OLD.id, OLD.tenant_id);
    END IF;
    NEW.status_since := NEW.updated_at;
    RETURN NEW;
END $$;

CREATE TRIGGER status_changes BEFORE UPDATE OF status ON memories FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION guard_memory_status();

-- Copies one field of the payload, which the trigger of a type names, into the column that listings filter by.
CREATE FUNCTION keep_filter_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.filter_key := NEW.payload ->> TG_ARGV[0];
    RETURN NEW;
END $$;

CREATE TABLE memory_links (
    tenant_id uuid NOT NULL,
    from_memory uuid NOT NULL,
    kind text NOT NULL,
    to_memory uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_memory_links PRIMARY KEY (tenant_id, from_memory, kind, to_memory),
    CONSTRAINT fk_memory_links_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_memory_links_tenant_id_from_memory FOREIGN KEY (tenant_id, from_memory)
        REFERENCES memories (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_memory_links_tenant_id_to_memory FOREIGN KEY (tenant_id, to_memory)
        REFERENCES memories (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT ck_memory_links_kind CHECK (kind IN ('supersedes', 'contradicts', 'conflicts-with',
        'derived-from'))
);

CREATE INDEX ix_memory_links_to ON memory_links (tenant_id, to_memory);

CREATE TABLE memory_entities (
    tenant_id uuid NOT NULL,
    entity_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    role text NOT NULL,
    CONSTRAINT pk_memory_entities PRIMARY KEY (tenant_id, entity_id, memory_id, role),
    CONSTRAINT fk_memory_entities_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_memory_entities_tenant_id_entity_id FOREIGN KEY (tenant_id, entity_id)
        REFERENCES entities (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_memory_entities_tenant_id_memory_id FOREIGN KEY (tenant_id, memory_id)
        REFERENCES memories (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_memory_entities_memory ON memory_entities (tenant_id, memory_id);

CREATE TABLE relations (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    scope_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    from_entity uuid NOT NULL,
    relation_type text NOT NULL,
    to_entity uuid NOT NULL,
    since timestamptz,
    CONSTRAINT pk_relations PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_relations_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_relations_tenant_id_from_entity FOREIGN KEY (tenant_id, from_entity)
        REFERENCES entities (tenant_id, id),
    CONSTRAINT fk_relations_tenant_id_memory_id FOREIGN KEY (tenant_id, memory_id)
        REFERENCES memories (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_relations_tenant_id_scope_id FOREIGN KEY (tenant_id, scope_id)
        REFERENCES scopes (tenant_id, id),
    CONSTRAINT fk_relations_tenant_id_to_entity FOREIGN KEY (tenant_id, to_entity)
        REFERENCES entities (tenant_id, id)
);

CREATE INDEX ix_relations_from ON relations (tenant_id, from_entity);

CREATE INDEX ix_relations_memory ON relations (tenant_id, memory_id);

CREATE INDEX ix_relations_to ON relations (tenant_id, to_entity);

CREATE TABLE evidence (
    tenant_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    id uuid NOT NULL,
    turn_id uuid,
    quote text,
    role text,
    session_id text,
    stated_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    statement bytea,
    CONSTRAINT pk_evidence PRIMARY KEY (tenant_id, memory_id, id),
    CONSTRAINT fk_evidence_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_evidence_tenant_id_memory_id FOREIGN KEY (tenant_id, memory_id)
        REFERENCES memories (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_evidence_tenant_id_turn_id FOREIGN KEY (tenant_id, turn_id) REFERENCES turns (tenant_id, id)
);

CREATE INDEX ix_evidence_turn ON evidence (tenant_id, turn_id);

CREATE UNIQUE INDEX uq_evidence_statement ON evidence (tenant_id, turn_id, statement)
    WHERE turn_id IS NOT NULL AND statement IS NOT NULL;

ALTER TABLE evidence ALTER quote SET STATISTICS 0;

CREATE TABLE memory_usage (
    tenant_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    access_count integer NOT NULL DEFAULT 0,
    last_accessed_at timestamptz,
    stability float8 NOT NULL DEFAULT 0,
    sessions text[] NOT NULL DEFAULT '{}',
    useful_count integer NOT NULL DEFAULT 0,
    not_useful_count integer NOT NULL DEFAULT 0,
    wrong_count integer NOT NULL DEFAULT 0,
    previous_accessed_at timestamptz,
    CONSTRAINT pk_memory_usage PRIMARY KEY (tenant_id, memory_id),
    CONSTRAINT fk_memory_usage_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_memory_usage_tenant_id_memory_id FOREIGN KEY (tenant_id, memory_id)
        REFERENCES memories (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT ck_memory_usage_counts CHECK (access_count >= 0 AND useful_count >= 0 AND not_useful_count >= 0
        AND wrong_count >= 0)
);

CREATE TABLE memory_folds (
    tenant_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    into_id uuid NOT NULL,
    folded_at timestamptz NOT NULL,
    CONSTRAINT pk_memory_folds PRIMARY KEY (tenant_id, memory_id),
    CONSTRAINT fk_memory_folds_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_memory_folds_tenant_id_into_id FOREIGN KEY (tenant_id, into_id)
        REFERENCES memories (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_memory_folds_tenant_id_memory_id FOREIGN KEY (tenant_id, memory_id)
        REFERENCES memories (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_memory_folds_into ON memory_folds (tenant_id, into_id);
