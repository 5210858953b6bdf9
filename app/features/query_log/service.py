"""The query log: a sample of the questions that were asked, written after they were answered.

Off unless `TM_QUERY_LOG_SAMPLE` is set. Of a question its digest and length are kept, and its words only with
`TM_QUERY_LOG_CONTENT`. Entries are gathered in memory and stored off the request's path, a statement a tenant; what
exceeds the bound, or cannot be stored, is dropped and counted.
"""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import structlog

from app import ids
from app.db.erasure.receipts import subject_hash
from app.db.session import Database
from app.features.query_log import sql as query_log
from app.features.query_log.sql import QueryLogEntry, QueryLogFilter
from app.model import Actor
from app.read.pipeline import QueryAnswer
from app.read.values import QueryRequest
from app.services.pages import Page, cut_page

__all__ = ["QueryLog", "QueryLogEntry", "QueryLogFilter"]

BOUND = 5_000
"""Entries that wait to be stored; beyond, they are dropped and counted."""

BATCH = 500
"""Entries stored by one statement."""

_log = structlog.get_logger(__name__)


@dataclass(kw_only=True)
class QueryLog:
    """Keeps a share of the questions, `sample` from 0 to 1; `dropped` receives the number of lost entries."""

    database: Database
    clock: Callable[[], datetime]
    sample: float = 0.0
    content: bool = False
    interval: float = 1.0
    bound: int = BOUND
    dropped: Callable[[int], None] = lambda _count: None
    chance: Callable[[], float] = random.random

    waiting: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._pending: defaultdict[UUID, list[QueryLogEntry]] = defaultdict(list)
        self._flushing = asyncio.Lock()

    def wants_next(self) -> bool:
        """Decide whether the next question is logged."""
        return self.sample > 0 and self.chance() < self.sample

    def note(self, actor: Actor, request: QueryRequest, answer: QueryAnswer, stages: Mapping[str, float]) -> None:
        """Gather an answered question, with the seconds of its stages; never waits."""
        if self.waiting >= self.bound:
            self.dropped(1)
            return
        result = answer.result
        entry = QueryLogEntry(
            id=ids.new(),
            asked_at=self.clock(),
            actor=actor.name,
            user_id=request.visibility.user_id,
            agent_id=request.visibility.agent_id,
            question_digest=ids.digest_of(actor.tenant_id, request.query),
            question_length=len(request.query),
            question=request.query if self.content else None,
            mode=answer.mode,
            top_k=request.top_k,
            memories=tuple(hit.memory.id for hit in result.hits),
            took_ms=round(result.took_ms, 3),
            stages={name: round(seconds * 1000, 3) for name, seconds in stages.items()},
            degraded=result.degraded,
        )
        self._pending[actor.tenant_id].append(entry)
        self.waiting += 1

    async def page(
        self, actor: Actor, wanted: QueryLogFilter, *, limit: int, after: tuple[datetime, UUID] | None
    ) -> Page[QueryLogEntry, tuple[datetime, UUID]]:
        """Return one page of entries of the actor's tenant, newest first."""
        async with self.database.read(actor.tenant_id) as session:
            found = await query_log.page(session, actor.tenant_id, wanted, limit=limit + 1, after=after)
        return cut_page(found, limit, lambda one: (one.asked_at, one.id))

    async def run(self) -> None:
        """Store at every interval, until cancelled; return at once if nothing is logged."""
        while self.sample > 0:
            await asyncio.sleep(self.interval)
            await self.flush()

    async def flush(self) -> None:
        """Store what has been gathered, a statement for each batch of a tenant; what cannot be stored is dropped."""
        async with self._flushing:
            for tenant in list(self._pending):
                while batch := self._pending[tenant][:BATCH]:
                    await self._store(tenant, batch)
                    del self._pending[tenant][: len(batch)]
                    self.waiting -= len(batch)
                del self._pending[tenant]

    async def _store(self, tenant: UUID, batch: Sequence[QueryLogEntry]) -> None:
        subjects = {one.user_id: subject_hash(tenant, one.user_id) for one in batch if one.user_id is not None}
        try:
            async with self.database.write(tenant) as session:
                await query_log.insert(session, tenant, batch, subjects)
        except Exception:  # noqa: BLE001 - no failure may end what stores the log, which is worth no retry
            self.dropped(len(batch))
            _log.exception("entries of the query log could not be stored", entries=len(batch))
