"""Rows of background jobs: enqueue, read, cancel, retry, and record progress and results."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import Any
from uuid import UUID

from asyncpg import Record

from app import ids
from app.db import job_queue
from app.db import turns as db_turns
from app.db.session import ReadSession, SqlStatement, WriteSession, statement
from app.db.sql import Row, as_clauses, as_record, to_text, update_row
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

_START = statement(
    """
    UPDATE jobs SET status = 'running', attempts = attempts + 1, started_at = :now
    WHERE tenant_id = :tenant AND id = :job AND ticket = :ticket AND kind = ANY(:kinds)
      AND status = 'queued' AND interrupted = 0 AND NOT cancel_requested
    RETURNING *
    """
)

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


_SELECT = f"SELECT {', '.join(Job.__dataclass_fields__)} FROM jobs WHERE tenant_id = :tenant"  # noqa: S608 - its fields

_FIND = statement(f"{_SELECT} AND id = :job")

_LOCK = statement(f"{_SELECT} AND id = :job FOR UPDATE")

_UNFINISHED = statement(f"{_SELECT} AND only_one = :key AND status IN ('queued', 'running')")

_PAGE = statement(
    f"""
    {_SELECT}
      AND (CAST(:scopes AS uuid[]) IS NULL OR scope_id IS NULL OR scope_id = ANY(:scopes))
      AND (CAST(:status AS text) IS NULL OR status = :status)
      AND (CAST(:kind AS text) IS NULL OR kind = :kind)
      AND (CAST(:after AS uuid) IS NULL OR id < :after)
    ORDER BY id DESC LIMIT :limit
    """
)

_OF_RUN = """tenant_id = :tenant AND id = :job AND status = 'running' AND ticket IS NOT DISTINCT FROM :ticket
    AND attempts = :attempts"""
"""Whether no other run has the job of a run, and it was not queued again."""

_REPORT = statement(
    f"""
    UPDATE jobs SET progress_done = :done, progress_total = coalesce(:total, progress_total)
    WHERE {_OF_RUN} RETURNING cancel_requested
    """  # noqa: S608 - composed of constants
)

_NOTE = statement(f"UPDATE jobs SET payload = CAST(:payload AS jsonb) WHERE {_OF_RUN}")  # noqa: S608 - constants

_FINISH = statement(
    """
    UPDATE jobs SET status = CAST(:ended AS text), error = :error, result = CAST(given.result AS jsonb), ticket = NULL,
        finished_at = :now,
        progress_done = CASE :ended WHEN 'succeeded' THEN coalesce(progress_total, progress_done) ELSE progress_done END
    FROM unnest(CAST(:ids AS uuid[]), CAST(:results AS text[])) AS given(id, result)
    WHERE tenant_id = :tenant AND jobs.id = given.id AND status = 'running' AND ticket IS NOT DISTINCT FROM :ticket
      AND attempts = :attempts
    """
)

_PUT_BACK = statement(
    f"""
    UPDATE jobs SET status = CASE WHEN cancel_requested THEN 'cancelled' ELSE 'queued' END,
        finished_at = CASE WHEN cancel_requested THEN CAST(:now AS timestamptz) END, error = :error,
        attempts = attempts - CASE WHEN :counted THEN 0 ELSE 1 END
    WHERE {_OF_RUN} RETURNING status
    """  # noqa: S608 - composed of constants
)

_PRUNE = statement(
    """
    DELETE FROM jobs WHERE tenant_id = :tenant AND id IN (
        SELECT id FROM jobs WHERE tenant_id = :tenant AND finished_at < :before ORDER BY finished_at LIMIT :limit
    )
    """
)


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
        "payload": to_text(payload),
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
    await session.fetch(
        _ENQUEUE_EACH,
        {
            **job_queue.make_tickets(tenant, delay),
            "ids": [job for job, _, _, _ in made],
            "contents": [job_queue.payload(tenant, job) for job, _, _, _ in made],
            "scopes": [scope for _, scope, _, _ in made],
            "payloads": [to_text(payload) for _, _, payload, _ in made],
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
        values = {"tenant": tenant, "id": ids.new(), "kind": kind, "payload": to_text(payload)}
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
    return _one(await session.fetch(_FIND, {"tenant": tenant, "job": job}))


async def lock(session: WriteSession, tenant: UUID, job: UUID) -> Job | None:
    """Return a job, as `find`, and lock it until the transaction ends."""
    return _one(await session.fetch(_LOCK, {"tenant": tenant, "job": job}))


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
    values = {"scopes": None if scopes is None else list(scopes), "status": status, "kind": kind, "after": after}
    return [job_of(row) for row in await session.fetch(_PAGE, {**values, "tenant": tenant, "limit": limit})]


async def start_first(
    session: WriteSession, tenant: UUID, job: UUID, *, ticket: int, kinds: Collection[str], now: datetime
) -> Job | None:
    """Mark a queued job of one of these kinds as running, as most are: of no run that died, and not asked to stop.

    Return it, or None, and change nothing, where there is more to consider.
    """
    values = {"tenant": tenant, "job": job, "ticket": ticket, "kinds": list(kinds), "now": now}
    return _one(await session.fetch(_START, values))


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
    rows = await session.fetch(_REPORT, {**_of_run(run), "done": done, "total": total})
    return bool(rows[0]["cancel_requested"]) if rows else None


async def note(session: WriteSession, run: Job, payload: Mapping[str, object]) -> bool:
    """Replace the payload of a run's job, so that its next run goes on from there; False when another run has it."""
    return await session.change(_NOTE, {**_of_run(run), "payload": to_text(payload)}) > 0


async def finish(
    session: WriteSession,
    run: Job,
    *,
    status: JobStatus,
    now: datetime,
    error: str | None = None,
    result: Mapping[str, object] | None = None,
    joined: Mapping[UUID, Mapping[str, object] | None] = MappingProxyType({}),
) -> bool:
    """Record the end of a run; return False, and change nothing, when another run has the job.

    The progress of a job that succeeded is set to its total. Turns that still wait for one that did not are marked as
    failed. `joined` are the results of jobs that the run did, too, and that end alike.
    """
    results = [None if one is None else to_text(one) for one in (result, *joined.values())]
    values = {"ended": status, "error": error, "now": now, "ids": [run.id, *joined], "results": results}
    if not await session.change(_FINISH, {**_of_run(run), **values}):
        return False
    if status is not JobStatus.SUCCEEDED:
        await _give_up(session, run, error or "its job was cancelled", now)
    return True


async def put_back(session: WriteSession, run: Job, *, error: str | None, counted: bool, now: datetime) -> bool:
    """Mark a run's job as queued again, its ticket being still there; return False when another run has the job.

    `counted` says whether the attempt counts towards the limit. A job that was asked to stop ends here instead.
    """
    rows = await session.fetch(_PUT_BACK, {**_of_run(run), "error": error, "counted": counted, "now": now})
    if rows and rows[0]["status"] == JobStatus.CANCELLED:
        await _give_up(session, run, "its job was cancelled", now)
    return bool(rows)


async def prune(session: WriteSession, tenant: UUID, *, before: datetime, limit: int) -> int:
    """Remove up to `limit` of a tenant's jobs that finished before an instant; return how many."""
    return await session.change(_PRUNE, {"tenant": tenant, "before": before, "limit": limit})


@cache
def _enqueue(inserts: str) -> SqlStatement:
    """Return the statement that queues a job, after these clauses of its WITH."""
    return statement(f"WITH {f'{inserts},' if inserts else ''} {job_queue.TICKET}, {_INSERT}")


async def _change(session: WriteSession, job: Job, **values: object) -> Job:
    where = "jobs.tenant_id = :tenant AND jobs.id = :job"
    changed = await update_row(session, "jobs", where, {"tenant": job.tenant_id, "job": job.id}, values)
    assert changed is not None  # noqa: S101 - it was read in this transaction
    return job_of(changed)


async def _give_up(session: WriteSession, job: Job, reason: str, now: datetime) -> None:
    """Mark the turns that wait for a job which has ended without success."""
    if turns := _turns(job):
        await db_turns.give_up(session, job.tenant_id, turns, reason=reason, now=now)


def _turns(job: Job) -> list[UUID]:
    """Return the turns that the job was to process, where it names any."""
    return [UUID(one) for one in job.payload.get("turns", ())]


async def _unfinished(session: ReadSession, tenant: UUID, key: str) -> Job | None:
    return _one(await session.fetch(_UNFINISHED, {"tenant": tenant, "key": key}))


def _of_run(run: Job) -> dict[str, object]:
    return {"tenant": run.tenant_id, "job": run.id, "ticket": run.ticket, "attempts": run.attempts}


def _one(rows: Sequence[Record]) -> Job | None:
    return job_of(rows[0]) if rows else None


def job_of(row: Record) -> Job:
    """Return the job of a row."""
    return as_record(Job, row, status=JobStatus(row["status"]))
