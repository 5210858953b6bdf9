"""Usage of memories: counters and times of accesses, feedback, and the revival of expired memories."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from app.db.apply.memories import RowChange, bump_scopes, change_memories
from app.db.audit import AuditWriter, append
from app.db.memories import fading
from app.db.memories.validity import is_unended
from app.db.scopes import lock_memories, lock_scopes_of_expired
from app.db.session import WriteSession, statement
from app.memory.audit import AuditAction
from app.memory.freshness import EXPIRY
from app.memory.lifecycle import FadeState
from app.model import Feedback, MemoryStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Revival:
    """A memory that became active again, and its freshness after the access that revived it."""

    id: UUID
    scope_id: UUID
    fade: FadeState


_FIT = statement(
    f"""
    WITH fit AS MATERIALIZED (
        SELECT m.id, m.scope_id, m.type, m.slot, m.contested, m.stated_at, {fading.FADE_COLUMNS}
        FROM memories m {fading.USE}
        WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.status = 'expired'
          AND {is_unended("m", ":now")}
          AND ({fading.FRESHNESS} > {EXPIRY} OR NOT {fading.FADED_SINCE_DATE})
          AND NOT EXISTS (
            SELECT FROM memories h WHERE h.tenant_id = :tenant AND h.scope_id = m.scope_id AND h.type = m.type
              AND h.slot = m.slot AND h.status = 'active')
    )
    SELECT DISTINCT ON (scope_id, type, slot, CASE WHEN slot IS NULL THEN id END) * FROM fit
    ORDER BY scope_id, type, slot, CASE WHEN slot IS NULL THEN id END, contested, stated_at DESC, id DESC
    """  # noqa: S608 - composed of constants
)


async def revive(
    session: WriteSession, tenant: UUID, memories: Collection[UUID], *, now: datetime, actor: str, reason: str
) -> list[Revival]:
    """Make expired memories active again if they qualify; return those.

    A memory qualifies if it is fresh enough, by its last access, which must be recorded already, or since the last
    instant that it speaks of; is still valid; and no active memory holds its slot. Of several expired memories of a
    slot, the latest statement becomes active. The reason is for the audit log and must hold no content.

    Scopes are locked first and get a new version, because concurrent writes have read a state without these memories.
    Call it before the transaction locks memories or their usage, unless it has locked the scopes already.
    """
    if not memories or not await lock_scopes_of_expired(session, tenant, memories):
        return []
    await lock_memories(session, tenant, memories)
    rows = await session.fetch(_FIT, {"tenant": tenant, "ids": list(memories), "now": now})
    revived = [Revival(id=row["id"], scope_id=row["scope_id"], fade=fading.fade_of(row)) for row in rows]
    holding = {row["id"]: row["slot"] is not None and not row["contested"] for row in rows}
    changes = [
        RowChange(id=one, values={"status": MemoryStatus.ACTIVE}, claims=claims) for one, claims in holding.items()
    ]
    await change_memories(session, tenant, changes, at=now)
    await bump_scopes(session, tenant, {one.scope_id for one in revived}, at=now)
    events = [
        AuditWriter(tenant=tenant, actor=actor, at=now, scope=one.scope_id).event(
            AuditAction.MEMORY_REVIVED,
            {"reason": reason, "status": [MemoryStatus.EXPIRED, MemoryStatus.ACTIVE], **one.fade.detail()},
            memory=one.id,
        )
        for one in revived
    ]
    await append(session, events)
    return revived


MOST_SESSIONS = 16
"""Most distinct sessions that are stored of a memory: promotion to core needs three."""

BOOSTING_ACCESSES = 6
"""Accesses that count in the boost min(3, 1.2^n): it does not grow from the seventh on."""

STEADY = 0.1
"""Stability that an access after a week adds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Accesses of one memory that are not stored yet: their number, the time of the last, and their sessions."""

    memory: UUID
    count: int
    last: datetime
    sessions: tuple[str, ...] = ()


class StoredUse(NamedTuple):
    """The uses of a memory as they are stored: accesses, the last of them, stability, and the number of sessions."""

    memory: UUID
    access_count: int
    last_accessed_at: datetime | None
    stability: float
    sessions: int


_RECORDING = f"""
    INSERT INTO memory_usage AS u (tenant_id, memory_id, access_count, last_accessed_at, stability, sessions)
    SELECT :tenant, g.memory, g.count, greatest(g.last, m.stated_at),
        0.1 * least(2, greatest(0, extract(epoch FROM g.last - m.stated_at)) / 604800.0), g.sessions
    FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS g(memory uuid, count int, last timestamptz, sessions text[])
    JOIN memories m ON m.tenant_id = :tenant AND m.id = g.memory
    ORDER BY g.memory
    ON CONFLICT (tenant_id, memory_id) DO UPDATE SET
        access_count = u.access_count + excluded.access_count,
        last_accessed_at = greatest(u.last_accessed_at, excluded.last_accessed_at),
        previous_accessed_at = CASE WHEN u.last_accessed_at IS NULL THEN NULL
            WHEN excluded.last_accessed_at > u.last_accessed_at THEN u.last_accessed_at
            ELSE greatest(u.previous_accessed_at, excluded.last_accessed_at) END,
        stability = least(1, u.stability + CASE WHEN u.last_accessed_at IS NULL THEN excluded.stability
            ELSE 0.1 * least(2, greatest(0, extract(epoch FROM excluded.last_accessed_at - u.last_accessed_at))
                / 604800.0) END),
        sessions = (SELECT coalesce(array_agg(one ORDER BY place), '{{}}') FROM (
            SELECT one, min(place) AS place FROM unnest(u.sessions || excluded.sessions)
                WITH ORDINALITY AS every(one, place) GROUP BY one ORDER BY place LIMIT {MOST_SESSIONS}) kept)
    """  # noqa: S608 - composed of constants

_RECORD = statement(_RECORDING)

_RECORD_AND_TELL = statement(
    f"""{_RECORDING}
    RETURNING u.memory_id, u.access_count, u.last_accessed_at, u.stability, cardinality(u.sessions),
        CAST(CAST(pg_current_xact_id() AS text) AS bigint)"""
)

_TAKE_BACK = statement(
    f"""
    UPDATE memory_usage u SET
        access_count = greatest(0, least(u.access_count, {BOOSTING_ACCESSES}) - 1),
        last_accessed_at = CASE WHEN u.previous_accessed_at > m.stated_at THEN u.previous_accessed_at
            WHEN u.last_accessed_at < m.stated_at THEN u.last_accessed_at END,
        previous_accessed_at = NULL,
        stability = greatest(0, u.stability - {STEADY})
    FROM memories m
    WHERE u.tenant_id = :tenant AND u.memory_id = :memory AND m.tenant_id = :tenant AND m.id = :memory
    """  # noqa: S608 - composed of constants
)

_COUNT = {
    column: statement(
        f"INSERT INTO memory_usage AS u (tenant_id, memory_id, {column}) VALUES (:tenant, :memory, 1) "  # noqa: S608
        f"ON CONFLICT (tenant_id, memory_id) DO UPDATE SET {column} = u.{column} + 1"
    )
    for column in ("useful_count", "not_useful_count", "wrong_count")
}


async def record(session: WriteSession, *, tenant: UUID, uses: Sequence[Use]) -> None:
    """Add accesses to the counters in one statement; skip memories that no longer exist.

    Stability grows by 0.1 x min(2, days since the last access / 7), up to 1; without an access, the
    days count from the statement. Accesses stored together count as one there, the last. Accesses that arrive late from
    another process count, but move no last access back; an access is never before the statement.
    """
    await session.change(_RECORD, {"tenant": tenant, "given": _given(uses)})


async def record_and_tell(session: WriteSession, *, tenant: UUID, uses: Sequence[Use]) -> tuple[int, list[StoredUse]]:
    """Add accesses as `record` does; return the number of the transaction, and what is stored of each memory now.

    Not in a cluster, whose nodes have transactions of their own.
    """
    rows = await session.fetch(_RECORD_AND_TELL, {"tenant": tenant, "given": _given(uses)})
    return (rows[0][5] if rows else 0), [StoredUse._make(row[:5]) for row in rows]


def _given(uses: Sequence[Use]) -> str:
    return json.dumps(
        [
            {
                "memory": str(use.memory),
                "count": use.count,
                "last": use.last.isoformat(),
                "sessions": list(use.sessions),
            }
            for use in uses
        ]
    )


async def take_back(session: WriteSession, *, tenant: UUID, memory: UUID) -> None:
    """Revoke the last access of a memory, because a caller found it of no use.

    Of the accesses that the boost counts (six: 1.2^6 is almost its cap), one is subtracted. The last access becomes the
    one before, or none when that is unknown or the memory was stated again since. Stability loses the gain of a week.
    Nothing falls below 0, so freshness never rises by it.
    """
    await session.change(_TAKE_BACK, {"tenant": tenant, "memory": memory})


async def count(session: WriteSession, *, tenant: UUID, memory: UUID, feedback: Feedback) -> None:
    """Add one to the counter of this feedback."""
    await session.change(_COUNT[f"{feedback}_count"], {"tenant": tenant, "memory": memory})
