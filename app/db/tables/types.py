"""Tables of memory types, built-in and tenants' own, and of their versions."""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Integer,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSON, UUID

from app.db.tables.base import NOBODY, key, table, tenant, when

memory_types = table(
    "memory_types",
    Column("tenant_id", UUID, primary_key=True, server_default=text(f"'{NOBODY}'")),
    Column("name", Text, primary_key=True),
    Column("description", Text, nullable=False),
    when("created_at", default="now()"),
    Column("version", Integer, nullable=False, server_default=text("0")),
    CheckConstraint(f"(tenant_id = '{NOBODY}') = (version = 0)", name="version"),
)

memory_type_versions = table(
    "memory_type_versions",
    tenant(),
    key("name", Text),
    key("version", Integer),
    Column("definition", JSON, nullable=False),
    when("created_at"),
    Column("created_by", Text, nullable=False),
    ForeignKeyConstraint(
        ["tenant_id", "name"],
        ["memory_types.tenant_id", "memory_types.name"],
        ondelete="CASCADE",
    ),
    CheckConstraint("version > 0", name="version"),
)
