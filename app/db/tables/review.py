"""Tables of claims on review items and of comments on them, which are deleted with the memory."""

from __future__ import annotations

from sqlalchemy import Column, Index, Text
from sqlalchemy.dialects.postgresql import UUID

from app.db.tables.base import key, refers_to, table, tenant, when

review_claims = table(
    "review_claims",
    tenant(),
    key("memory_id"),
    Column("reviewer", Text, nullable=False),
    when("until"),
    refers_to("memories", "memory_id", cascade=True),
)

review_comments = table(
    "review_comments",
    tenant(),
    key("id"),
    Column("memory_id", UUID, nullable=False),
    Column("reviewer", Text, nullable=False),
    Column("comment", Text, nullable=False),
    when("created_at"),
    refers_to("memories", "memory_id", cascade=True),
    Index("ix_review_comments_memory", "tenant_id", "memory_id", "created_at"),
)
