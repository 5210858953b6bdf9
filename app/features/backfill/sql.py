"""Rows of backfills and of their items, and the memories that they look through."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from asyncpg import Record

from app.db.entities.read import roles_of
from app.db.memories.read import EVERY
from app.db.memories.validity import is_or_was_believed
from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record, insert_all, update_row, values_of
from app.memory.backfill import BackfillEffect, BackfillStatus, Classifier, ItemState


class StaleBackfill(Exception):
    """Another run has taken the backfill further than this one believed."""


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
    cursor: UUID | None = None
    job_id: UUID | None = None
    created_at: datetime
    previewed_at: datetime | None = None
    committed_at: datetime | None = None
    undone_at: datetime | None = None


_SCOPES = statement(
    """
    SELECT kind AS scope_kind, user_id, agent_id, written_at FROM scopes
    WHERE tenant_id = :tenant AND id = ANY(:ids) ORDER BY 1, 2, 3
    """
)


_SELECT = f"SELECT {', '.join(Backfill.__dataclass_fields__)} FROM backfills WHERE tenant_id = :tenant"  # noqa: S608

_FIND = statement(f"{_SELECT} AND id = :backfill")

_LOCK = statement(f"{_SELECT} AND id = :backfill FOR UPDATE")

_BACKFILL_PAGE = statement(f"{_SELECT} AND (CAST(:after AS uuid) IS NULL OR id < :after) ORDER BY id DESC LIMIT :limit")

_CLEAR = statement("DELETE FROM backfill_items WHERE tenant_id = :tenant AND backfill_id = :backfill")

_CANCEL_ABANDONED = statement(
    f"""
    WITH cancelled AS (
        UPDATE backfills SET status = '{BackfillStatus.CANCELLED}'
        WHERE tenant_id = :tenant AND status = '{BackfillStatus.PREVIEWING}' AND job_id IS NULL AND created_at < :before
        RETURNING id
    )
    DELETE FROM backfill_items i USING cancelled WHERE i.tenant_id = :tenant AND i.backfill_id = cancelled.id
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


async def lock_current(session: WriteSession, one: Backfill) -> Backfill:
    """Return a backfill locked, or raise StaleBackfill if it is no longer where it was read."""
    here = await lock(session, one.tenant_id, one.id)
    if here is None or (here.status, here.cursor) != (one.status, one.cursor):
        raise StaleBackfill
    return here


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


async def cancel_abandoned(session: WriteSession, tenant: UUID, *, before: datetime) -> None:
    """Cancel previews without a job that began before an instant, and remove their items."""
    await session.change(_CANCEL_ABANDONED, {"tenant": tenant, "before": before})


async def clear(session: WriteSession, one: Backfill) -> None:
    """Remove the items of a backfill."""
    await session.change(_CLEAR, {"tenant": one.tenant_id, "backfill": one.id})


async def scopes(session: ReadSession, tenant: UUID, ids: Sequence[UUID]) -> list[Record]:
    """Return kind, user and agent of those of the scopes that still exist, and when they were last written to."""
    return await session.fetch(_SCOPES, {"tenant": tenant, "ids": list(ids)})


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

    `adopted` is what was made of it by its new type. `links` are the links to add, as [from, kind, to]. `seen_at` is
    the last change of the memory, `applied_at` the time of the commit, or of the undo.
    """

    memory_id: UUID
    scope_id: UUID
    unit: str
    state: ItemState
    effect: BackfillEffect
    source: str
    seen_at: datetime
    reason: str | None = None
    why: str | None = None
    adopted: Mapping[str, Any] | None = None
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    links: tuple[tuple[str, str, str], ...] = ()
    applied_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillItemRow:
    """An item with the content of its memory."""

    item: BackfillItem
    content: str


_OF_ITEM = ", ".join(f"i.{name}" for name in BackfillItem.__dataclass_fields__)

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
    UPDATE backfill_items SET state = :state, why = :why, applied_at = coalesce(CAST(:at AS timestamptz), applied_at)
    WHERE tenant_id = :tenant AND backfill_id = :backfill AND memory_id = ANY(:ids)
    """
)

_FORGET_FOUND = statement(
    """
    DELETE FROM backfill_items
    WHERE tenant_id = :tenant AND backfill_id = :backfill AND memory_id = ANY(:ids) AND state = 'found'
    """
)

_COUNT = statement(
    """
    WITH told AS (
        SELECT *, after ->> 'status' AS becomes, effect = 'reclassified' AS own, state = 'left' AS stays
        FROM backfill_items WHERE tenant_id = :tenant AND backfill_id = :backfill
    ), by AS (
        SELECT CASE WHEN stays THEN 'left' ELSE kind END AS kind, CASE WHEN stays THEN why ELSE name END AS name,
            count(*) AS number
        FROM told CROSS JOIN LATERAL (VALUES ('by_reason', reason), ('by_source', source)) AS each(kind, name)
        WHERE own AND NOT (stays AND kind = 'by_source') GROUP BY 1, 2
    )
    SELECT count(*) AS changed, count(*) FILTER (WHERE own) AS flagged,
        count(*) FILTER (WHERE NOT own) AS others_changed,
        count(*) FILTER (WHERE own AND (links <> '[]' OR after ?| ARRAY['status', 'supersedes'])) AS collisions,
        count(*) FILTER (WHERE becomes = 'superseded') AS superseded,
        count(*) FILTER (WHERE links @? '$[*][1] ? (@ == "contradicts")') AS contradicting,
        count(*) FILTER (WHERE links @? '$[*][1] ? (@ == "conflicts-with")') AS conflicting,
        count(*) FILTER (WHERE after ->> 'review_reason' IS NOT NULL) AS reviewed,
        coalesce(sum(jsonb_array_length(links)), 0) AS links,
        (SELECT jsonb_object_agg(kind, numbers) FROM (
            SELECT kind, jsonb_object_agg(name, number) AS numbers FROM by GROUP BY kind) each) AS named
    FROM told WHERE NOT stays
    """
)

_ITEMS = f"""
    SELECT i.*, (SELECT m.content FROM memories m WHERE m.tenant_id = :tenant AND m.id = i.memory_id) AS content
    FROM (
        SELECT {_OF_ITEM} FROM backfill_items i WHERE tenant_id = :tenant AND backfill_id = :backfill {{narrowed}}
        ORDER BY memory_id LIMIT :limit
    ) i ORDER BY memory_id
"""  # noqa: S608 - composed of constants

_NARROWED = {"after": "memory_id > :after", "state": "state = :state", "effect": "effect = :effect"}


async def add_items(session: WriteSession, backfill: Backfill, items: Sequence[BackfillItem]) -> None:
    """Store items of a backfill."""
    here = {"tenant_id": backfill.tenant_id, "backfill_id": backfill.id}
    await insert_all(session, {"backfill_items": [here | values_of(one) for one in items]})


async def replace_found(
    session: WriteSession, backfill: Backfill, found: Sequence[BackfillItem], items: Sequence[BackfillItem]
) -> None:
    """Replace flagged items by decided ones, together with items of other memories that they change.

    Raises StaleBackfill if some of the flagged items are gone by now.
    """
    here = {"tenant": backfill.tenant_id, "backfill": backfill.id, "ids": [one.memory_id for one in found]}
    if await session.change(_FORGET_FOUND, here) != len(found):
        raise StaleBackfill
    await add_items(session, backfill, items)


async def next_units(
    session: ReadSession, backfill: Backfill, state: ItemState, *, limit: int
) -> dict[Unit, list[BackfillItem]]:
    """Return the next whole units with items in a state, by scope, with at least `limit` items if there are as many."""
    here = {"tenant": backfill.tenant_id, "backfill": backfill.id, "state": state, "limit": limit}
    found: dict[Unit, list[BackfillItem]] = {}
    for row in await session.fetch(_NEXT_UNITS, here):
        one = _item(row)
        found.setdefault((one.scope_id, one.unit), []).append(one)
    return found


async def mark(
    session: WriteSession,
    backfill: Backfill,
    items: Sequence[BackfillItem],
    state: ItemState,
    why: str | None,
    at: datetime | None = None,
) -> None:
    """Set state and reason of items, and, unless None, the time at which they were changed."""
    here = {"tenant": backfill.tenant_id, "backfill": backfill.id, "ids": [one.memory_id for one in items]}
    await session.change(_MARK, {**here, "state": state, "why": why, "at": at})


async def count_plan(session: ReadSession, backfill: Backfill) -> dict[str, Any]:
    """Return the numbers of memories that a preview changes, by reason and by source, and of those that it leaves."""
    [row] = await session.fetch(_COUNT, {"tenant": backfill.tenant_id, "backfill": backfill.id})
    counts = dict(row)
    return counts | {"by_reason": {}, "by_source": {}, "left": {}} | (counts.pop("named") or {})


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
        statement(_ITEMS.format(narrowed=narrowed)), {"tenant": tenant, "backfill": backfill, "limit": limit, **used}
    )
    return [BackfillItemRow(item=_item(row), content=row["content"]) for row in rows]


def _item(row: Record) -> BackfillItem:
    links = tuple((one[0], one[1], one[2]) for one in row["links"])
    return as_record(
        BackfillItem, row, state=ItemState(row["state"]), effect=BackfillEffect(row["effect"]), links=links
    )


BackfillScanRow = Mapping[str, Any]
"""A memory as a row: values by column."""

_ROLES = roles_of("coalesce(e.merged_into, e.id)")
"""SQL of the entities in a memory's roles, each as what is left of it after all merges."""

_SCAN = statement(
    f"""
    WITH page AS MATERIALIZED (
        SELECT x.id FROM memories x
        WHERE x.tenant_id = :tenant AND x.id > :after
          AND (CAST(:scopes AS uuid[]) IS NULL OR x.scope_id = ANY(:scopes))
        ORDER BY x.id LIMIT :limit
    )
    SELECT page.id AS passed, m.* FROM page LEFT JOIN LATERAL (
        SELECT x.id, x.type, x.payload, x.content, x.updated_at FROM memories x
        WHERE x.tenant_id = :tenant AND x.id = page.id
          AND x.type = ANY(:types) AND {is_or_was_believed("x")} OFFSET 0
    ) m ON true
    ORDER BY page.id
    """  # noqa: S608 - composed of constants
)

_ROWS = statement(
    f"""
    SELECT {EVERY}, {_ROLES}, s.kind AS scope_kind, s.user_id, s.agent_id,
        m.slot IS NOT NULL AND EXISTS (
            SELECT FROM memories o WHERE o.tenant_id = :tenant AND o.scope_id = m.scope_id AND o.type = m.type
                AND o.slot = m.slot AND o.contested AND o.status = 'active'
        ) AS in_contest
    FROM unnest(CAST(:ids AS uuid[])) AS given(id)
    CROSS JOIN LATERAL (SELECT * FROM memories x WHERE x.tenant_id = :tenant AND x.id = given.id OFFSET 0) m
    JOIN scopes s ON s.tenant_id = :tenant AND s.id = m.scope_id
    """  # noqa: S608 - composed of constants
)


async def scan(
    session: ReadSession, one: Backfill, *, after: UUID, limit: int
) -> tuple[Sequence[BackfillScanRow], UUID | None]:
    """Return those of the next `limit` memories that a backfill looks through, and the last of these memories.

    They are of its source types, and neither pending nor forgotten, and have id, type, payload, content and updated_at.
    The last is None behind the last page.
    """
    scopes = None if one.scopes is None else list(one.scopes)
    here = {"tenant": one.tenant_id, "types": list(one.sources), "scopes": scopes, "after": after, "limit": limit}
    found = await session.fetch(_SCAN, here)
    return [row for row in found if row["id"] is not None], found[-1]["passed"] if found else None


async def rows(session: ReadSession, tenant: UUID, ids: Collection[UUID]) -> dict[UUID, BackfillScanRow]:
    """Return whole rows of memories by id, with their scope, the entities that they mention by role, and `in_contest`.

    `in_contest` is whether another memory contests the slot.
    """
    found = await session.fetch(_ROWS, {"tenant": tenant, "ids": list(ids)}) if ids else []
    return {row["id"]: row for row in found}
