"""What was erased: that it was, when, how much, and digests; nothing of what it said."""

from __future__ import annotations

from sqlalchemy import ARRAY, CheckConstraint, Column, Index, LargeBinary, Text, text
from sqlalchemy.dialects.postgresql import UUID

from app.db.tables.base import json_object, key, refers_to, table, tenant, when

erasures = table(
    "erasures",
    tenant(),
    key("id"),
    Column("kind", Text, nullable=False),
    Column("status", Text, nullable=False),
    # The user's id while the erasure runs; gone with it.
    Column("subject", Text),
    Column("subject_hash", LargeBinary),
    Column("scopes", ARRAY(UUID), nullable=False, server_default=text("'{}'")),
    json_object("counts"),
    Column("ids_digest", LargeBinary),
    Column("digest", LargeBinary),
    Column("actor", Text, nullable=False),
    when("started_at"),
    when("finished_at", nullable=True),
    CheckConstraint("kind IN ('memory', 'user')", name="kind"),
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
    # SHA-256 of what it said, until the erasure has made one digest of all of them.
    Column("content_digest", LargeBinary),
    refers_to("erasures", "erasure_id"),
    Index("ix_erased_ids_erasure", "tenant_id", "erasure_id"),
)
