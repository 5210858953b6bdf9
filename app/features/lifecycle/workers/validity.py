"""Hourly worker that expires memories whose validity has ended, and drops notes of changes that nobody asks for."""

from __future__ import annotations

from uuid import UUID

from app.db import change_notes
from app.features.lifecycle.runner import Counts, RunProgress, Worker, WorkerContext, sweeping
from app.features.lifecycle.sql.sweeps import VALIDITY

NAME = "validity"

_expire = sweeping(NAME, VALIDITY)


async def run(context: WorkerContext, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
    """Run the worker and return the number of expired memories."""
    if not dry_run:
        await change_notes.forget_old(context.database, tenant)
    return await _expire(context, tenant, dry_run=dry_run, progress=progress)


WORKER = Worker(
    name=NAME,
    cron="7 * * * *",
    summary="Expires memories whose validity has ended (hourly).",
    run=run,
)
