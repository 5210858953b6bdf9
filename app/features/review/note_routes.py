"""Undoing of review decisions, claims on items and comments, over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.api.memories.answers import AffectedOut, AnyMemory
from app.features.review.queue import ReviewNotes
from app.features.review.routes import ReviewId
from app.features.review.undo import ReviewUndo
from app.http.guard import REVIEW, ActorDep, GuardedRoute, RuntimeDep
from app.http.idempotency import run_once
from app.http.models import Given, Out, RequestBody, json_answer, with_example
from app.http.routes import OK, add_changes, add_reads
from app.memory.fields import Flag, Name, Sentence
from app.model import Actor


class ReviewerBody(RequestBody):
    """The person who acts."""

    reviewer: Name | None = Field(
        default=None, description="The person, where several share a key; by default the key's name."
    )

    def name(self, actor: Actor) -> str:
        """Return the reviewer's name."""
        return self.reviewer or actor.name


class UndoBody(ReviewerBody, **with_example({"reason": "the contract was another person's"})):
    """An undoing of a decision."""

    reason: Sentence | None = Field(default=None, max_length=2000, description="Kept in the audit log.")


class ClaimBody(ReviewerBody, **with_example({"reviewer": "ana"})):
    """A claim on an item, or its end."""

    release: Flag = Field(default=False, description="Give the claim up instead.")


class CommentBody(ReviewerBody, **with_example({"comment": "asked the customer, waiting for an answer"})):
    """A comment on an item."""

    comment: Sentence = Field(max_length=4000, description="Erased with the memory.")


class ReviewUndoneOut(Out):
    """The item's memory as it is again, and other memories that changed back."""

    outcome: str
    memory: AnyMemory | None
    affected: list[AffectedOut]


class ReviewClaimOut(Out):
    """A claim on an item: the reviewer, and its end."""

    reviewer: str
    until: datetime


class ReviewCommentOut(Out):
    """A comment on an item."""

    reviewer: str
    comment: str
    created_at: datetime


class ReviewNotesOut(Out):
    """The claim on an item, if any, and the comments on it, oldest first."""

    claim: Annotated[ReviewClaimOut | None, Given()]
    comments: Annotated[list[ReviewCommentOut], Given()]


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["review"], route_class=GuardedRoute)
    path = "/admin/review/{review_id}"
    notes = (f"{path}/notes", get_review_notes, "Get the claim on an item and its comments", ReviewNotesOut)
    add_reads(found, REVIEW, notes)
    add_changes(
        found,
        REVIEW,
        (f"{path}/undo", undo_review, "Undo the latest decision on an item", ReviewUndoneOut),
        (f"{path}/claim", claim_review, "Claim an item, or give it up", ReviewNotesOut),
        (f"{path}/comments", comment_review, "Comment on an item", ReviewNotesOut),
    )
    return found


async def get_review_notes(runtime: RuntimeDep, actor: ActorDep, review_id: ReviewId) -> Response:
    """Get the claim on an item and the comments on it, also after it left the queue."""
    return json_answer(await _notes(runtime, actor, review_id))


async def undo_review(
    request: Request, runtime: RuntimeDep, actor: ActorDep, review_id: ReviewId, body: UndoBody
) -> Response:
    """Undo the latest decision on an item: every memory that it changed is again what it was, and the item waits.

    A 409 says why it can't be undone: a memory changed since or holds the slot, or the decision joined memories,
    counted as a repetition, or stored a statement.
    """
    memory = ids.parse(ids.REVIEW, review_id)

    async def work() -> object:
        undone = await runtime.service(ReviewUndo).undo(actor, memory, reason=body.reason, reviewer=body.reviewer)
        return ReviewUndoneOut.answer(undone, runtime.clock())

    return await run_once(request, runtime, actor, OK, work)


async def claim_review(
    request: Request, runtime: RuntimeDep, actor: ActorDep, review_id: ReviewId, body: ClaimBody
) -> Response:
    """Claim an item for 15 minutes, so that other reviewers leave it alone; a 409 names who has claimed it.

    A claim locks nothing: decisions are guarded by the item's version.
    """
    memory = ids.parse(ids.REVIEW, review_id)

    async def work() -> object:
        if body.release:
            await runtime.service(ReviewNotes).release(actor, memory, body.name(actor))
        else:
            await runtime.service(ReviewNotes).claim(actor, memory, body.name(actor))
        return await _notes(runtime, actor, review_id)

    return await run_once(request, runtime, actor, OK, work)


async def comment_review(
    request: Request, runtime: RuntimeDep, actor: ActorDep, review_id: ReviewId, body: CommentBody
) -> Response:
    """Comment on an open item; the answer has all comments."""
    memory = ids.parse(ids.REVIEW, review_id)

    async def work() -> object:
        await runtime.service(ReviewNotes).comment(actor, memory, body.comment, body.name(actor))
        return await _notes(runtime, actor, review_id)

    return await run_once(request, runtime, actor, OK, work)


async def _notes(runtime: RuntimeDep, actor: Actor, review_id: str) -> dict[str, object]:
    claim, comments = await runtime.service(ReviewNotes).read(actor, ids.parse(ids.REVIEW, review_id))
    return ReviewNotesOut.answer(
        None,
        claim=None if claim is None else ReviewClaimOut.answer(claim),
        comments=[ReviewCommentOut.answer(one) for one in comments],
    )
