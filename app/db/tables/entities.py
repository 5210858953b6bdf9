"""Tables of entities, their aliases and mentions, relations, merges, and pronoun bindings."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, DateTime, Index, Integer, SmallInteger, Text, text
from sqlalchemy.dialects.postgresql import JSONB, UUID

from app.db.tables.base import json_object, key, refers_to, table, tenant, when

entities = table(
    "entities",
    tenant(),
    key("id"),
    Column("scope_id", UUID, nullable=False),
    Column("canonical_name", Text, nullable=False),
    Column("entity_type", Text, nullable=False),
    json_object("attributes"),
    Column("mention_count", Integer, nullable=False, server_default=text("0")),
    Column("merged_into", UUID),
    when("created_at", default="now()"),
    when("updated_at", default="changed_at()"),
    refers_to("scopes", "scope_id"),
    refers_to("entities", "merged_into"),
    Index("ix_entities_scope", "tenant_id", "scope_id", "canonical_name"),
    Index("ix_entities_merged_into", "tenant_id", "merged_into", postgresql_where=text("merged_into IS NOT NULL")),
)

entity_past = table(
    "entity_past",
    tenant(),
    key("entity_id"),
    key("believed_until", DateTime(timezone=True)),
    Column("canonical_name", Text, nullable=False),
    Column("entity_type", Text, nullable=False),
    Column("attributes", JSONB, nullable=False),
    Column("merged_into", UUID),
    refers_to("entities", "entity_id", cascade=True),
    Index("ix_entity_past_merged_into", "tenant_id", "merged_into", postgresql_where=text("merged_into IS NOT NULL")),
)

entity_aliases = table(
    "entity_aliases",
    tenant(),
    key("scope_id"),
    key("alias", Text),
    key("entity_id"),
    Column("display", Text, nullable=False),
    when("created_at", default="now()"),
    refers_to("entities", "entity_id", cascade=True),
    refers_to("scopes", "scope_id"),
    Index("ix_entity_aliases_entity", "tenant_id", "entity_id"),
)

memory_entities = table(
    "memory_entities",
    tenant(),
    key("entity_id"),
    key("memory_id"),
    key("role", Text),
    refers_to("entities", "entity_id", cascade=True),
    refers_to("memories", "memory_id", cascade=True),
    Index("ix_memory_entities_memory", "tenant_id", "memory_id"),
)

relations = table(
    "relations",
    tenant(),
    key("id"),
    Column("scope_id", UUID, nullable=False),
    Column("memory_id", UUID, nullable=False),
    Column("from_entity", UUID, nullable=False),
    Column("relation_type", Text, nullable=False),
    Column("to_entity", UUID, nullable=False),
    when("since", nullable=True),
    refers_to("scopes", "scope_id"),
    refers_to("memories", "memory_id", cascade=True),
    refers_to("entities", "from_entity"),
    refers_to("entities", "to_entity"),
    Index("ix_relations_from", "tenant_id", "from_entity"),
    Index("ix_relations_to", "tenant_id", "to_entity"),
    Index("ix_relations_memory", "tenant_id", "memory_id"),
)

entity_merges = table(
    "entity_merges",
    tenant(),
    key("entity_id"),
    Column("into_id", UUID, nullable=False),
    when("merged_at", default="now()"),
    refers_to("entities", "entity_id", cascade=True),
    refers_to("entities", "into_id", cascade=True),
    Index("ix_entity_merges_into", "tenant_id", "into_id"),
)

entity_merge_aliases = table(
    "entity_merge_aliases",
    tenant(),
    key("entity_id"),
    key("alias", Text),
    Column("display", Text, nullable=False),
    when("created_at"),
    Column("lent", Boolean, nullable=False),
    refers_to("entities", "entity_id", cascade=True),
)

entity_merge_memories = table(
    "entity_merge_memories",
    tenant(),
    key("entity_id"),
    key("memory_id"),
    Column("subject_id", UUID),
    Column("slot", Text),
    Column("slot_value", Text),
    Column("contested", Boolean, nullable=False, server_default=text("false")),
    Column("needs_review", Boolean, nullable=False, server_default=text("false")),
    Column("contradicts", UUID),
    refers_to("entities", "entity_id", cascade=True),
    refers_to("memories", "memory_id", cascade=True),
    Index("ix_entity_merge_memories_memory", "tenant_id", "memory_id"),
)

pronoun_bindings = table(
    "pronoun_bindings",
    tenant(),
    key("scope_id"),
    key("pronoun", Text),
    key("position", SmallInteger),
    Column("number", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("entity_type", Text, nullable=False),
    Column("session_id", Text),
    when("said_at"),
    refers_to("scopes", "scope_id", cascade=True),
)
