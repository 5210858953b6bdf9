"""Job that erases a user, a batch a transaction; a repeated run erases what is left."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from app import ids
from app.db.jobs import Job
from app.features.erasure.service import ERASE, Erasures
from app.jobs.handler import Handler, ProgressCallback
from app.model import Actor
from app.runtime import Runtime


async def run(runtime: Runtime, job: Job, progress: ProgressCallback) -> Mapping[str, object]:
    """Erase the user of the erasure, and return the erasure's id."""
    actor = Actor(tenant_id=job.tenant_id, key_id=None, name=str(job.payload["actor"]))
    erasure = UUID(hex=str(job.payload["erasure"]))
    async for done in runtime.service(Erasures).run(actor, erasure):
        await progress(done)
    return {"erasure": ids.public(ids.ERASURE, erasure)}


HANDLER = Handler(kind=ERASE, run=run)
