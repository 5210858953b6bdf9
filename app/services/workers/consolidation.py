"""Weekly: faded episodes that are alike become one semantic memory."""

from __future__ import annotations

from uuid import UUID

from app.services.consolidation import Consolidation
from app.services.workers.worker import Counts, Means, Progress, Worker


async def run(means: Means, tenant: UUID, *, dry_run: bool, progress: Progress) -> Counts:
    """Return how many groups were folded, of how many memories, and how many of them a model wrote."""
    service = Consolidation(database=means.database, writing=means.writing, summariser=means.summariser)
    return await service.run(tenant, dry_run=dry_run, progress=progress)


WORKER = Worker(
    name="consolidation",
    cron="20 2 * * 0",
    summary="Folds groups of five or more faded episodes that are alike into one semantic memory each.",
    run=run,
)
