"""What was said."""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    Float,
    Index,
    Integer,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, UUID

from app.db.tables.base import json_object, key, one_of, refers_to, table, tenant, when
from app.memory.extraction import Role, TurnStatus
from app.model import Category

turns = table(
    "turns",
    tenant(),
    key("id"),
    Column("scope_id", UUID, nullable=False),
    Column("session_id", Text),
    Column("sequence_number", Integer),
    Column("role", Text, nullable=False),
    Column("speaker", Text),
    Column("content", Text, nullable=False),
    Column("timezone", Text, nullable=False, server_default=text("'UTC'")),
    when("occurred_at"),
    when("recorded_at", default_now=True),
    Column("status", Text, nullable=False, server_default=text("'received'")),
    Column("reason", Text),
    Column("extraction", JSONB),
    Column("report", JSONB),
    when("processed_at", nullable=True),
    when("erased_at", nullable=True),
    json_object("metadata"),
    Column("category", Text),
    Column("importance", Float),
    refers_to("scopes", "scope_id"),
    one_of("status", TurnStatus),
    one_of("role", Role),
    one_of("category", Category),
    CheckConstraint("importance BETWEEN 0 AND 1", name="importance"),
    Index("ix_turns_session", "tenant_id", "scope_id", "session_id", "occurred_at", "sequence_number", "id"),
    Index("ix_turns_occurred", "tenant_id", "scope_id", "occurred_at"),
    Index("ix_turns_unsettled", "tenant_id", "status", "id", postgresql_where=text("status <> 'processed'")),
)
