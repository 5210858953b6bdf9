"""The job that performs a worker's run for one tenant, from its checkpoint, and the tasks that queue such jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from uuid import UUID

import structlog

from app.db.jobs import Job
from app.features.lifecycle.runner import KIND, Workers
from app.jobs.handler import Handler, ProgressCallback
from app.jobs.schedules import Schedule
from app.runtime import Runtime

log = structlog.get_logger("typed_memory.jobs")


async def run(runtime: Runtime, job: Job, progress: ProgressCallback) -> Mapping[str, object]:
    """Perform the run and return the worker, whether it was a dry run, and its counts."""

    async def report(done: int, total: int | None) -> None:
        await progress(done, total)

    counts = await runtime.service(Workers).perform(job.tenant_id, job.id, job.payload, report)
    return {**job.payload, "counts": counts}


HANDLER = Handler(kind=KIND, run=run)


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
            await runtime.service(Workers).start_scheduled(tenant, name)
        except Exception:
            log.exception("a worker could not be started", worker=name, tenant=str(tenant))
            failed.append(tenant)
    return failed


def schedules(runtime: Runtime) -> tuple[Schedule, ...]:
    """Return the schedule of each worker that isn't switched off."""
    workers = runtime.service(Workers)
    crons = {name: workers.cron(name) for name in sorted(workers.known)}
    return tuple(
        Schedule(name=f"worker-{name}", cron=cron, run=partial(start_worker, name))
        for name, cron in crons.items()
        if cron is not None
    )
