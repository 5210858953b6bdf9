"""A database of jobs, workers in this process and in others, and short ways to look at what they do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID, uuid4

import asyncpg

from app.bootstrap import now
from app.db import jobs
from app.db.jobs import Job
from app.features.lifecycle.runner import WorkerContext, Workers
from app.features.webhooks.secret_box import SecretBox
from app.features.webhooks.sender import WebhookSender
from app.features.webhooks.service import Webhooks
from app.jobs.handler import Handler
from app.jobs.schedules import Schedule
from app.jobs.worker import run_worker
from app.metrics import Metrics
from app.model import Actor, JobStatus
from app.runtime import Runtime
from app.services.audit import Audit
from app.services.jobs import Jobs
from app.services.tenants import Tenants
from app.settings import Settings
from app.telemetry import Telemetry
from tests.jobs.handlers import HANDLERS, WORKERS
from tests.support import owner
from tests.support.pools import PlacedDatabase
from tests.support.waiting import PATIENCE, eventually

FAST: dict[str, Any] = {
    "worker_concurrency": 8,
    "worker_patience": 1.0,
    "worker_grace": 5.0,
    "job_retry_seconds": 0.1,
}


class LightRuntime(SimpleNamespace):
    """A runtime of what is given; `offered` are the services of features."""

    def service(self, kind: type) -> Any:
        return self.offered[kind]


def light_runtime(url: str, **settings: Any) -> Runtime:
    """What a worker uses of a runtime, without a model or a pipeline."""
    database = PlacedDatabase(url, pool_size=10)
    return cast(
        "Runtime",
        LightRuntime(
            database=database,
            settings=Settings(**{**FAST, **settings}),
            metrics=Metrics(),
            telemetry=Telemetry(None, "0"),
            clock=now,
            jobs=Jobs(database=database, clock=now),
            tenants=Tenants(database=database, clock=now),
            audit=Audit(database=database),
            offered={
                Workers: Workers(
                    database=database,
                    clock=now,
                    context=cast("WorkerContext", SimpleNamespace(database=database, clock=now)),
                    known=WORKERS,
                    crons={},
                ),
                Webhooks: Webhooks(database=database, sender=WebhookSender(timeout=1.0), box=SecretBox(), clock=now),
            },
        ),
    )


@dataclass(slots=True)
class Yard:
    """A database, tenants with jobs in it, and workers."""

    url: str
    runtime: Runtime

    async def sql(self, statement: str, *arguments: object) -> list[asyncpg.Record]:
        """Ask the database as its owner."""
        return await owner.ask(self.url, statement, *arguments)

    async def tenant(self, tenant: UUID | None = None) -> Actor:
        return await owner.new_tenant(self.url, tenant)

    async def enqueue(self, actor: Actor, kind: str, **payload: object) -> UUID:
        async with self.runtime.database.write(actor.tenant_id) as session:
            return await jobs.enqueue(session, tenant=actor.tenant_id, kind=kind, payload=payload, now=now())

    async def gathered(self, actor: Actor, scope: UUID, turns: int = 1, **payload: object) -> UUID:
        """Queue a job that may be done with others of its scope."""
        named = [uuid4().hex for _ in range(turns)]
        async with self.runtime.database.write(actor.tenant_id) as session:
            given = {"tenant_id": actor.tenant_id, "id": scope, "kind": "user", "user_id": scope.hex, "agent_id": None}
            return await jobs.enqueue(
                session,
                tenant=actor.tenant_id,
                kind="gathered",
                payload={"turns": named, **payload},
                now=now(),
                scope=scope,
                total=turns,
                beside={"scopes": [given]},
            )

    async def ended(self, actor: Actor, job: UUID) -> Job:
        """Wait until a job has ended, and return it."""
        return await self.until(actor, job, lambda one: one.finished)

    async def until(self, actor: Actor, job: UUID, met: Callable[[Job], bool]) -> Job:
        found = await self.runtime.jobs.get(actor, job)
        async with asyncio.timeout(PATIENCE):
            while not met(found):
                await asyncio.sleep(0.02)
                found = await self.runtime.jobs.get(actor, job)
        return found

    async def effects(self, job: UUID) -> list[str]:
        return [row["name"] for row in await self.sql("SELECT name FROM effects WHERE job_id = $1 ORDER BY at", job)]

    async def tickets(self) -> int:
        return int((await self.sql("SELECT count(*) FROM pgqueuer"))[0][0])

    async def no_ticket_left(self) -> None:
        """Wait until the queue is empty: tickets go a moment after their job has ended."""
        await eventually(self._empty)

    async def _empty(self) -> bool:
        return await self.tickets() == 0

    @asynccontextmanager
    async def worker(
        self,
        *,
        handlers: Mapping[str, Handler] = HANDLERS,
        schedules: Sequence[Schedule] = (),
        hurry: asyncio.Event | None = None,
        **settings: Any,
    ) -> AsyncIterator[Runtime]:
        """Run a worker in this process for as long as the block."""
        runtime = light_runtime(self.url, **settings)
        stop = asyncio.Event()
        worker = asyncio.create_task(
            run_worker(runtime, handlers=handlers, schedules=schedules, stop=stop, hurry=hurry)
        )
        try:
            yield runtime
        finally:
            stop.set()
            await worker
            await runtime.database.close()

    async def close(self) -> None:
        await self.runtime.database.close()


def statuses(found: Sequence[Job]) -> list[JobStatus]:
    return [one.status for one in found]
