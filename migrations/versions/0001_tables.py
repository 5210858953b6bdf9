"""Every table of the design, with its keys, checks and indexes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import HALFVEC, SPARSEVEC
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


EXTENSIONS = ("vector", "pg_trgm", "btree_gin", "btree_gist")


def upgrade() -> None:
    for extension in EXTENSIONS:
        op.execute(f"CREATE EXTENSION IF NOT EXISTS {extension}")
    op.create_table(
        "embedding_models",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("dimensions", sa.Integer(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_embedding_models")),
    )
    op.create_index(
        "uq_embedding_models_active",
        "embedding_models",
        ["active"],
        unique=True,
        postgresql_where=sa.text("active"),
    )
    op.create_table(
        "memory_types",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_memory_types")),
    )
    op.create_table(
        "tenants",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column(
            "settings",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tenants")),
        sa.UniqueConstraint("name", name=op.f("uq_tenants_name")),
    )
    op.create_table(
        "api_keys",
        sa.Column("tenant_id", sa.UUID(), nullable=False),
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("roles", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_api_keys_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_api_keys")),
    )
    op.create_index("ix_api_keys_secret_hash", "api_keys", ["secret_hash"], unique=False)
    op.create_table(
        "audit_events",
        sa.Column("tenant_id", sa.UUID(), nullable=False),
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("occurred_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.UUID(), nullable=True),
        sa.Column("scope_id", sa.UUID(), nullable=True),
        sa.Column(
            "detail",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_audit_events_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_audit_events")),
    )
    op.create_index("ix_audit_events_memory", "audit_events", ["tenant_id", "memory_id", "id"], unique=False)
    op.create_table(
        "idempotency_keys",
        sa.Column("tenant_id", sa.UUID(), nullable=False),
        sa.Column("route", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=False),
        sa.Column("response", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_idempotency_keys_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "route", "key", name=op.f("pk_idempotency_keys")),
    )
    op.create_index("ix_idempotency_keys_created", "idempotency_keys", ["tenant_id", "created_at"], unique=False)
    op.create_table(
        "scopes",
        sa.Column("tenant_id", sa.UUID(), nullable=False),
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=True),
        sa.Column("agent_id", sa.Text(), nullable=True),
        sa.Column("version", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("memory_count", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("context_count", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("ann", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("lexical_documents", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("lexical_length", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("lexical_average", sa.Float(), server_default=sa.text("0"), nullable=False),
        sa.Column("lexical_settled", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("kind IN ('global', 'user', 'agent')", name=op.f("ck_scopes_kind")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_scopes_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_scopes")),
    )
    op.create_index("ix_scopes_tenant_id_agent_id", "scopes", ["tenant_id", "agent_id"], unique=False)
    op.create_index("ix_scopes_tenant_id_user_id", "scopes", ["tenant_id", "user_id"], unique=False)
    op.create_table(
        "entities",
        sa.Column("tenant_id", sa.UUID(), nullable=False),
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("scope_id", sa.UUID(), nullable=False),
        sa.Column("canonical_name", sa.Text(), nullable=False),
        sa.Column("entity_type", sa.Text(), nullable=False),
        sa.Column(
            "attributes",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column("mention_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("merged_into", sa.UUID(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "merged_into"],
            ["entities.tenant_id", "entities.id"],
            name=op.f("fk_entities_tenant_id_merged_into"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "scope_id"],
            ["scopes.tenant_id", "scopes.id"],
            name=op.f("fk_entities_tenant_id_scope_id"),
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_entities_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_entities")),
    )
    op.create_index("ix_entities_scope", "entities", ["tenant_id", "scope_id", "canonical_name"], unique=False)
    op.create_index(
        "ix_entities_merged_into",
        "entities",
        ["tenant_id", "merged_into"],
        unique=False,
        postgresql_where=sa.text("merged_into IS NOT NULL"),
    )
    op.create_table(
        "lexical_terms",
        sa.Column("tenant_id", sa.UUID(), nullable=False),
        sa.Column("scope_id", sa.UUID(), nullable=False),
        sa.Column("term", sa.Integer(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "scope_id"],
            ["scopes.tenant_id", "scopes.id"],
            name=op.f("fk_lexical_terms_tenant_id_scope_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_lexical_terms_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "scope_id", "term", name=op.f("pk_lexical_terms")),
    )
    op.create_table(
        "memories",
        sa.Column("tenant_id", sa.UUID(), nullable=False),
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("scope_id", sa.UUID(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("context", sa.Text(), nullable=True),
        sa.Column("identity", sa.LargeBinary(), nullable=False),
        sa.Column(
            "payload",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column("subject", sa.Text(), nullable=True),
        sa.Column("subject_id", sa.UUID(), nullable=True),
        sa.Column("slot", sa.Text(), nullable=True),
        sa.Column("slot_value", sa.Text(), nullable=True),
        sa.Column("contested", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("speech_act", sa.Text(), server_default=sa.text("'assertion'"), nullable=False),
        sa.Column("source_strength", sa.Float(), nullable=False),
        sa.Column("extractor_confidence", sa.Float(), nullable=False),
        sa.Column("prior", sa.Float(), nullable=False),
        sa.Column("mentions", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("importance", sa.Float(), nullable=False),
        sa.Column("half_life_days", sa.Float(), nullable=True),
        sa.Column("floor", sa.Float(), server_default=sa.text("0"), nullable=False),
        sa.Column("topic", sa.Text(), nullable=True),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("sequence_number", sa.Integer(), nullable=True),
        sa.Column("stated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("valid_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("valid_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("retired_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("supersedes", sa.UUID(), nullable=True),
        sa.Column("superseded_by", sa.UUID(), nullable=True),
        sa.Column("needs_review", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column(
            "provenance",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column(
            "metadata",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.CheckConstraint(
            "category IN ('episodic', 'semantic', 'procedural', 'core', 'control')",
            name=op.f("ck_memories_category"),
        ),
        sa.CheckConstraint(
            "speech_act IN ('assertion', 'hypothetical', 'roleplay', 'sarcasm', 'quotation', 'question', 'negation')",
            name=op.f("ck_memories_speech_act"),
        ),
        sa.CheckConstraint(
            "status IN ('active', 'superseded', 'expired', 'forgotten', 'pending')",
            name=op.f("ck_memories_status"),
        ),
        sa.CheckConstraint("confidence BETWEEN 0 AND 1", name=op.f("ck_memories_confidence")),
        sa.CheckConstraint("importance BETWEEN 0 AND 1", name=op.f("ck_memories_importance")),
        sa.CheckConstraint("valid_until IS NULL OR valid_until > valid_from", name=op.f("ck_memories_validity")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "scope_id"],
            ["scopes.tenant_id", "scopes.id"],
            name=op.f("fk_memories_tenant_id_scope_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "superseded_by"],
            ["memories.tenant_id", "memories.id"],
            name=op.f("fk_memories_tenant_id_superseded_by"),
            deferrable=True,
            initially="DEFERRED",
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_memories_tenant_id")),
        sa.ForeignKeyConstraint(["type"], ["memory_types.name"], name=op.f("fk_memories_type")),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_memories")),
    )
    op.create_index("ix_memories_identity", "memories", ["tenant_id", "scope_id", "identity"], unique=False)
    op.create_index("ix_memories_recorded", "memories", ["tenant_id", "scope_id", "id"], unique=False)
    op.create_index(
        "ix_memories_session",
        "memories",
        ["tenant_id", "session_id", "sequence_number"],
        unique=False,
        postgresql_where=sa.text("session_id IS NOT NULL"),
    )
    op.create_index(
        "ix_memories_slot",
        "memories",
        ["tenant_id", "scope_id", "type", "slot", "stated_at"],
        unique=False,
        postgresql_where=sa.text("slot IS NOT NULL"),
    )
    op.create_index("ix_memories_subject", "memories", ["tenant_id", "subject_id", "scope_id", "type"], unique=False)
    op.create_index("ix_memories_superseded_by", "memories", ["tenant_id", "superseded_by"], unique=False)
    op.create_index(
        "uq_memories_active_slot",
        "memories",
        ["tenant_id", "scope_id", "type", "slot"],
        unique=True,
        postgresql_where=sa.text("status = 'active' AND slot IS NOT NULL AND NOT contested"),
    )
    op.create_table(
        "turns",
        sa.Column("tenant_id", sa.UUID(), nullable=False),
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("scope_id", sa.UUID(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("sequence_number", sa.Integer(), nullable=True),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("occurred_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column(
            "metadata",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "scope_id"],
            ["scopes.tenant_id", "scopes.id"],
            name=op.f("fk_turns_tenant_id_scope_id"),
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_turns_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_turns")),
    )
    op.create_index(
        "ix_turns_session", "turns", ["tenant_id", "scope_id", "session_id", "sequence_number"], unique=False
    )
    op.create_table(
        "entity_aliases",
        sa.Column("tenant_id", sa.UUID(), nullable=False),
        sa.Column("scope_id", sa.UUID(), nullable=False),
        sa.Column("alias", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.UUID(), nullable=False),
        sa.Column("display", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "entity_id"],
            ["entities.tenant_id", "entities.id"],
            name=op.f("fk_entity_aliases_tenant_id_entity_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "scope_id"],
            ["scopes.tenant_id", "scopes.id"],
            name=op.f("fk_entity_aliases_tenant_id_scope_id"),
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_entity_aliases_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "scope_id", "alias", "entity_id", name=op.f("pk_entity_aliases")),
    )
    op.create_index("ix_entity_aliases_entity", "entity_aliases", ["tenant_id", "entity_id"], unique=False)
    op.create_index(
        "ix_entity_aliases_trigram",
        "entity_aliases",
        ["tenant_id", "scope_id", "alias"],
        unique=False,
        postgresql_using="gin",
        postgresql_ops={"alias": "gin_trgm_ops"},
    )
    op.create_table(
        "evidence",
        sa.Column("tenant_id", sa.UUID(), nullable=False),
        sa.Column("memory_id", sa.UUID(), nullable=False),
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("turn_id", sa.UUID(), nullable=True),
        sa.Column("quote", sa.Text(), nullable=True),
        sa.Column("role", sa.Text(), nullable=True),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("stated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "memory_id"],
            ["memories.tenant_id", "memories.id"],
            name=op.f("fk_evidence_tenant_id_memory_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "turn_id"],
            ["turns.tenant_id", "turns.id"],
            name=op.f("fk_evidence_tenant_id_turn_id"),
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_evidence_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "memory_id", "id", name=op.f("pk_evidence")),
    )
    op.create_index("ix_evidence_turn", "evidence", ["tenant_id", "turn_id"], unique=False)
    op.create_table(
        "memory_entities",
        sa.Column("tenant_id", sa.UUID(), nullable=False),
        sa.Column("entity_id", sa.UUID(), nullable=False),
        sa.Column("memory_id", sa.UUID(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "entity_id"],
            ["entities.tenant_id", "entities.id"],
            name=op.f("fk_memory_entities_tenant_id_entity_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "memory_id"],
            ["memories.tenant_id", "memories.id"],
            name=op.f("fk_memory_entities_tenant_id_memory_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_memory_entities_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "entity_id", "memory_id", "role", name=op.f("pk_memory_entities")),
    )
    op.create_index("ix_memory_entities_memory", "memory_entities", ["tenant_id", "memory_id"], unique=False)
    op.create_table(
        "memory_index",
        sa.Column("tenant_id", sa.UUID(), nullable=False),
        sa.Column("memory_id", sa.UUID(), nullable=False),
        sa.Column("part", sa.SmallInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("scope_id", sa.UUID(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=True),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("valid_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("valid_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("retired_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("event_range", postgresql.TSTZRANGE(), nullable=True),
        sa.Column("stated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("sequence_number", sa.Integer(), nullable=True),
        sa.Column("speaker_id", sa.UUID(), nullable=True),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.Column("asks", sa.Boolean(), nullable=False),
        sa.Column("model_id", sa.SmallInteger(), nullable=False),
        sa.Column("embedding", HALFVEC(), nullable=False),
        sa.Column("ann", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("lexical", SPARSEVEC(dim=1000000000), nullable=True),
        sa.Column("tsv", postgresql.TSVECTOR(), nullable=True),
        sa.CheckConstraint("kind IN ('content', 'context', 'both')", name=op.f("ck_memory_index_kind")),
        sa.ForeignKeyConstraint(["model_id"], ["embedding_models.id"], name=op.f("fk_memory_index_model_id")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "memory_id"],
            ["memories.tenant_id", "memories.id"],
            name=op.f("fk_memory_index_tenant_id_memory_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_memory_index_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "memory_id", "part", name=op.f("pk_memory_index")),
    )
    op.create_index(
        "ix_memory_index_event_range",
        "memory_index",
        ["tenant_id", "scope_id", "event_range"],
        unique=False,
        postgresql_using="gist",
        postgresql_where=sa.text("event_range IS NOT NULL"),
    )
    op.create_index("ix_memory_index_scope", "memory_index", ["tenant_id", "scope_id", "kind", "type"], unique=False)
    op.create_index(
        "ix_memory_index_tsv",
        "memory_index",
        ["tenant_id", "scope_id", "tsv"],
        unique=False,
        postgresql_using="gin",
        postgresql_with={"fastupdate": "off"},
        postgresql_where=sa.text("tsv IS NOT NULL"),
    )
    op.create_index(
        "ix_memory_index_unranked",
        "memory_index",
        ["tenant_id", "scope_id"],
        unique=False,
        postgresql_where=sa.text("NOT ann"),
    )
    op.create_index(
        "ix_memory_index_stated",
        "memory_index",
        ["tenant_id", "scope_id", "stated_at"],
        unique=False,
        postgresql_where=sa.text("part = 0 AND event_range IS NULL"),
    )
    op.create_table(
        "memory_links",
        sa.Column("tenant_id", sa.UUID(), nullable=False),
        sa.Column("from_memory", sa.UUID(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("to_memory", sa.UUID(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "kind IN ('supersedes', 'contradicts', 'conflicts-with', 'derived-from')",
            name=op.f("ck_memory_links_kind"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "from_memory"],
            ["memories.tenant_id", "memories.id"],
            name=op.f("fk_memory_links_tenant_id_from_memory"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "to_memory"],
            ["memories.tenant_id", "memories.id"],
            name=op.f("fk_memory_links_tenant_id_to_memory"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_memory_links_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "from_memory", "kind", "to_memory", name=op.f("pk_memory_links")),
    )
    op.create_index("ix_memory_links_to", "memory_links", ["tenant_id", "to_memory"], unique=False)
    op.create_table(
        "memory_usage",
        sa.Column("tenant_id", sa.UUID(), nullable=False),
        sa.Column("memory_id", sa.UUID(), nullable=False),
        sa.Column("access_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("last_accessed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("stability", sa.Float(), server_default=sa.text("0"), nullable=False),
        sa.Column("sessions", sa.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "memory_id"],
            ["memories.tenant_id", "memories.id"],
            name=op.f("fk_memory_usage_tenant_id_memory_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_memory_usage_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "memory_id", name=op.f("pk_memory_usage")),
    )
    op.create_table(
        "relations",
        sa.Column("tenant_id", sa.UUID(), nullable=False),
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("scope_id", sa.UUID(), nullable=False),
        sa.Column("memory_id", sa.UUID(), nullable=False),
        sa.Column("from_entity", sa.UUID(), nullable=False),
        sa.Column("relation_type", sa.Text(), nullable=False),
        sa.Column("to_entity", sa.UUID(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "from_entity"],
            ["entities.tenant_id", "entities.id"],
            name=op.f("fk_relations_tenant_id_from_entity"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "memory_id"],
            ["memories.tenant_id", "memories.id"],
            name=op.f("fk_relations_tenant_id_memory_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "scope_id"],
            ["scopes.tenant_id", "scopes.id"],
            name=op.f("fk_relations_tenant_id_scope_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "to_entity"],
            ["entities.tenant_id", "entities.id"],
            name=op.f("fk_relations_tenant_id_to_entity"),
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_relations_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_relations")),
    )
    op.create_index("ix_relations_from", "relations", ["tenant_id", "from_entity"], unique=False)
    op.create_index("ix_relations_memory", "relations", ["tenant_id", "memory_id"], unique=False)
    op.create_index("ix_relations_to", "relations", ["tenant_id", "to_entity"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_relations_to", table_name="relations")
    op.drop_index("ix_relations_memory", table_name="relations")
    op.drop_index("ix_relations_from", table_name="relations")
    op.drop_table("relations")
    op.drop_table("memory_usage")
    op.drop_index("ix_memory_links_to", table_name="memory_links")
    op.drop_table("memory_links")
    op.drop_index(
        "ix_memory_index_tsv",
        table_name="memory_index",
        postgresql_using="gin",
        postgresql_where=sa.text("tsv IS NOT NULL"),
    )
    op.drop_index("ix_memory_index_scope", table_name="memory_index")
    op.drop_index(
        "ix_memory_index_event_range",
        table_name="memory_index",
        postgresql_using="gist",
        postgresql_where=sa.text("event_range IS NOT NULL"),
    )
    op.drop_table("memory_index")
    op.drop_index("ix_memory_entities_memory", table_name="memory_entities")
    op.drop_table("memory_entities")
    op.drop_index("ix_evidence_turn", table_name="evidence")
    op.drop_table("evidence")
    op.drop_index(
        "ix_entity_aliases_trigram",
        table_name="entity_aliases",
        postgresql_using="gin",
        postgresql_ops={"alias": "gin_trgm_ops"},
    )
    op.drop_index("ix_entity_aliases_entity", table_name="entity_aliases")
    op.drop_table("entity_aliases")
    op.drop_index("ix_turns_session", table_name="turns")
    op.drop_table("turns")
    op.drop_index(
        "uq_memories_active_slot",
        table_name="memories",
        postgresql_where=sa.text("status = 'active' AND slot IS NOT NULL AND NOT contested"),
    )
    op.drop_index("ix_memories_superseded_by", table_name="memories")
    op.drop_index("ix_memories_subject", table_name="memories")
    op.drop_index("ix_memories_slot", table_name="memories", postgresql_where=sa.text("slot IS NOT NULL"))
    op.drop_index("ix_memories_session", table_name="memories", postgresql_where=sa.text("session_id IS NOT NULL"))
    op.drop_index("ix_memories_recorded", table_name="memories")
    op.drop_index("ix_memories_identity", table_name="memories")
    op.drop_table("memories")
    op.drop_table("lexical_terms")
    op.drop_index("ix_entities_scope", table_name="entities")
    op.drop_table("entities")
    op.drop_index("ix_scopes_tenant_id_user_id", table_name="scopes")
    op.drop_index("ix_scopes_tenant_id_agent_id", table_name="scopes")
    op.drop_table("scopes")
    op.drop_table("idempotency_keys")
    op.drop_index("ix_audit_events_memory", table_name="audit_events")
    op.drop_table("audit_events")
    op.drop_index("ix_api_keys_secret_hash", table_name="api_keys")
    op.drop_table("api_keys")
    op.drop_table("tenants")
    op.drop_table("memory_types")
    op.drop_index("uq_embedding_models_active", table_name="embedding_models", postgresql_where=sa.text("active"))
    op.drop_table("embedding_models")
