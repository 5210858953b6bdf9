"""How often and when memories were used: counters apart from the rows that are indexed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from app.db.session import WriteSession

MOST_SESSIONS = 16
"""Distinct sessions remembered of a memory: promotion to core asks for three."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Accesses of one memory since they were last written down."""

    memory: UUID
    count: int
    first: datetime
    last: datetime
    sessions: tuple[str, ...] = ()


_RECORD = text(
    f"""
    INSERT INTO memory_usage AS u (tenant_id, memory_id, access_count, last_accessed_at, stability, sessions)
    SELECT :tenant, g.memory, g.count, g.last,
        least(1, 0.1 * least(2, greatest(0, extract(epoch FROM g.first - m.stated_at)) / 604800.0)), g.sessions
    FROM jsonb_to_recordset(CAST(:given AS jsonb))
        AS g(memory uuid, count int, first timestamptz, last timestamptz, sessions text[])
    JOIN memories m ON m.tenant_id = :tenant AND m.id = g.memory
    ORDER BY g.memory
    ON CONFLICT (tenant_id, memory_id) DO UPDATE SET
        access_count = u.access_count + excluded.access_count,
        last_accessed_at = greatest(u.last_accessed_at, excluded.last_accessed_at),
        stability = CASE WHEN u.last_accessed_at IS NULL THEN excluded.stability ELSE least(1, u.stability + 0.1
            * least(2, greatest(0, extract(epoch FROM excluded.last_accessed_at - u.last_accessed_at)) / 604800.0))
            END,
        sessions = (SELECT coalesce(array_agg(one ORDER BY place), '{{}}') FROM (
            SELECT one, min(place) AS place FROM unnest(u.sessions || excluded.sessions)
                WITH ORDINALITY AS every(one, place) GROUP BY one ORDER BY place LIMIT {MOST_SESSIONS}) kept)
    """  # noqa: S608 - composed of constants
)


async def record(session: WriteSession, *, tenant: UUID, uses: Sequence[Use]) -> None:
    """Add accesses to the counters in one statement; memories that are gone are passed over.

    Stability grows by 0.1 x min(2, days since the last access / 7), up to 1 (DESIGN section 4); of accesses
    that are written down together, the first is the one that counts: no days passed between them.
    """
    given = [
        {
            "memory": str(use.memory),
            "count": use.count,
            "first": use.first.isoformat(),
            "last": use.last.isoformat(),
            "sessions": list(use.sessions),
        }
        for use in uses
    ]
    await session.execute(_RECORD, {"tenant": tenant, "given": json.dumps(given)})
