"""Lifecycle over HTTP: workers with their latest runs, a run of one now, and statistics of the store."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.api.jobs import JobOut
from app.features.lifecycle.runner import Workers
from app.features.lifecycle.stats import Stats, StoreStats
from app.http.guard import ADMIN, ActorDep, GuardedRoute, RuntimeDep
from app.http.idempotency import IDEMPOTENT, run_once
from app.http.models import Given, Out, RequestBody, Source, json_answer, public_id
from app.http.routes import ACCEPTED, add_reads, add_route
from app.model import JobStatus

WorkerName = Annotated[str, Path(description="A worker, by a name that `GET /admin/workers` lists.", examples=["gc"])]


class RunQuery(RequestBody):
    """Options of a run."""

    dry_run: bool = Field(default=False, description="Change nothing; the job's result says what a run would do.")


class WorkerRunOut(Out):
    """A run of a worker: `counts` are its results, so far if it hasn't ended."""

    job_id: Annotated[str, public_id(ids.JOB, "job")]
    status: JobStatus
    began_at: datetime
    ended_at: datetime | None
    counts: dict[str, int]


class WorkerOut(Out):
    """A worker. `cron` is its schedule in UTC, null if it runs on request only. `last_run` excludes dry runs."""

    name: Annotated[str, Source("worker.name")]
    summary: Annotated[str, Source("worker.summary")]
    cron: str | None
    last_run: Annotated[WorkerRunOut | None, Source("latest")]


class WorkersOut(Out):
    """All workers."""

    workers: list[WorkerOut]


class WorkerJobOut(Out):
    """The job of a run. `started` is false if the run was queued or running already."""

    started: bool
    job: JobOut


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["admin"], route_class=GuardedRoute)
    add_reads(found, ADMIN, ("/admin/workers", list_workers, "List workers", WorkersOut))
    run = ("/admin/workers/{name}/run", run_worker, "Run a worker now", WorkerJobOut)
    add_route(found, "POST", ADMIN, *run, status_code=ACCEPTED, dependencies=IDEMPOTENT)
    add_reads(found, ADMIN, ("/admin/stats", get_stats, "Get what the store is made of", StatsOut))
    return found


async def list_workers(runtime: RuntimeDep, actor: ActorDep) -> Response:
    """List the workers with their schedules and their latest runs for the tenant."""
    found = await runtime.service(Workers).list(actor.tenant_id)
    return json_answer({"workers": [WorkerOut.answer(one) for one in found]})


async def run_worker(
    request: Request, runtime: RuntimeDep, actor: ActorDep, name: WorkerName, query: Annotated[RunQuery, Query()]
) -> Response:
    """Run a worker for the tenant now, in the background; `GET /jobs/{job_id}` has its progress.

    A worker runs once at a time for a tenant: a further request meanwhile answers with the same job. Dry runs change
    nothing and don't count as runs.
    """
    runtime.service(Workers).named(name)

    async def work() -> object:
        job, new = await runtime.service(Workers).start(actor.tenant_id, name, dry_run=query.dry_run)
        return {"started": new, "job": JobOut.answer(job)}

    return await run_once(request, runtime, actor, ACCEPTED, work)


COSTS = "/admin/costs"


def _memories(one: StoreStats) -> dict[str, object] | None:
    return None if one.stock is None else MemoryStatsOut.answer(one.stock, computed_at=one.computed_at)


class BandOut(Out):
    """A band of a histogram: from `least` up to, not including, `under`, which is null for no end."""

    least: float
    under: float | None
    count: int


class MemoryStatsOut(Out):
    """Counts of memories as of `computed_at`. All but `by_status` count active memories."""

    computed_at: Annotated[datetime, Given()]
    total: Annotated[int, Source("by_status", lambda counts: sum(counts.values()))]
    by_status: dict[str, int]
    by_type: dict[str, int]
    by_category: dict[str, int]
    by_scope: dict[str, int] = Field(description="By the kind of scope: global, user, agent.")
    confidence: list[BandOut]
    freshness: list[BandOut] = Field(description="Use can lift freshness above 1, up to 3.")
    entities: dict[str, int] = Field(description="Entities by type; those merged into others left out.")
    volatile: int = Field(description="Slots whose value changes too often.")


class TurnStatsOut(Out):
    """Counts of turns by outcome, over `days` days before today, null for all."""

    days: int | None
    waiting: int
    by_status: dict[str, int]
    skipped_by_reason: dict[str, int] = Field(description="Numbers in reasons may read N.")


class ReviewStatsOut(Out):
    """Numbers of review items, by reason and by age."""

    total: Annotated[int, Source("reviews", lambda reasons: sum(sum(ages.values()) for ages in reasons.values()))]
    by_reason: Annotated[dict[str, dict[str, int]], Source("reviews")]


class JobStatsOut(Out):
    """Queued and running jobs, and jobs that ended in the last 24 hours."""

    queued: Annotated[int, Source("jobs", lambda jobs: jobs.get("queued", 0))]
    running: Annotated[int, Source("jobs", lambda jobs: jobs.get("running", 0))]
    ended_last_day: Annotated[dict[str, int], Source("jobs_ended")]


class ModelsOut(Out):
    """The models in use; `language` is null where the built-in rules extract."""

    embedding: Annotated[str, Given()]
    language: Annotated[str | None, Given()]


class StatsOut(Out):
    """Statistics of the tenant's store. `memories` is null if there are too many and the worker `drift` has not run.

    `costs` is the route of the costs of extraction.
    """

    memories: Annotated[MemoryStatsOut | None, Source("", _memories)]
    turns: TurnStatsOut
    reviews: Annotated[ReviewStatsOut, Source("", ReviewStatsOut.answer)]
    jobs: Annotated[JobStatsOut, Source("", JobStatsOut.answer)]
    models: Annotated[ModelsOut, Given()]
    costs: Annotated[str, Given(COSTS)]


async def get_stats(runtime: RuntimeDep, actor: ActorDep) -> Response:
    """Get memories by status, type, category, scope, confidence and freshness; turns, reviews and jobs.

    Up to 20,000 memories are counted at the request; of more, the numbers are those of the worker `drift`, which counts
    daily (`POST /admin/workers/drift/run` counts now). Of more than 20,000 turns, those of 30 days are counted.
    """
    writer = runtime.models.answer_writer
    models = ModelsOut.answer(None, embedding=runtime.embedder.name, language=None if writer is None else writer.name)
    return json_answer(StatsOut.answer(await runtime.service(Stats).get(actor.tenant_id), models=models))
