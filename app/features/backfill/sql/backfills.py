"""Rows of backfills, and of their items: the memories that a backfill changes, before and after."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from asyncpg import Record

from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import Row, as_record, insert_all, update_row, values_of
from app.db.tables import backfill_items
from app.memory.backfill import BackfillEffect, BackfillStatus, Classifier, ItemState


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfill:
    """A backfill. `scopes` None means all of the tenant; `cursor` is the last memory that was scanned."""

    tenant_id: UUID
    id: UUID
    type: str
    sources: tuple[str, ...]
    classifier: Classifier
    scopes: tuple[UUID, ...] | None
    status: BackfillStatus
    actor: str
    counts: Mapping[str, Any]
    cursor: UUID | None
    job_id: UUID | None
    created_at: datetime
    previewed_at: datetime | None
    committed_at: datetime | None
    undone_at: datetime | None


_SCOPES = statement(
    "SELECT kind, user_id, agent_id FROM scopes WHERE tenant_id = :tenant AND id = ANY(:ids) ORDER BY 1, 2, 3"
)


_SELECT = f"SELECT {', '.join(Backfill.__dataclass_fields__)} FROM backfills WHERE tenant_id = :tenant"  # noqa: S608

_FIND = statement(f"{_SELECT} AND id = :backfill")

_LOCK = statement(f"{_SELECT} AND id = :backfill FOR UPDATE")

_BACKFILL_PAGE = statement(f"{_SELECT} AND (CAST(:after AS uuid) IS NULL OR id < :after) ORDER BY id DESC LIMIT :limit")

_CANCEL_ABANDONED = statement(
    f"""
    UPDATE backfills SET status = '{BackfillStatus.CANCELLED}'
    WHERE tenant_id = :tenant AND status = '{BackfillStatus.PREVIEWING}' AND job_id IS NULL AND created_at < :before
    RETURNING *
    """  # noqa: S608 - composed of constants
)


async def add_backfill(session: WriteSession, new: Backfill) -> None:
    """Store a new backfill."""
    await insert_all(session, {"backfills": [values_of(new)]})


async def find(session: ReadSession, tenant: UUID, backfill: UUID) -> Backfill | None:
    """Return a backfill, None where the tenant has none of that id."""
    return _one(await session.fetch(_FIND, {"tenant": tenant, "backfill": backfill}))


async def lock(session: WriteSession, tenant: UUID, backfill: UUID) -> Backfill | None:
    """Return a backfill, as `find`, and lock it until the transaction ends."""
    return _one(await session.fetch(_LOCK, {"tenant": tenant, "backfill": backfill}))


async def backfill_page(session: ReadSession, tenant: UUID, *, after: UUID | None, limit: int) -> list[Backfill]:
    """Return up to `limit` backfills, newest first, starting after the one of that id."""
    rows = await session.fetch(_BACKFILL_PAGE, {"tenant": tenant, "after": after, "limit": limit})
    return [_backfill(row) for row in rows]


async def change(session: WriteSession, one: Backfill, **values: object) -> Backfill:
    """Set columns of a backfill, and return it."""
    where = "backfills.tenant_id = :tenant AND backfills.id = :backfill"
    changed = await update_row(session, "backfills", where, {"tenant": one.tenant_id, "backfill": one.id}, values)
    assert changed is not None  # noqa: S101 - it was read in this transaction
    return _backfill(changed)


async def cancel_abandoned(session: WriteSession, tenant: UUID, *, before: datetime) -> list[Backfill]:
    """Cancel previews without a job that began before an instant, and return them."""
    rows = await session.fetch(_CANCEL_ABANDONED, {"tenant": tenant, "before": before})
    return [_backfill(row) for row in rows]


async def scopes(session: ReadSession, tenant: UUID, ids: Sequence[UUID]) -> list[Mapping[str, Any]]:
    """Return kind, user and agent of those of the scopes that still exist."""
    return [dict(row) for row in await session.fetch(_SCOPES, {"tenant": tenant, "ids": list(ids)})]


def _one(rows: Sequence[Record]) -> Backfill | None:
    return _backfill(rows[0]) if rows else None


def _backfill(row: Record) -> Backfill:
    return as_record(
        Backfill,
        row,
        sources=tuple(row["sources"]),
        scopes=None if row["scopes"] is None else tuple(row["scopes"]),
        classifier=Classifier(row["classifier"]),
        status=BackfillStatus(row["status"]),
    )


Unit = tuple[UUID, str]
"""A scope, and the key of a group of memories in it that is changed as a whole or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillItem:
    """A memory that a backfill changes: `before` and `after` are the columns that change, as JSON.

    `stamped` are columns of `after` that take the time of the commit. `links` are the links to add, as [from, kind,
    to]. `rests_on` are the other memories that the decision depends on, with the last change of each; `seen_at` is the
    last change of the memory itself. `applied_at` is the time of the commit, or of the undo.
    """

    memory_id: UUID
    scope_id: UUID
    unit: str
    state: ItemState
    effect: BackfillEffect
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
        """Return the item as a row."""
        return {"tenant_id": tenant, "backfill_id": backfill, **values_of(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillItemRow:
    """An item with the content of its memory."""

    item: BackfillItem
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

_CLEAR = statement(
    """
    DELETE FROM backfill_items WHERE tenant_id = :tenant AND backfill_id = :backfill AND memory_id IN (
        SELECT memory_id FROM backfill_items WHERE tenant_id = :tenant AND backfill_id = :backfill LIMIT :limit)
    """
)

_COUNT = statement(
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

_REMAINING = statement(
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


async def add_items(session: WriteSession, backfill: Backfill, items: Sequence[BackfillItem]) -> None:
    """Store items of a backfill."""
    await insert_all(session, {"backfill_items": [one.row(backfill.tenant_id, backfill.id) for one in items]})


async def save_results(
    session: WriteSession, backfill: Backfill, found: Sequence[BackfillItem], items: Sequence[BackfillItem]
) -> None:
    """Replace flagged items by decided ones, together with items of other memories that they change.

    Nothing is stored if some of the flagged items are gone by now: the caller decides again without them.
    """
    here = {"tenant": backfill.tenant_id, "backfill": backfill.id}
    ids = [one.memory_id for one in found]
    if len(await session.fetch(_STILL_FOUND, {**here, "ids": ids})) == len(found):
        await session.fetch(_FORGET_FOUND, {**here, "ids": ids})
        await add_items(session, backfill, items)


async def next_units(
    session: ReadSession, backfill: Backfill, state: ItemState, *, limit: int
) -> dict[Unit, list[BackfillItem]]:
    """Return the next whole units with items in a state, with at least `limit` items if there are as many."""
    here = {"tenant": backfill.tenant_id, "backfill": backfill.id, "state": state, "limit": limit}
    found: dict[Unit, list[BackfillItem]] = {}
    for row in await session.fetch(_NEXT_UNITS, here):
        one = _item(row)
        found.setdefault((one.scope_id, one.unit), []).append(one)
    return found


async def mark(
    session: WriteSession,
    backfill: Backfill,
    marked: Sequence[tuple[BackfillItem, ItemState, str | None, datetime | None]],
) -> None:
    """Set state, reason and time of items."""
    given = [
        {"id": one.memory_id.hex, "state": state, "why": why, "applied_at": None if at is None else at.isoformat()}
        for one, state, why, at in marked
    ]
    if given:
        here = {"tenant": backfill.tenant_id, "backfill": backfill.id}
        await session.fetch(_MARK, {**here, "given": json.dumps(given)})


async def clear(session: WriteSession, backfill: Backfill, *, limit: int) -> int:
    """Remove up to `limit` of a backfill's items; return how many."""
    here = {"tenant": backfill.tenant_id, "backfill": backfill.id, "limit": limit}
    return await session.change(_CLEAR, here)


async def count_items(session: ReadSession, tenant: UUID, backfill: UUID) -> list[Mapping[str, Any]]:
    """Return the numbers of items by effect, source and state."""
    return [dict(row) for row in await session.fetch(_COUNT, {"tenant": tenant, "backfill": backfill})]


async def remaining(session: ReadSession, backfill: Backfill, state: ItemState) -> int:
    """Return the number of items in a state."""
    here = {"tenant": backfill.tenant_id, "backfill": backfill.id, "state": state}
    [[count]] = await session.fetch(_REMAINING, here)
    return int(count)


async def item_page(
    session: ReadSession,
    tenant: UUID,
    backfill: UUID,
    *,
    after: UUID | None = None,
    state: ItemState | None = None,
    effect: BackfillEffect | None = None,
    limit: int,
) -> list[BackfillItemRow]:
    """Return up to `limit` items in the order of their memories, starting after one."""
    given = {"after": after, "state": state, "effect": effect}
    used = {name: value for name, value in given.items() if value is not None}
    narrowed = "".join(f" AND {_NARROWED[name]}" for name in used)
    rows = await session.fetch(
        statement(_PAGE.format(narrowed=narrowed)), {"tenant": tenant, "backfill": backfill, "limit": limit, **used}
    )
    return [BackfillItemRow(item=_item(row), content=row["content"]) for row in rows]


def _item(row: Record) -> BackfillItem:
    values = {name: row[name] for name in BackfillItem.__dataclass_fields__}
    return BackfillItem(
        **{
            **values,
            "state": ItemState(values["state"]),
            "effect": BackfillEffect(values["effect"]),
            "stamped": tuple(values["stamped"]),
            "links": tuple((one[0], one[1], one[2]) for one in values["links"]),
        }
    )
