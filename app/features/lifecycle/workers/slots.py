"""Weekly worker that brings memories into the slots of today's keys, where statements of today meet them."""

from __future__ import annotations

from uuid import UUID

from app.features.lifecycle.runner import Counts, RunProgress, Worker, WorkerContext, WorkerStage, run_stages
from app.features.lifecycle.sql.rekeying import COUNTED, Rekeying

NAME = "slots"


async def run(context: WorkerContext, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
    """Run the worker and return the number of memories that moved."""
    rekeying = Rekeying(types=await context.types.of(tenant))
    stages = (WorkerStage(name=COUNTED, look=rekeying.look, do=rekeying),)
    return await run_stages(context, tenant, NAME, stages, dry_run=dry_run, progress=progress)


WORKER = Worker(
    name=NAME,
    cron="13 2 * * 0",
    summary="Brings memories together whose keys have become synonyms; what differs then waits for review (weekly).",
    run=run,
)
