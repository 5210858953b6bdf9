"""The use case of a query."""

from __future__ import annotations

from dataclasses import dataclass

from app.model import Actor, ReadMode
from app.read.access import AccessTracker
from app.read.pipeline import ReadPipeline
from app.read.values import ContextBlock, IdStyle, QueryRequest, QueryResult

__all__ = [
    "ContextBlock",
    "IdStyle",
    "Queries",
    "QueryRequest",
    "QueryResult",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queries:
    """Queries as callers ask them; memories used in the context block are recorded as accessed.

    Queries in audit mode or about an earlier belief (`known_at`) are not counted: who inspects the store does not use
    what it returns.
    """

    pipeline: ReadPipeline
    tracker: AccessTracker

    async def query(self, actor: Actor, request: QueryRequest) -> QueryResult:
        """Answer a question from what the actor's tenant and the request's visibility allow."""
        answer = await self.pipeline.answer(actor.tenant_id, request)
        if answer.mode is not ReadMode.AUDIT and request.known_at is None:
            at = self.pipeline.clock()
            self.tracker.note(actor.tenant_id, answer.used, at=at, session=request.session_id)
        return answer.result
