"""Counts of a tenant's jobs and turns, each by a statement that reads an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from app.db.session import ReadSession, statement

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
