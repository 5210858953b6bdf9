"""Listings of memories: filtered pages, counts, a session's episodes, an entity's facts, and scans of a whole tenant.

Pages are by keyset: a page starts after the last row of the one before, so writes between pages don't shift it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from app.db import time_travel
from app.db.memories.read import memory_of, memory_query
from app.db.memories.validity import is_on_record, is_true, is_valid
from app.db.session import Database, ReadSession, statement
from app.memory.writing import folded
from app.model import Memory


class Sort(StrEnum):
    """The order of a listing; a leading minus means descending."""

    NEWEST = "-recorded_at"
    OLDEST = "recorded_at"
    MOST_IMPORTANT = "-importance"
    LEAST_IMPORTANT = "importance"
    MOST_CONFIDENT = "-confidence"
    LATEST_STATED = "-occurred_at"
    EARLIEST_STATED = "occurred_at"

    @property
    def column(self) -> str:
        """Return the column to order by; ids are ordered by the time of recording."""
        name = self.value.removeprefix("-")
        return {"recorded_at": "id", "occurred_at": "stated_at"}.get(name, name)

    @property
    def descending(self) -> bool:
        """Return whether larger values come first."""
        return self.value.startswith("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilters:
    """The filters of a listing; empty or None leaves a dimension open.

    `scopes` None means every scope of the tenant. `as_of` selects memories that were valid then; `known_at` lists the
    store as it was known then, with former statuses. `valid_at` selects active memories that are valid then, and
    leaves others. The content contains each of `texts`, whatever the case. `entity`, or an entity merged into it, is
    mentioned. `metadata` is a JSON object that the metadata contain. `fields` are fields of the payload with their
    values and the types that have an index on them; without types, any type with such a field matches.
    """

    scopes: tuple[UUID, ...] | None
    types: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    subject: str | None = None
    topic: str | None = None
    session_id: str | None = None
    min_importance: float | None = None
    min_confidence: float | None = None
    texts: tuple[str, ...] = ()
    entity: UUID | None = None
    predicate: str | None = None
    metadata: str | None = None
    recorded_since: datetime | None = None
    recorded_until: datetime | None = None
    needs_review: bool | None = None
    fields: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    as_of: datetime | None = None
    known_at: datetime | None = None
    valid_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePosition:
    """The last row of a page: its id, and the value of the column to order by, unless that is the id."""

    id: UUID
    value: float | datetime | None = None


def _mentions(entities: str) -> str:
    """Return SQL for whether a memory is about an entity or mentions one of `entities`, SQL of its ids."""
    return f"""(m.subject_id = :entity OR m.id IN (
        SELECT me.memory_id FROM memory_entities me WHERE me.tenant_id = :tenant AND me.entity_id IN {entities}))"""  # noqa: S608 - composed of constants


_CONDITIONS = {
    "scopes": "m.scope_id = ANY(:scopes)",
    "types": "m.type = ANY(:types)",
    "statuses": "m.status = ANY(:statuses)",
    "subject": "folded(m.subject) = folded(:subject)",
    "topic": "folded(m.topic) = folded(:topic)",
    "session_id": "m.session_id = :session_id",
    "min_importance": "m.importance >= :min_importance",
    "min_confidence": "m.confidence >= :min_confidence",
    "texts": "folded(m.content) LIKE ALL(CAST(:texts AS text[]))",
    "entity": _mentions(
        "(SELECT e.id FROM entities e WHERE e.tenant_id = :tenant AND :entity IN (e.id, e.merged_into))"
    ),
    "predicate": "m.payload ->> 'predicate' = :predicate",
    "metadata": "m.metadata @> CAST(:metadata AS jsonb)",
    "recorded_since": "m.recorded_at >= :recorded_since",
    "recorded_until": "m.recorded_at < :recorded_until",
    "needs_review": "m.needs_review = :needs_review",
    "as_of": is_true("m", ":as_of"),
    "valid_at": f"(m.status <> 'active' OR ({is_valid('m', ':valid_at')}))",
    "known_at": "m.recorded_at <= :known_at",
}

_CONDITIONS_THEN = {**_CONDITIONS, "entity": _mentions(time_travel.entity_family("CAST(:entity AS uuid)"))}
"""The conditions on what was known at an instant: an entity has been merged with others since."""

_LIKE_SPECIAL = re.compile(r"[%_\\]")


async def page(
    session: ReadSession, tenant: UUID, filters: MemoryFilters, *, sort: Sort, limit: int, after: PagePosition | None
) -> list[Memory]:
    """Return up to `limit` memories in order, starting after a position."""
    narrowing, values = apply_filters(filters)
    conditions = ["m.tenant_id = :tenant", *narrowing]
    parameters: dict[str, object] = {"tenant": tenant, "limit": limit, **values}
    comparison, direction = ("<", "DESC") if sort.descending else (">", "ASC")
    order = [f"m.{sort.column} {direction}"]
    if sort.column != "id":
        order.append(f"m.id {direction}")
    if after is not None and sort.column == "id":
        conditions.append(f"m.id {comparison} :after_id")
        parameters["after_id"] = after.id
    elif after is not None:
        conditions.append(f"(m.{sort.column}, m.id) {comparison} (:after_value, :after_id)")
        parameters |= {"after_id": after.id, "after_value": after.value}
    query = statement(f"{source(filters)} WHERE {' AND '.join(conditions)} ORDER BY {', '.join(order)} LIMIT :limit")
    return [memory_of(row) for row in await session.fetch(query, parameters)]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCounts:
    """Numbers of memories by type and status; `capped` says that there are more than were counted."""

    by_type: Mapping[str, int]
    by_status: Mapping[str, int]
    capped: bool

    @property
    def total(self) -> int:
        """Return the sum of the counts."""
        return sum(self.by_status.values())


async def counts(session: ReadSession, tenant: UUID, filters: MemoryFilters, *, most: int) -> MemoryCounts:
    """Return the numbers of memories that match the filters; stop counting at `most`."""
    conditions, values = apply_filters(filters)
    table = "memories" if filters.known_at is None else time_travel.memories("true")
    where = " AND ".join(["m.tenant_id = :tenant", *conditions])
    counted = statement(
        f"SELECT few.type, few.status, count(*) AS count FROM ("  # noqa: S608 - composed of constants
        f"SELECT m.type, m.status FROM {table} m WHERE {where} LIMIT :most) AS few GROUP BY few.type, few.status"
    )
    by_type, by_status = Counter[str](), Counter[str]()
    for row in await session.fetch(counted, {"tenant": tenant, "most": most + 1, **values}):
        by_type[row["type"]] += row["count"]
        by_status[row["status"]] += row["count"]
    return MemoryCounts(by_type=by_type, by_status=by_status, capped=by_status.total() > most)


def apply_filters(filters: MemoryFilters) -> tuple[list[str], dict[str, object]]:
    """Return the filters as SQL conditions on `m`, and their parameters."""
    given = {name: getattr(filters, name) for name in _CONDITIONS}
    used = {name: value for name, value in given.items() if value not in (None, ())}
    meant = _CONDITIONS if filters.known_at is None else _CONDITIONS_THEN
    conditions = [meant[name] for name in used]
    if not filters.statuses:
        conditions.append(is_on_record("m"))
    for place, (name, value, types) in enumerate(filters.fields):
        if types:
            conditions.append(f"m.filter_key = :field_{place}_value AND m.type = ANY(:field_{place}_types)")
            used |= {f"field_{place}_types": types}
        else:
            conditions.append(f"m.payload ->> :field_{place} = :field_{place}_value")
            used |= {f"field_{place}": name}
        used |= {f"field_{place}_value": value}
    listed = {name: list(value) for name, value in used.items() if isinstance(value, tuple)}
    if filters.texts:
        listed["texts"] = ["%" + _LIKE_SPECIAL.sub(r"\\\g<0>", folded(one)) + "%" for one in filters.texts]
    return conditions, {**used, **listed}


def source(filters: MemoryFilters) -> str:
    """Return the query of whole memories, named `m`, with `known_at` as they were known then."""
    if filters.known_at is None:
        return memory_query("memories m")
    return memory_query(f"{time_travel.memories('true')} m", then=True)


PAGE = 50_000
"""Memories in a page of a scan: a statement on it takes a quarter to half a second."""

_FIRST = UUID(int=0)

_LAST = UUID(int=2**128 - 1)

_LAST_OF_PAGE = statement(
    """
    SELECT scope_id, id FROM memories
    WHERE tenant_id = :tenant AND (scope_id, id) > (:after_scope, :after_id)
    ORDER BY scope_id, id OFFSET :skipped LIMIT 1
    """
)

_UP_TO = statement(
    "SELECT count(*) FROM (SELECT FROM memories WHERE tenant_id = :tenant LIMIT :most) AS few",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanPage:
    """A range of a tenant's memories in the order of (scope, id): after `after`, up to `last`."""

    after: tuple[UUID, UUID] = (_FIRST, _FIRST)
    last: tuple[UUID, UUID] = (_LAST, _LAST)

    def values(self) -> dict[str, UUID]:
        """Return the bounds as parameters."""
        return {
            "after_scope": self.after[0],
            "after_id": self.after[1],
            "scope": self.last[0],
            "id": self.last[1],
        }


WHOLE = ScanPage()
"""The range of all memories."""


async def pages(database: Database, tenant: UUID, *, size: int = PAGE) -> AsyncIterator[ScanPage]:
    """Yield ranges that cover all memories of the tenant, each of `size` memories but the last."""
    page = WHOLE
    while True:
        async with database.read(tenant) as session:
            after = {"after_scope": page.after[0], "after_id": page.after[1]}
            rows = await session.fetch(_LAST_OF_PAGE, {"tenant": tenant, **after, "skipped": size - 1})
        if not rows:
            yield page
            return
        [(scope, memory)] = rows
        yield ScanPage(after=page.after, last=(scope, memory))
        page = ScanPage(after=(scope, memory))


async def count_up_to(session: ReadSession, tenant: UUID, most: int) -> int:
    """Return the number of the tenant's memories, or `most` when there are more."""
    [row] = await session.fetch(_UP_TO, {"tenant": tenant, "most": most})
    return int(row[0])


_IN_SEQUENCE = "m.sequence_number, CASE WHEN m.sequence_number IS NULL THEN m.stated_at END, m.id"

_AFTER_A_NUMBER = """(m.sequence_number > :after OR m.sequence_number IS NULL
    OR (m.sequence_number = :after AND m.id > :after_id))"""

_AFTER_A_TIME = "m.sequence_number IS NULL AND (m.stated_at, m.id) > (:after, :after_id)"

_ABOUT = """m.subject_id = ANY(ARRAY(
    SELECT CAST(:entity AS uuid)
    UNION ALL
    SELECT one.merged_into FROM {entities} one
    WHERE one.tenant_id = :tenant AND one.id = :entity AND one.merged_into IS NOT NULL))"""


async def episodes(
    session: ReadSession, tenant: UUID, filters: MemoryFilters, *, of: str, limit: int, after: PagePosition | None
) -> list[Memory]:
    """Return up to `limit` episodes of a session by sequence number; those without one follow, by time of statement."""
    conditions, parameters = ["m.type = 'episodic'", "m.session_id = :of"], dict[str, object](of=of)
    if after is not None:
        timed = isinstance(after.value, datetime)
        conditions.append(_AFTER_A_TIME if timed else _AFTER_A_NUMBER)
        parameters |= {"after": after.value if timed else int(after.value or 0), "after_id": after.id}  # type: ignore[arg-type]
    return await _page(session, tenant, filters, conditions, parameters, order=_IN_SEQUENCE, limit=limit)


async def entity_facts(
    session: ReadSession,
    tenant: UUID,
    filters: MemoryFilters,
    *,
    entity: str | UUID,
    limit: int,
    after: PagePosition | None,
) -> list[Memory]:
    """Return up to `limit` semantic memories about an entity, the latest recorded first.

    A string is the id or name that callers wrote; a UUID is the entity's own id, also after a merge.
    """
    known = "entities" if filters.known_at is None else time_travel.ENTITIES
    about = "m.subject = :entity" if isinstance(entity, str) else _ABOUT.format(entities=known)
    conditions, parameters = ["m.type = 'semantic'", about], dict[str, object](entity=entity)
    if after is not None:
        conditions.append("m.id < :after_id")
        parameters["after_id"] = after.id
    return await _page(session, tenant, filters, conditions, parameters, order="m.id DESC", limit=limit)


async def _page(
    session: ReadSession,
    tenant: UUID,
    filters: MemoryFilters,
    conditions: Sequence[str],
    parameters: Mapping[str, object],
    *,
    order: str,
    limit: int,
) -> list[Memory]:
    given, values = apply_filters(filters)
    where = " AND ".join(["m.tenant_id = :tenant", *conditions, *given])
    query = statement(f"{source(filters)} WHERE {where} ORDER BY {order} LIMIT :limit")
    rows = await session.fetch(query, {**values, **parameters, "tenant": tenant, "limit": limit})
    return [memory_of(row) for row in rows]
