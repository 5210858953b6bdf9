"""Feedback on a memory: useful, not useful or wrong."""

from __future__ import annotations

from datetime import UTC
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import Field, StringConstraints
from starlette.responses import Response

from app import ids
from app.api.memories.answers import AnyMemory
from app.api.memories.read import MemoryId
from app.features.feedback.service import FeedbackEffect, FeedbackService, MemoryFeedback
from app.http import models
from app.http.guard import BY_MEMORY, WRITE, ActorDep, GuardedRoute, RuntimeDep
from app.http.idempotency import run_once
from app.http.models import DIGITS, Given, Instant, Out, RequestBody, Source, with_example
from app.http.problems import FieldError, InvalidFields
from app.http.routes import OK, add_changes
from app.memory.fields import Name, Sentence
from app.model import Feedback

Note = Annotated[Sentence, StringConstraints(max_length=2000)]
"""A remark of 1 to 2,000 characters."""


class FeedbackBody(RequestBody, **with_example({"feedback": "useful", "session_id": "monday"})):
    """Feedback on a memory."""

    feedback: Feedback = Field(
        description="`useful` counts as a use; `not_useful` takes the last use back, so that it fades sooner; "
        "`wrong` has a person look at it before anybody is told it again."
    )
    session_id: Name | None = Field(default=None, description="The conversation it was used in.")
    note: Note | None = Field(default=None, description="The reason, stored in the memory's provenance for reviewers.")
    now: Instant | None = Field(default=None, description="Time of the feedback; by default the present.")


class FreshnessOut(Out):
    """Freshness at this time, without and with this feedback."""

    before: Annotated[float, Source("", lambda both: round(both[0], DIGITS))]
    after: Annotated[float, Source("", lambda both: round(both[1], DIGITS))]


class FeedbackResultOut(Out):
    """The memory after the feedback, and the effect of the feedback."""

    memory: AnyMemory
    feedback: Annotated[Feedback, Given()]
    effect: FeedbackEffect
    reason: str
    freshness: FreshnessOut


def router() -> APIRouter:
    """Return the route."""
    found = APIRouter(tags=["memories"], route_class=GuardedRoute)
    summary = "Say that a memory was useful, not useful or wrong"
    add_changes(found, WRITE | BY_MEMORY, ("/memories/{memory_id}/feedback", give_feedback, summary, FeedbackResultOut))
    return found


async def give_feedback(
    request: Request, runtime: RuntimeDep, actor: ActorDep, memory_id: MemoryId, body: FeedbackBody
) -> Response:
    """Give feedback on a memory.

    `useful` counts as a use, now: freshness is `2^(-days since the last use / half-life) x min(3, 1.2^uses)`. An
    expired memory that this makes fresher than 0.1 is active again, unless its validity has ended or another memory
    holds its slot. `not_useful` revokes the last use: one less of the uses counts (of six at most), the last use is
    again the one before, and stability loses 0.1. `wrong` takes an active memory out of recall and into review
    (`status=pending`, `review_reason=reported_wrong`); a superseded or expired one keeps its status and is marked for
    review; one in review stays there. A forgotten memory answers 409.
    """
    memory = ids.parse(ids.MEMORY, memory_id)
    present = runtime.clock()
    at = (models.aware(body.now, UTC) or present).astimezone(UTC)
    if fault := models.future_fault(at, present):
        raise InvalidFields([FieldError(field="now", message=fault)])
    word = MemoryFeedback(feedback=body.feedback, at=at, session=body.session_id, note=body.note)

    async def work() -> object:
        judged = await runtime.service(FeedbackService).judge(actor, memory, word)
        return FeedbackResultOut.answer(judged, judged.at, feedback=word.feedback)

    return await run_once(request, runtime, actor, OK, work)
