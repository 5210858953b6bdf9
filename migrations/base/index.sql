-- The rows that retrieval searches: vectors of up to two embedding models, sparse vectors, words.

CREATE TABLE embedding_models (
    id smallint NOT NULL,
    name text NOT NULL,
    dimensions integer NOT NULL,
    active boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    phase text NOT NULL DEFAULT 'active',
    seen_at timestamptz,
    CONSTRAINT pk_embedding_models PRIMARY KEY (id),
    CONSTRAINT ck_embedding_models_active CHECK (active = (phase = 'active')),
    CONSTRAINT ck_embedding_models_phase CHECK (phase IN ('building', 'active', 'leaving', 'dropping',
        'dropped'))
);

CREATE UNIQUE INDEX uq_embedding_models_active ON embedding_models (active) WHERE active;

CREATE UNIQUE INDEX uq_embedding_models_side ON embedding_models ((id % 2)) WHERE phase <> 'dropped';

-- Up to 8160 bytes of a row its vectors stay in it: apart, each comparison would look for its vector elsewhere.
-- A model with an odd id has the first pair of columns, one with an even id the second.
CREATE TABLE memory_index (
    tenant_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    part smallint NOT NULL,
    kind text NOT NULL,
    scope_id uuid NOT NULL,
    type text NOT NULL,
    status text NOT NULL,
    topic text,
    confidence float8 NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_until timestamptz,
    ended_at timestamptz,
    recorded_at timestamptz NOT NULL,
    retired_at timestamptz,
    event_range tstzrange,
    stated_at timestamptz NOT NULL,
    session_id text,
    sequence_number integer,
    speaker_id uuid,
    words integer NOT NULL,
    asks boolean NOT NULL,
    model_id smallint,
    embedding halfvec,
    ann boolean NOT NULL DEFAULT false,
    lexical sparsevec(1000000000),
    tsv tsvector,
    model_id_2 smallint,
    embedding_2 halfvec,
    CONSTRAINT pk_memory_index PRIMARY KEY (tenant_id, memory_id, part),
    CONSTRAINT fk_memory_index_model_id FOREIGN KEY (model_id) REFERENCES embedding_models (id),
    CONSTRAINT fk_memory_index_model_id_2 FOREIGN KEY (model_id_2) REFERENCES embedding_models (id),
    CONSTRAINT fk_memory_index_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_memory_index_tenant_id_memory_id FOREIGN KEY (tenant_id, memory_id)
        REFERENCES memories (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT ck_memory_index_kind CHECK (kind IN ('content', 'context', 'both')),
    CONSTRAINT ck_memory_index_vectors CHECK (
        coalesce(model_id % 2, 1) = 1 AND coalesce(model_id_2 % 2, 0) = 0
        AND num_nonnulls(model_id, model_id_2) > 0
        AND num_nonnulls(model_id, embedding) <> 1 AND num_nonnulls(model_id_2, embedding_2) <> 1
    )
) WITH (toast_tuple_target = 8160);

CREATE INDEX ix_memory_index_event_range ON memory_index USING gist (tenant_id, scope_id, event_range)
    WHERE event_range IS NOT NULL;

CREATE INDEX ix_memory_index_scope ON memory_index (tenant_id, scope_id, kind, type);

CREATE INDEX ix_memory_index_stated ON memory_index (tenant_id, scope_id, stated_at)
    WHERE part = 0 AND event_range IS NULL;

CREATE INDEX ix_memory_index_tsv ON memory_index USING gin (tenant_id, scope_id, tsv) WITH (fastupdate = off)
    WHERE tsv IS NOT NULL;

CREATE INDEX ix_memory_index_unranked ON memory_index (tenant_id, scope_id) WHERE NOT ann;

CREATE TABLE hypothetical_embeddings (
    tenant_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    ordinal smallint NOT NULL,
    scope_id uuid NOT NULL,
    question text NOT NULL,
    model_id smallint,
    embedding halfvec,
    ann boolean NOT NULL DEFAULT false,
    model_id_2 smallint,
    embedding_2 halfvec,
    CONSTRAINT pk_hypothetical_embeddings PRIMARY KEY (tenant_id, memory_id, ordinal),
    CONSTRAINT fk_hypothetical_embeddings_model_id FOREIGN KEY (model_id) REFERENCES embedding_models (id),
    CONSTRAINT fk_hypothetical_embeddings_model_id_2 FOREIGN KEY (model_id_2) REFERENCES embedding_models (id),
    CONSTRAINT fk_hypothetical_embeddings_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_hypothetical_embeddings_tenant_id_memory_id FOREIGN KEY (tenant_id, memory_id)
        REFERENCES memories (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT ck_hypothetical_embeddings_vectors CHECK (
        coalesce(model_id % 2, 1) = 1 AND coalesce(model_id_2 % 2, 0) = 0
        AND num_nonnulls(model_id, model_id_2) > 0
        AND num_nonnulls(model_id, embedding) <> 1 AND num_nonnulls(model_id_2, embedding_2) <> 1
    )
) WITH (toast_tuple_target = 8160);

CREATE INDEX ix_hypothetical_embeddings_scope ON hypothetical_embeddings (tenant_id, scope_id, ann);

ALTER TABLE hypothetical_embeddings ALTER question SET STATISTICS 0;

CREATE TABLE lexical_terms (
    tenant_id uuid NOT NULL,
    scope_id uuid NOT NULL,
    term integer NOT NULL,
    documents integer NOT NULL,
    CONSTRAINT pk_lexical_terms PRIMARY KEY (tenant_id, scope_id, term),
    CONSTRAINT fk_lexical_terms_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_lexical_terms_tenant_id_scope_id FOREIGN KEY (tenant_id, scope_id)
        REFERENCES scopes (tenant_id, id) ON DELETE CASCADE
);
