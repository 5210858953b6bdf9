"""Counts of what a store is made of and of what happened each day; the slots whose value changes often, marked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

from app.db.apply.memories import RowChange, change_memories
from app.db.memories.fading import FRESHNESS
from app.db.memories.listing import ScanPage
from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record
from app.model import ReviewReason

NOW = "now."
"""The beginning of kinds of counts of what there is; the others are of what happened on a day."""

DONE = "done"
"""The kind of the count that a day has once it was counted."""

_SLACK = timedelta(days=1)
"""How far an id's time may be from the time beside it."""

_PAGE = statement(
    f"""
    WITH page AS MATERIALIZED (
        SELECT m.status, m.type, m.category, s.kind AS scope, m.confidence, m.volatile, {FRESHNESS} AS freshness
        FROM memories m
        JOIN scopes s ON s.tenant_id = :tenant AND s.id = m.scope_id
        LEFT JOIN memory_usage u ON u.tenant_id = :tenant AND u.memory_id = m.id
        WHERE m.tenant_id = :tenant
          AND (m.scope_id, m.id) > (:after_scope, :after_id) AND (m.scope_id, m.id) <= (:scope, :id)
    )
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
    """  # noqa: S608 - composed of constants
)

_ENTITIES = statement(
    """
    SELECT NULL::date AS day, 'now.entities' AS kind, entity_type AS name, count(*) AS count FROM entities
    WHERE tenant_id = :tenant AND merged_into IS NULL GROUP BY entity_type
    """
)

_DAYS = statement(
    """
    WITH heard AS (
        SELECT (recorded_at AT TIME ZONE 'UTC')::date AS day, status, reason FROM turns
        WHERE tenant_id = :tenant AND id >= :first AND id < :last AND status <> 'received'
          AND recorded_at >= :since AND recorded_at < :until
    ), decided AS (
        SELECT (occurred_at AT TIME ZONE 'UTC')::date AS day, action, detail->>'by' AS writer FROM audit_events
        WHERE tenant_id = :tenant AND id >= :first AND id < :last
          AND occurred_at >= :since AND occurred_at < :until
          AND action IN ('memory.added', 'memory.merged', 'memory.rejected', 'memory.contradicted')
    ), told AS (
        SELECT day, 'turn' AS kind, status AS name FROM heard
        UNION ALL
        SELECT day, 'skipped', coalesce(regexp_replace(left(reason, 200), '[0-9]+([.,][0-9]+)*', 'N', 'g'), 'other')
        FROM heard WHERE status = 'skipped'
        UNION ALL
        SELECT day, 'decision', substr(action, length('memory.') + 1) FROM decided
        WHERE action <> 'memory.contradicted'
        UNION ALL
        SELECT day, 'decision', 'contradicted'
        FROM (SELECT DISTINCT day, writer FROM decided WHERE action = 'memory.contradicted') each
    ), counted AS (
        SELECT day, kind, name, count(*) AS count,
            row_number() OVER (PARTITION BY day, kind ORDER BY count(*) DESC, name) AS place
        FROM told GROUP BY day, kind, name
    )
    SELECT day, kind, CASE WHEN place <= :most THEN name ELSE 'other' END AS name, sum(count)::bigint AS count
    FROM counted GROUP BY 1, 2, 3
    """
)

_READ = statement(
    """
    SELECT day, kind, name, count, computed_at FROM store_days
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
    SELECT :tenant, coalesce(g.day, CAST(:now AS timestamptz)::date), g.kind, g.name, g.count, 0, :now
    FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS g(day date, kind text, name text, count bigint)
    ON CONFLICT (tenant_id, day, kind, name) DO UPDATE SET count = excluded.count, computed_at = excluded.computed_at
    """
)

MOST_REASONS = 20
"""Most reasons of a day's skipped turns that are counted separately; the rarer ones are `other`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCount:
    """The number of a kind that are `name`, on a day (UTC), or now where that is None.

    Of a day: turns by status, skipped ones by reason, writes by decision, of which one that contradicts counts once,
    however many memories it contradicts.
    """

    day: date | None
    kind: str
    name: str
    count: int


async def page(session: ReadSession, tenant: UUID, page: ScanPage, *, now: datetime) -> list[StoreCount]:
    """Return what a page of the store holds."""
    rows = await session.fetch(_PAGE, {"tenant": tenant, "now": now, **page.values()})
    return [as_record(StoreCount, row) for row in rows]


async def entities(session: ReadSession, tenant: UUID) -> list[StoreCount]:
    """Return how many entities there are of each type, those merged into others left out."""
    return [as_record(StoreCount, row) for row in await session.fetch(_ENTITIES, {"tenant": tenant})]


async def count_days(session: ReadSession, tenant: UUID, first: date, last: date) -> list[StoreCount]:
    """Return what happened on each of these days, both included."""
    since, until = (datetime.combine(day, time(), UTC) for day in (first, last + timedelta(days=1)))
    ids = {"first": _id_of(since - _SLACK), "last": _id_of(until + _SLACK)}
    values = {"tenant": tenant, "since": since, "until": until, "most": MOST_REASONS, **ids}
    return [as_record(StoreCount, row) for row in await session.fetch(_DAYS, values)]


async def read_counts(session: ReadSession, tenant: UUID, since: date) -> tuple[datetime | None, list[StoreCount]]:
    """Return when the store was counted last, None for never; what there was, and what happened since a day."""
    rows = await session.fetch(_READ, {"tenant": tenant, "since": since})
    found = [as_record(StoreCount, row, day=None if row["kind"].startswith(NOW) else row["day"]) for row in rows]
    return max((row["computed_at"] for row in rows if row["kind"].startswith(NOW)), default=None), found


async def store_counts(
    session: WriteSession,
    tenant: UUID,
    counts: Iterable[StoreCount],
    *,
    days: Sequence[date],
    kept: date,
    now: datetime,
) -> None:
    """Put counts in place of what there was, and of what these days have; days before `kept` go."""
    await session.fetch(_FORGET, {"tenant": tenant, "days": list(days), "kept": kept})
    given = [{**asdict(one), "day": one.day and one.day.isoformat()} for one in counts]
    given += [{"day": day.isoformat(), "kind": DONE, "name": "", "count": 0} for day in days]
    await session.fetch(_KEEP, {"tenant": tenant, "given": json.dumps(given), "now": now})


def _id_of(moment: datetime) -> UUID:
    """Return the least UUIDv7 of a moment."""
    return UUID(int=max(0, int(moment.timestamp() * 1000)) << 80)


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
