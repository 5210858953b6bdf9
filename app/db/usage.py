"""How often and when memories were used: counters apart from the rows that are indexed."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import ARRAY, Uuid, bindparam, text

from app.db.session import WriteSession
from app.model import Feedback

MOST_SESSIONS = 16
"""Distinct sessions remembered of a memory: promotion to core asks for three."""

COUNTED = 6
"""Accesses that the boost min(3, 1.2^n) is made of, whole ones: from the seventh on it doesn't grow."""

STEADY = 0.1
"""Stability that an access after a week gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Accesses of one memory since they were last written down: how many, the last one, in which sessions."""

    memory: UUID
    count: int
    last: datetime
    sessions: tuple[str, ...] = ()


_HOLD = text(
    """
    SELECT m.id FROM memories m
    JOIN scopes s ON s.tenant_id = m.tenant_id AND s.id = m.scope_id
    WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.status = 'expired'
    ORDER BY s.id FOR UPDATE OF s
    """
).bindparams(bindparam("ids", type_=ARRAY(Uuid)))

_RECORD = text(
    f"""
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
)

_TAKE_BACK = text(
    f"""
    UPDATE memory_usage u SET
        access_count = greatest(0, least(u.access_count, {COUNTED}) - 1),
        last_accessed_at = CASE WHEN u.previous_accessed_at > m.stated_at THEN u.previous_accessed_at
            WHEN u.last_accessed_at < m.stated_at THEN u.last_accessed_at END,
        previous_accessed_at = NULL,
        stability = greatest(0, u.stability - {STEADY})
    FROM memories m
    WHERE u.tenant_id = :tenant AND u.memory_id = :memory AND m.tenant_id = :tenant AND m.id = :memory
    """  # noqa: S608 - composed of constants
)

_COUNT = {
    column: text(
        f"INSERT INTO memory_usage AS u (tenant_id, memory_id, {column}) VALUES (:tenant, :memory, 1) "  # noqa: S608
        f"ON CONFLICT (tenant_id, memory_id) DO UPDATE SET {column} = u.{column} + 1"
    )
    for column in ("useful_count", "not_useful_count", "wrong_count")
}


async def hold_expired(session: WriteSession, *, tenant: UUID, memories: Collection[UUID]) -> list[UUID]:
    """Return those of these memories that are expired, their scopes held until the transaction ends.

    Before their uses are written down, since whoever writes a scope holds it first and its counters then.
    """
    found = await session.execute(_HOLD, {"tenant": tenant, "ids": list(memories)})
    return [row[0] for row in found]


async def record(session: WriteSession, *, tenant: UUID, uses: Sequence[Use]) -> None:
    """Add accesses to the counters in one statement; memories that are gone are passed over.

    Stability grows by 0.1 x min(2, days since the last access / 7), up to 1 (DESIGN section 4), never accessed:
    since it was stated. Accesses that are written down together count as one there, the last: no days passed
    between them. What comes late, from another process, counts and moves no last access back; nothing is used
    before it was stated.
    """
    given = [
        {
            "memory": str(use.memory),
            "count": use.count,
            "last": use.last.isoformat(),
            "sessions": list(use.sessions),
        }
        for use in uses
    ]
    await session.execute(_RECORD, {"tenant": tenant, "given": json.dumps(given)})


async def take_back(session: WriteSession, *, tenant: UUID, memory: UUID) -> None:
    """Take the last use of a memory back, as one that was of no use.

    Of the accesses that the boost is made of (six: 1.2^6 is almost its cap), one less counts. The last access is
    again the one before, or none when that isn't known or when it was stated anew since. Stability loses what a
    week had given it. Nothing falls below 0, so freshness never rises by it.
    """
    await session.execute(_TAKE_BACK, {"tenant": tenant, "memory": memory})


async def count(session: WriteSession, *, tenant: UUID, memory: UUID, feedback: Feedback) -> None:
    """Add one to the counter of this feedback."""
    await session.execute(_COUNT[f"{feedback}_count"], {"tenant": tenant, "memory": memory})
