"""The formula of freshness, which falls with time (seed 000, "Type-specific decay half-lives"; seed 002)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.model import Category, Memory

BOOST_PER_ACCESS = 1.2
MAX_BOOST = 3.0
MOST_POWERS = 64
"""Accesses up to which the boost is computed as a power, so that it is never out of range."""

EXPIRY = 0.1
"""Freshness under which the weekly worker expires a memory (seed 001)."""

SECONDS_PER_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Decay:
    """A half-life in days (None: never fades) and the freshness it never falls below."""

    half_life_days: float | None
    floor: float = 0.0


CATEGORY_DECAY = {
    Category.EPISODIC: Decay(half_life_days=45, floor=0.02),
    Category.SEMANTIC: Decay(half_life_days=120, floor=0.02),
    Category.PROCEDURAL: Decay(half_life_days=None),
    Category.CONTROL: Decay(half_life_days=None),
    Category.CORE: Decay(half_life_days=120, floor=0.60),
}
"""The decay of an explicitly chosen category, whatever the type."""


def boost(access_count: int) -> float:
    """Return the access boost min(3, 1.2^n)."""
    return min(MAX_BOOST, BOOST_PER_ACCESS ** min(access_count, MOST_POWERS))


def freshness(*, days: float, decay: Decay, access_count: int = 0) -> float:
    """Return 2^(-days / half-life) x boost, never below the floor; `days` since the last access."""
    return faded(days, decay.half_life_days, decay.floor, access_count)


def faded(days: float, half_life_days: float | None, floor: float, access_count: int) -> float:
    """Return the freshness of a decay that is given by its numbers: ranking asks it of hundreds of memories."""
    passive = 2.0 ** (-days / half_life_days) if half_life_days is not None and days > 0 else 1.0
    if access_count:
        passive *= boost(access_count)
    return max(floor, passive)


def since_last_use(
    *, stated_at: datetime, last_accessed_at: datetime | None, access_count: int, decay: Decay, now: datetime
) -> float:
    """Return the freshness at `now`, from the last access or, without one, from the statement."""
    days = (now - (last_accessed_at or stated_at)).total_seconds() / SECONDS_PER_DAY
    return freshness(days=days, decay=decay, access_count=access_count)


def of_memory(memory: Memory, now: datetime) -> float:
    """Return a memory's freshness at `now`."""
    return since_last_use(
        stated_at=memory.stated_at,
        last_accessed_at=memory.last_accessed_at,
        access_count=memory.access_count,
        decay=Decay(half_life_days=memory.half_life_days, floor=memory.floor),
        now=now,
    )
