"""Live events for people at a screen: how many review items wait, and jobs as they end."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from app import ids
from app.db.session import Database
from app.errors import DatabaseUnavailable, Overloaded
from app.features.webhooks import sql
from app.model import Actor

POLL_SECONDS = 2.0
MOST_STREAMS = 64
"""Most streams of one process."""

MOST_EACH = 8
"""Most streams of one tenant in one process."""

LATE = timedelta(seconds=10)
"""How much later than its time a job's end may be committed and still be seen."""

KINDS = ("ingest", "erase", "backfill")
"""Kinds of jobs that people wait for."""

MOST_JOBS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveEvent:
    """An event by its name, with JSON values."""

    name: str
    data: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveEvents:
    """Streams of events, bounded in number; each asks the database every other second."""

    database: Database
    clock: Callable[[], datetime]
    _open: Counter[UUID] = field(default_factory=Counter, repr=False)

    def check(self, actor: Actor) -> None:
        """Raise Overloaded when too many streams are open."""
        if not self._allows(actor, 1):
            raise Overloaded("too many event streams are open: close one, or poll /admin/review/summary", retry_after=5)

    @contextmanager
    def counted(self, actor: Actor) -> Iterator[bool]:
        """Count a stream while it is open; yield whether it may be, as requests that come together all pass `check`."""
        self._open[actor.tenant_id] += 1
        try:
            yield self._allows(actor, 0)
        finally:
            self._open[actor.tenant_id] -= 1
            if not self._open[actor.tenant_id]:
                del self._open[actor.tenant_id]

    def _allows(self, actor: Actor, more: int) -> bool:
        return self._open.total() + more <= MOST_STREAMS and self._open.get(actor.tenant_id, 0) + more <= MOST_EACH

    async def follow(self, actor: Actor, *, seconds: float, stop: asyncio.Event) -> AsyncIterator[LiveEvent | None]:
        """Yield events until the time is over or `stop` is set; None after each look without one."""
        since, waiting = self.clock(), -1
        end = asyncio.get_running_loop().time() + seconds
        found = await self._look(actor.tenant_id, since)
        seen = {one.id for one in (() if found is None else found.ended)}
        while True:
            news: list[LiveEvent] = []
            if found is not None and found.waiting != waiting:
                waiting = found.waiting
                news.append(LiveEvent(name="review.waiting", data={"waiting": waiting}))
            for job in () if found is None else found.ended:
                if job.id not in seen:
                    seen.add(job.id)
                    told = {"job_id": ids.public(ids.JOB, job.id), "kind": job.kind, "status": job.status}
                    news.append(LiveEvent(name="job.done", data=told))
            for one in news:
                yield one
            if not news:
                yield None
            if len(seen) >= MOST_JOBS // 2:
                since = self.clock()
                seen &= set() if found is None else {one.id for one in found.ended}
            left = end - asyncio.get_running_loop().time()
            if left <= 0 or stop.is_set():
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(min(POLL_SECONDS, left)):
                    await stop.wait()
            found = await self._look(actor.tenant_id, since)

    async def _look(self, tenant: UUID, since: datetime) -> sql.LiveState | None:
        """Return the state, None while the database is away."""
        try:
            async with self.database.read(tenant) as session:
                return await sql.live_state(session, tenant, since=since - LATE, kinds=KINDS, most=MOST_JOBS)
        except DatabaseUnavailable:
            return None
