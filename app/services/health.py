"""Health of the service: database, schema, embedding model, and the state of the job queue."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from app.db import checks, embedding_models, migrate
from app.db.job_queue import Backlog
from app.db.session import Database
from app.errors import ConfigurationError, TypedMemoryError
from app.services.jobs import Jobs

PATIENCE = 3.0
"""Seconds the checks may take together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The faults that keep requests from being served (`missing`), lesser ones (`degraded`), and the job backlog."""

    missing: dict[str, str]
    degraded: dict[str, str]
    backlog: Backlog | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """Checks that the database has the schema and the embedding model of this process.

    A queue whose oldest job waits for longer than `slow_seconds` is reported as degraded, not as missing: taking an API
    process out of the load balancer would not run its jobs any sooner. So are a `clock_skew`, in seconds, and
    `provider_faults`, by provider: how this process's last calls failed.
    """

    database: Database
    jobs: Jobs
    model: str
    dimensions: int
    slow_seconds: float
    clock_skew: Callable[[], float]
    most_skew_seconds: float
    provider_faults: Callable[[], dict[str, str]]

    async def state(self) -> State:
        """Return the whole state."""
        missing = await self.missing()
        backlog = None if missing else await self.jobs.known_backlog()
        degraded = self._skewed() | self.provider_faults() | ({} if backlog is None else self._slow(backlog))
        return State(missing=missing, degraded=degraded | ({} if missing else await self._leaving()), backlog=backlog)

    async def missing(self) -> dict[str, str]:
        """Return the faults that keep requests from being served, by part; empty when there are none."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._schema() or await self._model() or await self._writes()
        except TimeoutError:
            return {"database": f"did not answer within {PATIENCE:.0f} seconds"}
        except TypedMemoryError as error:
            return {"database": error.message}
        except Exception as error:  # noqa: BLE001 - whatever it is, the answer is "not ready"
            return {"database": f"could not be checked ({type(error).__name__})"}

    async def _writes(self) -> dict[str, str]:
        wrong = await checks.refusal_of_writes(self.database)
        return {} if wrong is None else {"writes": wrong}

    def _slow(self, backlog: Backlog) -> dict[str, str]:
        if backlog.oldest_seconds < self.slow_seconds:
            return {}
        waited = f"the oldest of {backlog.depth} waiting jobs has waited {backlog.oldest_seconds:.0f} seconds"
        return {"queue": f"{waited}: is a worker running, and are there enough of them?"}

    def _skewed(self) -> dict[str, str]:
        seconds = self.clock_skew()
        if abs(seconds) < self.most_skew_seconds:
            return {}
        direction = "ahead of" if seconds > 0 else "behind"
        return {
            "clock": f"this machine's clock is {abs(seconds):.1f} seconds {direction} the database's: "
            "set it by NTP; until then the times in logs are wrong, those of memories are the database's"
        }

    async def _schema(self) -> dict[str, str]:
        wrong = migrate.is_outdated(await migrate.current(self.database))
        return {} if wrong is None else {"migrations": wrong}

    async def _model(self) -> dict[str, str]:
        try:
            embedding_models.check(
                await embedding_models.read_models(self.database), name=self.model, dimensions=self.dimensions
            )
        except ConfigurationError as error:
            return {"embedding_model": error.message}
        return {}

    async def _leaving(self) -> dict[str, str]:
        """Return a warning if another model has replaced this one; searches work until its vectors are dropped."""
        try:
            active, *_ = known = await embedding_models.read_models(self.database)
            mine = embedding_models.check(known, name=self.model, dimensions=self.dimensions)
        except (TypedMemoryError, ValueError):
            return {}
        if mine == active:
            return {}
        return {"embedding_model": f"{active} has taken the place of {mine}: restart with its TM_EMBEDDING_*"}
