"""Forgets what is expired for long and was never confirmed, and deletes for good what is forgotten for long."""

from __future__ import annotations

from uuid import UUID

from app.db.lifecycle.purge import Purge
from app.db.lifecycle.sweeps import FORGETTING
from app.services.batches import Stage, walk
from app.services.workers.worker import Counts, Means, Progress, Worker

NAME = "gc"


async def run(means: Means, tenant: UUID, *, dry_run: bool, progress: Progress) -> Counts:
    """Return how many memories were forgotten, and how many deleted."""
    purge = Purge(days=means.forgotten_days, language=means.language)
    stages = (
        Stage(name="purged", look=purge.look, do=purge),
        Stage(name=FORGETTING.counted, look=FORGETTING.look, do=FORGETTING),
    )
    return await walk(means, tenant, NAME, stages, dry_run=dry_run, progress=progress)


WORKER = Worker(
    name=NAME,
    cron="43 3 1 * *",
    summary="Forgets memories that are expired for 90 days at a confidence of at most 0.30, and deletes what was "
    "forgotten 30 days ago (monthly).",
    run=run,
)
