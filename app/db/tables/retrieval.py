"""Tables for retrieval: the narrow index that every arm reads, labels, questions, embedding models, and query log."""

from __future__ import annotations

from pgvector.sqlalchemy import HALFVEC, SPARSEVEC
from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    Float,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import TSTZRANGE, TSVECTOR, UUID
from sqlalchemy.schema import SchemaItem

from app.db.tables.base import json_object, key, refers_to, table, tenant, when
from app.lexical.bm25 import DIMENSIONS

PHASES = ("building", "active", "leaving", "dropping", "dropped")


def vectors() -> tuple[SchemaItem, ...]:
    """Return the columns and checks for vectors of up to two models, one with an odd id and one with an even id."""
    return (
        Column("model_id", SmallInteger, ForeignKey("embedding_models.id")),
        Column("embedding", HALFVEC),
        Column("model_id_2", SmallInteger, ForeignKey("embedding_models.id")),
        Column("embedding_2", HALFVEC),
        CheckConstraint(
            "coalesce(model_id % 2, 1) = 1 AND coalesce(model_id_2 % 2, 0) = 0 AND "
            "num_nonnulls(model_id, model_id_2) > 0 AND "
            "num_nonnulls(model_id, embedding) <> 1 AND num_nonnulls(model_id_2, embedding_2) <> 1",
            name="vectors",
        ),
    )


embedding_models = table(
    "embedding_models",
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("dimensions", Integer, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("phase", Text, nullable=False, server_default=text("'active'")),
    when("seen_at", nullable=True),
    when("created_at", default="now()"),
    Column("unrelated", Float),
    Column("related", Float),
    CheckConstraint(f"phase IN {PHASES}", name="phase"),
    CheckConstraint("active = (phase = 'active')", name="active"),
    Index("uq_embedding_models_side", text("(id % 2)"), unique=True, postgresql_where=text("phase <> 'dropped'")),
    Index("uq_embedding_models_active", "active", unique=True, postgresql_where=text("active")),
)

memory_index = table(
    "memory_index",
    tenant(),
    key("memory_id"),
    key("part", SmallInteger),
    Column("kind", Text, nullable=False),
    Column("scope_id", UUID, nullable=False),
    Column("type", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("topic", Text),
    Column("confidence", Float, nullable=False),
    when("valid_from"),
    when("valid_until", nullable=True),
    when("ended_at", nullable=True),
    when("recorded_at"),
    when("retired_at", nullable=True),
    Column("event_range", TSTZRANGE),
    when("stated_at"),
    Column("session_id", Text),
    Column("sequence_number", Integer),
    Column("speaker_id", UUID),
    Column("words", Integer, nullable=False),
    Column("asks", Boolean, nullable=False),
    *vectors(),
    Column("ann", Boolean, nullable=False, server_default=text("false")),
    Column("lexical", SPARSEVEC(DIMENSIONS)),
    Column("tsv", TSVECTOR),
    refers_to("memories", "memory_id", cascade=True),
    CheckConstraint("kind IN ('content', 'context', 'both')", name="kind"),
    Index("ix_memory_index_scope", "tenant_id", "scope_id", "kind", "type"),
    Index(
        "ix_memory_index_tsv",
        "tenant_id",
        "scope_id",
        "tsv",
        postgresql_using="gin",
        postgresql_with={"fastupdate": "off"},
        postgresql_where=text("tsv IS NOT NULL"),
    ),
    Index("ix_memory_index_unranked", "tenant_id", "scope_id", postgresql_where=text("NOT ann")),
    Index(
        "ix_memory_index_stated",
        "tenant_id",
        "scope_id",
        "stated_at",
        postgresql_where=text("part = 0 AND event_range IS NULL"),
    ),
    Index(
        "ix_memory_index_event_range",
        "tenant_id",
        "scope_id",
        "event_range",
        postgresql_using="gist",
        postgresql_where=text("event_range IS NOT NULL"),
    ),
)

# Hashes of what the metadata of memories say, which triggers keep. Their comparison is leakproof, so that an index
# serves a filter by metadata under row-level security; `@>` on JSON is not.
memory_labels = table(
    "memory_labels",
    tenant(),
    key("scope_id"),
    key("label", BigInteger),
    key("memory_id"),
    refers_to("memories", "memory_id", cascade=True),
    Index("ix_memory_labels_memory", "tenant_id", "memory_id"),
)

hypothetical_embeddings = table(
    "hypothetical_embeddings",
    tenant(),
    key("memory_id"),
    key("ordinal", SmallInteger),
    Column("scope_id", UUID, nullable=False),
    Column("question", Text, nullable=False),
    *vectors(),
    Column("ann", Boolean, nullable=False, server_default=text("false")),
    refers_to("memories", "memory_id", cascade=True),
    Index("ix_hypothetical_embeddings_scope", "tenant_id", "scope_id", "ann"),
)


query_log = table(
    "query_log",
    tenant(),
    key("id"),
    when("asked_at"),
    Column("actor", Text, nullable=False),
    Column("user_id", Text),
    Column("agent_id", Text),
    Column("question_digest", Text, nullable=False),
    Column("question_length", Integer, nullable=False),
    Column("question", Text),
    Column("mode", Text, nullable=False),
    Column("top_k", Integer, nullable=False),
    Column("memories", ARRAY(UUID), nullable=False),
    Column("took_ms", Double, nullable=False),
    json_object("stages"),
    Column("degraded", ARRAY(Text), nullable=False),
    Index("ix_query_log_asked", "tenant_id", "asked_at", "id"),
    Index("ix_query_log_user", "tenant_id", "user_id", postgresql_where=text("user_id IS NOT NULL")),
    Index("ix_query_log_question", "tenant_id", "asked_at", postgresql_where=text("question IS NOT NULL")),
)
