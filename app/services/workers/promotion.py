"""Makes core what is used often, steadily and in several conversations (daily)."""

from __future__ import annotations

from uuid import UUID

from app.db.lifecycle.sweeps import PROMOTION
from app.services.batches import Stage, walk
from app.services.workers.worker import Counts, Means, Progress, Worker

NAME = "promotion"


async def run(means: Means, tenant: UUID, *, dry_run: bool, progress: Progress) -> Counts:
    """Return how many memories it was true of."""
    stages = (Stage(name=PROMOTION.counted, look=PROMOTION.look, do=PROMOTION),)
    return await walk(means, tenant, NAME, stages, dry_run=dry_run, progress=progress)


WORKER = Worker(
    name=NAME,
    cron="37 4 * * *",
    summary="Makes core what is used often, steadily and in several conversations (daily).",
    run=run,
)
