"""The task that removes old entries of the query log."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from app.db.tenants import OldRows
from app.features.query_log import sql
from app.jobs.schedules import Schedule, prune_batches
from app.runtime import Runtime


async def prune_query_log(runtime: Runtime) -> None:
    """Remove old entries of the query log."""
    before = runtime.clock() - timedelta(days=runtime.settings.query_log_days)
    for tenant in await runtime.tenants.with_old(OldRows.QUERY_LOG, before):
        await prune_batches(runtime.database, tenant, partial(sql.prune, tenant=tenant, before=before))


SCHEDULE = Schedule(name="prune-query-log", cron="37 * * * *", run=prune_query_log)
