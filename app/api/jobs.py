"""List, read, retry and cancel jobs.

Background jobs: what waits, what runs, what became of it; try again, cancel.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.api.plumbing import cursors, fields
from app.api.plumbing.cursors import LONGEST, Listing
from app.api.plumbing.fields import Out, RequestBody
from app.api.plumbing.guard import READ, WRITE, ActorDep, GuardedRoute, RuntimeDep, add_changes, add_reads
from app.api.plumbing.idempotency import run_once
from app.api.query import MOST_RESULTS
from app.db.jobs import Job
from app.db.memories.listing import PagePosition
from app.memory.fields import Name
from app.model import JobStatus


def job_answer(one: Job) -> dict[str, object]:
    """Return a background job."""
    return {
        "id": ids.public(ids.JOB, one.id),
        "kind": one.kind,
        "status": one.status,
        "progress": {"done": one.progress_done, "total": one.progress_total},
        "attempts": one.attempts,
        "cancel_requested": one.cancel_requested,
        "error": one.error,
        "result": one.result,
        "created_at": one.created_at,
        "started_at": one.started_at,
        "finished_at": one.finished_at,
    }


OK = 200

JobId = Annotated[str, Path(description="A job's id.", examples=["job_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])]


class JobQuery(RequestBody):
    """Which jobs to list."""

    status: JobStatus | None = Field(default=None, description="`failed` for what needs looking at.")
    kind: Name | None = None
    limit: int = Field(default=50, ge=1, le=MOST_RESULTS)
    cursor: str | None = Field(default=None, min_length=1, max_length=LONGEST)


class JobProgress(Out):
    """How far a job is; `total` is null where that isn't known."""

    done: int
    total: int | None


class JobOut(Out):
    """A background job. `error` says why it failed, or why it is being tried again."""

    id: str
    kind: str
    status: JobStatus
    progress: JobProgress
    attempts: int
    cancel_requested: bool
    error: str | None
    result: dict[str, Any] | None = Field(
        description="What it came to, by its kind: of `ingest`, `turns`, each with its `status` and `candidates`, and "
        "of these the `type`, `decision`, `reason` and `memory_id`. Null until it has succeeded."
    )
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class JobPage(Out):
    """Some jobs, newest first."""

    jobs: list[JobOut]
    next_cursor: str | None


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["jobs"], route_class=GuardedRoute)
    add_reads(
        found,
        READ,
        ("/jobs", list_jobs, "List jobs", JobPage),
        ("/jobs/{job_id}", get_job, "Get a job", JobOut),
    )
    add_changes(
        found,
        WRITE,
        ("/jobs/{job_id}/retry", retry_job, "Try a failed or cancelled job again", JobOut),
        ("/jobs/{job_id}/cancel", cancel_job, "Cancel a job", JobOut),
    )
    return found


async def list_jobs(runtime: RuntimeDep, actor: ActorDep, query: Annotated[JobQuery, Query()]) -> Response:
    """List jobs, newest first, a page at a time; `next_cursor` is null on the last page."""
    listing = Listing(f"jobs|{actor.tenant_id}|{query.status}|{query.kind}")
    after = None if query.cursor is None else cursors.decode(query.cursor, listing, value=None).id
    shown, more = await runtime.jobs.list(actor, status=query.status, kind=query.kind, after=after, limit=query.limit)
    following = cursors.encode(PagePosition(id=shown[-1].id), listing) if more else None
    return fields.json_answer({"jobs": [job_answer(one) for one in shown], "next_cursor": following})


async def get_job(runtime: RuntimeDep, actor: ActorDep, job_id: JobId) -> Response:
    """Get a job: how far it is, and what it came to."""
    return fields.json_answer(job_answer(await runtime.jobs.get(actor, ids.parse(ids.JOB, job_id))))


async def retry_job(request: Request, runtime: RuntimeDep, actor: ActorDep, job_id: JobId) -> Response:
    """Queue a failed or cancelled job again, with all its attempts. What it did before stays done."""
    job = ids.parse(ids.JOB, job_id)

    async def work() -> object:
        return job_answer(await runtime.jobs.retry(actor, job))

    return await run_once(request, runtime, actor, OK, work)


async def cancel_job(request: Request, runtime: RuntimeDep, actor: ActorDep, job_id: JobId) -> Response:
    """End a job that waits; ask one that runs to stop at its next checkpoint, between two steps of its work.

    A running job says `cancel_requested` until it stops, and it may come to its end before: look at its status.
    """
    job = ids.parse(ids.JOB, job_id)

    async def work() -> object:
        return job_answer(await runtime.jobs.cancel(actor, job))

    return await run_once(request, runtime, actor, OK, work)
