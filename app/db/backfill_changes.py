"""Locks of scopes and memories that a backfill changes, and the changes of their rows and links."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from app.db.apply.memories import RowChange, change_memories
from app.db.apply.scope import ScopeMoved
from app.db.backfill_scan import BackfillScanRow
from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import insert_all
from app.model import MemoryStatus

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

_HOLD_SCOPES = statement(
    """
    SELECT id, written_at FROM scopes WHERE tenant_id = :tenant AND id = ANY(:scopes) ORDER BY id FOR UPDATE
    """
)

_HOLD = statement(
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


async def hold_scopes(session: WriteSession, tenant: UUID, scopes: Collection[UUID]) -> dict[UUID, datetime | None]:
    """Lock scopes until the transaction ends; return those that exist, with the time of the last write."""
    found = await session.fetch(_HOLD_SCOPES, {"tenant": tenant, "scopes": sorted(scopes)})
    return {row["id"]: row["written_at"] for row in found}


async def hold(session: WriteSession, tenant: UUID, ids: Collection[UUID]) -> dict[UUID, BackfillScanRow]:
    """Lock memories until the transaction ends; return those that exist, with their last change."""
    found = await session.fetch(_HOLD, {"tenant": tenant, "ids": sorted(ids)})
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
    held = await hold(session, tenant, changes)
    try:
        await change_memories(
            session, tenant, [_row_change(held[one], values) for one, values in changes.items()], at=at
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
