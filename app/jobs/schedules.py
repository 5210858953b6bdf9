"""Scheduled tasks: each runs at the times of a cron expression, by one worker, and once after an outage of all.

Tasks must be short and idempotent. Longer work, and work for each tenant, is done by jobs that a task queues.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Protocol
from uuid import UUID

import structlog

from app.db import job_queue, jobs, quotas
from app.db.session import Database, WriteSession
from app.db.tenants import OldRows
from app.runtime import Runtime

log = structlog.get_logger("typed_memory.jobs")

BATCH = 1000
"""Rows that are removed in one transaction."""

LOG_KEPT = timedelta(days=1)
"""The age at which rows of the queue's own log are removed; only people read it."""

USAGE_KEPT = timedelta(days=7)
"""The age at which counts of daily limits are removed; limits count today's alone."""

FORSAKEN_AFTER = timedelta(minutes=15)
"""Age at which a turn that waits without a job is queued: longer than any request may take."""


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
        await prune_batches(runtime.database, tenant, partial(jobs.prune, tenant=tenant, before=before))
    await prune_batches(runtime.database, None, partial(job_queue.prune, kept=LOG_KEPT))


class PruneBatch(Protocol):
    """Removes rows."""

    async def __call__(self, session: WriteSession, *, limit: int) -> int:
        """Remove up to `limit` rows and return how many."""


async def prune_batches(database: Database, tenant: UUID | None, batch: PruneBatch) -> None:
    """Remove rows batch by batch, each in its transaction, until one is not full."""
    removed = BATCH
    while removed == BATCH:
        async with database.write(tenant) as session:
            removed = await batch(session, limit=BATCH)


async def prune_usage(runtime: Runtime) -> None:
    """Remove what tenants and keys used of their limits on past days."""
    before = runtime.clock() - USAGE_KEPT
    for tenant in await runtime.tenants.with_old(OldRows.USAGE, before):
        async with runtime.database.write(tenant) as session:
            await quotas.prune(session, tenant, before.date())


async def seal(runtime: Runtime) -> None:
    """Seal the audit events of all tenants that were written since the last run."""
    await runtime.audit.seal_all()


async def requeue_turns(runtime: Runtime) -> None:
    """Queue the turns of all tenants that wait although no job will process them."""
    before = runtime.clock() - FORSAKEN_AFTER
    for tenant in await runtime.tenants.with_old(OldRows.WAITING_TURNS, before):
        if count := await runtime.turns.requeue_forsaken(tenant, before):
            log.warning("turns whose request ended early go to a job", count=count)


SCHEDULES = (
    Schedule(name="tend-queue", cron="* * * * *", run=tend),
    Schedule(name="seal-audit", cron="* * * * *", run=seal),
    Schedule(name="requeue-turns", cron="*/5 * * * *", run=requeue_turns),
    Schedule(name="prune-jobs", cron="17 * * * *", run=prune),
    Schedule(name="prune-usage", cron="29 2 * * *", run=prune_usage),
)
"""The core's tasks."""
