"""Counts of jobs and turns, and the latest run of each worker: what it has done, and where it goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic_core import to_json

from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record
from app.model import JobStatus

Cursor = Mapping[str, Any]
"""Where a run is; empty at its beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The progress and totals of a run; `ended`: nothing is left to do."""

    cursor: Cursor
    counts: Mapping[str, int]
    ended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestRun:
    """The latest run of a worker: `began_at` and `ended_at` as the clock had it, `counts` so far."""

    worker: str
    job: UUID
    status: JobStatus
    began_at: datetime
    ended_at: datetime | None
    counts: Mapping[str, int]


_BEGIN = statement(
    """
    INSERT INTO worker_runs AS r (tenant_id, worker, job_id, began_at) VALUES (:tenant, :worker, :job, :now)
    ON CONFLICT (tenant_id, worker) DO UPDATE SET
        job_id = :job, began_at = :now, ended_at = NULL, cursor = '{}', counts = '{}'
        WHERE r.job_id <> :job
    """
)

_READ = statement("SELECT cursor, counts, ended_at FROM worker_runs WHERE tenant_id = :tenant AND worker = :worker")

_ADVANCE = statement(
    """
    UPDATE worker_runs SET cursor = CAST(:after AS jsonb), counts = CAST(:counts AS jsonb)
    WHERE tenant_id = :tenant AND worker = :worker AND job_id = :job AND ended_at IS NULL
      AND cursor = CAST(:before AS jsonb)
    """
)

_END = statement(
    """
    UPDATE worker_runs SET ended_at = :now, counts = CAST(:counts AS jsonb)
    WHERE tenant_id = :tenant AND worker = :worker AND job_id = :job AND ended_at IS NULL
    """
)

_LATEST = statement(
    """
    SELECT r.worker, r.job_id AS job, r.began_at, r.ended_at, r.counts,
        coalesce(j.status, CASE WHEN r.ended_at IS NULL THEN 'failed' ELSE 'succeeded' END) AS status
    FROM worker_runs r LEFT JOIN jobs j ON j.tenant_id = :tenant AND j.id = r.job_id
    WHERE r.tenant_id = :tenant
    """
)


_WRITTEN = statement("SELECT EXISTS (SELECT FROM scopes WHERE tenant_id = :tenant)")


async def has_written(session: ReadSession, tenant: UUID) -> bool:
    """Return whether the tenant has ever written anything."""
    [[found]] = await session.fetch(_WRITTEN, {"tenant": tenant})
    return bool(found)


async def begin(session: WriteSession, tenant: UUID, worker: str, job: UUID, now: datetime) -> Checkpoint:
    """Begin the run of a job, or go on with it where it was cut off."""
    here = {"tenant": tenant, "worker": worker}
    await session.change(_BEGIN, {**here, "job": job, "now": now})
    [row] = await session.fetch(_READ, here)
    return Checkpoint(cursor=row["cursor"], counts=row["counts"], ended=row["ended_at"] is not None)


async def advance(
    session: WriteSession,
    tenant: UUID,
    worker: str,
    job: UUID,
    *,
    before: Cursor,
    after: Cursor,
    counts: Mapping[str, int],
) -> bool:
    """Move a run from one place to the next with what it has done so far; False when another is past that place."""
    values = {
        "tenant": tenant,
        "worker": worker,
        "job": job,
        "before": _json(before),
        "after": _json(after),
        "counts": _json(counts),
    }
    return await session.change(_ADVANCE, values) > 0


async def end(
    session: WriteSession, tenant: UUID, worker: str, job: UUID, counts: Mapping[str, int], now: datetime
) -> None:
    """Record that the run of a job has done all it had to."""
    values = {"tenant": tenant, "worker": worker, "job": job, "counts": _json(counts), "now": now}
    await session.change(_END, values)


async def latest(session: ReadSession, tenant: UUID) -> Sequence[LatestRun]:
    """Return the latest run of each worker that has run for the tenant; dry runs leave none."""
    return [
        as_record(LatestRun, row, status=JobStatus(row["status"]))
        for row in await session.fetch(_LATEST, {"tenant": tenant})
    ]


def _json(value: Mapping[str, object]) -> str:
    return to_json(value).decode()


_WAITING = statement(
    "SELECT status, count(*) FROM jobs WHERE tenant_id = :tenant AND status IN ('queued', 'running') GROUP BY status"
)

_ENDED_JOBS = statement(
    "SELECT status, count(*) FROM jobs WHERE tenant_id = :tenant AND finished_at > :since GROUP BY status"
)

_FEW_TURNS = statement(
    "SELECT count(*) FROM (SELECT FROM turns WHERE tenant_id = :tenant LIMIT :most) AS few",
)

_TURNS = statement("SELECT status, reason, count(*) FROM turns WHERE tenant_id = :tenant GROUP BY status, reason")

_UNSETTLED = statement("SELECT count(*) FROM turns WHERE tenant_id = :tenant AND status = 'received'")


async def waiting_jobs(session: ReadSession, tenant: UUID) -> Mapping[str, int]:
    """Return the numbers of queued and running jobs."""
    return {row["status"]: row["count"] for row in await session.fetch(_WAITING, {"tenant": tenant})}


async def ended_jobs(session: ReadSession, tenant: UUID, since: datetime) -> Mapping[str, int]:
    """Return the numbers of jobs that ended after a time, by status."""
    rows = await session.fetch(_ENDED_JOBS, {"tenant": tenant, "since": since})
    return {row["status"]: row["count"] for row in rows}


async def count_turns(session: ReadSession, tenant: UUID, most: int) -> int:
    """Return the number of the tenant's turns, or `most` when there are more."""
    [row] = await session.fetch(_FEW_TURNS, {"tenant": tenant, "most": most})
    return int(row["count"])


async def turns(session: ReadSession, tenant: UUID) -> Sequence[tuple[str, str | None, int]]:
    """Return the numbers of turns by status and reason."""
    return [tuple(row) for row in await session.fetch(_TURNS, {"tenant": tenant})]


async def received_turns(session: ReadSession, tenant: UUID) -> int:
    """Return the number of turns that wait to be processed."""
    [row] = await session.fetch(_UNSETTLED, {"tenant": tenant})
    return int(row["count"])
