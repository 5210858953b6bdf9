"""The audit log: appends events, reads them in pages and by seal, seals them, compares them with memories."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

from asyncpg import Record

from app import ids
from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import Row, insert_all, values_of
from app.memory.audit import AuditAction, AuditRecord, Seal

_NOTHING: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditWriter:
    """Makes the events of one change, which share tenant, actor, time and scope."""

    tenant: UUID
    actor: str
    at: datetime
    scope: UUID | None = None

    def event(self, action: AuditAction, detail: Mapping[str, object] = _NOTHING, *, memory: UUID | None = None) -> Row:
        """Return an event as a row.

        `detail` holds ids, numbers and the service's own words, never content. A change of the memory's status or
        confidence is a pair, [before, after] (null before a new memory), and nothing else is stored as `status` or as
        a pair under `confidence`: the status and confidence of every memory can be rebuilt from these.
        """
        return {
            "tenant_id": self.tenant,
            "id": ids.new(),
            "occurred_at": self.at,
            "actor": self.actor,
            "action": action,
            "memory_id": memory,
            "scope_id": self.scope,
            "detail": detail,
        }


async def append(session: WriteSession, events: Sequence[Row]) -> None:
    """Append events, in this order, in the transaction of the changes that they record."""
    await insert_all(session, {"audit_events": events})


MOST_IN_A_SEAL = 1_000
"""Most events that one seal covers: a verification holds that many in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """An event of the audit log. `position` orders the events of a scope as they were committed."""

    id: UUID
    position: int
    at: datetime
    actor: str
    action: str
    memory: UUID | None
    scope: UUID | None
    detail: Mapping[str, Any]
    redacted_by: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """A filter of events; None leaves a dimension open.

    `action` is an action or, with a dot at its end, a prefix of actions.
    """

    memory: UUID | None = None
    scopes: tuple[UUID, ...] | None = None
    action: str | None = None
    actor: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The numbers of events: all, sealed, and waiting to be sealed."""

    events: int
    sealed: int
    waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedMemory:
    """A memory's status and confidence beside those of the log, which are None where the log has none."""

    memory: UUID
    status: str
    confidence: float
    logged_status: str | None
    logged_confidence: float | None


_ENTRY = "id, position, occurred_at AS at, actor, action, memory_id AS memory, scope_id AS scope, detail, redacted_by"

_CONDITIONS = {
    "memory": "memory_id = :memory",
    "scopes": "scope_id = ANY(:scopes)",
    "action": "action = :action",
    "prefix": "starts_with(action, :prefix)",
    "actor": "actor = :actor",
    "since": "occurred_at >= :since",
    "until": "occurred_at < :until",
}

_MEMORIES = "memory."

_NOT_OF_MEMORIES = "action NOT LIKE 'memory.%'"
"""The condition of the partial index of events that are not about memories."""

_OF_MEMORIES = statement(
    f"SELECT {_ENTRY} FROM audit_events WHERE tenant_id = :tenant AND memory_id = ANY(:ids)"  # noqa: S608
    " AND (CAST(:until AS timestamptz) IS NULL OR occurred_at <= :until) ORDER BY position"
)

_SEAL = statement("SELECT seal_audit(:tenant, :most)")

# It reads all that waits: in a five-hundredth of the time that sealing it takes.
_WAITING_TENANTS = statement("SELECT DISTINCT tenant_id FROM audit_unsealed ORDER BY tenant_id")

_SEALS = statement(
    """
    SELECT seq, sealed_at, events, digests, previous, digest FROM audit_seals
    WHERE tenant_id = :tenant AND seq > :after ORDER BY seq LIMIT :limit
    """
)

_HEAD = statement(
    """
    SELECT seq, sealed_at, events, digests, previous, digest FROM audit_seals
    WHERE tenant_id = :tenant ORDER BY seq DESC LIMIT 1
    """
)

_RECORDS = statement(
    """
    SELECT id, occurred_at, actor, action, memory_id AS memory, scope_id AS scope, CAST(detail AS text) AS detail,
        salt, detail_digest, redacted_by
    FROM audit_events WHERE tenant_id = :tenant AND id = ANY(:ids)
    """
)

_ERASURES = statement("SELECT id FROM audit_events WHERE tenant_id = :tenant AND action = :action AND id = ANY(:ids)")

_COUNTS = statement(
    """
    SELECT (SELECT count(*) FROM audit_events WHERE tenant_id = :tenant) AS events,
        (SELECT coalesce(sum(cardinality(events)), 0) FROM audit_seals WHERE tenant_id = :tenant) AS sealed,
        (SELECT count(*) FROM audit_unsealed WHERE tenant_id = :tenant) AS waiting
    """
)

_MISSING = statement(
    """
    SELECT q.event_id FROM audit_unsealed q
    WHERE q.tenant_id = :tenant AND NOT EXISTS (
        SELECT FROM audit_events e WHERE e.tenant_id = :tenant AND e.id = q.event_id)
    ORDER BY q.position LIMIT 1
    """
)

_UNTRACKED = statement(
    """
    SELECT e.id FROM audit_events e
    WHERE e.tenant_id = :tenant
      AND e.id NOT IN (SELECT unnest(s.events) FROM audit_seals s WHERE s.tenant_id = :tenant)
      AND e.id NOT IN (SELECT q.event_id FROM audit_unsealed q WHERE q.tenant_id = :tenant)
    ORDER BY e.position LIMIT 1
    """
)

LOGGED = """
    LEFT JOIN LATERAL (
        SELECT e.detail -> 'status' ->> 1 AS logged FROM audit_events e
        WHERE e.tenant_id = :tenant AND e.memory_id = m.id AND jsonb_typeof(e.detail -> 'status') = 'array'
        ORDER BY e.position DESC LIMIT 1
    ) s ON true
    LEFT JOIN LATERAL (
        SELECT e.detail -> 'confidence' ->> 1 AS logged FROM audit_events e
        WHERE e.tenant_id = :tenant AND e.memory_id = m.id AND jsonb_typeof(e.detail -> 'confidence') = 'array'
        ORDER BY e.position DESC LIMIT 1
    ) c ON true
"""
"""Joins of a memory `m` with its status (`s.logged`) and its confidence (`c.logged`) according to the log."""

_MISLOGGED = statement(
    f"""
    SELECT m.id, m.scope_id, m.status, m.confidence,
        s.logged AS logged_status, CAST(c.logged AS float8) AS logged_confidence
    FROM memories m
    {LOGGED}
    WHERE m.tenant_id = :tenant AND m.id = ANY(:ids)
      AND (m.status, m.confidence) IS DISTINCT FROM (s.logged, CAST(c.logged AS float8))
    ORDER BY m.id
    """  # noqa: S608 - composed of constants
)

_STANDINGS = statement(
    f"""
    SELECT m.id AS memory, m.status, m.confidence,
        s.logged AS logged_status, CAST(c.logged AS float8) AS logged_confidence
    FROM (SELECT * FROM memories WHERE tenant_id = :tenant AND id > :after ORDER BY id LIMIT :limit) m
    {LOGGED}
    ORDER BY m.id
    """  # noqa: S608 - composed of constants
)


async def of_memories(
    session: ReadSession, tenant: UUID, memories: Collection[UUID], *, until: datetime | None = None
) -> list[AuditEntry]:
    """Return the events of these memories, oldest first, with `until` those up to that time."""
    rows = await session.fetch(_OF_MEMORIES, {"tenant": tenant, "ids": list(memories), "until": until})
    return [AuditEntry(**row) for row in rows]


async def page(
    session: ReadSession, tenant: UUID, asked: AuditFilter, *, descending: bool, after: int | None, limit: int
) -> list[AuditEntry]:
    """Return up to `limit` events in the order of their positions, starting after one of them."""
    given = values_of(asked) | {"scopes": None if asked.scopes is None else list(asked.scopes)}
    if asked.action is not None and asked.action.endswith("."):
        given |= {"action": None, "prefix": asked.action}
    used = {name: value for name, value in given.items() if value is not None}
    conditions = ["tenant_id = :tenant", *(_CONDITIONS[name] for name in used)]
    if asked.action is not None and not asked.action.startswith(_MEMORIES):
        conditions.append(_NOT_OF_MEMORIES)
    if after is not None:
        conditions.append(f"position {'<' if descending else '>'} :after")
    order = "DESC" if descending else "ASC"
    rows = await session.fetch(
        statement(
            f"SELECT {_ENTRY} FROM audit_events WHERE {' AND '.join(conditions)} "  # noqa: S608 - composed of constants
            f"ORDER BY position {order} LIMIT :limit"
        ),
        {**used, "tenant": tenant, "limit": limit, **({} if after is None else {"after": after})},
    )
    return [AuditEntry(**row) for row in rows]


async def seal(session: WriteSession, tenant: UUID) -> int:
    """Seal the oldest waiting events, and return how many; waits while another process seals the tenant's."""
    [[sealed]] = await session.fetch(_SEAL, {"tenant": tenant, "most": MOST_IN_A_SEAL})
    return int(sealed)


async def waiting_tenants(session: ReadSession) -> list[UUID]:
    """Return the tenants that have unsealed events; the session is the operator's."""
    return [row["tenant_id"] for row in await session.fetch(_WAITING_TENANTS, {})]


async def seals(session: ReadSession, tenant: UUID, *, after: int, limit: int) -> list[Seal]:
    """Return up to `limit` seals, in order, after the seal of that number."""
    rows = await session.fetch(_SEALS, {"tenant": tenant, "after": after, "limit": limit})
    return [_seal(row) for row in rows]


async def head(session: ReadSession, tenant: UUID) -> Seal | None:
    """Return the newest seal, None before the first."""
    rows = await session.fetch(_HEAD, {"tenant": tenant})
    return _seal(rows[0]) if rows else None


async def read_records(session: ReadSession, tenant: UUID, events: Sequence[UUID]) -> dict[UUID, AuditRecord]:
    """Return those of these events that exist, by id."""
    rows = await session.fetch(_RECORDS, {"tenant": tenant, "ids": list(events)})
    return {row["id"]: AuditRecord(**row) for row in rows}


async def erasures(session: ReadSession, tenant: UUID, events: Collection[UUID], action: str) -> set[UUID]:
    """Return the ids of those of these events that record the action."""
    rows = await session.fetch(_ERASURES, {"tenant": tenant, "ids": list(events), "action": action})
    return {row["id"] for row in rows}


async def counts(session: ReadSession, tenant: UUID) -> Counts:
    """Return the numbers of events, sealed and waiting."""
    [row] = await session.fetch(_COUNTS, {"tenant": tenant})
    return Counts(events=int(row["events"]), sealed=int(row["sealed"]), waiting=int(row["waiting"]))


async def find_missing(session: ReadSession, tenant: UUID) -> UUID | None:
    """Return the id of the first event that waits to be sealed but does not exist, None without one."""
    rows = await session.fetch(_MISSING, {"tenant": tenant})
    return rows[0]["event_id"] if rows else None


async def find_untracked(session: ReadSession, tenant: UUID) -> UUID | None:
    """Return the id of the first event that is neither sealed nor waits to be, None without one."""
    rows = await session.fetch(_UNTRACKED, {"tenant": tenant})
    return rows[0]["id"] if rows else None


async def states(session: ReadSession, tenant: UUID, *, after: UUID, limit: int) -> list[LoggedMemory]:
    """Return up to `limit` memories, by id, each with its status and confidence and those of the log."""
    rows = await session.fetch(_STANDINGS, {"tenant": tenant, "after": after, "limit": limit})
    return [LoggedMemory(**row) for row in rows]


async def misstated_events(session: WriteSession, ledger: AuditWriter, memories: Collection[UUID]) -> list[Row]:
    """Return an event for each of these memories whose status or confidence differs from the log.

    The events of an imported file record the states of a memory in its origin, and emptied events record none.
    """
    here = {"tenant": ledger.tenant, "ids": sorted(memories)}
    return [
        replace(ledger, scope=row["scope_id"]).event(
            AuditAction.MEMORY_STANDING,
            {
                "status": [row["logged_status"], row["status"]],
                "confidence": [row["logged_confidence"], row["confidence"]],
            },
            memory=row["id"],
        )
        for row in await session.fetch(_MISLOGGED, here)
    ]


def _seal(row: Record) -> Seal:
    return Seal(**{**row, "events": tuple(row["events"])})
