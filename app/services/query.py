"""The use case of asking."""

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
    """Questions as callers ask them; what the context block shows that matches is remembered as used.

    Not what audits are shown, nor what was believed at some other time: whoever looks into the service's books
    does not rely on what they find there.
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
