"""Query of what changed for a tenant lately: how many review items wait, and which jobs ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from app.db.session import ReadSession, statement


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedJob:
    """A job that has ended."""

    id: UUID
    kind: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveState:
    """The number of waiting review items, and the jobs that ended since an instant."""

    waiting: int
    ended: tuple[EndedJob, ...]


_WAITING = statement("SELECT coalesce(sum(waiting), 0) AS waiting FROM review_counts WHERE tenant_id = :tenant")

_ENDED = statement(
    """
    SELECT id, kind, status FROM jobs
    WHERE tenant_id = :tenant AND finished_at > :since AND kind = ANY(:kinds) ORDER BY finished_at LIMIT :most
    """
)


async def read(session: ReadSession, tenant: UUID, *, since: datetime, kinds: Sequence[str], most: int) -> LiveState:
    """Return the state, with the jobs of these kinds that ended since an instant."""
    [row] = await session.fetch(_WAITING, {"tenant": tenant})
    ended: Any = await session.fetch(_ENDED, {"tenant": tenant, "since": since, "kinds": list(kinds), "most": most})
    return LiveState(waiting=int(row["waiting"]), ended=tuple(EndedJob(**dict(one)) for one in ended))
