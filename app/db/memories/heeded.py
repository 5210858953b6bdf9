"""Memories about the user that answers must heed: beliefs as a part of a question's look-up, and what was told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from app.db.memories.validity import is_true
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
    without regard to where words begin and end, as that takes Postgres a third of the time.
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


TOLD: Final = f"""
        SELECT jsonb_agg(jsonb_build_array(t.id, t.type, t.content, t.stated_at) ORDER BY t.stated_at DESC, t.id DESC)
        FROM (
            SELECT m.id, m.type, m.content, m.stated_at
            FROM unnest(CAST(:scopes AS uuid[])) AS bucket(scope_id)
            CROSS JOIN unnest(ARRAY['content', 'both']) AS part(kind)
            CROSS JOIN unnest(CAST(:told_types AS text[])) AS said(type)
            CROSS JOIN LATERAL (
                SELECT x.memory_id FROM memory_index x
                WHERE x.tenant_id = :tenant AND x.scope_id = bucket.scope_id AND x.kind = part.kind
                  AND x.type = said.type AND x.part = 0 AND x.status = 'active' OFFSET 0
            ) i
            CROSS JOIN LATERAL (
                SELECT x.id, x.type, x.content, x.stated_at FROM memories x
                WHERE x.tenant_id = :tenant AND x.id = i.memory_id AND x.content ~* :told OFFSET 0
            ) m
            JOIN evidence e ON e.tenant_id = :tenant AND e.memory_id = m.id
            WHERE :told <> '' AND (
                SELECT coalesce(sum(memory_count), 0) <= {COMPARED} FROM scopes
                WHERE tenant_id = :tenant AND id = ANY(:scopes))
              AND e.role = '{Role.USER}' AND e.session_id IS DISTINCT FROM CAST(:asking AS text) AND NOT EXISTS (
                SELECT FROM evidence o
                JOIN memories b ON b.tenant_id = :tenant AND b.id = o.memory_id
                    AND b.type = ANY(CAST(:heeded_types AS text[]))
                WHERE o.tenant_id = :tenant AND o.turn_id = e.turn_id)
            ORDER BY m.stated_at DESC, m.id DESC LIMIT {MOST_TOLD}
        ) t"""  # noqa: S608 - composed of constants
"""The query of turns in which users tell what is to be heeded, as a JSON array, or nothing.

Not those from which a belief was read that is heeded itself. Every turn in sight is compared, where there are few.
"""


def heeded_memories(found: Sequence[Sequence[str]] | None) -> tuple[HeededMemory, ...]:
    """Return the memories of the array that `heeded_query` returns."""
    return tuple(
        HeededMemory(id=UUID(memory), type=kind, content=content, stated_at=datetime.fromisoformat(stated_at))
        for memory, kind, content, stated_at in found or ()
    )
