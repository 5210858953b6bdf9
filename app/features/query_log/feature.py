"""The log of questions: what was asked, and how it was answered."""

from __future__ import annotations

from contextlib import AsyncExitStack

from app.feature import FeatureSpec
from app.features.query_log import jobs, routes
from app.features.query_log.service import QueryLog
from app.runtime import Resources, Runtime, open_in_background


def _log(base: Resources) -> QueryLog:
    return QueryLog(
        database=base.database,
        clock=base.clock,
        sample=base.settings.query_log_sample,
        content=base.settings.query_log_content,
        dropped=base.metrics.dropped_query_log_entries,
    )


def _of_queries(runtime: Runtime) -> QueryLog:
    log = runtime.queries.log
    if not isinstance(log, QueryLog):
        raise TypeError(f"the query log is {type(log).__name__}: another feature declares a question_log")
    return log


async def _start(runtime: Runtime, stack: AsyncExitStack) -> None:
    log = runtime.service(QueryLog)
    stack.push_async_callback(log.flush)
    await open_in_background(stack, log.run())


FEATURE = FeatureSpec(
    routers=lambda: (routes.router(),),
    services={QueryLog: _of_queries},
    schedules=lambda _: (jobs.SCHEDULE,),
    question_log=_log,
    start=_start,
)
