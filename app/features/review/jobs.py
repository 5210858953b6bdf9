"""Job that asks the judge about memories that may say the same, and merges those that do; repeating it is harmless."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from app.db.jobs import Job
from app.db.memories.rivals import SAMENESS
from app.features.review.sameness import Sameness
from app.jobs.handler import Handler, ProgressCallback
from app.runtime import Runtime


async def run(runtime: Runtime, job: Job, progress: ProgressCallback) -> Mapping[str, object]:
    """Settle the job's pairs and return how many were asked about, and how many were merged."""
    pairs = [(UUID(newer), UUID(older)) for newer, older in job.payload["pairs"]]
    counts = await runtime.service(Sameness).settle(job.tenant_id, pairs)
    await progress(len(pairs), len(pairs))
    return counts


HANDLER = Handler(kind=SAMENESS, run=run)
