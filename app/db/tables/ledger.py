"""What was done, and what must not be done twice."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Date, Float, Index, LargeBinary, SmallInteger, Text, text
from sqlalchemy.dialects.postgresql import JSONB, UUID

from app.db.tables.base import json_object, key, table, tenant, when

audit_events = table(
    "audit_events",
    tenant(),
    key("id"),
    when("occurred_at"),
    Column("actor", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("memory_id", UUID),
    Column("scope_id", UUID),
    json_object("detail"),
    Index("ix_audit_events_memory", "tenant_id", "memory_id", "id"),
)

idempotency_keys = table(
    "idempotency_keys",
    tenant(),
    key("route", Text),
    key("key", Text),
    Column("fingerprint", LargeBinary, nullable=False),
    Column("status", SmallInteger, nullable=False),
    Column("response", JSONB, nullable=False),
    when("created_at", default_now=True),
    Index("ix_idempotency_keys_created", "tenant_id", "created_at"),
)

extraction_costs = table(
    "extraction_costs",
    tenant(),
    key("day", Date),
    *(
        Column(name, BigInteger, nullable=False, server_default=text("0"))
        for name in ("turns", "skipped", "failed", "requests", "input_tokens", "output_tokens")
    ),
    Column("cost", Float, nullable=False, server_default=text("0")),
)
