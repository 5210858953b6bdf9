"""Rows of tenants with their settings, scopes with their locks, and daily costs of extraction.

Sessions that read or write tenants must be the operator's (`AS_OPERATOR`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from asyncpg import Record
from pydantic_core import to_json

from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record, values_of
from app.model import Scope, ScopeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionCost:
    """A day's turns, those skipped before extraction and failed in it, and the model's calls, tokens and cost.

    `cost` is in the currency of the configured prices.
    """

    day: date
    turns: int = 0
    skipped: int = 0
    failed: int = 0
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0


_ADD = statement(
    """
    INSERT INTO extraction_costs AS c (tenant_id, day, turns, skipped, failed, requests, input_tokens, output_tokens,
        cost)
    VALUES (:tenant, :day, :turns, :skipped, :failed, :requests, :input_tokens, :output_tokens, :cost)
    ON CONFLICT (tenant_id, day) DO UPDATE SET
        turns = c.turns + excluded.turns, skipped = c.skipped + excluded.skipped, failed = c.failed + excluded.failed,
        requests = c.requests + excluded.requests, input_tokens = c.input_tokens + excluded.input_tokens,
        output_tokens = c.output_tokens + excluded.output_tokens, cost = c.cost + excluded.cost
    """
)

_BETWEEN = statement(
    """
    SELECT day, turns, skipped, failed, requests, input_tokens, output_tokens, cost FROM extraction_costs
    WHERE tenant_id = :tenant AND day BETWEEN :since AND :until ORDER BY day
    """
)

_WITH_OLD = statement("SELECT tenant FROM tenants_with_old(:what, :before) AS tenant")


async def add(session: WriteSession, tenant: UUID, cost: ExtractionCost) -> None:
    """Add to the counts of a day."""
    await session.change(_ADD, {"tenant": tenant, **values_of(cost)})


async def between(session: ReadSession, tenant: UUID, since: date, until: date) -> Sequence[ExtractionCost]:
    """Return the days that have costs, oldest first, both ends included."""
    rows = await session.fetch(_BETWEEN, {"tenant": tenant, "since": since, "until": until})
    return [ExtractionCost(**row) for row in rows]


_LOCK = statement("SELECT version FROM scopes WHERE tenant_id = :tenant AND id = :scope FOR UPDATE")


_VERSION = statement("SELECT version FROM scopes WHERE tenant_id = :tenant AND id = :scope")

_MATCHING = statement(
    """
    SELECT id, memory_count FROM scopes
    WHERE tenant_id = :tenant AND (CAST(:user AS text) IS NULL OR user_id = :user)
      AND (CAST(:agent AS text) IS NULL OR agent_id = :agent) AND (CAST(:kind AS text) IS NULL OR kind = :kind)
    ORDER BY id
    """
)

_OF_USER = statement("SELECT id, memory_count FROM scopes WHERE tenant_id = :tenant AND user_id = :user ORDER BY id")


def scope_of(row: Mapping[str, Any] | Record, kind: str = "scope_kind") -> Scope:
    """Return the scope of a row with columns `user_id`, `agent_id`, and `kind` for the scope's kind."""
    return Scope(kind=ScopeKind(row[kind]), user_id=row["user_id"], agent_id=row["agent_id"])


async def scope_version(session: ReadSession, tenant: UUID, scope: UUID) -> int:
    """Return the version of a scope, 0 when nothing was ever written to it."""
    rows = await session.fetch(_VERSION, {"tenant": tenant, "scope": scope})
    return int(rows[0]["version"]) if rows else 0


async def find_scopes(
    session: ReadSession, tenant: UUID, *, user: str | None, agent: str | None, kind: str | None = None
) -> dict[UUID, int]:
    """Return the scopes of a user, an agent and a kind, each with its number of memories; None matches any."""
    rows = await session.fetch(_MATCHING, {"tenant": tenant, "user": user, "agent": agent, "kind": kind})
    return {row["id"]: row["memory_count"] for row in rows}


async def scopes_of_user(session: ReadSession, tenant: UUID, user: str) -> dict[UUID, int]:
    """Return the scopes of a user, whatever the agent, each with its number of memories.

    Apart from `find_scopes`, so that an erasure never finds every scope for want of a name.
    """
    rows = await session.fetch(_OF_USER, {"tenant": tenant, "user": user})
    return {row["id"]: row["memory_count"] for row in rows}


async def lock_scope(session: WriteSession, tenant: UUID, scope: UUID) -> int | None:
    """Lock a scope until the transaction ends; return its version, None when it does not exist."""
    rows = await session.fetch(_LOCK, {"tenant": tenant, "scope": scope})
    return int(rows[0]["version"]) if rows else None


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
