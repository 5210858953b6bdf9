"""The worker, a process or part of `serve`: runs jobs by their tickets, and scheduled tasks, until it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path

import structlog
from pgqueuer.core.qm import QueueManager
from pgqueuer.core.sm import SchedulerManager
from pgqueuer.domain.models import Schedule as Due

from app.db import job_queue
from app.db.embedded.folder import FileLock
from app.db.job_queue import ReconnectingDriver
from app.jobs.executor import Executor
from app.jobs.handler import Handler
from app.jobs.schedules import SCHEDULES, Schedule
from app.runtime import Runtime

POLL_SECONDS = 2.0
"""The interval at which the queue is polled without notifications, which bounds the delay of retries."""

AGAIN_SECONDS = 1.0
"""The pause before a failed loop is restarted."""

CUT_SECONDS = 5.0
"""The time for each further step after the grace: stop the runs, stop waiting for the database, cancel the loops."""

log = structlog.get_logger("typed_memory.jobs")


async def run_worker(
    runtime: Runtime,
    *,
    handlers: Mapping[str, Handler],
    stop: asyncio.Event,
    hurry: asyncio.Event | None = None,
    schedules: Sequence[Schedule] = SCHEDULES,
) -> None:
    """Run jobs and schedules until `stop` is set, then finish running jobs and return those that exceed the grace.

    `hurry` ends the grace. Failures in between don't end the worker.
    """
    executor = Executor(runtime=runtime, handlers=handlers)
    async with ReconnectingDriver.open(runtime.database) as driver:
        loops = {
            asyncio.create_task(_kept_up("queue", partial(_queue, runtime, driver, executor, stop), stop)),
            asyncio.create_task(_kept_up("schedules", partial(_schedules, runtime, driver, schedules, stop), stop)),
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
async def embedded_worker(
    runtime: Runtime, handlers: Mapping[str, Handler], schedules: Sequence[Schedule], lock: Path | None = None
) -> AsyncIterator[None]:
    """Run a worker during the block, unless TM_WORKER is off; with a `lock`, while this process holds it."""
    if runtime.settings.worker == "off":
        yield
        return
    stop = asyncio.Event()
    run = partial(run_worker, runtime, handlers=handlers, schedules=schedules, stop=stop)
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
