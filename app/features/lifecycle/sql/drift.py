"""Daily figures of a tenant's store, and the slots whose value changes often, which are marked."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

from app.db.apply.memories import RowChange, change_memories
from app.db.memories.fading import FRESHNESS
from app.db.memories.listing import ScanPage
from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record
from app.memory.drift import DayRow
from app.model import ReviewReason

NOW = "now."
"""How kinds of rows begin that say what there is, rather than what happened on a day."""

DONE = "done"
"""The kind of the row that a day has once it was counted."""

_SLACK = timedelta(days=1)
"""How far an id's time may be from the time beside it."""

_PAGE = statement(
    f"""
    WITH page AS MATERIALIZED (
        SELECT m.status, m.type, m.category, s.kind AS scope, m.confidence, m.volatile,
            (m.recorded_at AT TIME ZONE 'UTC')::date AS day, {FRESHNESS} AS freshness
        FROM memories m
        JOIN scopes s ON s.tenant_id = :tenant AND s.id = m.scope_id
        LEFT JOIN memory_usage u ON u.tenant_id = :tenant AND u.memory_id = m.id
        WHERE m.tenant_id = :tenant
          AND (m.scope_id, m.id) > (:after_scope, :after_id) AND (m.scope_id, m.id) <= (:scope, :id)
    ), recorded AS (SELECT * FROM page WHERE day = ANY(:days))
    SELECT NULL::date AS day, 'now.memories' AS kind, concat_ws('|', status, type, category, scope) AS name,
        count(*) AS count FROM page GROUP BY status, type, category, scope
    UNION ALL
    SELECT NULL, 'now.confidence', least(9, floor(confidence * 10))::int::text, count(*) FROM page
    WHERE status = 'active' GROUP BY 3
    UNION ALL
    SELECT NULL, 'now.freshness', CASE WHEN freshness < 0.1 THEN '0' WHEN freshness < 0.2 THEN '0.1'
        WHEN freshness < 0.5 THEN '0.2' WHEN freshness < 1 THEN '0.5' ELSE '1' END, count(*) FROM page
    WHERE status = 'active' GROUP BY 3
    UNION ALL
    SELECT NULL, 'now.volatile', 'slots', count(*) FROM page WHERE volatile
    UNION ALL
    SELECT day, 'type', type, count(*) FROM recorded GROUP BY day, type
    UNION ALL
    SELECT day, 'confidence', 'sum', round(sum(confidence) * 1000)::bigint FROM recorded GROUP BY day
    UNION ALL
    SELECT day, 'confidence', 'squares', round(sum(confidence * confidence) * 1000000)::bigint FROM recorded
    GROUP BY day
    """  # noqa: S608 - composed of constants
)

_ENTITIES = statement(
    """
    SELECT entity_type AS name, count(*) FROM entities WHERE tenant_id = :tenant AND merged_into IS NULL
    GROUP BY entity_type
    """
)

_PLAIN = "regexp_replace(left({}, 200), '[0-9]+([.,][0-9]+)*', 'N', 'g')"
"""A reason without its numbers, so that equal reasons count together."""

_TURNS = statement(
    f"""
    SELECT (recorded_at AT TIME ZONE 'UTC')::date AS day, status, {_PLAIN.format("reason")} AS reason, count(*)
    FROM turns
    WHERE tenant_id = :tenant AND id >= :first AND id < :last AND status <> 'received'
      AND recorded_at >= :since AND recorded_at < :until
    GROUP BY 1, 2, 3
    """  # noqa: S608 - composed of constants
)

_DECISIONS = statement(
    f"""
    SELECT (occurred_at AT TIME ZONE 'UTC')::date AS day, action,
        CASE WHEN action = 'memory.rejected' THEN {_PLAIN.format("detail->>'reason'")} END AS reason,
        count(*) AS count, count(DISTINCT detail->>'by') AS writers
    FROM audit_events
    WHERE tenant_id = :tenant AND id >= :first AND id < :last
      AND occurred_at >= :since AND occurred_at < :until
      AND action IN ('memory.added', 'memory.merged', 'memory.rejected', 'memory.contradicted')
    GROUP BY 1, 2, 3
    """  # noqa: S608 - composed of constants
)

_COUNTED = statement("SELECT day FROM store_days WHERE tenant_id = :tenant AND day >= :since AND kind = 'done'")

_SINCE = statement(
    """
    SELECT day, kind, name, count, total, computed_at FROM store_days
    WHERE tenant_id = :tenant AND (day >= :since OR kind LIKE 'now.%') ORDER BY day, kind, name
    """
)

_FORGET = statement(
    """
    DELETE FROM store_days WHERE tenant_id = :tenant AND (kind LIKE 'now.%' OR day = ANY(:days) OR day < :kept)
    """
)

_KEEP = statement(
    """
    INSERT INTO store_days (tenant_id, day, kind, name, count, total, computed_at)
    SELECT :tenant, g.day, g.kind, g.name, g.count, g.total, :now
    FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS g(day date, kind text, name text, count bigint, total bigint)
    ON CONFLICT (tenant_id, day, kind, name)
    DO UPDATE SET count = excluded.count, total = excluded.total, computed_at = excluded.computed_at
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyCounts:
    """The count of a name on a day; `day` is None for the present count."""

    day: date | None
    kind: str
    name: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCounts:
    """The count of a day's turns by status and reason, or of its writes by decision."""

    day: date
    status: str
    reason: str | None
    count: int


async def page(
    session: ReadSession, tenant: UUID, page: ScanPage, *, days: Collection[date], now: datetime
) -> list[DailyCounts]:
    """Return what a page of the store holds now, and what of it was recorded on these days."""
    rows = await session.fetch(_PAGE, {"tenant": tenant, "days": list(days), "now": now, **page.values()})
    return [as_record(DailyCounts, row) for row in rows]


async def entities(session: ReadSession, tenant: UUID) -> list[DailyCounts]:
    """Return how many entities there are of each type, those merged into others left out."""
    rows = await session.fetch(_ENTITIES, {"tenant": tenant})
    return [DailyCounts(day=None, kind=f"{NOW}entities", name=row["name"], count=row["count"]) for row in rows]


async def turns(session: ReadSession, tenant: UUID, since: datetime, until: datetime) -> list[TurnCounts]:
    """Return how the turns ended that were recorded in that time, by day."""
    rows = await session.fetch(_TURNS, {"tenant": tenant, **_between(since, until)})
    return [as_record(TurnCounts, row) for row in rows]


async def decisions(session: ReadSession, tenant: UUID, since: datetime, until: datetime) -> list[TurnCounts]:
    """Return what the writes of that time came to, by day.

    A write that contradicts counts once, however many memories it contradicts.
    """
    rows = await session.fetch(_DECISIONS, {"tenant": tenant, **_between(since, until)})
    return [
        TurnCounts(
            day=row["day"],
            status=row["action"].removeprefix("memory."),
            reason=row["reason"],
            count=row["writers"] if row["action"] == "memory.contradicted" else row["count"],
        )
        for row in rows
    ]


async def read_counted_days(session: ReadSession, tenant: UUID, since: date) -> set[date]:
    """Return the days from `since` on that were counted."""
    rows = await session.fetch(_COUNTED, {"tenant": tenant, "since": since})
    return {row["day"] for row in rows}


async def read_days(session: ReadSession, tenant: UUID, since: date) -> list[tuple[DayRow, datetime]]:
    """Return the rows of days from `since` on, and those of the present, with the time they were computed."""
    rows = await session.fetch(_SINCE, {"tenant": tenant, "since": since})
    return [(as_record(DayRow, row), row["computed_at"]) for row in rows]


async def store_day(
    session: WriteSession,
    tenant: UUID,
    rows: Iterable[DayRow],
    *,
    days: Sequence[date],
    oldest: date,
    now: datetime,
) -> None:
    """Put rows in place of what these days have, and of what there was; days before `oldest` go."""
    await session.fetch(_FORGET, {"tenant": tenant, "days": list(days), "kept": oldest})
    given = [
        {"day": one.day.isoformat(), "kind": one.kind, "name": one.name, "count": one.count, "total": one.total}
        for one in rows
    ]
    await session.fetch(_KEEP, {"tenant": tenant, "given": json.dumps(given), "now": now})


def _between(since: datetime, until: datetime) -> dict[str, object]:
    """Return a stretch of time as parameters: as times, and as ids, which begin with the time they were made at."""
    return {"since": since, "until": until, "first": _id_of(since - _SLACK), "last": _id_of(until + _SLACK)}


def _id_of(moment: datetime) -> UUID:
    """Return the least UUIDv7 of a moment."""
    return UUID(int=max(0, int(moment.timestamp() * 1000)) << 80)


def midnight(day: date) -> datetime:
    """Return when a day begins, in UTC."""
    return datetime.combine(day, time(), UTC)


Slot = tuple[UUID, str, str]
"""Scope, type and slot."""

_RANGE = (
    "m.tenant_id = :tenant AND (m.scope_id, m.id) > (:after_scope, :after_id) AND (m.scope_id, m.id) <= (:scope, :id)"
)

_FLIPS = statement(
    f"""
    SELECT m.scope_id, m.type, m.slot, count(*) AS flips FROM memories m
    WHERE {_RANGE} AND m.status = 'superseded' AND m.slot IS NOT NULL AND m.ended_at > :since AND m.ended_at <= :now
    GROUP BY m.scope_id, m.type, m.slot
    """  # noqa: S608 - composed of constants
)

_MARKED = statement(
    f"""
    SELECT m.id, m.scope_id, m.type, m.slot, m.status = 'active' AND NOT m.contested AS holds FROM memories m
    WHERE {_RANGE} AND m.volatile
    """  # noqa: S608 - composed of constants
)

_HOLDERS = statement(
    """
    SELECT m.id, m.scope_id, m.review_reason, g.flips
    FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS g(scope_id uuid, type text, slot text, flips int)
    JOIN memories m ON m.tenant_id = :tenant AND m.scope_id = g.scope_id AND m.type = g.type AND m.slot = g.slot
        AND m.status = 'active' AND NOT m.contested AND NOT m.volatile
    ORDER BY m.id FOR NO KEY UPDATE OF m
    """
)

_LOCK_MARKED = statement(
    """
    SELECT m.id, m.scope_id, m.review_reason FROM memories m
    WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.volatile ORDER BY m.id FOR NO KEY UPDATE
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VolatileSlot:
    """A memory marked as volatile; `holds`: it still is what its slot holds."""

    id: UUID
    slot: Slot
    holds: bool


async def flips(
    session: ReadSession, tenant: UUID, page: ScanPage, *, since: datetime, now: datetime
) -> Mapping[Slot, int]:
    """Return how often slots' values ceased to hold in that time, as far as a page of the store shows."""
    rows = await session.fetch(_FLIPS, {"tenant": tenant, "since": since, "now": now, **page.values()})
    return {(row["scope_id"], row["type"], row["slot"]): row["flips"] for row in rows}


async def read_marked(session: ReadSession, tenant: UUID, page: ScanPage) -> list[VolatileSlot]:
    """Return the memories of a page that are marked."""
    rows = await session.fetch(_MARKED, {"tenant": tenant, **page.values()})
    return [
        VolatileSlot(id=row["id"], slot=(row["scope_id"], row["type"], row["slot"]), holds=row["holds"]) for row in rows
    ]


async def mark(
    session: WriteSession, tenant: UUID, slots: Mapping[Slot, int], *, days: int, now: datetime
) -> list[tuple[UUID, UUID, int]]:
    """Mark what the slots hold, and ask a person to look at it unless one is asked to already.

    Return memory, scope and flips of those that were not marked before: they are asked about once.
    """
    given = [
        {"scope_id": str(scope), "type": kind, "slot": slot, "flips": count}
        for (scope, kind, slot), count in slots.items()
    ]
    rows = await session.fetch(_HOLDERS, {"tenant": tenant, "given": json.dumps(given)})
    changes = []
    for row in rows:
        values: dict[str, object] = {"volatile": True}
        if row["review_reason"] is None:
            note = f"the value of its slot was replaced {row['flips']} times in {days} days"
            values |= {"review_reason": ReviewReason.VOLATILE, "review_note": note, "review_since": now}
        changes.append(RowChange(id=row["id"], values=values))
    await change_memories(session, tenant, changes, at=now)
    return [(row["id"], row["scope_id"], row["flips"]) for row in rows]


async def clear_mark(
    session: WriteSession, tenant: UUID, memories: Sequence[UUID], *, now: datetime
) -> list[tuple[UUID, UUID]]:
    """Take the mark off, and the question to people with it; return memory and scope of those that had it."""
    rows = await session.fetch(_LOCK_MARKED, {"tenant": tenant, "ids": list(memories)})
    cleared: dict[str, object] = {"volatile": False}
    reviewed = {**cleared, "review_reason": None, "review_note": None, "review_since": None}
    changes = [
        RowChange(id=row["id"], values=reviewed if row["review_reason"] == ReviewReason.VOLATILE else cleared)
        for row in rows
    ]
    await change_memories(session, tenant, changes, at=now)
    return [(row["id"], row["scope_id"]) for row in rows]
