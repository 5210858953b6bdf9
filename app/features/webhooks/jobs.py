"""The job that sends a tenant's due deliveries (a repeated run may send one twice, with the same id), and its tasks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial

import structlog

from app.db.jobs import Job
from app.features.webhooks import sql
from app.features.webhooks.service import KIND, Webhooks
from app.jobs.handler import Handler, ProgressCallback
from app.jobs.schedules import Schedule, prune_batches
from app.runtime import Runtime

DELIVERIES_KEPT = timedelta(days=7)
"""The age at which deliveries of webhooks are removed, in any state."""

log = structlog.get_logger("typed_memory.jobs")


async def run(runtime: Runtime, job: Job, progress: ProgressCallback) -> Mapping[str, object]:
    """Send what is due, and return how many messages were sent."""
    sent = 0
    async for done in runtime.service(Webhooks).send_due(job.tenant_id):
        sent = done
        await progress(sent)
    return {"sent": sent}


HANDLER = Handler(kind=KIND, run=run)


async def prune_deliveries(runtime: Runtime) -> None:
    """Remove old deliveries of webhooks."""
    before = runtime.clock() - DELIVERIES_KEPT
    async with runtime.database.read(None) as session:
        tenants = await sql.tenants_with_old(session, before)
    for tenant in tenants:
        await prune_batches(runtime.database, tenant, partial(sql.prune, tenant=tenant, before=before))


async def send_webhooks(runtime: Runtime) -> None:
    """Queue jobs that send due webhook deliveries."""
    await runtime.service(Webhooks).queue_due()


async def reseal_secrets(runtime: Runtime) -> None:
    """Encrypt stored secrets by the newest key, where they are in clear or encrypted by an older one."""
    webhooks = runtime.service(Webhooks)
    if not webhooks.box.keys:
        return
    changed = sum([await webhooks.reseal(tenant.id) for tenant in await runtime.tenants.list()])
    if changed:
        log.info("secrets of webhooks are encrypted by the newest key", webhooks=changed)


SCHEDULES = (
    Schedule(name="send-webhooks", cron="* * * * * */5", run=send_webhooks),
    Schedule(name="reseal-secrets", cron="43 * * * *", run=reseal_secrets),
    Schedule(name="prune-deliveries", cron="47 * * * *", run=prune_deliveries),
)
