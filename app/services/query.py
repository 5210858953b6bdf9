"""The use case of a query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol
from uuid import UUID

from app.db.replica import POSITION_PATTERN, Replica
from app.errors import DatabaseUnavailable
from app.model import Actor, ReadMode
from app.read.access import AccessTracker
from app.read.pipeline import QueryAnswer, ReadPipeline
from app.read.values import ContextBlock, HeedMode, IdStyle, QueryRequest, QueryResult

__all__ = [
    "POSITION_PATTERN",
    "ContextBlock",
    "HeedMode",
    "IdStyle",
    "Queries",
    "QueryRequest",
    "QueryResult",
]


class QuestionLog(Protocol):
    """Notes questions and how they were answered."""

    def wants_next(self) -> bool:
        """Tell whether the next question is to be noted."""

    def note(self, actor: Actor, request: QueryRequest, answer: QueryAnswer, stages: Mapping[str, float]) -> None:
        """Note a question, its answer, and the seconds of its stages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queries:
    """Queries as callers ask them; memories used in the context block are recorded as accessed.

    Queries in audit mode or about an earlier belief (`known_at`) are not counted: who inspects the store does not use
    what it returns.
    """

    pipeline: ReadPipeline
    tracker: AccessTracker
    log: QuestionLog | None = None
    replica: Replica | None = None

    async def position(self) -> str | None:
        """Return the position after all that is written now, for questions that must see it.

        None without a replica, and while the primary does not answer.
        """
        if self.replica is None:
            return None
        with suppress(DatabaseUnavailable):
            return await self.replica.position()
        return None

    async def query(self, actor: Actor, request: QueryRequest, *, position: str | None = None) -> QueryResult:
        """Answer a question from what the actor's tenant and the request's visibility allow.

        With `position`, which an answer carried, everything written up to there is seen.
        """
        if self.log is not None and self.log.wants_next():
            answer = await self._logged(self.log, actor, request, position)
        else:
            answer = await self._answer(self.pipeline, actor.tenant_id, request, position)
        if answer.mode is not ReadMode.AUDIT and request.known_at is None:
            at = self.pipeline.search.clock()
            self.tracker.note(actor.tenant_id, answer.used, at=at, session=request.session_id)
        return answer.result

    async def _logged(self, log: QuestionLog, actor: Actor, request: QueryRequest, position: str | None) -> QueryAnswer:
        """Answer a question, and note it with the seconds of its stages."""
        stages: defaultdict[str, float] = defaultdict(float)

        def observe(name: str, seconds: float) -> None:
            stages[name] += seconds
            self.pipeline.observe(name, seconds)

        pipeline = replace(self.pipeline, observe=observe)
        answer = await self._answer(pipeline, actor.tenant_id, request, position)
        log.note(actor, request, answer, stages)
        return answer

    async def _answer(
        self, pipeline: ReadPipeline, tenant: UUID, request: QueryRequest, position: str | None
    ) -> QueryAnswer:
        if self.replica is None:
            return await pipeline.answer(tenant, request)
        return await self.replica.read(
            lambda database: replace(pipeline, database=database).answer(tenant, request), position=position
        )
