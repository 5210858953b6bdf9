"""The lifecycle of a memory: legal changes of status and their conditions (seed 001, "The lifecycle in detail").

Conditions on freshness are here as arithmetic; the workers' SQL has the same for sets of memories.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from app.memory.freshness import EXPIRY, Decay, boost, days_between, freshness
from app.model import MemoryStatus

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
class StatusChange:
    """A legal change of status, with its trigger and its meaning."""

    trigger: str
    meaning: str


LEGAL: Mapping[tuple[MemoryStatus, MemoryStatus], StatusChange] = MappingProxyType(
    {
        **{
            change: StatusChange(
                trigger="a reviewer's decision is undone", meaning="it is again what it was before the decision"
            )
            for change in (
                (MemoryStatus.FORGOTTEN, MemoryStatus.PENDING),
                (MemoryStatus.FORGOTTEN, MemoryStatus.ACTIVE),
                (MemoryStatus.FORGOTTEN, MemoryStatus.EXPIRED),
                (MemoryStatus.FORGOTTEN, MemoryStatus.SUPERSEDED),
                (MemoryStatus.SUPERSEDED, MemoryStatus.PENDING),
            )
        },
        (MemoryStatus.PENDING, MemoryStatus.ACTIVE): StatusChange(
            trigger="a person accepts it", meaning="it is believed and recalled from now on"
        ),
        (MemoryStatus.PENDING, MemoryStatus.FORGOTTEN): StatusChange(
            trigger="a person rejects it", meaning="it was never believed, and goes"
        ),
        (MemoryStatus.PENDING, MemoryStatus.SUPERSEDED): StatusChange(
            trigger="a person accepts what was stated before what is believed now",
            meaning="it is history from the start: true until then",
        ),
        (MemoryStatus.ACTIVE, MemoryStatus.SUPERSEDED): StatusChange(
            trigger="a newer statement takes its slot", meaning="it is history: true until then"
        ),
        (MemoryStatus.ACTIVE, MemoryStatus.EXPIRED): StatusChange(
            trigger="its freshness falls under 0.1, or its validity ends", meaning="stale, not wrong: out of recall"
        ),
        (MemoryStatus.ACTIVE, MemoryStatus.PENDING): StatusChange(
            trigger="a person is to look at it first", meaning="it is not recalled until they have"
        ),
        (MemoryStatus.ACTIVE, MemoryStatus.FORGOTTEN): StatusChange(
            trigger="a person says that it was wrong", meaning="it is believed no more, and goes"
        ),
        (MemoryStatus.EXPIRED, MemoryStatus.ACTIVE): StatusChange(
            trigger="it is accessed, found useful or stated again", meaning="it matters again"
        ),
        (MemoryStatus.EXPIRED, MemoryStatus.FORGOTTEN): StatusChange(
            trigger="it is expired for 90 days at a confidence of at most 0.30",
            meaning="it was probably an error of extraction, and goes",
        ),
        (MemoryStatus.EXPIRED, MemoryStatus.SUPERSEDED): StatusChange(
            trigger="a newer statement takes its place in a chain", meaning="it is history: true until then"
        ),
        (MemoryStatus.SUPERSEDED, MemoryStatus.ACTIVE): StatusChange(
            trigger="a supersession is taken back", meaning="it holds again, as if it had not been replaced"
        ),
        (MemoryStatus.SUPERSEDED, MemoryStatus.EXPIRED): StatusChange(
            trigger="the summary that it was folded into is gone", meaning="it is stale, as it was before"
        ),
        (MemoryStatus.SUPERSEDED, MemoryStatus.FORGOTTEN): StatusChange(
            trigger="a person says that it was wrong", meaning="it is no longer history, and goes"
        ),
    }
)
"""All legal changes of status; the database refuses all others."""


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


def fade(
    *,
    stated_at: datetime,
    last_accessed_at: datetime | None,
    access_count: int,
    decay: Decay,
    confidence: float,
    now: datetime,
) -> FadeState:
    """Return the state at `now`, from the last access or, without one, from the statement."""
    days = days_between(last_accessed_at or stated_at, now)
    return FadeState(
        freshness=freshness(days=days, decay=decay, access_count=access_count),
        days=days,
        half_life_days=decay.half_life_days,
        floor=decay.floor,
        boost=boost(access_count),
        access_count=access_count,
        confidence=confidence,
    )


def expires(faded: FadeState) -> bool:
    """Return whether an active memory is to expire by its freshness; one without a half-life never does."""
    return faded.half_life_days is not None and faded.freshness < EXPIRY


def is_over(valid_until: datetime | None, now: datetime) -> bool:
    """Return whether a memory's validity has ended."""
    return valid_until is not None and valid_until <= now
