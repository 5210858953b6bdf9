"""Lifecycle workers over HTTP: list them with their latest runs, and run one now."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.api.jobs import JobOut
from app.features.lifecycle.runner import Workers
from app.http.guard import ADMIN, ActorDep, GuardedRoute, RuntimeDep
from app.http.idempotency import IDEMPOTENT, run_once
from app.http.models import Out, RequestBody, Source, json_answer, public_id
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
