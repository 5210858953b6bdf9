"""The review queue over HTTP: list, count, read and decide items."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json
from starlette.responses import Response

from app import ids
from app.api.memories.answers import AffectedOut, AnyMemory, MemoryOut, Occurred
from app.api.memories.bodies import canonical_types
from app.api.memories.write import with_types
from app.errors import TypedMemoryError
from app.features.erasure.routes import ReceiptOut
from app.features.erasure.service import Receipt
from app.features.review.bodies import EXAMPLE_ITEM, BulkBody, DecideBody
from app.features.review.decide import ReviewResult
from app.features.review.items import ReviewAction, ReviewDecision, ReviewItem, suggestion
from app.features.review.queue import Detail, Passage, ReviewFilter, ReviewItemChanged, Reviews
from app.http import cursors, models
from app.http.cursors import PageQuery
from app.http.guard import REVIEW, ActorDep, GuardedRoute, RuntimeDep
from app.http.idempotency import IDEMPOTENT, ReplayableResponse, run_once
from app.http.models import Computed, Given, Instant, Out, PageOut, Source, json_answer, public_id
from app.http.problems import Problem, is_final, problem_of, raise_if_all_failed, respond
from app.http.routes import OK, add_changes, add_reads, add_route
from app.memory.fields import Name
from app.memory.registry import Registry
from app.model import Evidence, LinkKind, MemoryStatus, ReviewReason
from app.runtime import Runtime

ReviewId = Annotated[str, Path(description="An item's id: its memory's, as a review.", examples=[EXAMPLE_ITEM])]


class ReviewQuery(PageQuery):
    """Filters of items."""

    reason: list[ReviewReason] = Field(default_factory=list, description="Only items with one of these reasons.")
    type: list[Name] = Field(default_factory=list, max_length=50)
    status: list[MemoryStatus] = Field(default_factory=list, description="`pending` for what is not believed yet.")
    user_id: Name | None = None
    agent_id: Name | None = None
    since: Instant | None = Field(default=None, description="Only what came up then or later.")
    until: Instant | None = Field(default=None, description="Only what came up before.")
    min_age: int | None = Field(default=None, ge=0, le=10**9, description="Only what has waited so many seconds.")
    sort: Literal["oldest", "newest"] = Field(default="oldest", description="The order.")


class SuggestionOut(Out):
    """The action that the rules suggest, and the reason."""

    action: ReviewAction
    reason: str
    with_: Annotated[str | None, public_id(ids.MEMORY, "other")] = Field(
        alias="with", description="The memory that the action names, if it names one."
    )


class DecidedOut(Out):
    """The event by which an item left the queue."""

    by: Annotated[str, Source("actor")]
    at: datetime
    event: str = Field(description="`review.decided`, or what else settled it.")
    detail: dict[str, Any]


class TurnExcerptOut(Out):
    """A turn."""

    turn_id: Annotated[str, public_id(ids.TURN, "id")]
    role: str
    speaker: str | None
    content: str
    occurred_at: datetime


class PassageOut(Out):
    """The statement within its conversation; without a turn if that is not stored."""

    quote: str | None
    role: str | None
    occurred_at: Occurred
    before: Annotated[list[TurnExcerptOut], Given(())]
    turn: Annotated[TurnExcerptOut | None, Given()]
    after: Annotated[list[TurnExcerptOut], Given(())]


class PreviewOut(Out):
    """The outcome of accepting the item now."""

    outcome: str
    memory_id: Annotated[str | None, public_id(ids.MEMORY, "memory")]
    affected: list[AffectedOut]


class AgesOut(Out):
    """Numbers of items by age."""

    under_a_day: int
    a_day_to_a_week: int
    a_week_to_a_month: int
    over_a_month: int


class WaitingOut(Out):
    """Numbers of items of one reason."""

    reason: ReviewReason
    waiting: int
    ages: Annotated[AgesOut, Source(make=dict)]
    oldest: datetime


class SummaryOut(Out):
    """Numbers of items, by reason and age."""

    waiting: int
    reasons: list[WaitingOut]


class ReviewSideOut(Out):
    """A memory that conflicts with the item."""

    memory: AnyMemory
    relation: LinkKind
    same_value: bool


def _since(one: ReviewItem, now: datetime | None) -> datetime | None:
    return one.memory.review_since or now


def _age(one: ReviewItem, now: datetime | None) -> float:
    since = one.memory.review_since
    return 0.0 if since is None or now is None else max(0.0, round((now - since).total_seconds(), 3))


class ReviewItemOut(Out):
    """A memory that waits for a decision; `version` changes when it or one of its sides does."""

    id: Annotated[str, public_id(ids.REVIEW, "memory.id")]
    version: str
    reason: Annotated[ReviewReason, Source("memory.review")]
    note: Annotated[str | None, Source("memory.review_note")]
    since: Annotated[datetime, Computed(_since)]
    age_seconds: Annotated[float, Computed(_age)]
    memory: AnyMemory
    sides: list[ReviewSideOut]
    suggestion: Annotated[SuggestionOut, Source("", lambda one: SuggestionOut.answer(suggestion(one)))]


class ReviewPageOut(PageOut):
    """Some items."""

    items: list[ReviewItemOut]


class NearDuplicateOut(Out):
    """A memory that may say the same, by cosine."""

    memory: Annotated[AnyMemory, Given()]
    similarity: Annotated[float, Given()]


def _evidence(one: Detail, _: datetime | None) -> list[dict[str, Any]]:
    if one.item is None or one.memory is None:
        return []
    return [_passage(evidence, one.passages) for evidence in one.memory.evidence]


def _passage(evidence: Evidence, passages: Mapping[UUID, Passage]) -> dict[str, Any]:
    found = None if evidence.turn_id is None else passages.get(evidence.turn_id)
    if found is None:
        return PassageOut.answer(evidence)
    before, after = ([TurnExcerptOut.answer(one) for one in turns] for turns in (found.before, found.after))
    return PassageOut.answer(evidence, before=before, turn=TurnExcerptOut.answer(found.turn), after=after)


def _near(one: Detail, now: datetime | None) -> list[dict[str, Any]]:
    return [
        NearDuplicateOut.answer(None, memory=MemoryOut.answer(other, now), similarity=round(cosine, 4))
        for other, cosine in one.near
    ]


class ReviewDetailOut(Out):
    """An item with its details; of an item that left the queue, how it left."""

    id: Annotated[str, public_id(ids.REVIEW)]
    open: Annotated[bool, Source("item", lambda item: item is not None)]
    item: ReviewItemOut | None
    memory: AnyMemory | None
    evidence: Annotated[list[PassageOut], Computed(_evidence)]
    near: Annotated[list[NearDuplicateOut], Computed(_near)]
    if_accepted: Annotated[PreviewOut | None, Source("foreseen")]
    decided: Annotated[DecidedOut | None, Source("ended")]


def _receipt(found: Receipt | None) -> dict[str, object] | None:
    return None if found is None else ReceiptOut.answer(found)


class ReviewOutcomeOut(Out):
    """The outcome of a decision."""

    id: Annotated[str, Given()]
    action: Annotated[ReviewAction, Given()]
    outcome: str
    memory: AnyMemory | None
    affected: list[AffectedOut]
    receipt: Annotated[ReceiptOut | None, Source("receipt", _receipt)] = Field(
        default=None, description="The receipt of the erasure, where the user asked to forget it and it was accepted."
    )


class ChangedItem(BaseModel):
    """The new state of an item that has changed, or how it left the queue."""

    item: ReviewItemOut | None = None
    decided: DecidedOut | None = None


class ReviewChangedOut(Problem, ChangedItem):
    """The item has changed: its new state."""


class ReviewResultOut(ChangedItem):
    """One decision's outcome, or the problem with it."""

    model_config = ConfigDict(extra="forbid")

    index: int
    status: int
    id: str
    action: ReviewAction | None = None
    outcome: str | None = None
    memory: AnyMemory | None = None
    affected: list[AffectedOut] | None = None
    receipt: ReceiptOut | None = None
    problem: Problem | None = None


class ReviewResultsOut(Out):
    """Outcomes in the order of the decisions."""

    results: list[ReviewResultOut]


def review_line(item: Mapping[str, Any]) -> str:
    """Return an item's JSON as a line of text: its id, content, reason, age and suggestion."""
    note = f" ({item['note']})" if item["note"] else ""
    hours = item["age_seconds"] / 3600
    age = f"{hours / 24:.0f} days" if hours >= 48 else f"{hours:.1f} hours"  # noqa: PLR2004 - two days
    suggested = item["suggestion"]
    return (
        f"- [{item['id']}] {item['memory']['content']} | {item['reason']}{note}, for {age} | "
        f"suggested: {suggested['action']}, {suggested['reason']}"
    )


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["review"], route_class=GuardedRoute)
    add_reads(
        found,
        REVIEW,
        ("/admin/review", list_reviews, "List what waits for a reviewer", ReviewPageOut),
        ("/admin/review/summary", get_review_summary, "Count what waits", SummaryOut),
        ("/admin/review/{review_id}", get_review, "Get an item", ReviewDetailOut),
    )
    _add_decisions(found)
    return found


def _add_decisions(found: APIRouter) -> None:
    changed: dict[int | str, dict[str, Any]] = {
        409: {
            "description": "The item has changed, or was decided: `item` is its new state, `decided` says how.",
            "model": ReviewChangedOut,
        }
    }
    bulk = ("/admin/review/bulk", decide_reviews, "Decide up to two hundred items", ReviewResultsOut)
    one = ("/admin/review/{review_id}", decide_review, "Decide an item", ReviewOutcomeOut)
    add_changes(found, REVIEW, bulk)
    add_route(found, "POST", REVIEW, *one, responses=changed, dependencies=IDEMPOTENT)


async def list_reviews(runtime: RuntimeDep, actor: ActorDep, query: Annotated[ReviewQuery, Query()]) -> Response:
    """List review items, oldest first by default, each with its conflicting memories and the suggested action.

    `next_cursor` is null on the last page.
    """
    wanted = ReviewFilter(
        reasons=tuple(query.reason),
        types=canonical_types(query.type, await runtime.type_book.naming(actor.tenant_id, query.type), "type"),
        statuses=tuple(query.status),
        user_id=query.user_id,
        agent_id=query.agent_id,
        **models.period(query.since, query.until),
    )
    listing = query.listing("review", actor.tenant_id)
    page = await runtime.service(Reviews).list(
        actor,
        wanted,
        min_age=None if query.min_age is None else timedelta(seconds=query.min_age),
        newest=query.sort == "newest",
        limit=query.limit,
        after=cursors.decode(query.cursor, listing, value=datetime),
    )
    return json_answer(ReviewPageOut.page(page.items, cursors.encode(page.next, listing), runtime.clock()))


async def get_review_summary(runtime: RuntimeDep, actor: ActorDep) -> Response:
    """Count items, by reason and age."""
    found = await runtime.service(Reviews).summary(actor)
    reasons = [WaitingOut.answer(one) for one in found]
    return json_answer({"waiting": sum(one.waiting for one in found), "reasons": reasons})


async def get_review(runtime: RuntimeDep, actor: ActorDep, review_id: ReviewId) -> Response:
    """Get an item: the memory, its passages, conflicting memories, near-duplicates, and the suggested action.

    For an item that has left the queue, `open` is false, and `decided` has the decision and its author.
    """
    found = await runtime.service(Reviews).get(actor, ids.parse(ids.REVIEW, review_id))
    return json_answer(ReviewDetailOut.answer(found, runtime.clock()))


async def decide_review(
    request: Request, runtime: RuntimeDep, actor: ActorDep, review_id: ReviewId, body: DecideBody
) -> Response:
    """Decide an item.

    `accept`: a pending memory goes through the write pipeline, a contested one wins its slot. `reject`: it is
    forgotten. `keep_both`: both sides stay, linked and demoted. `supersede_with`: a memory, or a statement, supersedes
    the item and all its sides. `merge`: it is merged into a memory that says the same. The named memory or the
    statement must have the item's subject. An expired or superseded memory keeps its status when it is accepted, and
    only leaves the queue (`outcome` `kept`). `end`: a belief was true until `since`; it leaves its slot as history.
    What the user asked to forget (`erasure`) is erased by `accept`, and recalled again after `reject`.

    The decision is on the `version` that the reviewer saw. If the item has changed since, nothing is done and the
    answer is a 409 with the new state.
    """
    memory = ids.parse(ids.REVIEW, review_id)

    async def decided(types: Registry) -> object:
        choice = body.choice(types, runtime.clock())
        result = await runtime.service(Reviews).decide(actor, memory, choice)
        return _outcome(memory, choice, result, runtime.clock())

    async def work() -> object:
        return await with_types(runtime, actor, body.types(), decided)

    return await _answer_changes(request, runtime, lambda: run_once(request, runtime, actor, OK, work))


async def decide_reviews(request: Request, runtime: RuntimeDep, actor: ActorDep, body: BulkBody) -> Response:
    """Decide items one after another, each in its own transaction; a failure does not affect the others.

    The answer has an outcome or a problem for each. If none could be decided, it is the first one's problem.
    """
    memories = [
        models.parse_id(ids.REVIEW, one.id, f"decisions.{place}.id") for place, one in enumerate(body.decisions)
    ]
    now = runtime.clock()

    async def decided(types: Registry) -> object:
        choices = [
            (memory, one.choice(types, now, "decisions", place))
            for place, (memory, one) in enumerate(zip(memories, body.decisions, strict=True))
        ]
        results = await runtime.service(Reviews).decide_all(actor, choices)
        raise_if_all_failed(results)
        answers: list[dict[str, Any]] = []
        for place, ((memory, choice), result) in enumerate(zip(choices, results, strict=True)):
            if isinstance(result, ReviewResult):
                answers.append({"index": place, "status": OK, **_outcome(memory, choice, result, now)})
            else:
                problem = {"problem": problem_of(result, request.scope), **_state(result, now)}
                name = ids.public(ids.REVIEW, memory)
                answers.append({"index": place, "status": result.status, "id": name, **problem})
        return ReplayableResponse(OK, {"results": answers}, final=is_final(results))

    async def work() -> object:
        return await with_types(runtime, actor, set().union(*(one.types() for one in body.decisions)), decided)

    return await _answer_changes(request, runtime, lambda: run_once(request, runtime, actor, OK, work))


async def _answer_changes(request: Request, runtime: Runtime, work: Callable[[], Awaitable[Response]]) -> Response:
    """Run the work; if the item has changed, answer with its new state."""
    try:
        return await work()
    except ReviewItemChanged as changed:
        members = json.loads(to_json(_state(changed, runtime.clock())))
        return respond({**problem_of(changed, request.scope), "status": HTTPStatus.CONFLICT.value, **members})


def _outcome(memory: UUID, choice: ReviewDecision, result: ReviewResult, now: datetime) -> dict[str, Any]:
    return ReviewOutcomeOut.answer(result, now, id=ids.public(ids.REVIEW, memory), action=choice.action)


def _state(error: TypedMemoryError, now: datetime) -> dict[str, Any]:
    """Return the new state of a changed item as members of the problem; empty for another error."""
    if not isinstance(error, ReviewItemChanged):
        return {}
    return {
        "item": None if error.item is None else ReviewItemOut.answer(error.item, now),
        "decided": None if error.ended is None else DecidedOut.answer(error.ended),
    }
