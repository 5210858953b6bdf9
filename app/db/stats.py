"""Counts of a tenant's review items, jobs and turns, each by a statement that reads an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from app.db.session import ReadSession, statement

AGES = ("under a day", "a day to a week", "a week to a month", "over a month")
"""Bands of the age of review items."""

_REVIEWS = statement(
    """
    SELECT review_reason, CASE WHEN review_since > CAST(:now AS timestamptz) - interval '1 day' THEN 0
        WHEN review_since > CAST(:now AS timestamptz) - interval '7 days' THEN 1
        WHEN review_since > CAST(:now AS timestamptz) - interval '30 days' THEN 2 ELSE 3 END AS age, count(*) AS count
    FROM memories WHERE tenant_id = :tenant AND review_reason IS NOT NULL GROUP BY 1, 2
    """
)

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


async def reviews(session: ReadSession, tenant: UUID, now: datetime) -> Mapping[str, Mapping[str, int]]:
    """Return the numbers of review items, by reason and age."""
    found: dict[str, dict[str, int]] = {}
    for row in await session.fetch(_REVIEWS, {"tenant": tenant, "now": now}):
        found.setdefault(row["review_reason"], dict.fromkeys(AGES, 0))[AGES[row["age"]]] = row["count"]
    return found


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
