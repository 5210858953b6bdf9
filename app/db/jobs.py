"""Rows of background jobs: enqueue, read, cancel, retry, and record progress and results."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from pydantic_core import to_json
from sqlalchemy import Row as Found
from sqlalchemy import Select, case, delete, func, or_, select, update

from app import ids
from app.db import job_queue
from app.db import turns as db_turns
from app.db.session import ReadSession, SqlStatement, WriteSession, statement
from app.db.sql import Row, as_clauses
from app.db.tables import jobs
from app.model import JobStatus

_INSERT = """
    made AS (
        INSERT INTO jobs (tenant_id, id, kind, status, payload, scope_id, progress_total, ticket, created_at)
        SELECT :tenant, :id, :kind, 'queued', CAST(:payload AS jsonb), :scope, :total, ticket.id, :now FROM ticket
        RETURNING id
    )
    SELECT id FROM made
"""

_ENQUEUE_EACH = statement(
    f"""
    WITH given AS (
        SELECT * FROM unnest(
            CAST(:ids AS uuid[]), CAST(:contents AS bytea[]), CAST(:scopes AS uuid[]), CAST(:payloads AS text[]),
            CAST(:totals AS int[])
        ) WITH ORDINALITY AS given(id, content, scope_id, payload, total, place)
    ), {job_queue.TICKETS}, made AS (
        INSERT INTO jobs (tenant_id, id, kind, status, payload, scope_id, progress_total, ticket, created_at)
        SELECT :tenant, given.id, :kind, 'queued', CAST(given.payload AS jsonb), given.scope_id, given.total, ticket.id,
            :now
        FROM given JOIN ticket ON ticket.payload = given.content
        RETURNING id
    )
    SELECT id FROM made
    """  # noqa: S608 - composed of constants
)

_RESERVE = statement(
    """
    INSERT INTO jobs (tenant_id, id, kind, status, payload, only_one, created_at)
    VALUES (:tenant, :id, :kind, 'queued', CAST(:payload AS jsonb), :key, :now)
    ON CONFLICT (tenant_id, only_one) WHERE only_one IS NOT NULL AND status IN ('queued', 'running') DO NOTHING
    RETURNING id
    """
)

_TICKET = statement(f"WITH {job_queue.TICKET} SELECT id FROM ticket")  # noqa: S608 - composed of constants

FINISHED = (JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A background job. `attempts` counts its starts, `interrupted` the starts that ended without a result."""

    tenant_id: UUID
    id: UUID
    kind: str
    status: JobStatus
    payload: Mapping[str, Any]
    scope_id: UUID | None
    progress_done: int
    progress_total: int | None
    attempts: int
    interrupted: int
    cancel_requested: bool
    ticket: int | None
    error: str | None
    result: Mapping[str, Any] | None
    only_one: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def finished(self) -> bool:
        """Return whether the job has ended."""
        return self.status in FINISHED


async def enqueue(  # noqa: PLR0913 - what a job is, and when
    session: WriteSession,
    *,
    tenant: UUID,
    kind: str,
    payload: Mapping[str, object],
    now: datetime,
    total: int | None = None,
    scope: UUID | None = None,
    beside: Mapping[str, Sequence[Row]] | None = None,
    delay: float = 0.0,
) -> UUID:
    """Queue a job in the session's transaction, so that it commits with the rows it is about; return its id.

    `payload` is JSON and holds ids rather than content, which the handler reads when it runs. `total` is the end of
    its progress count, if known. `beside` are rows of other tables, by table name, that the same statement inserts.
    The job starts after `delay` seconds at the earliest.
    """
    job = ids.new()
    inserts, parameters = as_clauses({} if beside is None else beside)
    values = {
        **job_queue.make_ticket(tenant, job, delay),
        **parameters,
        "id": job,
        "kind": kind,
        "payload": to_json(payload).decode(),
        "scope": scope,
        "total": total,
        "now": now,
    }
    await session.fetch(_enqueue(inserts), values)
    return job


async def enqueue_each(
    session: WriteSession,
    *,
    tenant: UUID,
    kind: str,
    payloads: Mapping[UUID, tuple[Mapping[str, object], int]],
    now: datetime,
    delay: float = 0.0,
) -> None:
    """Queue a job for each of several scopes as `enqueue` does; `payloads` are theirs, each with its `total`."""
    made = [(ids.new(), scope, payload, total) for scope, (payload, total) in payloads.items()]
    ticket = job_queue.make_ticket(tenant, made[0][0], delay)
    await session.fetch(
        _ENQUEUE_EACH,
        {
            **{name: value for name, value in ticket.items() if name != "content"},
            "ids": [job for job, _, _, _ in made],
            "contents": [job_queue.payload(tenant, job) for job, _, _, _ in made],
            "scopes": [scope for _, scope, _, _ in made],
            "payloads": [to_json(payload).decode() for _, _, payload, _ in made],
            "totals": [total for _, _, _, total in made],
            "kind": kind,
            "now": now,
        },
    )


async def enqueue_only_one(
    session: WriteSession, *, tenant: UUID, kind: str, key: str, payload: Mapping[str, object], now: datetime
) -> tuple[Job, bool]:
    """Queue a job unless one with this key is unfinished; return that one or the new one, and whether it is new.

    A unique index guarantees one unfinished job a key and tenant.
    """
    while True:
        values = {"tenant": tenant, "id": ids.new(), "kind": kind, "payload": to_json(payload).decode()}
        made = await session.fetch(_RESERVE, {**values, "key": key, "now": now})
        found = await _unfinished(session, tenant, key)
        if found is None:  # The other job ended between the two statements.
            continue
        if not made:
            return found, False
        [[ticket]] = await session.fetch(_TICKET, job_queue.make_ticket(tenant, found.id))
        return await _change(session, found, ticket=ticket), True


async def requeue(session: WriteSession, job: Job) -> Job:
    """Queue a finished job again as if it were new; its former effects stay.

    The turns that it names and whose extraction failed wait again.
    """
    if turns := _turns(job):
        await db_turns.take_up(session, job.tenant_id, turns)
    [[ticket]] = await session.fetch(_TICKET, job_queue.make_ticket(job.tenant_id, job.id))
    return await _change(
        session,
        job,
        status=JobStatus.QUEUED,
        ticket=ticket,
        attempts=0,
        interrupted=0,
        cancel_requested=False,
        progress_done=0,
        error=None,
        result=None,
        started_at=None,
        finished_at=None,
    )


async def cancel(session: WriteSession, job: Job, now: datetime) -> Job:
    """Cancel a queued job, or ask a running one to stop at its next report of progress."""
    if job.status is JobStatus.RUNNING:
        return await _change(session, job, cancel_requested=True)
    if job.ticket is not None:
        await job_queue.drop(session, job.ticket)
    await _give_up(session, job, "its job was cancelled", now)
    return await _change(session, job, status=JobStatus.CANCELLED, ticket=None, finished_at=now)


async def find(session: ReadSession, tenant: UUID, job: UUID) -> Job | None:
    """Return a job, None where the tenant has none of that id."""
    return _one((await session.execute(_select(tenant).where(jobs.c.id == job))).first())


async def lock(session: WriteSession, tenant: UUID, job: UUID) -> Job | None:
    """Return a job, as `find`, and lock it until the transaction ends."""
    return _one((await session.execute(_select(tenant).where(jobs.c.id == job).with_for_update())).first())


async def page(
    session: ReadSession,
    tenant: UUID,
    *,
    scopes: Collection[UUID] | None,
    status: JobStatus | None,
    kind: str | None,
    after: UUID | None,
    limit: int,
) -> list[Job]:
    """Return up to `limit` jobs, newest first, starting after the one of that id.

    With `scopes`, only jobs of these scopes and those of no scope, which are of the whole tenant.
    """
    statement = _select(tenant).order_by(jobs.c.id.desc()).limit(limit)
    if scopes is not None:
        statement = statement.where(or_(jobs.c.scope_id.is_(None), jobs.c.scope_id.in_(scopes)))
    if status is not None:
        statement = statement.where(jobs.c.status == status)
    if kind is not None:
        statement = statement.where(jobs.c.kind == kind)
    if after is not None:
        statement = statement.where(jobs.c.id < after)
    return [_job(row) for row in await session.execute(statement)]


async def start(session: WriteSession, job: Job, now: datetime) -> Job:
    """Mark a job as running and count the attempt; if it was running already, its worker has died."""
    lost = int(job.status is JobStatus.RUNNING)
    return await _change(
        session,
        job,
        status=JobStatus.RUNNING,
        attempts=job.attempts + 1,
        interrupted=job.interrupted + lost,
        started_at=now,
    )


async def report(session: WriteSession, run: Job, *, done: int, total: int | None) -> bool | None:
    """Record the progress of a run; return whether it should stop, None when another run has the job."""
    values: dict[str, object] = {"progress_done": done}
    if total is not None:
        values["progress_total"] = total
    row = (await session.execute(_of_run(run).values(**values).returning(jobs.c.cancel_requested))).first()
    return None if row is None else bool(row.cancel_requested)


async def note(session: WriteSession, run: Job, payload: Mapping[str, object]) -> bool:
    """Replace the payload of a run's job, so that its next run goes on from there; False when another run has it."""
    noted = _of_run(run).values(payload=payload).returning(jobs.c.id)
    return (await session.execute(noted)).first() is not None


async def finish(
    session: WriteSession,
    run: Job,
    *,
    status: JobStatus,
    now: datetime,
    error: str | None = None,
    result: Mapping[str, object] | None = None,
) -> bool:
    """Record the end of a run; return False, and change nothing, when another run has the job.

    The progress of a job that succeeded is set to its total. Turns that still wait for one that did not are marked as
    failed.
    """
    ended = _of_run(run).values(status=status, error=error, result=result, ticket=None, finished_at=now)
    if status is JobStatus.SUCCEEDED:
        ended = ended.values(progress_done=func.coalesce(jobs.c.progress_total, jobs.c.progress_done))
    if (await session.execute(ended.returning(jobs.c.id))).first() is None:
        return False
    if status is not JobStatus.SUCCEEDED:
        await _give_up(session, run, error or "its job was cancelled", now)
    return True


async def put_back(session: WriteSession, run: Job, *, error: str | None, counted: bool, now: datetime) -> bool:
    """Mark a run's job as queued again, its ticket being still there; return False when another run has the job.

    `counted` says whether the attempt counts towards the limit. A job that was asked to stop ends here instead.
    """
    stopping = jobs.c.cancel_requested
    waiting = _of_run(run).values(
        status=case((stopping, JobStatus.CANCELLED), else_=JobStatus.QUEUED),
        finished_at=case((stopping, now)),
        error=error,
        attempts=jobs.c.attempts if counted else jobs.c.attempts - 1,
    )
    row = (await session.execute(waiting.returning(jobs.c.status))).first()
    if row is not None and row.status == JobStatus.CANCELLED:
        await _give_up(session, run, "its job was cancelled", now)
    return row is not None


async def prune(session: WriteSession, tenant: UUID, *, before: datetime, limit: int) -> int:
    """Remove up to `limit` of a tenant's jobs that finished before an instant; return how many."""
    old = (
        select(jobs.c.id)
        .where(jobs.c.tenant_id == tenant, jobs.c.finished_at < before)
        .order_by(jobs.c.finished_at)
        .limit(limit)
    )
    done = await session.execute(delete(jobs).where(jobs.c.tenant_id == tenant, jobs.c.id.in_(old)))
    return int(done.rowcount)


@cache
def _enqueue(inserts: str) -> SqlStatement:
    """Return the statement that queues a job, after these clauses of its WITH."""
    return statement(f"WITH {f'{inserts},' if inserts else ''} {job_queue.TICKET}, {_INSERT}")


async def _change(session: WriteSession, job: Job, **values: object) -> Job:
    statement = (
        update(jobs).where(jobs.c.tenant_id == job.tenant_id, jobs.c.id == job.id).values(**values).returning(jobs)
    )
    return _job((await session.execute(statement)).one())


async def _give_up(session: WriteSession, job: Job, reason: str, now: datetime) -> None:
    """Mark the turns that wait for a job which has ended without success."""
    if turns := _turns(job):
        await db_turns.give_up(session, job.tenant_id, turns, reason=reason, now=now)


def _turns(job: Job) -> list[UUID]:
    """Return the turns that the job was to process, where it names any."""
    return [UUID(one) for one in job.payload.get("turns", ())]


async def _unfinished(session: ReadSession, tenant: UUID, key: str) -> Job | None:
    unfinished = jobs.c.status.in_((JobStatus.QUEUED, JobStatus.RUNNING))
    return _one((await session.execute(_select(tenant).where(jobs.c.only_one == key, unfinished))).first())


def _of_run(run: Job) -> Any:  # noqa: ANN401 - SQLAlchemy's own type of an UPDATE says nothing more
    """Return the update of a job, on condition that no other run has it and that it was not queued again."""
    return update(jobs).where(
        jobs.c.tenant_id == run.tenant_id,
        jobs.c.id == run.id,
        jobs.c.status == JobStatus.RUNNING,
        jobs.c.ticket == run.ticket,
        jobs.c.attempts == run.attempts,
    )


def _select(tenant: UUID) -> Select[Any]:
    return select(jobs).where(jobs.c.tenant_id == tenant)


def _one(row: Found[Any] | None) -> Job | None:
    return None if row is None else _job(row)


def _job(row: Found[Any]) -> Job:
    values = dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's public name
    return Job(**{**values, "status": JobStatus(values["status"])})
