"""The worker, a process or part of `serve`: runs jobs by their tickets, and scheduled tasks, until it is stopped.

A task runs at the times of a cron expression, by one worker, and once after an outage of all. Tasks must be short and
idempotent. Longer work, and work for each tenant, is done by jobs that a task queues.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from uuid import UUID

import structlog
from pgqueuer.core.qm import QueueManager
from pgqueuer.core.sm import SchedulerManager
from pgqueuer.domain.models import Schedule as Due

from app.db import job_queue, jobs, quotas
from app.db.embedded.folder import FileLock
from app.db.job_queue import ReconnectingDriver
from app.db.session import Database, WriteSession
from app.db.tenants import OldRows
from app.features.query_log import sql as query_log
from app.features.webhooks import sql as webhooks
from app.jobs.executor import Executor
from app.jobs.handler import Handler, discover
from app.runtime import Runtime

POLL_SECONDS = 2.0
"""The interval at which the queue is polled without notifications, which bounds the delay of retries."""

AGAIN_SECONDS = 1.0
"""The pause before a failed loop is restarted."""

CUT_SECONDS = 5.0
"""The time for each further step after the grace: stop the runs, stop waiting for the database, cancel the loops."""

log = structlog.get_logger("typed_memory.jobs")

BATCH = 1000
"""Rows that are removed in one transaction."""

LOG_KEPT = timedelta(days=1)
"""The age at which rows of the queue's own log are removed; only people read it."""

USAGE_KEPT = timedelta(days=7)
"""The age at which counts of daily limits are removed; limits count today's alone."""

DELIVERIES_KEPT = timedelta(days=7)
"""The age at which deliveries of webhooks are removed, in any state."""

FORSAKEN_AFTER = timedelta(minutes=15)
"""Age at which a turn that waits without a job is queued: longer than any request may take."""


async def run_worker(
    runtime: Runtime,
    *,
    handlers: Mapping[str, Handler],
    stop: asyncio.Event,
    hurry: asyncio.Event | None = None,
    schedules: Sequence[Schedule] | None = None,
) -> None:
    """Run jobs and schedules until `stop` is set, then finish running jobs and return those that exceed the grace.

    `hurry` ends the grace; `schedules` are all unless given. Failures in between don't end the worker.
    """
    due = every(runtime) if schedules is None else schedules
    executor = Executor(runtime=runtime, handlers=handlers)
    async with ReconnectingDriver.open(runtime.database) as driver:
        loops = {
            asyncio.create_task(_kept_up("queue", partial(_queue, runtime, driver, executor, stop), stop)),
            asyncio.create_task(_kept_up("schedules", partial(_schedules, runtime, driver, due, stop), stop)),
        }
        log.info("worker started", kinds=sorted(handlers))
        try:
            await stop.wait()
            await _grace(loops, runtime.settings.worker_grace, hurry or asyncio.Event())
        finally:
            stop.set()
            for last_resort in (executor.cut, driver.stop_waiting, partial(_cancel, loops)):
                last_resort()
                await asyncio.wait(loops, timeout=CUT_SECONDS)
        log.info("worker stopped")


@asynccontextmanager
async def embedded_worker(runtime: Runtime, lock: Path | None = None) -> AsyncIterator[None]:
    """Run a worker during the block, unless TM_WORKER is off; with a `lock`, while this process holds it."""
    if runtime.settings.worker == "off":
        yield
        return
    stop = asyncio.Event()
    run = partial(run_worker, runtime, handlers=discover(), stop=stop)
    worker = asyncio.create_task(run() if lock is None else _run_alone(run, lock, stop))
    try:
        yield
    finally:
        stop.set()
        await worker


async def _run_alone(run: Callable[[], Awaitable[None]], path: Path, stop: asyncio.Event) -> None:
    """Run a worker once the lock is free. The kernel releases the lock of a process that dies."""
    lock = FileLock(path)
    try:
        while not lock.try_lock(exclusive=True):
            with suppress(TimeoutError):
                async with asyncio.timeout(AGAIN_SECONDS):
                    await stop.wait()
            if stop.is_set():
                return
        await run()
    finally:
        lock.close()


async def _queue(runtime: Runtime, driver: ReconnectingDriver, executor: Executor, stop: asyncio.Event) -> None:
    manager = QueueManager(job_queue.queries(driver), job_queue.CHANNEL)
    manager.shutdown = stop
    settings = runtime.settings
    for entrypoint in job_queue.entrypoints():
        manager.entrypoint(
            entrypoint,
            concurrency_limit=settings.worker_tenant_concurrency,
            accepts_context=False,
            on_failure="hold",
        )(executor.__call__)
    await manager.run(
        dequeue_timeout=timedelta(seconds=POLL_SECONDS),
        batch_size=settings.worker_concurrency // 2,
        max_concurrent_tasks=settings.worker_concurrency,
        heartbeat_timeout=timedelta(seconds=settings.worker_patience),
        log_aggregation_interval=timedelta(0),
    )


async def _schedules(
    runtime: Runtime, driver: ReconnectingDriver, schedules: Sequence[Schedule], stop: asyncio.Event
) -> None:
    manager = SchedulerManager(job_queue.queries(driver))
    manager.shutdown = stop
    for one in schedules:
        manager.schedule(one.name, one.cron, accepts_context=False)(partial(_due, runtime, one))
    await manager.run()


async def _due(runtime: Runtime, schedule: Schedule, _at: Due) -> None:
    try:
        await schedule.run(runtime)
    except Exception:  # its next time comes, and the worker goes on
        log.exception("a schedule failed", schedule=schedule.name)


async def _kept_up(name: str, loop: Callable[[], Awaitable[None]], stop: asyncio.Event) -> None:
    """Run a loop until the worker stops, and restart it when it fails."""
    while not stop.is_set():
        try:
            await loop()
        except Exception:  # a worker that gave up would leave jobs undone in silence
            log.exception("a loop of the worker failed and starts again", loop=name)
            with suppress(TimeoutError):
                async with asyncio.timeout(AGAIN_SECONDS):
                    await stop.wait()


async def _grace(loops: set[asyncio.Task[None]], seconds: float, hurry: asyncio.Event) -> None:
    """Wait until the loops have ended, the time is over, or `hurry` is set."""
    waits = {asyncio.create_task(asyncio.wait(loops)), asyncio.create_task(hurry.wait())}
    await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()


def _cancel(loops: set[asyncio.Task[None]]) -> None:
    for loop in loops:
        loop.cancel()


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A task at the times of a cron expression (five fields, UTC; a sixth would be seconds)."""

    name: str
    cron: str
    run: Callable[[Runtime], Awaitable[None]]


async def tend(runtime: Runtime) -> None:
    """Release failed tickets and recompute priorities of the queue."""
    async with runtime.database.write(None) as session:
        released = await job_queue.release(session)
        await job_queue.move_up(session)
    if released:
        log.warning("jobs whose run could not be recorded go back to the queue", count=released)


async def prune(runtime: Runtime) -> None:
    """Remove jobs that finished long ago, and old rows of the queue's log."""
    before = runtime.clock() - timedelta(days=runtime.settings.job_keep_days)
    for tenant in await runtime.tenants.with_old(OldRows.FINISHED_JOBS, before):
        await _prune(runtime.database, tenant, partial(jobs.prune, tenant=tenant, before=before, limit=BATCH))
    await _prune(runtime.database, None, partial(job_queue.prune, kept=LOG_KEPT, limit=BATCH))


async def _prune(database: Database, tenant: UUID | None, batch: Callable[[WriteSession], Awaitable[int]]) -> None:
    """Remove rows batch by batch, each in its transaction, until one is not full."""
    removed = BATCH
    while removed == BATCH:
        async with database.write(tenant) as session:
            removed = await batch(session)


async def prune_usage(runtime: Runtime) -> None:
    """Remove what tenants and keys used of their limits on past days."""
    before = runtime.clock() - USAGE_KEPT
    for tenant in await runtime.tenants.with_old(OldRows.USAGE, before):
        async with runtime.database.write(tenant) as session:
            await quotas.prune(session, tenant, before.date())


async def prune_query_log(runtime: Runtime) -> None:
    """Remove old entries of the query log."""
    before = runtime.clock() - timedelta(days=runtime.settings.query_log_days)
    for tenant in await runtime.tenants.with_old(OldRows.QUERY_LOG, before):
        await _prune(runtime.database, tenant, partial(query_log.prune, tenant=tenant, before=before, limit=BATCH))


async def prune_deliveries(runtime: Runtime) -> None:
    """Remove old deliveries of webhooks."""
    before = runtime.clock() - DELIVERIES_KEPT
    async with runtime.database.read(None) as session:
        tenants = await webhooks.tenants_with_old(session, before)
    for tenant in tenants:
        await _prune(runtime.database, tenant, partial(webhooks.prune, tenant=tenant, before=before, limit=BATCH))


async def seal(runtime: Runtime) -> None:
    """Seal the audit events of all tenants that were written since the last run."""
    await runtime.audit.seal_all()


async def send_webhooks(runtime: Runtime) -> None:
    """Queue jobs that send due webhook deliveries."""
    await runtime.webhooks.queue_due()


async def reseal_secrets(runtime: Runtime) -> None:
    """Encrypt stored secrets by the newest key, where they are in clear or encrypted by an older one."""
    if not runtime.webhooks.box.keys:
        return
    changed = sum([await runtime.webhooks.reseal(tenant.id) for tenant in await runtime.tenants.list()])
    if changed:
        log.info("secrets of webhooks are encrypted by the newest key", webhooks=changed)


async def requeue_turns(runtime: Runtime) -> None:
    """Queue the turns of all tenants that wait although no job will process them."""
    before = runtime.clock() - FORSAKEN_AFTER
    for tenant in await runtime.tenants.with_old(OldRows.WAITING_TURNS, before):
        if count := await runtime.turns.requeue_forsaken(tenant, before):
            log.warning("turns whose request ended early go to a job", count=count)


async def start_worker(name: str, runtime: Runtime) -> None:
    """Queue a worker's run for every tenant with data, unless one is queued or running.

    A tenant for which that fails does not keep others from theirs, and is tried once more at the end.
    """
    failed = await _start_worker(name, runtime, [tenant.id for tenant in await runtime.tenants.list()])
    if failed and (left := await _start_worker(name, runtime, failed)):
        log.error("a worker waits for its next time in these tenants", worker=name, tenants=[str(one) for one in left])


async def _start_worker(name: str, runtime: Runtime, tenants: Sequence[UUID]) -> list[UUID]:
    """Queue a worker's run for tenants; log and return those for which it failed."""
    failed = []
    for tenant in tenants:
        try:
            await runtime.workers.start_scheduled(tenant, name)
        except Exception:
            log.exception("a worker could not be started", worker=name, tenant=str(tenant))
            failed.append(tenant)
    return failed


def every(runtime: Runtime) -> tuple[Schedule, ...]:
    """Return all schedules: the queue's own, and one for each lifecycle worker that isn't switched off."""
    crons = {name: runtime.workers.cron(name) for name in sorted(runtime.workers.known)}
    return SCHEDULES + tuple(
        Schedule(name=f"worker-{name}", cron=cron, run=partial(start_worker, name))
        for name, cron in crons.items()
        if cron is not None
    )


SCHEDULES = (
    Schedule(name="tend-queue", cron="* * * * *", run=tend),
    Schedule(name="seal-audit", cron="* * * * *", run=seal),
    Schedule(name="send-webhooks", cron="* * * * * */5", run=send_webhooks),
    Schedule(name="reseal-secrets", cron="43 * * * *", run=reseal_secrets),
    Schedule(name="requeue-turns", cron="*/5 * * * *", run=requeue_turns),
    Schedule(name="prune-jobs", cron="17 * * * *", run=prune),
    Schedule(name="prune-usage", cron="29 2 * * *", run=prune_usage),
    Schedule(name="prune-query-log", cron="37 * * * *", run=prune_query_log),
    Schedule(name="prune-deliveries", cron="47 * * * *", run=prune_deliveries),
)
