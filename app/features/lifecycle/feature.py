"""Ageing of memories: workers on a schedule, drift, statistics."""

from __future__ import annotations

from app.feature import FeatureSpec
from app.features.lifecycle import jobs, routes
from app.features.lifecycle.runner import WorkerContext, Workers, checked_crons
from app.features.lifecycle.stats import Stats
from app.features.lifecycle.workers import WORKERS
from app.runtime import Runtime


def _workers(runtime: Runtime) -> Workers:
    context = WorkerContext(
        database=runtime.database,
        clock=runtime.clock,
        embedder=runtime.embedder,
        model_id=runtime.model_id,
        language=runtime.settings.language,
        types=runtime.type_book,
        writing=runtime.pipeline,
        forgotten_days=runtime.settings.forgotten_days,
        summariser=runtime.models.summariser,
    )
    return Workers(
        database=runtime.database,
        clock=runtime.clock,
        context=context,
        known=WORKERS,
        crons=checked_crons(runtime.settings.worker_schedules, WORKERS),
        observe=runtime.metrics.worker,
    )


def _stats(runtime: Runtime) -> Stats:
    return Stats(database=runtime.database, clock=runtime.clock)


FEATURE = FeatureSpec(
    routers=lambda: (routes.router(),),
    services={Workers: _workers, Stats: _stats},
    handlers=(jobs.HANDLER,),
    schedules=jobs.schedules,
)
