"""Worker that recounts each scope's lexical statistics and sizes, and corrects differences."""

from __future__ import annotations

from collections import Counter
from uuid import UUID

from app.db import recounts
from app.db.recounts import BatchResult, CountDifferences
from app.db.session import SNAPSHOT, WriteSession
from app.features.lifecycle.runner import FIRST, Counts, Place, RunProgress, Worker, WorkerContext

NAME = "lexical-statistics"
STAGE = "scopes"


async def run(context: WorkerContext, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
    """Run the worker and return the numbers of scopes, of scopes with wrong counts, and of terms with wrong counts."""
    place = None if dry_run else await Place.of(context, tenant, NAME, progress)
    after = FIRST if place is None else place.after(STAGE, (STAGE,))
    foreseen, seen = Counter[str](), 0
    while after is not None:
        async with context.database.read(tenant, **SNAPSHOT) as session:
            scope = await recounts.next_scope(session, tenant, after)
            found = None if scope is None else await recounts.read_differences(session, tenant, scope, context.language)
        if scope is None or found is None:
            break
        if place is None:
            foreseen.update(_counts(found))
            seen += 1
            await progress(seen)
            after = scope
        else:
            after = await place.step(STAGE, _Correction(tenant, scope, found))
    return foreseen if place is None else place.counts


class _Correction:
    """Corrects the statistics of one scope."""

    def __init__(self, tenant: UUID, scope: UUID, found: CountDifferences) -> None:
        self.tenant, self.scope, self.found = tenant, scope, found

    async def __call__(self, session: WriteSession) -> BatchResult:
        if self.found.counts or self.found.empty:
            await recounts.correct_counts(session, self.tenant, self.scope, self.found)
        return BatchResult(seen=1, counts=_counts(self.found), last=self.scope)


def _counts(found: CountDifferences) -> dict[str, int]:
    return {"scopes": 1, "corrected": int(bool(found.counts)), "terms": len(found.counts.by_term())}


WORKER = Worker(
    name=NAME,
    cron="23 5 * * 0",
    summary="Counts the memories and terms of each scope again, and mends what differs (weekly).",
    run=run,
)
