"""Job that generates hypothetical questions of memories; a repeated run replaces them."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from app.db.jobs import Job
from app.db.memories.hype import HYPE
from app.jobs.handler import Handler, ProgressCallback
from app.runtime import Runtime
from app.write.hype import Hype


async def run(runtime: Runtime, job: Job, progress: ProgressCallback) -> Mapping[str, object] | None:
    """Generate and store the questions of those of the job's memories that are active."""
    memories = [UUID(one) for one in job.payload["memories"]]
    hype = Hype(
        database=runtime.database,
        embedder=runtime.embedder,
        model_id=runtime.model_id,
        writer=runtime.models.question_writer,
        types=runtime.type_book,
    )
    async for done in hype.ask(job.tenant_id, memories):
        await progress(done, len(memories))
    return None


HANDLER = Handler(kind=HYPE, run=run)
