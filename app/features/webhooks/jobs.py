"""Job that sends a tenant's due webhook deliveries; a repeated run may send one twice, with the same id."""

from __future__ import annotations

from collections.abc import Mapping

from app.db.jobs import Job
from app.features.webhooks.service import KIND
from app.jobs.handler import Handler, ProgressCallback
from app.runtime import Runtime


async def run(runtime: Runtime, job: Job, progress: ProgressCallback) -> Mapping[str, object]:
    """Send what is due, and return how many messages were sent."""
    sent = 0
    async for done in runtime.webhooks.send_due(job.tenant_id):
        sent = done
        await progress(sent)
    return {"sent": sent}


HANDLER = Handler(kind=KIND, run=run)
