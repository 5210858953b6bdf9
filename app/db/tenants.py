"""Rows of tenants with their settings.

Sessions that read or write tenants must be the operator's (`AS_OPERATOR`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic_core import to_json

from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record, values_of

AS_OPERATOR = {"app.operator": "on"}
"""The setting of a transaction that writes rows of `tenants`, or reads those of all tenants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A tenant: the isolation boundary of memories."""

    id: UUID
    name: str
    created_at: datetime


_INSERT = statement(
    "INSERT INTO tenants (id, name, created_at) VALUES (:id, :name, :created_at) ON CONFLICT (name) DO NOTHING"
)

_TENANTS = "SELECT id, name, created_at FROM tenants"

_BY_NAME = statement(f"{_TENANTS} WHERE name = :name")

_BY_ID = statement(f"{_TENANTS} WHERE id = :id")

_ALL = statement(f"{_TENANTS} ORDER BY created_at, id")

_SETTINGS = "SELECT settings, types_version FROM tenants WHERE id = :tenant"

_READ_SETTINGS = statement(_SETTINGS)

_LOCK_SETTINGS = statement(f"{_SETTINGS} FOR NO KEY UPDATE")

_CHANGE_SETTINGS = statement("UPDATE tenants SET settings = CAST(:settings AS jsonb) WHERE id = :tenant")


async def insert_tenant(session: WriteSession, tenant: Tenant) -> bool:
    """Store a tenant; return False when the name is taken."""
    return await session.change(_INSERT, values_of(tenant)) > 0


async def find_by_name(session: ReadSession, name: str) -> Tenant | None:
    """Return the tenant of that name."""
    rows = await session.fetch(_BY_NAME, {"name": name})
    return as_record(Tenant, rows[0]) if rows else None


async def find_by_id(session: ReadSession, tenant: UUID) -> Tenant | None:
    """Return the tenant of that id."""
    rows = await session.fetch(_BY_ID, {"id": tenant})
    return as_record(Tenant, rows[0]) if rows else None


async def list_tenants(session: ReadSession) -> Sequence[Tenant]:
    """Return every tenant, oldest first."""
    return [as_record(Tenant, row) for row in await session.fetch(_ALL, {})]


_WITH_OLD = statement("SELECT tenant FROM tenants_with_old(:what, :before) AS tenant")


class OldRows(StrEnum):
    """Rows of all tenants that a schedule looks after once they are old."""

    WAITING_TURNS = "waiting turns"
    FINISHED_JOBS = "finished jobs"
    USAGE = "usage"
    QUERY_LOG = "query log"


async def with_old(session: ReadSession, what: OldRows, before: datetime) -> Sequence[UUID]:
    """Return the tenants that have such rows from before an instant, in one statement for all of them."""
    return [row["tenant"] for row in await session.fetch(_WITH_OLD, {"what": what, "before": before})]


async def settings(session: ReadSession, tenant: UUID, *, lock: bool = False) -> Mapping[str, object]:
    """Return a tenant's settings, empty for none; with `lock`, lock them until the transaction ends."""
    rows = await session.fetch(_LOCK_SETTINGS if lock else _READ_SETTINGS, {"tenant": tenant})
    return (rows[0]["settings"] if rows else None) or {}


async def settings_and_types(session: ReadSession, tenant: UUID) -> tuple[Mapping[str, object], int]:
    """Return a tenant's settings, and the version of its own types."""
    rows = await session.fetch(_READ_SETTINGS, {"tenant": tenant})
    return (rows[0]["settings"], rows[0]["types_version"]) if rows else ({}, 0)


async def change_settings(session: WriteSession, tenant: UUID, given: Mapping[str, object]) -> None:
    """Replace settings of a tenant."""
    await session.change(_CHANGE_SETTINGS, {"tenant": tenant, "settings": to_json(given).decode()})
