"""Pages of memories, by keyset: a page starts after the last row of the one before, however the store moves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import text

from app.db import past
from app.db.memories import whole, whole_of
from app.db.session import ReadSession
from app.model import Memory


class Sort(StrEnum):
    """What a listing is ordered by; a leading minus means descending."""

    NEWEST = "-recorded_at"
    OLDEST = "recorded_at"
    MOST_IMPORTANT = "-importance"
    LEAST_IMPORTANT = "importance"
    MOST_CONFIDENT = "-confidence"
    LATEST_STATED = "-stated_at"
    EARLIEST_STATED = "stated_at"

    @property
    def column(self) -> str:
        """Return the column it orders by; a memory's id is its time of recording."""
        name = self.value.removeprefix("-")
        return "id" if name == "recorded_at" else name

    @property
    def descending(self) -> bool:
        """Return whether larger values come first."""
        return self.value.startswith("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a listing is narrowed to; empty or None leaves a dimension open.

    `scopes` None means every scope of the tenant. `as_of`: only what was true then. `known_at`: as the store was
    then, statuses and all. `valid_at`: of what is active, only what holds then; history stays. `fields` are those of
    the payload, with the values they must have, and the types that are found by them under an index; none of those:
    any type with such a field.
    """

    scopes: tuple[UUID, ...] | None
    types: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    subject: str | None = None
    topic: str | None = None
    session_id: str | None = None
    min_importance: float | None = None
    fields: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    as_of: datetime | None = None
    known_at: datetime | None = None
    valid_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The last row of a page: its id, and its value in the order of the listing unless that is the id."""

    id: UUID
    value: float | datetime | None = None


_CONDITIONS = {
    "scopes": "m.scope_id = ANY(:scopes)",
    "types": "m.type = ANY(:types)",
    "statuses": "m.status = ANY(:statuses)",
    "subject": "lower(m.subject) = lower(:subject)",
    "topic": "m.topic = :topic",
    "session_id": "m.session_id = :session_id",
    "min_importance": "m.importance >= :min_importance",
    "as_of": """m.valid_from <= :as_of AND (m.valid_until IS NULL OR m.valid_until > :as_of)
        AND (m.ended_at IS NULL OR m.ended_at > :as_of)""",
    "valid_at": """(m.status <> 'active'
        OR (m.valid_from <= :valid_at AND (m.valid_until IS NULL OR m.valid_until > :valid_at)))""",
    "known_at": "m.recorded_at <= :known_at",
}


_EVER_BELIEVED = """m.status <> 'pending'
    AND (m.status <> 'forgotten' OR m.retired_at IS DISTINCT FROM m.recorded_at)"""
"""What waits for a reviewer, and what one rejected before it was believed, is listed when its status is named."""


async def page(
    session: ReadSession, tenant: UUID, filters: Filters, *, sort: Sort, limit: int, after: Position | None
) -> list[Memory]:
    """Return up to `limit` memories in order, starting after a position."""
    narrowing, values = narrowed(filters)
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
    statement = text(f"{source(filters)} WHERE {' AND '.join(conditions)} ORDER BY {', '.join(order)} LIMIT :limit")
    result = await session.execute(statement, parameters)
    return [whole(row) for row in result.mappings()]


def narrowed(filters: Filters) -> tuple[list[str], dict[str, object]]:
    """Return the conditions that filters make, on `m`, and their parameters."""
    given = {name: getattr(filters, name) for name in _CONDITIONS}
    used = {name: value for name, value in given.items() if value not in (None, ())}
    conditions = [_CONDITIONS[name] for name in used]
    if not filters.statuses:
        conditions.append(_EVER_BELIEVED)
    for place, (name, value, types) in enumerate(filters.fields):
        if types:
            conditions.append(f"m.filter_key = :field_{place}_value AND m.type = ANY(:field_{place}_types)")
            used |= {f"field_{place}_types": types}
        else:
            conditions.append(f"m.payload ->> :field_{place} = :field_{place}_value")
            used |= {f"field_{place}": name}
        used |= {f"field_{place}_value": value}
    listed = {name: list(value) for name, value in used.items() if isinstance(value, tuple)}
    return conditions, {**used, **listed}


def source(filters: Filters) -> str:
    """Return the query of whole memories, named `m`, as they are or as they were at `known_at`."""
    if filters.known_at is None:
        return whole_of("memories m")
    return whole_of(f"{past.memories('true')} m", then=True)
