"""Reads from a streaming replica: chosen while it is reachable and holds what the caller has written.

A write's answer carries the position of the primary's write-ahead log. A question that sends it back is answered from
the replica once that has replayed so far, else from the primary.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from app.db.session import Database, statement
from app.errors import Conflict, DatabaseBusy, DatabaseUnavailable

__all__ = ["POSITION_PATTERN", "Replica"]

T = TypeVar("T")

POSITION_PATTERN = "^[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}$"
"""The text form of a position in the write-ahead log (Postgres, type `pg_lsn`)."""

AVOIDED_SECONDS = 5.0
"""After a failure of the replica, reads go to the primary for so long."""

BEHIND_SECONDS = 5.0
"""After a wait in vain, others wait less for so long."""

BRIEFLY = 0.05
"""The part of the longest wait that they wait."""

_POLLS = (0.005, 0.01, 0.02, 0.05)
"""Seconds between looks at the replica's progress; the last one repeats."""

_WRITTEN = statement("SELECT pg_current_wal_insert_lsn()::text AS position")

_REPLAYED = statement("SELECT coalesce(pg_last_wal_replay_lsn() >= CAST(:position AS text)::pg_lsn, false) AS reached")


@dataclass(slots=True)
class _Health:
    avoided_until: float = float("-inf")
    behind_until: float = float("-inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """A primary and its replica; `wait` is the longest time, in seconds, to wait for a position.

    `observe` receives the source of every read (`replica`, `primary`), and the reason.
    """

    primary: Database
    copy: Database
    wait: float
    observe: Callable[[str, str], None] = lambda _source, _reason: None
    _health: _Health = field(default_factory=_Health, repr=False)

    async def position(self) -> str:
        """Return the position after everything that this process has committed. Raises DatabaseUnavailable."""
        async with self.primary.read(None) as session:
            rows = await session.fetch(_WRITTEN, {})
        return str(rows[0]["position"])

    async def read(self, work: Callable[[Database], Awaitable[T]], *, position: str | None = None) -> T:
        """Run the work, which only reads, on the replica or else on the primary; once more there if the replica fails.

        With `position`, the work sees everything written up to there. Work that takes too long on the replica, or gets
        no connection there, is not done again, which would only load the primary; raises DatabaseBusy.
        """
        reason = await self._obstacle(position)
        if reason is None:
            try:
                done = await work(self.copy)
            except DatabaseBusy:
                raise
            except (DatabaseUnavailable, Conflict):
                # A conflict with replay ends a replica's reads, which the primary's are free of.
                self._avoid()
                reason = "failed"
            else:
                self.observe("replica", "chosen")
                return done
        self.observe("primary", reason)
        return await work(self.primary)

    async def _obstacle(self, position: str | None) -> str | None:
        """Return the reason why the replica can't be read now, None when it can."""
        if time.monotonic() < self._health.avoided_until:
            return "failed"
        if position is None:
            return None
        try:
            return None if await self._reached(position) else "behind"
        except DatabaseBusy:
            raise
        except DatabaseUnavailable:
            self._avoid()
            return "failed"

    async def _reached(self, position: str) -> bool:
        """Wait until the replica has replayed so far; return whether it has, in time.

        A wait in vain holds a request's place, so what one found out shortens those of others.
        """
        briefly = time.monotonic() < self._health.behind_until
        deadline = time.monotonic() + self.wait * (BRIEFLY if briefly else 1)
        tries = 0
        while True:
            async with self.copy.read(None) as session:
                rows = await session.fetch(_REPLAYED, {"position": position})
            if rows[0]["reached"]:
                return True
            pause = _POLLS[min(tries, len(_POLLS) - 1)]
            if time.monotonic() + pause > deadline:
                if not briefly:
                    self._health.behind_until = time.monotonic() + BEHIND_SECONDS
                return False
            await asyncio.sleep(pause)
            tries += 1

    def _avoid(self) -> None:
        self._health.avoided_until = time.monotonic() + AVOIDED_SECONDS
