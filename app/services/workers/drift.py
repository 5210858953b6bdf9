"""Daily: slots that change too often are marked, and the store's mix is compared with the month before."""

from __future__ import annotations

from uuid import UUID

from app.services.drift import Drift
from app.services.workers.worker import Counts, Means, Progress, Worker


async def run(means: Means, tenant: UUID, *, dry_run: bool, progress: Progress) -> Counts:
    """Return how many days were counted, how many slots are volatile, and how many shares have shifted."""
    return await Drift(database=means.database, clock=means.clock).run(tenant, dry_run=dry_run, progress=progress)


WORKER = Worker(
    name="drift",
    cron="40 1 * * *",
    summary="Marks slots that change too often for review, and compares the store's mix with the month before.",
    run=run,
)
