"""What a reviewer's decision changes beyond what every write does, in a transaction that holds the scope."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from uuid import UUID

import asyncpg

from app.db.apply import ScopeMoved
from app.db.session import SqlStatement, WriteSession, statement
from app.db.sql import Row, as_json
from app.db.tenants import lock_scope

_LOCK = statement(
    """
    SELECT FROM memories x
    WHERE x.tenant_id = :tenant AND x.id = ANY(:ids) ORDER BY x.id FOR UPDATE
    """
)

_CLEAR_OUT = statement(
    """
    WITH indexed AS (
        DELETE FROM memory_index WHERE tenant_id = :tenant AND memory_id = :id
    ), stated AS (
        DELETE FROM relations WHERE tenant_id = :tenant AND memory_id = :id
    ), mentioned AS (
        DELETE FROM memory_entities WHERE tenant_id = :tenant AND memory_id = :id RETURNING entity_id
    )
    UPDATE entities e SET mention_count = greatest(0, e.mention_count - lost.mentions), updated_at = :now
    FROM (
        SELECT k.entity_id, sum(m.mentions) AS mentions
        FROM mentioned k JOIN memories m ON m.tenant_id = :tenant AND m.id = :id GROUP BY k.entity_id
    ) lost
    WHERE e.tenant_id = :tenant AND e.id = lost.entity_id
    """
)
"""Takes off what is written anew with an accepted memory; its evidence, use, past, links and questions stay."""

_KEPT = frozenset({"tenant_id", "scope_id", "id", "recorded_at", "updated_at"})

_FORGET = statement(
    """
    WITH given AS (
        SELECT * FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS g(id uuid, successor uuid)
    ), gone AS (
        UPDATE memories m SET status = 'forgotten', contested = false,
            superseded_by = coalesce(g.successor, m.superseded_by), updated_at = :now,
            retired_at = CASE WHEN m.status = 'pending' AND NOT EXISTS (
                    SELECT FROM memory_past p
                    WHERE p.tenant_id = :tenant AND p.memory_id = m.id AND p.status <> 'pending')
                THEN m.recorded_at ELSE coalesce(m.retired_at, :now) END,
            review_reason = NULL, review_note = NULL, review_since = NULL
        FROM given g WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.id = g.id
        RETURNING m.id, m.retired_at
    )
    UPDATE memory_index i SET status = 'forgotten', retired_at = gone.retired_at
    FROM gone WHERE i.tenant_id = :tenant AND i.memory_id = ANY(:ids) AND i.memory_id = gone.id
    """
)

_CLEAR = statement(
    """
    UPDATE memories m SET contested = m.contested AND NOT m.id = ANY(:winners), updated_at = :now,
        review_reason = NULL, review_note = NULL, review_since = NULL
    WHERE m.tenant_id = :tenant AND m.id = ANY(:ids)
    """
)

_MOVE_EVIDENCE = statement("UPDATE evidence SET memory_id = :target WHERE tenant_id = :tenant AND memory_id = :source")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewChanges:
    """What a decision changes.

    `accepted`: what the row of a pending memory becomes; `forgotten`: (memory, what took its place, if
    anything); `cleared` are no longer reviewed, and those that are `winners` too no longer contested; `evidence`:
    (from, to) whose evidence goes along; `slots`: (type, slot) that somebody left.
    """

    accepted: Row | None = None
    forgotten: tuple[tuple[UUID, UUID | None], ...] = ()
    cleared: tuple[UUID, ...] = ()
    winners: tuple[UUID, ...] = ()
    evidence: tuple[tuple[UUID, UUID], ...] = ()
    slots: tuple[tuple[str, str], ...] = ()


async def hold(session: WriteSession, tenant: UUID, scope: UUID, *, version: int | None = None) -> int:
    """Hold a scope until the transaction ends and return its version; ScopeMoved when that is not `version`."""
    found = await lock_scope(session, tenant, scope) or 0
    if version is not None and found != version:
        raise ScopeMoved
    return found


async def lock(session: WriteSession, tenant: UUID, memories: Collection[UUID]) -> None:
    """Hold memories until the transaction ends."""
    await session.fetch(_LOCK, {"tenant": tenant, "ids": sorted(memories)})


async def before_write(session: WriteSession, tenant: UUID, ruling: ReviewChanges, *, now: datetime) -> None:
    """Make room for what the decision writes: its old index goes, evidence moves to where it counts now."""
    for source, target in ruling.evidence:
        await session.fetch(_MOVE_EVIDENCE, {"tenant": tenant, "source": source, "target": target})
    if ruling.accepted is not None:
        await session.fetch(_CLEAR_OUT, {"tenant": tenant, "id": ruling.accepted["id"], "now": now})


async def after_write(session: WriteSession, tenant: UUID, ruling: ReviewChanges, *, now: datetime) -> None:
    """Accept, forget and clear what the decision says, now that what took its place is there."""
    await _forget(session, tenant, ruling.forgotten, now)
    try:
        if ruling.accepted is not None:
            await _become(session, tenant, ruling.accepted, now)
        if ruling.cleared:
            values = {"tenant": tenant, "ids": list(ruling.cleared), "winners": list(ruling.winners), "now": now}
            await session.fetch(_CLEAR, values)
    except asyncpg.UniqueViolationError as error:
        raise ScopeMoved from error


async def _become(session: WriteSession, tenant: UUID, row: Row, now: datetime) -> None:
    """Make a pending memory what its row says, keeping since when it is known; ScopeMoved when it is not pending."""
    update = _becoming(tuple(name for name in row if name not in _KEPT))
    if not await session.fetch(update, {"tenant": tenant, "id": row["id"], "now": now, "row": as_json([row])}):
        raise ScopeMoved


@cache
def _becoming(columns: tuple[str, ...]) -> SqlStatement:
    names = ", ".join(columns)
    return statement(
        f"""
        UPDATE memories m SET updated_at = :now, ({names}) = (
            SELECT {names} FROM jsonb_populate_recordset(NULL::memories, CAST(:row AS jsonb)))
        WHERE m.tenant_id = :tenant AND m.id = :id AND m.status = 'pending'
        RETURNING m.id
        """  # noqa: S608 - columns of our own
    )


async def _forget(
    session: WriteSession, tenant: UUID, forgotten: Sequence[tuple[UUID, UUID | None]], now: datetime
) -> None:
    if forgotten:
        given = [{"id": str(one), "successor": None if other is None else str(other)} for one, other in forgotten]
        ids = [one for one, _ in forgotten]
        await session.fetch(_FORGET, {"tenant": tenant, "ids": ids, "given": json.dumps(given), "now": now})
