"""Background jobs over HTTP: list them, read one, retry or cancel it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.http import cursors
from app.http.cursors import PageQuery
from app.http.guard import BY_JOB, READ, WRITE, ActorDep, GuardedRoute, RuntimeDep
from app.http.idempotency import run_once
from app.http.models import Out, PageOut, Source, json_answer, public_id
from app.http.routes import OK, add_changes, add_reads
from app.http.visibility import OwnedQuery
from app.memory.fields import Name
from app.model import JobStatus

JobId = Annotated[str, Path(description="A job's id.", examples=["job_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])]


class JobQuery(OwnedQuery, PageQuery):
    """Filters of jobs; those of the whole tenant are in the global scope."""

    status: JobStatus | None = Field(default=None, description="`failed` for what needs looking at.")
    kind: Name | None = None


class JobProgress(Out):
    """The progress of a job; `total` is null if it isn't known."""

    done: Annotated[int, Source("progress_done")]
    total: Annotated[int | None, Source("progress_total")]


class JobOut(Out):
    """A background job. `error` says why it failed, or why it is retried."""

    id: Annotated[str, public_id(ids.JOB)]
    kind: str
    status: JobStatus
    progress: Annotated[JobProgress, Source("", JobProgress.answer)]
    attempts: int
    cancel_requested: bool
    error: str | None
    result: dict[str, Any] | None = Field(
        description="The result, by kind: of `ingest`, `turns`, each with its `status` and `candidates`, and "
        "of these the `type`, `decision`, `reason` and `memory_id`. Null until it has succeeded."
    )
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class JobPage(PageOut):
    """Some jobs, newest first."""

    jobs: list[JobOut]


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["jobs"], route_class=GuardedRoute)
    add_reads(
        found,
        READ,
        ("/jobs", list_jobs, "List jobs", JobPage),
    )
    add_reads(found, READ | BY_JOB, ("/jobs/{job_id}", get_job, "Get a job", JobOut))
    add_changes(
        found,
        WRITE | BY_JOB,
        ("/jobs/{job_id}/retry", retry_job, "Try a failed or cancelled job again", JobOut),
        ("/jobs/{job_id}/cancel", cancel_job, "Cancel a job", JobOut),
    )
    return found


async def list_jobs(runtime: RuntimeDep, actor: ActorDep, query: Annotated[JobQuery, Query()]) -> Response:
    """List jobs, newest first, a page at a time; `next_cursor` is null on the last page."""
    scopes = await query.visible(runtime.tenants, actor)
    listing = query.listing("jobs", actor.tenant_id)
    after = cursors.decode_id(query.cursor, listing)
    page = await runtime.jobs.list(
        actor, scopes=scopes, status=query.status, kind=query.kind, after=after, limit=query.limit
    )
    return json_answer(JobPage.page(page.items, cursors.encode_id(page.next, listing)))


async def get_job(runtime: RuntimeDep, actor: ActorDep, job_id: JobId) -> Response:
    """Get a job with its progress and its result."""
    return json_answer(JobOut.answer(await runtime.jobs.get(actor, ids.parse(ids.JOB, job_id))))


async def retry_job(request: Request, runtime: RuntimeDep, actor: ActorDep, job_id: JobId) -> Response:
    """Queue a failed or cancelled job again, with all its attempts. Its former effects stay.

    Takes a key with the role `admin` unless its kind is `ingest`, `hype` or `sameness`.
    """
    job = ids.parse(ids.JOB, job_id)

    async def work() -> object:
        return JobOut.answer(await runtime.jobs.retry(actor, job))

    return await run_once(request, runtime, actor, OK, work)


async def cancel_job(request: Request, runtime: RuntimeDep, actor: ActorDep, job_id: JobId) -> Response:
    """Cancel a queued job; ask a running one to stop at its next checkpoint.

    A running job has `cancel_requested` until it stops, and may finish before: check its status. Takes a key with the
    role `admin` unless its kind is `ingest`, `hype` or `sameness`.
    """
    job = ids.parse(ids.JOB, job_id)

    async def work() -> object:
        return JobOut.answer(await runtime.jobs.cancel(actor, job))

    return await run_once(request, runtime, actor, OK, work)
