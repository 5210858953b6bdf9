"""Tables of backfills and of the memories that they change, before and after."""

from __future__ import annotations

from sqlalchemy import ARRAY, CheckConstraint, Column, Index, Text, text
from sqlalchemy.dialects.postgresql import JSONB, UUID

from app.db.tables.base import json_object, key, one_of, refers_to, table, tenant, when
from app.memory.backfill import BackfillStatus, ItemState

backfills = table(
    "backfills",
    tenant(),
    key("id"),
    Column("type", Text, nullable=False),
    Column("sources", ARRAY(Text), nullable=False),
    Column("classifier", Text, nullable=False),
    Column("scopes", ARRAY(UUID)),
    Column("status", Text, nullable=False),
    Column("actor", Text, nullable=False),
    json_object("counts"),
    Column("cursor", UUID),
    Column("job_id", UUID),
    when("created_at"),
    when("previewed_at", nullable=True),
    when("committed_at", nullable=True),
    when("undone_at", nullable=True),
    CheckConstraint("classifier IN ('rules', 'model')", name="classifier"),
    one_of("status", BackfillStatus),
)

backfill_items = table(
    "backfill_items",
    tenant(),
    key("backfill_id"),
    key("memory_id"),
    Column("scope_id", UUID, nullable=False),
    # Items of one unit compete for a slot and are changed together or not at all.
    Column("unit", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("effect", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("reason", Text),
    Column("note", Text),
    Column("why", Text),
    Column("adopted", JSONB(none_as_null=True)),
    json_object("before"),
    json_object("after"),
    Column("stamped", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    Column("links", JSONB, nullable=False, server_default=text("'[]'::jsonb")),
    json_object("rests_on"),
    when("seen_at"),
    when("applied_at", nullable=True),
    one_of("state", ItemState),
    refers_to("backfills", "backfill_id", cascade=True),
    refers_to("memories", "memory_id", cascade=True),
    Index("ix_backfill_items_unit", "tenant_id", "backfill_id", "state", "scope_id", "unit"),
    Index("ix_backfill_items_memory", "tenant_id", "memory_id"),
)
