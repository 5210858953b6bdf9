"""The turns that a memory's evidence points to, with what was said just before and after."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from app.db.session import ReadSession
from app.db.statement import statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A turn as a reviewer reads it."""

    id: UUID
    role: str
    speaker: str | None
    content: str
    occurred_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A turn, and its neighbours in the session, oldest first; a turn of no session has none."""

    before: tuple[Spoken, ...]
    turn: Spoken
    after: tuple[Spoken, ...]


_AROUND = statement(
    """
    SELECT t.id AS about, n.place, n.id, n.role, n.speaker, n.content, n.occurred_at
    FROM unnest(CAST(:ids AS uuid[])) AS given(id)
    CROSS JOIN LATERAL (SELECT * FROM turns x WHERE x.tenant_id = :tenant AND x.id = given.id OFFSET 0) t
    CROSS JOIN LATERAL (
        (SELECT -1 AS place, x.id, x.role, x.speaker, x.content, x.occurred_at, x.sequence_number FROM turns x
         WHERE x.tenant_id = :tenant AND x.scope_id = t.scope_id AND x.session_id = t.session_id
           AND (x.occurred_at, coalesce(x.sequence_number, 0), x.id)
             < (t.occurred_at, coalesce(t.sequence_number, 0), t.id)
         ORDER BY x.occurred_at DESC, x.sequence_number DESC NULLS LAST, x.id DESC LIMIT :each)
        UNION ALL
        (SELECT 0, t.id, t.role, t.speaker, t.content, t.occurred_at, t.sequence_number)
        UNION ALL
        (SELECT 1, x.id, x.role, x.speaker, x.content, x.occurred_at, x.sequence_number FROM turns x
         WHERE x.tenant_id = :tenant AND x.scope_id = t.scope_id AND x.session_id = t.session_id
           AND (x.occurred_at, coalesce(x.sequence_number, 0), x.id)
             > (t.occurred_at, coalesce(t.sequence_number, 0), t.id)
         ORDER BY x.occurred_at, x.sequence_number NULLS FIRST, x.id LIMIT :each)
    ) n
    ORDER BY t.id, n.occurred_at, coalesce(n.sequence_number, 0), n.id
    """
)


async def passages(session: ReadSession, tenant: UUID, turns: Collection[UUID], *, each: int) -> dict[UUID, Passage]:
    """Return the passages around those of the turns that exist, with up to `each` neighbours on either side."""
    if not turns:
        return {}
    rows = await session.fetch(_AROUND, {"tenant": tenant, "ids": list(turns), "each": each})
    places: dict[UUID, dict[int, list[Spoken]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        places[row["about"]][row["place"]].append(_spoken(row))
    return {
        turn: Passage(before=tuple(found[-1]), turn=found[0][0], after=tuple(found[1]))
        for turn, found in places.items()
    }


def _spoken(row: Record) -> Spoken:
    return Spoken(
        id=row["id"],
        role=row["role"],
        speaker=row["speaker"],
        content=row["content"],
        occurred_at=row["occurred_at"],
    )
