"""The memories of a backfill: their scan with neighbours, the locks of them and their scopes, and their changes."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from app.db.apply.memories import RowChange, change_memories
from app.db.apply.scope import ScopeMoved
from app.db.entities.read import roles_of
from app.db.memories.read import EVERY
from app.db.memories.validity import is_or_was_believed
from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import insert_all
from app.model import MemoryStatus

BackfillScanRow = Mapping[str, Any]
"""A memory as a row: values by column."""

_ROLES = roles_of("coalesce(e.merged_into, e.id)")
"""SQL of the entities in a memory's roles, each as what is left of it after all merges."""

_PAGE = statement(
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
    SELECT {EVERY}, {_ROLES}, s.kind AS scope_kind, s.user_id, s.agent_id, m.slot IS NOT NULL AND EXISTS (
            SELECT FROM memories o WHERE o.tenant_id = :tenant AND o.scope_id = m.scope_id AND o.type = m.type
                AND o.slot = m.slot AND o.contested AND o.status = 'active'
        ) AS in_contest
    FROM unnest(CAST(:ids AS uuid[])) AS given(id)
    CROSS JOIN LATERAL (SELECT * FROM memories x WHERE x.tenant_id = :tenant AND x.id = given.id OFFSET 0) m
    JOIN scopes s ON s.tenant_id = :tenant AND s.id = m.scope_id
    """  # noqa: S608 - composed of constants
)

_ABOUT = statement(
    f"""
    SELECT {EVERY}, {_ROLES} FROM unnest(CAST(:subjects AS uuid[])) AS given(id)
    CROSS JOIN LATERAL (
        SELECT * FROM memories x
        WHERE x.tenant_id = :tenant AND x.scope_id = :scope AND x.subject_id = given.id AND x.type = ANY(:types)
          AND x.status = 'active' AND x.speech_act = 'assertion' AND x.slot IS NOT NULL
          AND NOT EXISTS (SELECT FROM backfill_items f
                          WHERE f.tenant_id = :tenant AND f.backfill_id = :backfill AND f.memory_id = x.id)
        OFFSET 0
    ) m
    """  # noqa: S608 - composed of constants
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillScanPage:
    """A page of memories of the scanned types, up to `last`, which is None on the last page.

    A row has id, type, payload, content and updated_at.
    """

    rows: Sequence[BackfillScanRow]
    last: UUID | None


async def page(
    session: ReadSession,
    tenant: UUID,
    *,
    types: Sequence[str],
    scopes: Sequence[UUID] | None,
    after: UUID,
    limit: int,
) -> BackfillScanPage:
    """Scan the next `limit` memories by id, and return those of the types that are neither pending nor forgotten."""
    here = {"tenant": tenant, "types": list(types), "after": after, "limit": limit}
    found = await session.fetch(_PAGE, {**here, "scopes": None if scopes is None else list(scopes)})
    return BackfillScanPage(
        rows=[row for row in found if row["id"] is not None], last=found[-1]["passed"] if found else None
    )


async def rows(session: ReadSession, tenant: UUID, ids: Collection[UUID]) -> dict[UUID, BackfillScanRow]:
    """Return whole rows of memories by id, with their scope, the entities that they mention by role, and `in_contest`.

    `in_contest` is whether another memory contests the slot.
    """
    found = await session.fetch(_ROWS, {"tenant": tenant, "ids": list(ids)}) if ids else []
    return {row["id"]: row for row in found}


async def read_neighbours(
    session: ReadSession,
    tenant: UUID,
    scope: UUID,
    *,
    backfill: UUID,
    subjects: Collection[UUID],
    types: Sequence[str],
) -> list[BackfillScanRow]:
    """Return active memories of some types about entities of a scope, without those that the backfill flagged."""
    here = {"tenant": tenant, "scope": scope, "backfill": backfill}
    return list(await session.fetch(_ABOUT, {**here, "subjects": list(subjects), "types": list(types)}))


COLUMNS = (
    "type",
    "type_tenant",
    "type_version",
    "category",
    "status",
    "identity",
    "payload",
    "filter_key",
    "subject",
    "slot",
    "slot_value",
    "contested",
    "source_strength",
    "extractor_confidence",
    "prior",
    "mentions",
    "confidence",
    "importance",
    "half_life_days",
    "floor",
    "stated_at",
    "ended_at",
    "retired_at",
    "supersedes",
    "superseded_by",
    "review_reason",
    "review_note",
    "review_since",
)
"""Columns of a memory that a backfill may change."""

_LOCK_SCOPES = statement(
    """
    SELECT id, written_at FROM scopes WHERE tenant_id = :tenant AND id = ANY(:scopes) ORDER BY id FOR UPDATE
    """
)

_LOCK = statement(
    """
    SELECT id, scope_id, type, status, slot, contested, updated_at FROM memories
    WHERE tenant_id = :tenant AND id = ANY(:ids) ORDER BY id FOR NO KEY UPDATE
    """
)

_SLOTS_TAKEN = statement(
    """
    SELECT m.scope_id, m.type, m.slot, m.id, m.contested FROM (
        SELECT DISTINCT scope_id, type, slot
        FROM jsonb_to_recordset(CAST(:slots AS jsonb)) AS g(scope_id uuid, type text, slot text)
    ) given
    JOIN memories m ON m.tenant_id = :tenant AND m.scope_id = given.scope_id AND m.type = given.type
        AND m.slot = given.slot AND m.status = 'active'
    """
)

_UNLINK = statement(
    """
    DELETE FROM memory_links l
    USING jsonb_to_recordset(CAST(:given AS jsonb)) AS g(from_memory uuid, kind text, to_memory uuid)
    WHERE l.tenant_id = :tenant AND l.from_memory = g.from_memory AND l.kind = g.kind AND l.to_memory = g.to_memory
    """
)


async def lock_scopes(session: WriteSession, tenant: UUID, scopes: Collection[UUID]) -> dict[UUID, datetime | None]:
    """Lock scopes until the transaction ends; return those that exist, with the time of the last write."""
    found = await session.fetch(_LOCK_SCOPES, {"tenant": tenant, "scopes": sorted(scopes)})
    return {row["id"]: row["written_at"] for row in found}


async def lock(session: WriteSession, tenant: UUID, ids: Collection[UUID]) -> dict[UUID, BackfillScanRow]:
    """Lock memories until the transaction ends; return those that exist, with their last change."""
    found = await session.fetch(_LOCK, {"tenant": tenant, "ids": sorted(ids)})
    return {row["id"]: row for row in found}


async def slots_taken(
    session: ReadSession, tenant: UUID, slots: Collection[tuple[UUID, str, str]]
) -> dict[tuple[UUID, str, str], list[BackfillScanRow]]:
    """Return the active memories in slots, given as (scope, type, slot)."""
    given = [{"scope_id": str(scope), "type": kind, "slot": slot} for scope, kind, slot in slots]
    found: dict[tuple[UUID, str, str], list[BackfillScanRow]] = {}
    if given:
        for row in await session.fetch(_SLOTS_TAKEN, {"tenant": tenant, "slots": json.dumps(given)}):
            found.setdefault((row["scope_id"], row["type"], row["slot"]), []).append(row)
    return found


async def change(
    session: WriteSession, tenant: UUID, changes: Mapping[UUID, Mapping[str, Any]], *, at: datetime
) -> None:
    """Set columns of locked memories and of their index rows.

    Raises ScopeMoved when another memory took a slot in spite of the lock.
    """
    locked = await lock(session, tenant, changes)
    try:
        await change_memories(
            session, tenant, [_row_change(locked[one], values) for one, values in changes.items()], at=at
        )
    except asyncpg.UniqueViolationError as error:
        raise ScopeMoved from error


def _row_change(row: BackfillScanRow, values: Mapping[str, Any]) -> RowChange:
    after = {**row, **values}
    held, holds = _holds(row), _holds(after)
    moves = (row["type"], row["slot"]) != (after["type"], after["slot"])
    return RowChange(
        id=row["id"], values=values, claims=holds and (moves or not held), vacates=held and holds and moves
    )


def _holds(row: Mapping[str, Any]) -> bool:
    return row["status"] == MemoryStatus.ACTIVE and row["slot"] is not None and not row["contested"]


async def link(session: WriteSession, tenant: UUID, links: Collection[tuple[str, str, str]], *, at: datetime) -> None:
    """Add links, given as (from, kind, to)."""
    given = [
        {"tenant_id": tenant, "from_memory": one, "kind": kind, "to_memory": other, "created_at": at}
        for one, kind, other in links
    ]
    await insert_all(session, {"memory_links": given})


async def unlink(session: WriteSession, tenant: UUID, links: Collection[tuple[str, str, str]]) -> None:
    """Remove links, given as (from, kind, to)."""
    given = [{"from_memory": one, "kind": kind, "to_memory": other} for one, kind, other in links]
    if given:
        await session.fetch(_UNLINK, {"tenant": tenant, "given": json.dumps(given)})
