"""What was said and what is believed."""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import UUID

from app.db.tables.base import json_object, key, one_of, refers_to, table, tenant, when
from app.model import Category, LinkKind, SpeechAct, Status

memory_types = table(
    "memory_types",
    Column("name", Text, primary_key=True),
    Column("description", Text, nullable=False),
    when("created_at", default_now=True),
)

turns = table(
    "turns",
    tenant(),
    key("id"),
    Column("scope_id", UUID, nullable=False),
    Column("session_id", Text),
    Column("sequence_number", Integer),
    Column("role", Text, nullable=False),
    Column("content", Text, nullable=False),
    when("occurred_at"),
    when("recorded_at", default_now=True),
    json_object("metadata"),
    refers_to("scopes", "scope_id"),
    Index("ix_turns_session", "tenant_id", "scope_id", "session_id", "sequence_number"),
)

memories = table(
    "memories",
    tenant(),
    key("id"),
    Column("scope_id", UUID, nullable=False),
    Column("type", Text, ForeignKey("memory_types.name"), nullable=False),
    Column("category", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("context", Text),
    Column("identity", LargeBinary, nullable=False),
    json_object("payload"),
    Column("subject", Text),
    Column("subject_id", UUID),
    Column("slot", Text),
    Column("slot_value", Text),
    Column("contested", Boolean, nullable=False, server_default=text("false")),
    Column("speech_act", Text, nullable=False, server_default=text("'assertion'")),
    Column("source_strength", Float, nullable=False),
    Column("extractor_confidence", Float, nullable=False),
    Column("prior", Float, nullable=False),
    Column("mentions", Integer, nullable=False, server_default=text("1")),
    Column("confidence", Float, nullable=False),
    Column("importance", Float, nullable=False),
    Column("half_life_days", Float),
    Column("floor", Float, nullable=False, server_default=text("0")),
    Column("topic", Text),
    Column("session_id", Text),
    Column("sequence_number", Integer),
    when("stated_at"),
    when("valid_from"),
    when("valid_until", nullable=True),
    when("ended_at", nullable=True),
    when("recorded_at"),
    when("retired_at", nullable=True),
    when("updated_at"),
    Column("supersedes", UUID),
    Column("superseded_by", UUID),
    Column("needs_review", Boolean, nullable=False, server_default=text("false")),
    json_object("provenance"),
    json_object("metadata"),
    refers_to("scopes", "scope_id"),
    refers_to("memories", "superseded_by"),
    one_of("status", Status),
    one_of("category", Category),
    one_of("speech_act", SpeechAct),
    CheckConstraint("confidence BETWEEN 0 AND 1", name="confidence"),
    CheckConstraint("importance BETWEEN 0 AND 1", name="importance"),
    CheckConstraint("valid_until IS NULL OR valid_until > valid_from", name="validity"),
    Index(
        "uq_memories_active_slot",
        "tenant_id",
        "scope_id",
        "type",
        "slot",
        unique=True,
        postgresql_where=text("status = 'active' AND slot IS NOT NULL AND NOT contested"),
    ),
    Index(
        "ix_memories_slot", "tenant_id", "scope_id", "type", "slot", postgresql_where=text("slot IS NOT NULL")
    ),
    Index("ix_memories_identity", "tenant_id", "scope_id", "identity"),
    Index("ix_memories_subject", "tenant_id", "scope_id", "type", "subject_id"),
    Index("ix_memories_recorded", "tenant_id", "scope_id", "id"),
    Index(
        "ix_memories_session",
        "tenant_id",
        "session_id",
        "sequence_number",
        postgresql_where=text("session_id IS NOT NULL"),
    ),
    Index("ix_memories_superseded_by", "tenant_id", "superseded_by"),
)

memory_usage = table(
    "memory_usage",
    tenant(),
    key("memory_id"),
    Column("access_count", Integer, nullable=False, server_default=text("0")),
    when("last_accessed_at", nullable=True),
    Column("stability", Float, nullable=False, server_default=text("0")),
    Column("sessions", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    refers_to("memories", "memory_id", cascade=True),
)

memory_links = table(
    "memory_links",
    tenant(),
    key("from_memory"),
    key("kind", Text),
    key("to_memory"),
    when("created_at", default_now=True),
    refers_to("memories", "from_memory", cascade=True),
    refers_to("memories", "to_memory", cascade=True),
    one_of("kind", LinkKind),
    Index("ix_memory_links_to", "tenant_id", "to_memory"),
)

evidence = table(
    "evidence",
    tenant(),
    key("memory_id"),
    key("id"),
    Column("turn_id", UUID),
    Column("quote", Text),
    Column("role", Text),
    Column("session_id", Text),
    when("stated_at"),
    when("recorded_at", default_now=True),
    refers_to("memories", "memory_id", cascade=True),
    refers_to("turns", "turn_id"),
    Index("ix_evidence_turn", "tenant_id", "turn_id"),
)
