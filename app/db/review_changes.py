"""What a reviewer's decision changes beyond what every write does, in a transaction that holds the scope."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import asyncpg

from app.db.session import WriteSession
from app.db.statement import statement
from app.db.writing import ScopeMoved

_HOLD = statement("SELECT version FROM scopes WHERE tenant_id = :tenant AND id = :scope FOR UPDATE")

_LOCK = statement(
    """
    SELECT FROM memories x
    WHERE x.tenant_id = :tenant AND x.id = ANY(:ids) ORDER BY x.id FOR UPDATE
    """
)

_REMOVE = statement("DELETE FROM memories WHERE tenant_id = :tenant AND id = :id AND status = 'pending' RETURNING id")

_FORGET = statement(
    """
    WITH given AS (
        SELECT * FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS g(id uuid, successor uuid)
    ), gone AS (
        UPDATE memories m SET status = 'forgotten', contested = false, superseded_by = g.successor, updated_at = :now,
            retired_at = CASE WHEN m.status = 'pending' THEN m.recorded_at ELSE coalesce(m.retired_at, :now) END,
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
class Ruling:
    """What a decision changes.

    `removed`: the row of a pending memory that is written again; `forgotten`: (memory, what took its place, if
    anything); `cleared` are no longer reviewed, and those that are `winners` too no longer contested; `evidence`:
    (from, to) whose evidence goes along; `slots`: (type, slot) that somebody left.
    """

    removed: UUID | None = None
    forgotten: tuple[tuple[UUID, UUID | None], ...] = ()
    cleared: tuple[UUID, ...] = ()
    winners: tuple[UUID, ...] = ()
    evidence: tuple[tuple[UUID, UUID], ...] = ()
    slots: tuple[tuple[str, str], ...] = ()


async def hold(session: WriteSession, tenant: UUID, scope: UUID, *, version: int | None = None) -> int:
    """Hold a scope until the transaction ends and return its version; ScopeMoved when that is not `version`."""
    rows = await session.fetch(_HOLD, {"tenant": tenant, "scope": scope})
    found = int(rows[0]["version"]) if rows else 0
    if version is not None and found != version:
        raise ScopeMoved
    return found


async def lock(session: WriteSession, tenant: UUID, memories: Collection[UUID]) -> None:
    """Hold memories until the transaction ends."""
    await session.fetch(_LOCK, {"tenant": tenant, "ids": sorted(memories)})


async def before_write(session: WriteSession, tenant: UUID, ruling: Ruling) -> None:
    """Make room for what the decision writes: the pending row goes, evidence moves to where it counts now."""
    for source, target in ruling.evidence:
        await session.fetch(_MOVE_EVIDENCE, {"tenant": tenant, "source": source, "target": target})
    if ruling.removed is not None and not await session.fetch(_REMOVE, {"tenant": tenant, "id": ruling.removed}):
        raise ScopeMoved


async def after_write(session: WriteSession, tenant: UUID, ruling: Ruling, *, now: datetime) -> None:
    """Forget and clear what the decision says, now that what took its place is there."""
    await _forget(session, tenant, ruling.forgotten, now)
    if ruling.cleared:
        values = {"tenant": tenant, "ids": list(ruling.cleared), "winners": list(ruling.winners), "now": now}
        try:
            await session.fetch(_CLEAR, values)
        except asyncpg.UniqueViolationError as error:
            raise ScopeMoved from error


async def _forget(
    session: WriteSession, tenant: UUID, forgotten: Sequence[tuple[UUID, UUID | None]], now: datetime
) -> None:
    if forgotten:
        given = [{"id": str(one), "successor": None if other is None else str(other)} for one, other in forgotten]
        ids = [one for one, _ in forgotten]
        await session.fetch(_FORGET, {"tenant": tenant, "ids": ids, "given": json.dumps(given), "now": now})
