"""Reads from a streaming replica: chosen while it is reachable and holds what the caller has written.

Answers from the primary carry the position of its write-ahead log. A question that sends it back is answered from the
replica once that has replayed so far, else from the primary.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

import asyncpg
import structlog
from sqlalchemy.exc import DBAPIError

from app.db.checks import check_acting
from app.db.session import Database, statement
from app.errors import ConfigurationError, Conflict, DatabaseBusy, DatabaseUnavailable

__all__ = ["POSITION_PATTERN", "Replica"]

log = structlog.get_logger(__name__)

T = TypeVar("T")

POSITION_PATTERN = "^[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}$"
"""The text form of a position in the write-ahead log (Postgres, type `pg_lsn`)."""

CHECKED_SECONDS = 5.0
"""For so long a replica that was found to follow its primary is believed to."""

AVOIDED_SECONDS = 5.0
"""After a failure of the replica, reads go to the primary for so long."""

BEHIND_SECONDS = 5.0
"""After a wait in vain, others wait less for so long."""

BRIEFLY = 0.05
"""The part of the longest wait that they wait."""

_POLLS = (0.005, 0.01, 0.02, 0.05)
"""Seconds between looks at the replica's progress; the last one repeats."""

_WRITTEN = statement("SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_insert_lsn()::text END AS position")

_FOLLOWS = statement("SELECT pg_is_in_recovery() AS follows")

_REPLAYED = statement("SELECT coalesce(pg_last_wal_replay_lsn() >= CAST(:position AS text)::pg_lsn, false) AS reached")


@dataclass(slots=True)
class _Health:
    checked_until: float = float("-inf")
    avoided_until: float = float("-inf")
    behind_until: float = float("-inf")
    unfit: str | None = None


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

    async def position(self) -> str | None:
        """Return the position after everything that is committed; None where the primary is itself a replica.

        Raises DatabaseUnavailable.
        """
        async with self.primary.read(None) as session:
            [row] = await session.fetch(_WRITTEN, {})
        position: str | None = row["position"]
        return position

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
            except (DatabaseUnavailable, Conflict, DBAPIError, asyncpg.PostgresError):
                # A conflict with replay ends a replica's reads, which the primary's are free of; and a replica that
                # has not replayed a migration yet lacks what this code reads.
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
        try:
            if time.monotonic() >= self._health.checked_until:
                await self._check()
            return None if position is None or await self._reached(position) else "behind"
        except DatabaseBusy:
            raise
        except (DatabaseUnavailable, ConfigurationError):
            self._avoid()
            return "failed"

    async def _check(self) -> None:
        """Raise ConfigurationError for a server that is no replica to be read, and log it once."""
        health = self._health
        if health.checked_until > float("-inf"):  # others go on by what was found before
            health.checked_until = time.monotonic() + CHECKED_SECONDS
        try:
            await _require_replica(self.copy)
        except ConfigurationError as error:
            if health.unfit != error.message:
                log.warning("the replica is not read", reason=error.message)
            health.unfit, health.checked_until = error.message, float("-inf")
            raise
        health.unfit, health.checked_until = None, time.monotonic() + CHECKED_SECONDS

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


async def _require_replica(copy: Database) -> None:
    """Raise ConfigurationError for a server that follows no primary, or does not keep tenants apart.

    One that was promoted answers, too, but knows nothing of what is written and erased since.
    """
    await check_acting(copy)
    async with copy.read(None) as session:
        [row] = await session.fetch(_FOLLOWS, {})
    if not row["follows"]:
        raise ConfigurationError("it follows no primary: correct TM_REPLICA_DATABASE_URL, or unset it")
