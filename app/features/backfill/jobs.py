"""Job that previews, commits or undoes a backfill, a batch a transaction, from where it was interrupted."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from app import ids
from app.db.jobs import Job
from app.features.backfill.service import BACKFILL, Backfills
from app.jobs.handler import Handler, ProgressCallback
from app.runtime import Runtime


async def run(runtime: Runtime, job: Job, progress: ProgressCallback) -> Mapping[str, object]:
    """Perform the step that the backfill's status asks for, and return the backfill's id."""
    backfill = UUID(hex=str(job.payload["backfill"]))
    async for done, total in runtime.service(Backfills).run(job.tenant_id, backfill, str(job.payload["actor"])):
        await progress(done, total)
    return {"backfill": ids.public(ids.BACKFILL, backfill)}


HANDLER = Handler(kind=BACKFILL, run=run)
