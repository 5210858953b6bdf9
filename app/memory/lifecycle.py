"""The lifecycle of a memory: conditions of changes of its status (seed 001, "The lifecycle in detail").

The workers test freshness in SQL (`app.db.memories.fading`), for sets of memories.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.memory.freshness import EXPIRY

GC_DAYS = 90.0
"""Days that a memory must be expired before it may be forgotten."""

GC_CONFIDENCE = 0.30
"""The highest confidence of a memory that may be forgotten: it was probably an error that no access confirmed."""

ROUNDING_ERROR = 1e-9
"""Tolerance of comparisons of confidences, so that one shown as 0.30 counts as 0.30."""

CORE_ACCESSES = 10
CORE_STABILITY = 0.85
CORE_SESSIONS = 3
"""The least sessions, accesses and stability of a memory that is promoted to core (seed 002)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FadeState:
    """The freshness of a memory and its inputs, which audit events of expiry record."""

    freshness: float
    days: float
    half_life_days: float | None
    floor: float
    boost: float
    access_count: int
    confidence: float

    def detail(self) -> dict[str, object]:
        """Return the numbers as the detail of an audit event."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {"threshold": EXPIRY}


def is_over(valid_until: datetime | None, now: datetime) -> bool:
    """Return whether a memory's validity has ended."""
    return valid_until is not None and valid_until <= now
