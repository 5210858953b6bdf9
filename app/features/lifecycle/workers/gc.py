"""Worker that forgets memories that expired long ago unconfirmed, and deletes those that were forgotten long ago."""

from __future__ import annotations

from uuid import UUID

from app.features.lifecycle.runner import Counts, RunProgress, Worker, WorkerContext, WorkerStage, run_stages
from app.features.lifecycle.sql.sweeps import FORGETTING, Purge

NAME = "gc"


async def run(context: WorkerContext, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
    """Run the worker and return the numbers of forgotten and deleted memories."""
    purge = Purge(days=context.forgotten_days, language=context.language)
    stages = (
        WorkerStage(name="purged", look=purge.look, do=purge),
        WorkerStage(name=FORGETTING.counted, look=FORGETTING.look, do=FORGETTING),
    )
    return await run_stages(context, tenant, NAME, stages, dry_run=dry_run, progress=progress)


WORKER = Worker(
    name=NAME,
    cron="43 3 1 * *",
    summary="Forgets memories that are expired for 90 days at a confidence of at most 0.30, and deletes what was "
    "forgotten 30 days ago (monthly).",
    run=run,
)
