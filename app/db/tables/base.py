"""Building blocks of tables: naming convention, tenant key, common columns and constraints."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    MetaData,
    Table,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, UUID
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

NOBODY = "00000000-0000-0000-0000-000000000000"
"""The tenant id of built-in types."""


def tenant() -> Column[object]:
    """Return the tenant column, the first of every key."""
    return Column("tenant_id", UUID, ForeignKey("tenants.id"), primary_key=True)


def key(name: str, kind: TypeEngine[Any] | type[TypeEngine[Any]] = UUID) -> Column[object]:
    """Return a further column of the primary key."""
    return Column(name, kind, primary_key=True, nullable=False)


def when(name: str, *, nullable: bool = False, default: str | None = None) -> Column[object]:
    """Return a column of times with time zone; `default` is the database function that gives it."""
    return Column(
        name, DateTime(timezone=True), nullable=nullable, server_default=None if default is None else text(default)
    )


def json_object(name: str) -> Column[object]:
    """Return a column of JSON objects, empty by default."""
    return Column(name, JSONB, nullable=False, server_default=text("'{}'::jsonb"))


def one_of(column: str, values: type[StrEnum]) -> CheckConstraint:
    """Return the check that a text column holds a value of the enum."""
    allowed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({allowed})", name=column)


def refers_to(table: str, *columns: str, cascade: bool = False, deferred: bool = False) -> ForeignKeyConstraint:
    """Return a foreign key on (tenant_id, column) to another table's (tenant_id, id)."""
    return ForeignKeyConstraint(
        ["tenant_id", *columns],
        [f"{table}.tenant_id", f"{table}.id"],
        ondelete="CASCADE" if cascade else None,
        deferrable=deferred or None,
        initially="DEFERRED" if deferred else None,
    )


def table(name: str, *items: SchemaItem) -> Table:
    """Return a table of this metadata."""
    return Table(name, metadata, *items)
