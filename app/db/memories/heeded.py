"""Memories about the user that answers must heed, as a part of a question's look-up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from app.db.memories.validity import is_true
from app.memory.confidence import READ_FLOOR
from app.memory.spec import MemoryType

MOST: Final = 24
"""Most that are read for a question, the most important first."""


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
    """

    types: Iterable[MemoryType] = ()
    at: datetime | None = None

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


def heeded_memories(found: Sequence[Sequence[str]] | None) -> tuple[HeededMemory, ...]:
    """Return the memories of the array that `heeded_query` returns."""
    return tuple(
        HeededMemory(id=UUID(memory), type=kind, content=content, stated_at=datetime.fromisoformat(stated_at))
        for memory, kind, content, stated_at in found or ()
    )
