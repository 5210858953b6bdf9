"""Worker that recounts the mentions of each entity."""

from __future__ import annotations

from uuid import UUID

from app.db.recounts import find_wrong_mentions, recount_page
from app.features.lifecycle.runner import Counts, RunProgress, Worker, WorkerContext, WorkerStage, run_stages

NAME = "mention-counts"


async def run(context: WorkerContext, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
    """Run the worker and return the number of entities with a wrong count."""
    stages = (WorkerStage(name="entities", look=find_wrong_mentions, do=recount_page),)
    return await run_stages(context, tenant, NAME, stages, dry_run=dry_run, progress=progress)


WORKER = Worker(
    name=NAME,
    cron="53 5 * * 0",
    summary="Counts the mentions of each entity again, and mends what differs (weekly).",
    run=run,
)
