"""Counts anew how often each entity is mentioned by the memories there are."""

from __future__ import annotations

from uuid import UUID

from app.db.lifecycle.recount import miscounted, recount
from app.services.batches import Stage, walk
from app.services.workers.worker import Counts, Means, Progress, Worker

NAME = "mention-counts"


async def run(means: Means, tenant: UUID, *, dry_run: bool, progress: Progress) -> Counts:
    """Return how many entities had a count that was wrong."""
    stages = (Stage(name="entities", look=miscounted, do=recount),)
    return await walk(means, tenant, NAME, stages, dry_run=dry_run, progress=progress)


WORKER = Worker(
    name=NAME,
    cron="53 5 * * 0",
    summary="Counts the mentions of each entity anew, and mends what differs (weekly).",
    run=run,
)
