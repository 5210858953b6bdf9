"""Tables of erasures, the audit log with its seals, idempotency keys, and costs of extraction.

An erasure's rows hold times, counts and digests, no content.
"""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    Column,
    Date,
    Float,
    Identity,
    Index,
    LargeBinary,
    SmallInteger,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, UUID

from app.db.tables.base import json_object, key, refers_to, table, tenant, when

erasures = table(
    "erasures",
    tenant(),
    key("id"),
    Column("kind", Text, nullable=False),
    Column("status", Text, nullable=False),
    # The user's id while the erasure runs, null afterwards.
    Column("subject", Text),
    Column("subject_hash", LargeBinary),
    Column("scopes", ARRAY(UUID), nullable=False, server_default=text("'{}'")),
    json_object("counts"),
    Column("ids_digest", LargeBinary),
    Column("digest", LargeBinary),
    Column("actor", Text, nullable=False),
    when("started_at"),
    when("finished_at", nullable=True),
    CheckConstraint("kind IN ('memory', 'user', 'document')", name="kind"),
    CheckConstraint("status IN ('running', 'finished')", name="status"),
    CheckConstraint("status = 'running' OR subject IS NULL", name="subject"),
    Index(
        "uq_erasures_running",
        "tenant_id",
        "subject_hash",
        unique=True,
        postgresql_where=text("status = 'running'"),
    ),
)

erased_ids = table(
    "erased_ids",
    tenant(),
    key("id"),
    Column("kind", Text, nullable=False),
    Column("erasure_id", UUID, nullable=False),
    # SHA-256 of the content, until the erasure has computed one digest of all.
    Column("content_digest", LargeBinary),
    refers_to("erasures", "erasure_id"),
    Index("ix_erased_ids_erasure", "tenant_id", "erasure_id"),
)

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
    Column("position", BigInteger, Identity(always=True), nullable=False),
    Column("salt", UUID, server_default=text("gen_random_uuid()")),
    Column("detail_digest", LargeBinary),
    Column("redacted_by", UUID),
    CheckConstraint("(redacted_by IS NULL) = (detail_digest IS NULL)", name="redaction"),
    Index("ix_audit_events_memory", "tenant_id", "memory_id", "position"),
    Index("ix_audit_events_scope", "tenant_id", "scope_id", "position"),
    Index("ix_audit_events_position", "tenant_id", "position"),
    Index("ix_audit_events_others", "tenant_id", "position", postgresql_where=text("action NOT LIKE 'memory.%'")),
)

audit_seals = table(
    "audit_seals",
    tenant(),
    key("seq", BigInteger),
    when("sealed_at"),
    Column("events", ARRAY(UUID), nullable=False),
    Column("digests", LargeBinary, nullable=False),
    Column("previous", LargeBinary, nullable=False),
    Column("digest", LargeBinary, nullable=False),
)

audit_unsealed = table(
    "audit_unsealed",
    tenant(),
    key("position", BigInteger),
    Column("event_id", UUID, nullable=False),
)

idempotency_keys = table(
    "idempotency_keys",
    tenant(),
    key("route", Text),
    key("key", Text),
    Column("fingerprint", LargeBinary, nullable=False),
    Column("status", SmallInteger, nullable=False),
    Column("response", JSONB, nullable=False),
    when("created_at", default="now()"),
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
