"""Job that performs a lifecycle worker's run for one tenant, from its checkpoint; repeating it changes nothing."""

from __future__ import annotations

from collections.abc import Mapping

from app.db.jobs import Job
from app.features.lifecycle.runner import KIND
from app.jobs.handler import Handler, ProgressCallback
from app.runtime import Runtime


async def run(runtime: Runtime, job: Job, progress: ProgressCallback) -> Mapping[str, object]:
    """Perform the run and return the worker, whether it was a dry run, and its counts."""

    async def report(done: int, total: int | None) -> None:
        await progress(done, total)

    counts = await runtime.workers.perform(job.tenant_id, job.id, job.payload, report)
    return {**job.payload, "counts": counts}


HANDLER = Handler(kind=KIND, run=run)
