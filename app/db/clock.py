"""The database's clock, which orders what all processes write, read from this process without a round trip.

A reading brackets the database's time between the moments when it was asked and when it answered. The clock returns
the upper end: a write that begins after another was acknowledged is then never stamped before it, since the other's
commit took at least the round trip by which its stamp may have been early. Machines' own clocks take no part; how far
this machine's is off is reported.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import structlog

from app.db.session import Database, statement
from app.errors import TypedMemoryError

DRIFT = 1e-4
"""Seconds a second by which two machines' clocks may run apart: what widens a bracket as it ages."""

INTERVAL_SECONDS = 2.0

_FIRST_READINGS = 3
"""The first statement of a connection takes longer than the next."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_READ = statement("SELECT extract(epoch FROM clock_timestamp())::float8 AS seconds")

log = structlog.get_logger("typed_memory.clock")


@dataclass(frozen=True, slots=True)
class ClockBracket:
    """Between which bounds, in seconds, the database's clock is ahead of the monotonic one; true `at` that moment."""

    low: float
    high: float
    at: float

    @classmethod
    def of(cls, *, asked: float, seconds: float, answered: float) -> ClockBracket:
        """Return the bracket of a reading, whose moments are those of the monotonic clock."""
        drift = DRIFT * (answered - asked)
        return cls(low=seconds - answered - drift, high=seconds - asked + drift, at=answered)

    def aged(self, at: float) -> ClockBracket:
        """Return the bracket at a later moment, wider by what the clocks may have run apart."""
        drift = DRIFT * max(0.0, at - self.at)
        return ClockBracket(low=self.low - drift, high=self.high + drift, at=at)

    def narrowed(self, other: ClockBracket) -> ClockBracket | None:
        """Return what this and a newer bracket have in common; None where they contradict each other."""
        old = self.aged(other.at)
        low, high = max(old.low, other.low), min(old.high, other.high)
        return ClockBracket(low=low, high=high, at=other.at) if low <= high else None


@dataclass(slots=True, kw_only=True)
class DatabaseClock:
    """Returns the database's time. `wall` is this machine's clock, which is only compared with it."""

    database: Database
    wall: Callable[[], datetime]
    monotonic: Callable[[], float] = time.monotonic
    _bracket: ClockBracket | None = field(default=None, init=False)

    def __call__(self) -> datetime:
        """Return the present; RuntimeError before the first reading."""
        if self._bracket is None:
            raise RuntimeError("the database's clock has not been read yet")
        at = self.monotonic()
        return _EPOCH + timedelta(seconds=at + self._bracket.aged(at).high)

    def skew(self) -> float:
        """Return by how many seconds this machine's clock is ahead of the database's."""
        return (self.wall() - self()).total_seconds()

    async def start(self) -> None:
        """Read the clock for the first time; DatabaseUnavailable when that is not possible."""
        for _ in range(_FIRST_READINGS):
            await self.read()

    async def read(self) -> None:
        """Ask the database; a reading that contradicts the earlier ones replaces them, for its clock was set anew."""
        async with self.database.read(None) as session:
            asked = self.monotonic()
            [row] = await session.fetch(_READ, {})
            answered = self.monotonic()
        new = ClockBracket.of(asked=asked, seconds=row["seconds"], answered=answered)
        narrowed = self._bracket.narrowed(new) if self._bracket is not None else new
        if narrowed is None:
            log.warning("the database's clock was set anew", seconds=round(new.high - self._last().high, 3))
        self._bracket = narrowed or new

    async def run(self) -> None:
        """Follow the database's clock; while it cannot be asked, the monotonic clock goes on alone."""
        while True:
            await asyncio.sleep(INTERVAL_SECONDS)
            try:
                await self.read()
            except TypedMemoryError as error:
                log.debug("the database's clock could not be read", reason=error.message)

    def _last(self) -> ClockBracket:
        assert self._bracket is not None  # noqa: S101 - narrows for the type checker
        return self._bracket
