"""Expires memories whose validity has ended (hourly)."""

from __future__ import annotations

from uuid import UUID

from app.db.lifecycle.sweeps import VALIDITY
from app.services.batches import Stage, walk
from app.services.workers.worker import Counts, Means, Progress, Worker

NAME = "validity"


async def run(means: Means, tenant: UUID, *, dry_run: bool, progress: Progress) -> Counts:
    """Return how many memories it was true of."""
    stages = (Stage(name=VALIDITY.counted, look=VALIDITY.look, do=VALIDITY),)
    return await walk(means, tenant, NAME, stages, dry_run=dry_run, progress=progress)


WORKER = Worker(name=NAME, cron="7 * * * *", summary="Expires memories whose validity has ended (hourly).", run=run)
