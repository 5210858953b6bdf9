"""The lifecycle once more, in plain Python and from the seeds alone: what the workers must come to.

Nothing of the service is imported here, so that a mistake there isn't made here too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

DAY = timedelta(days=1)


@dataclass(slots=True, kw_only=True)
class Known:
    """A memory as far as its life depends on it."""

    id: UUID
    type: str
    category: str
    half_life: float | None
    floor: float
    confidence: float
    stated: datetime
    until: datetime | None = None
    slot: str | None = None
    status: str = "active"
    since: datetime | None = None
    accesses: int = 0
    accessed: datetime | None = None
    stability: float = 0.0
    sessions: set[str] = field(default_factory=set)

    def freshness(self, now: datetime) -> float:
        passive = 1.0
        if self.half_life is not None:
            days = max(0.0, (now - (self.accessed or self.stated)) / DAY)
            passive = 2 ** (-days / self.half_life)
        return max(self.floor, passive * min(3, 1.2**self.accesses))

    def since_date(self, now: datetime) -> float:
        """How fresh it is by the last instant that it speaks of."""
        last = max(self.stated, self.until or self.stated)
        return 1.0 if self.half_life is None else 2 ** (-((now - last) / DAY) / self.half_life)


@dataclass(slots=True)
class World:
    """All memories, and what happened to them: (when, memory, from, to, action)."""

    known: dict[UUID, Known] = field(default_factory=dict)
    told: list[tuple[datetime, UUID, str, str, str]] = field(default_factory=list)

    def add(self, memories: Iterable[Known]) -> None:
        self.known.update({one.id: one for one in memories})

    def become(self, one: Known, status: str, now: datetime, action: str) -> None:
        self.told.append((now, one.id, one.status, status, action))
        if status != one.status:
            one.status, one.since = status, now

    def of(self, status: str) -> list[Known]:
        return [one for one in self.known.values() if one.status == status]

    def freshness(self, now: datetime) -> None:
        for one in self.of("active"):
            if one.half_life is not None and one.freshness(now) < 0.1 and one.since_date(now) < 0.1:
                self.become(one, "expired", now, "memory.expired")

    def validity(self, now: datetime) -> None:
        for one in self.of("active"):
            if one.until is not None and one.until <= now:
                self.become(one, "expired", now, "memory.ended")

    def gc(self, now: datetime) -> None:
        for one in self.of("forgotten"):
            if now - (one.since or one.stated) >= 30 * DAY:
                self.become(one, "purged", now, "memory.purged")
        for one in self.of("expired"):
            if now - (one.since or one.stated) >= 90 * DAY and one.confidence <= 0.3:
                self.become(one, "forgotten", now, "memory.forgotten")

    def promotion(self, now: datetime) -> None:
        for one in self.of("active"):
            often = one.accesses >= 10 and one.stability >= 0.85 and len(one.sessions) >= 3
            if often and one.category != "core" and one.half_life is not None:
                self.become(one, "active", now, "memory.promoted")
                one.category, one.half_life, one.floor = "core", 120.0, 0.6

    def use(self, memory: UUID, count: int, session: str, now: datetime) -> None:
        one = self.known[memory]
        days = max(0.0, (now - (one.accessed or one.stated)) / DAY)
        one.stability = min(1.0, one.stability + 0.1 * min(2.0, days / 7))
        one.accesses += count
        one.accessed = now
        one.sessions.add(session)

    def revive(self, memories: Iterable[UUID], now: datetime) -> None:
        for memory in memories:
            one = self.known[memory]
            held = {other.slot for other in self.of("active") if other.slot is not None}
            over = one.until is not None and one.until <= now
            if one.status == "expired" and one.freshness(now) > 0.1 and not over and one.slot not in held:
                self.become(one, "active", now, "memory.revived")
