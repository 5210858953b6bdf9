"""Memories about the user that answers must heed: beliefs as a part of a question's look-up, and what was told."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from app.db.memories.validity import is_true
from app.db.session import ReadSession, SqlStatement, statement
from app.memory.confidence import READ_FLOOR
from app.memory.extraction import Role
from app.memory.spec import MemoryType

MOST: Final = 24
"""Most that are read for a question, the most important first."""

MOST_TOLD: Final = 8
"""Most turns that are read for it, the newest first."""

COMPARED: Final = 5_000
"""Memories in sight up to which turns are compared one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeededMemory:
    """A memory that answers must heed: its type, its sentence, and when it was stated."""

    id: UUID
    type: str
    content: str
    stated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HeedQuery:
    """Filters of heeded memories: the rules of `types`, and a time at which they are valid; without it there are none.

    A type is heeded as a whole, or where a field of its payload has one of some values, or begins with one and a dot.
    Turns of users are where they match `told`, but those of the session `asking`: a regular expression that is matched
    without regard to where words begin and end, as that takes Postgres a third of the time. It still takes 200 ms for
    5,000 turns.
    """

    types: Iterable[MemoryType] = ()
    at: datetime | None = None
    told: str = ""
    asking: str | None = None

    def parameters(self) -> dict[str, object]:
        """Return the values of `heeded_query`."""
        rules = [
            (kind.name, kind.heed.field, value)
            for kind in self.types
            if kind.heed is not None and self.at is not None
            for value in kind.heed.values or ("",)
        ]
        return {
            "heeded_types": [name for name, _, _ in rules],
            "heeded_fields": [field for _, field, _ in rules],
            "heeded_values": [value for _, _, value in rules],
            "heeded_at": self.at,
            "told": self.told.replace(r"\b", ""),
            "told_types": [kind.name for kind in self.types if kind.verbatim],
            "asking": self.asking,
        }


NO_HEED: Final = HeedQuery()


def heeded_query(memories: Callable[[str], str]) -> str:
    """Return the query of heeded memories as a JSON array, or nothing; `me` are the users of the visible scopes."""
    about = "x.subject_id = me.root AND x.scope_id = me.scope_id AND x.type = heeded.type"
    return f"""
        SELECT jsonb_agg(jsonb_build_array(h.id, h.type, h.content, h.stated_at) ORDER BY h.importance DESC, h.id DESC)
        FROM (
            SELECT m.id, m.type, m.content, m.stated_at, m.importance
            FROM me CROSS JOIN (SELECT DISTINCT unnest(CAST(:heeded_types AS text[])) AS type) heeded
            CROSS JOIN LATERAL {memories(about)} m
            WHERE m.status = 'active' AND NOT m.contested AND m.speech_act = 'assertion'
              AND m.confidence >= {READ_FLOOR} AND {is_true("m", "CAST(:heeded_at AS timestamptz)")}
              AND EXISTS (
                SELECT FROM unnest(CAST(:heeded_types AS text[]), CAST(:heeded_fields AS text[]),
                                   CAST(:heeded_values AS text[])) AS rule(type, field, value)
                WHERE rule.type = m.type AND (rule.value = '' OR m.payload ->> rule.field = rule.value
                                              OR starts_with(m.payload ->> rule.field, rule.value || '.')))
            ORDER BY m.importance DESC, m.id DESC LIMIT {MOST}
        ) h"""  # noqa: S608 - composed of constants


def _told(among: str) -> SqlStatement:
    """Return the query of what users tell of what is to be heeded; `among` yields memories as `given.id`."""
    return statement(
        f"""
        SELECT m.id, m.type, m.content, m.stated_at
        FROM {among} AS given(id)
        CROSS JOIN LATERAL (
            SELECT x.id, x.type, x.content, x.stated_at FROM memories x
            WHERE x.tenant_id = :tenant AND x.id = given.id AND x.content ~* :told OFFSET 0
        ) m
        JOIN evidence e ON e.tenant_id = :tenant AND e.memory_id = m.id
        WHERE e.role = '{Role.USER}' AND e.session_id IS DISTINCT FROM CAST(:asking AS text) AND NOT EXISTS (
            SELECT FROM evidence o
            JOIN memories b ON b.tenant_id = :tenant AND b.id = o.memory_id
                AND b.type = ANY(CAST(:heeded_types AS text[]))
            WHERE o.tenant_id = :tenant AND o.turn_id = e.turn_id)
        ORDER BY m.stated_at DESC, m.id DESC LIMIT {MOST_TOLD}
        """  # noqa: S608 - composed of constants
    )


_ACTIVE = "x.tenant_id = :tenant AND x.part = 0 AND x.status = 'active'"

_TOLD = _told(
    f"""unnest(CAST(:scopes AS uuid[])) AS bucket(scope_id)
        CROSS JOIN unnest(ARRAY['content', 'both']) AS part(kind)
        CROSS JOIN unnest(CAST(:told_types AS text[])) AS said(type)
        CROSS JOIN LATERAL (
            SELECT x.memory_id FROM memory_index x
            WHERE {_ACTIVE} AND x.scope_id = bucket.scope_id AND x.kind = part.kind AND x.type = said.type OFFSET 0
        )"""  # noqa: S608 - composed of constants
)

_TOLD_AMONG = _told(
    f"""unnest(CAST(:ids AS uuid[])) AS one(id) CROSS JOIN LATERAL (
            SELECT x.memory_id FROM memory_index x
            WHERE {_ACTIVE} AND x.memory_id = one.id AND x.kind <> 'context'
              AND x.type = ANY(CAST(:told_types AS text[])) LIMIT 1
        )"""  # noqa: S608 - composed of constants
)

_MATCHING = statement(
    """
    SELECT one.id FROM unnest(CAST(:ids AS uuid[])) AS one(id) WHERE EXISTS (
        SELECT FROM memories x WHERE x.tenant_id = :tenant AND x.id = one.id AND x.content ~* :told)
    """
)


async def read_told(
    session: ReadSession,
    tenant: UUID,
    heed: HeedQuery,
    *,
    scopes: Sequence[UUID],
    among: Collection[UUID] | None = None,
) -> tuple[HeededMemory, ...]:
    """Return turns in which users tell of what is to be heeded, the newest first.

    Not those from which a belief was read that is heeded itself. Every turn in sight is compared, or those `among`
    some turns.
    """
    ids = {} if among is None else {"ids": list(among)}
    values = {**heed.parameters(), "tenant": tenant, "scopes": list(scopes), **ids}
    rows = await session.fetch(_TOLD if among is None else _TOLD_AMONG, values)
    return tuple(HeededMemory(id=row[0], type=row[1], content=row[2], stated_at=row[3]) for row in rows)


async def read_matching(
    session: ReadSession, tenant: UUID, heed: HeedQuery, memories: Collection[UUID]
) -> frozenset[UUID]:
    """Return those of the memories whose content `read_told` finds."""
    found = await session.fetch(_MATCHING, {**heed.parameters(), "tenant": tenant, "ids": list(memories)})
    return frozenset(row[0] for row in found)


def heeded_memories(found: Sequence[Sequence[str]] | None) -> tuple[HeededMemory, ...]:
    """Return the memories of the array that `heeded_query` returns."""
    return tuple(
        HeededMemory(id=UUID(memory), type=kind, content=content, stated_at=datetime.fromisoformat(stated_at))
        for memory, kind, content, stated_at in found or ()
    )
