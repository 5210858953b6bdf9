"""Expires memories that have faded to a freshness under 0.1 (weekly)."""

from __future__ import annotations

from uuid import UUID

from app.db.lifecycle.sweeps import FRESHNESS
from app.services.batches import Stage, walk
from app.services.workers.worker import Counts, Means, Progress, Worker

NAME = "freshness"


async def run(means: Means, tenant: UUID, *, dry_run: bool, progress: Progress) -> Counts:
    """Return how many memories it was true of."""
    stages = (Stage(name=FRESHNESS.counted, look=FRESHNESS.look, do=FRESHNESS),)
    return await walk(means, tenant, NAME, stages, dry_run=dry_run, progress=progress)


WORKER = Worker(
    name=NAME,
    cron="17 3 * * 0",
    summary="Expires memories that have faded to a freshness under 0.1 (weekly).",
    run=run,
)
