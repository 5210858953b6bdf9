"""The memories of a backfill as rows: what each was, what it becomes, and how far it has come."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping, text

from app.db.backfills import Backfill
from app.db.rows import Row, insert_all
from app.db.session import ReadSession, WriteSession
from app.db.statement import statement
from app.db.tables import backfill_items
from app.memory.backfill import Effect, ItemState

Unit = tuple[UUID, str]
"""A scope, and what in it is changed or left together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A memory of a backfill: `before` and `after` are the columns that change, as JSON.

    `stamped` are those of `after` that hold the instant of the commit. `links` are those that are made, as [from, kind,
    to]. `rests_on`: the other memories that this was decided on, with when each was last changed. `seen_at`: when the
    memory itself was; `applied_at`: the instant of the commit, or of the undoing.
    """

    memory_id: UUID
    scope_id: UUID
    unit: str
    state: ItemState
    effect: Effect
    source: str
    seen_at: datetime
    reason: str | None = None
    note: str | None = None
    why: str | None = None
    adopted: Mapping[str, Any] | None = None
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    stamped: tuple[str, ...] = ()
    links: tuple[tuple[str, str, str], ...] = ()
    rests_on: Mapping[str, str] = field(default_factory=dict)
    applied_at: datetime | None = None

    def row(self, tenant: UUID, backfill: UUID) -> Row:
        """Return it as a row."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {"tenant_id": tenant, "backfill_id": backfill, **values}


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """An item with what its memory says."""

    item: Item
    content: str


_OF_ITEM = ", ".join(f"i.{name}" for name in backfill_items.columns.keys())  # noqa: SIM118 - columns, not their names, are iterated

_NEXT_UNITS = statement(
    f"""
    WITH first AS (
        SELECT scope_id, unit FROM backfill_items
        WHERE tenant_id = :tenant AND backfill_id = :backfill AND state = :state
        ORDER BY scope_id, unit LIMIT :limit
    )
    SELECT {_OF_ITEM} FROM (SELECT DISTINCT scope_id, unit FROM first) chosen
    JOIN backfill_items i ON i.tenant_id = :tenant AND i.backfill_id = :backfill
        AND i.state = :state AND i.scope_id = chosen.scope_id AND i.unit = chosen.unit
    ORDER BY i.scope_id, i.unit, i.memory_id
    """  # noqa: S608 - composed of constants
)

_MARK = statement(
    """
    UPDATE backfill_items i SET state = g.state, why = g.why, applied_at = g.applied_at
    FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS g(id uuid, state text, why text, applied_at timestamptz)
    WHERE i.tenant_id = :tenant AND i.backfill_id = :backfill AND i.memory_id = g.id
    """
)

_STILL_FOUND = statement(
    """
    SELECT memory_id FROM backfill_items
    WHERE tenant_id = :tenant AND backfill_id = :backfill AND memory_id = ANY(:ids) AND state = 'found' FOR UPDATE
    """
)

_FORGET_FOUND = statement(
    """
    DELETE FROM backfill_items
    WHERE tenant_id = :tenant AND backfill_id = :backfill AND memory_id = ANY(:ids) AND state = 'found'
    """
)

_CLEAR = text(
    """
    DELETE FROM backfill_items WHERE tenant_id = :tenant AND backfill_id = :backfill AND memory_id IN (
        SELECT memory_id FROM backfill_items WHERE tenant_id = :tenant AND backfill_id = :backfill LIMIT :limit)
    """
)

_COUNT = text(
    """
    SELECT effect, source, state, reason, why, after ->> 'status' AS becomes,
        (links @? '$[*][1] ? (@ == "contradicts")') AS contradicts,
        (links @? '$[*][1] ? (@ == "conflicts-with")') AS conflicts,
        after ? 'review_reason' AND after ->> 'review_reason' IS NOT NULL AS reviewed,
        rests_on <> '{}' OR links <> '[]' AS collides, count(*) AS number, sum(jsonb_array_length(links)) AS links
    FROM backfill_items WHERE tenant_id = :tenant AND backfill_id = :backfill
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
    """
)

_REMAINING = text(
    """
    SELECT count(*) FROM backfill_items
    WHERE tenant_id = :tenant AND backfill_id = :backfill AND state = :state
    """
)

_PAGE = f"""
    SELECT i.*, (SELECT m.content FROM memories m WHERE m.tenant_id = :tenant AND m.id = i.memory_id) AS content
    FROM (
        SELECT {_OF_ITEM} FROM backfill_items i WHERE tenant_id = :tenant AND backfill_id = :backfill {{narrowed}}
        ORDER BY memory_id LIMIT :limit
    ) i ORDER BY memory_id
"""  # noqa: S608 - composed of constants

_NARROWED = {"after": "memory_id > :after", "state": "state = :state", "effect": "effect = :effect"}


async def add(session: WriteSession, backfill: Backfill, items: Sequence[Item]) -> None:
    """Store memories of a backfill."""
    await insert_all(session, {"backfill_items": [one.row(backfill.tenant_id, backfill.id) for one in items]})


async def settle(session: WriteSession, backfill: Backfill, found: Sequence[Item], items: Sequence[Item]) -> None:
    """Store what was found as what it was settled to be, and what is touched beside it.

    Nothing is stored where some of what was found is gone by now: it is settled again without that.
    """
    here = {"tenant": backfill.tenant_id, "backfill": backfill.id}
    ids = [one.memory_id for one in found]
    if len(await session.fetch(_STILL_FOUND, {**here, "ids": ids})) == len(found):
        await session.fetch(_FORGET_FOUND, {**here, "ids": ids})
        await add(session, backfill, items)


async def next_units(
    session: ReadSession, backfill: Backfill, state: ItemState, *, limit: int
) -> dict[Unit, list[Item]]:
    """Return the next units with memories in a state, whole, with at least `limit` memories if there are as many."""
    here = {"tenant": backfill.tenant_id, "backfill": backfill.id, "state": state, "limit": limit}
    found: dict[Unit, list[Item]] = {}
    for row in await session.fetch(_NEXT_UNITS, here):
        one = _item(row)
        found.setdefault((one.scope_id, one.unit), []).append(one)
    return found


async def mark(
    session: WriteSession, backfill: Backfill, marked: Sequence[tuple[Item, ItemState, str | None, datetime | None]]
) -> None:
    """Set the state of items, why, and the instant at which they were applied."""
    given = [
        {"id": one.memory_id.hex, "state": state, "why": why, "applied_at": None if at is None else at.isoformat()}
        for one, state, why, at in marked
    ]
    if given:
        here = {"tenant": backfill.tenant_id, "backfill": backfill.id}
        await session.fetch(_MARK, {**here, "given": json.dumps(given)})


async def clear(session: WriteSession, backfill: Backfill, *, limit: int) -> int:
    """Remove some of a backfill's items; return how many."""
    here = {"tenant": backfill.tenant_id, "backfill": backfill.id, "limit": limit}
    return int((await session.execute(_CLEAR, here)).rowcount)


async def counted(session: ReadSession, tenant: UUID, backfill: UUID) -> list[Mapping[str, Any]]:
    """Return how many items there are of each kind."""
    found = await session.execute(_COUNT, {"tenant": tenant, "backfill": backfill})
    return [dict(row) for row in found.mappings()]


async def remaining(session: ReadSession, backfill: Backfill, state: ItemState) -> int:
    """Return how many items are in a state."""
    here = {"tenant": backfill.tenant_id, "backfill": backfill.id, "state": state}
    return int((await session.execute(_REMAINING, here)).scalar_one())


async def page(
    session: ReadSession,
    tenant: UUID,
    backfill: UUID,
    *,
    after: UUID | None = None,
    state: ItemState | None = None,
    effect: Effect | None = None,
    limit: int,
) -> list[Listed]:
    """Return up to `limit` items in the order of their memories, starting after one."""
    given = {"after": after, "state": state, "effect": effect}
    used = {name: value for name, value in given.items() if value is not None}
    narrowed = "".join(f" AND {_NARROWED[name]}" for name in used)
    found = await session.execute(
        text(_PAGE.format(narrowed=narrowed)), {"tenant": tenant, "backfill": backfill, "limit": limit, **used}
    )
    return [Listed(item=_item(row), content=row["content"]) for row in found.mappings()]


def _item(row: Mapping[str, Any] | RowMapping) -> Item:
    values = {name: row[name] for name in Item.__dataclass_fields__}
    return Item(
        **{
            **values,
            "state": ItemState(values["state"]),
            "effect": Effect(values["effect"]),
            "stamped": tuple(values["stamped"]),
            "links": tuple((one[0], one[1], one[2]) for one in values["links"]),
        }
    )
