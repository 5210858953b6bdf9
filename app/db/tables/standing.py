"""What became of faded memories, and how a tenant's store looked each day."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Date, Index, Text
from sqlalchemy.dialects.postgresql import UUID

from app.db.tables.base import key, refers_to, table, tenant, when

memory_folds = table(
    "memory_folds",
    tenant(),
    key("memory_id"),
    Column("into_id", UUID, nullable=False),
    when("folded_at"),
    refers_to("memories", "memory_id", cascade=True),
    refers_to("memories", "into_id", cascade=True),
    Index("ix_memory_folds_into", "tenant_id", "into_id"),
)

store_days = table(
    "store_days",
    tenant(),
    key("day", Date),
    key("kind", Text),
    key("name", Text),
    Column("count", BigInteger, nullable=False),
    Column("total", BigInteger, nullable=False),
    when("computed_at"),
)
