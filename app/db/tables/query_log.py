"""Table of the query log: what was asked, how it was answered, and how long each stage took."""

from __future__ import annotations

from sqlalchemy import ARRAY, Column, Double, Index, Integer, Text, text
from sqlalchemy.dialects.postgresql import UUID

from app.db.tables.base import json_object, key, table, tenant, when

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
