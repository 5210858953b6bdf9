"""The review queue: list, detail, decide, bulk decide.

What the review routes take and answer.

From the review queue's values to answers.

The review queue: what waits for a person, with all there is to know, and what they decide.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import to_json
from starlette.responses import Response

from app import ids
from app.api.memories import answers
from app.api.memories.answers import AffectedOut, Answers
from app.api.memories.candidates import canonical_types
from app.api.plumbing import cursors, fields
from app.api.plumbing.cursors import LONGEST, Listing
from app.api.plumbing.fields import Instant, Out, RequestBody
from app.api.plumbing.guard import ADMIN, ActorDep, GuardedRoute, RuntimeDep, add_reads
from app.api.plumbing.idempotency import IDEMPOTENT, run_once
from app.api.plumbing.problems import FieldError, InvalidFields, Problem, field_errors, problem_of, respond
from app.api.plumbing.unions import many, maybe, with_example
from app.api.query import MOST_RESULTS
from app.db.review import Passage, ReviewFilter, TurnExcerpt
from app.errors import NotFound, TypedMemoryError
from app.memory.candidate import AffectedMemory
from app.memory.fields import Name, Sentence
from app.memory.registry import Registry
from app.memory.review import ReviewAction, ReviewDecision, ReviewItem, suggestion
from app.model import Evidence, LinkKind, MemoryStatus, ReviewReason
from app.runtime import Runtime
from app.services.review.decide import ReviewResult
from app.services.review.queue import Detail, ReviewBacklog, ReviewExit, ReviewItemChanged
from app.write.review.decide import ReviewOutcome

MOST_DECISIONS = 200

_REVIEW = "rev_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"

_VERSION = "984c74443316f9a2fa973356376c6180"

_NAMES = frozenset({ReviewAction.SUPERSEDE_WITH, ReviewAction.MERGE})


class ReviewQuery(RequestBody):
    """Which items to list."""

    reason: list[ReviewReason] = Field(default_factory=list, description="Why they wait.")
    type: list[Name] = Field(default_factory=list, max_length=50)
    status: list[MemoryStatus] = Field(default_factory=list, description="`pending` for what is not believed yet.")
    user_id: Name | None = None
    agent_id: Name | None = None
    since: Instant | None = Field(default=None, description="Only what came up then or later.")
    until: Instant | None = Field(default=None, description="Only what came up before.")
    min_age: int | None = Field(default=None, ge=0, le=10**9, description="Only what has waited so many seconds.")
    sort: Literal["oldest", "newest"] = Field(default="oldest", description="Which come first.")
    limit: int = Field(default=50, ge=1, le=MOST_RESULTS)
    cursor: str | None = Field(default=None, min_length=1, max_length=LONGEST)


class ReviewerStatement(RequestBody):
    """What a reviewer states instead: a memory's type and that type's fields."""

    type: Name = Field(examples=["fact"])
    payload: dict[str, object] = Field(examples=[{"predicate": "works-at", "object": "Volkswagen"}])


class DecideBody(RequestBody, **with_example({"action": "accept", "version": _VERSION, "reason": "seen the contract"})):
    """A decision, and the version of the item that it goes by."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    action: ReviewAction
    version: Name = Field(description="The item's `version` as it was read; if it moved since, nothing is done.")
    with_: Name | ReviewerStatement | None = Field(
        default=None,
        alias="with",
        description="For `merge` a memory's id; for `supersede_with` a memory's id, or what holds instead.",
        examples=["mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"],
    )
    reason: Sentence | None = Field(default=None, max_length=2000, description="Kept in the audit log.")

    def choice(self, registry: Registry, *prefix: str | int) -> ReviewDecision:
        """Return the decision; InvalidFields when what it states is no memory, NotFound for what is no id."""
        if (fault := self._fault()) is not None:
            raise InvalidFields([FieldError(field=".".join(map(str, (*prefix, "with"))), message=fault)])
        choice = ReviewDecision(action=self.action, version=self.version, reason=self.reason)
        if not isinstance(self.with_, ReviewerStatement):
            named = None if self.with_ is None else ids.parse(ids.MEMORY, self.with_)
            return replace(choice, named=named)
        spec = registry.find(self.with_.type)
        if spec is None:
            field = ".".join(map(str, (*prefix, "with", "type")))
            known = ", ".join(registry.by_name)
            raise InvalidFields([FieldError(field=field, message=f"unknown memory type; use one of {known}")])
        try:
            payload = spec.payload.model_validate(self.with_.payload)
        except ValidationError as error:
            raise InvalidFields(field_errors(error.errors(include_url=False), *prefix, "with", "payload")) from None
        return replace(choice, statement=payload, statement_type=spec.name)

    def _fault(self) -> str | None:
        """Return what is wrong with `with`."""
        if self.action in _NAMES and self.with_ is None:
            return f"is required for {self.action}"
        if self.action not in _NAMES and self.with_ is not None:
            return f"has no meaning for {self.action}"
        if self.action is ReviewAction.MERGE and isinstance(self.with_, ReviewerStatement):
            return "must be a memory's id for merge"
        return None


class BulkDecision(DecideBody, **with_example({"id": _REVIEW, "action": "accept", "version": _VERSION})):
    """A decision on one of several items."""

    id: Name = Field(examples=[_REVIEW])


class BulkBody(RequestBody):
    """Decisions that are carried out one after another, each on its own."""

    decisions: list[BulkDecision] = Field(min_length=1, max_length=MOST_DECISIONS)


class SuggestionOut(Out):
    """What the rules would do, and why. It is only a proposal."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    action: ReviewAction
    reason: str
    with_: str | None = Field(alias="with", description="The memory that the action names, if it names one.")


class DecidedOut(Out):
    """How an item left the queue."""

    by: str
    at: datetime
    event: str = Field(description="`review.decided`, or what else settled it.")
    detail: dict[str, Any]


class TurnExcerptOut(Out):
    """A turn."""

    turn_id: str
    role: str
    speaker: str | None
    content: str
    occurred_at: datetime


class PassageOut(Out):
    """Where it was said, in its conversation; without a turn, where that is not kept."""

    quote: str | None
    role: str | None
    stated_at: datetime
    before: list[TurnExcerptOut]
    turn: TurnExcerptOut | None
    after: list[TurnExcerptOut]


class PreviewOut(Out):
    """What accepting it would come to now."""

    outcome: str
    memory_id: str | None
    affected: list[AffectedOut]


class AgesOut(Out):
    """How many have waited how long."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    under_a_day: int
    a_day_to_a_week: int
    a_week_to_a_month: int
    over_a_month: int


class WaitingOut(Out):
    """How many wait for one reason."""

    reason: ReviewReason
    waiting: int
    ages: AgesOut
    oldest: datetime


class SummaryOut(Out):
    """How many wait, by reason and age."""

    waiting: int
    reasons: list[WaitingOut]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewAnswers:
    """The answers that hold memories, whose shape depends on the types there are."""

    page: type[BaseModel]
    detail: type[BaseModel]
    done: type[BaseModel]
    bulk: type[BaseModel]
    moved: type[BaseModel]


def build(answers: Answers) -> ReviewAnswers:
    """Return the answers for the types there are."""
    memory: Any = answers.memory
    side = _out("ReviewSide", "A memory it stands against.", memory=memory, relation=LinkKind, same_value=bool)
    item = _out(
        "ReviewItem",
        "A memory that waits for a decision; `version` moves when it, or a side of it, does.",
        id=str,
        version=str,
        reason=ReviewReason,
        note=str | None,
        since=datetime,
        age_seconds=float,
        memory=memory,
        sides=many(side),
        suggestion=SuggestionOut,
    )
    near = _out("NearDuplicate", "A memory that may say the same, by cosine.", memory=memory, similarity=float)
    done: dict[str, Any] = {"id": str, "action": ReviewAction, "outcome": str}
    done |= {"memory": maybe(memory), "affected": list[AffectedOut]}
    left: dict[str, Any] = {"item": (maybe(item), None), "decided": (DecidedOut | None, None)}
    return ReviewAnswers(
        page=_out("ReviewPage", "Some items.", items=many(item), next_cursor=str | None),
        detail=_out(
            "ReviewDetail",
            "An item with all there is to know; of one that left the queue, how.",
            id=str,
            open=bool,
            item=maybe(item),
            memory=maybe(memory),
            evidence=list[PassageOut],
            near=many(near),
            if_accepted=PreviewOut | None,
            decided=DecidedOut | None,
        ),
        done=_out("ReviewOutcome", "What a decision came to.", **done),
        bulk=_out("ReviewOutcomes", "Outcomes in the order of the decisions.", results=many(_result(done, left))),
        moved=create_model("ReviewMoved", __base__=Problem, __doc__="The item has changed: its new state.", **left),
    )


def _result(done: dict[str, Any], left: dict[str, Any]) -> type[BaseModel]:
    may: dict[str, Any] = {name: (maybe(kind), None) for name, kind in done.items() if name != "id"}
    problem: dict[str, Any] = {"problem": (Problem | None, None)}
    return create_model(
        "ReviewResult",
        __base__=Out,
        __doc__="One decision's outcome, or the problem with it.",
        index=(int, ...),
        status=(int, ...),
        id=(str, ...),
        **may,
        **problem,
        **left,
    )


def _out(name: str, doc: str, **fields: Any) -> type[BaseModel]:  # noqa: ANN401 - annotations
    required: dict[str, Any] = {field: (annotation, ...) for field, annotation in fields.items()}
    return create_model(name, __base__=Out, __doc__=doc, **required)


def item(one: ReviewItem, now: datetime) -> dict[str, Any]:
    """Return an item with its sides, its version and what the rules suggest."""
    memory, suggested = one.memory, suggestion(one)
    since = memory.review_since or now
    return {
        "id": ids.public(ids.REVIEW, memory.id),
        "version": one.version,
        "reason": memory.review,
        "note": memory.review_note,
        "since": since,
        "age_seconds": max(0.0, round((now - since).total_seconds(), 3)),
        "memory": answers.memory_answer(memory, now),
        "sides": [
            {
                "memory": answers.memory_answer(side.memory, now),
                "relation": side.relation,
                "same_value": side.same_value,
            }
            for side in one.sides
        ],
        "suggestion": {
            "action": suggested.action,
            "reason": suggested.reason,
            "with": None if suggested.other is None else ids.public(ids.MEMORY, suggested.other),
        },
    }


def line(shown: Mapping[str, Any]) -> str:
    """Return an item, as `item` makes it, in a line: which, what it says, why it waits and how long, what to do."""
    note = f" ({shown['note']})" if shown["note"] else ""
    hours = shown["age_seconds"] / 3600
    age = f"{hours / 24:.0f} days" if hours >= 48 else f"{hours:.1f} hours"  # noqa: PLR2004 - two days
    suggested = shown["suggestion"]
    return (
        f"- [{shown['id']}] {shown['memory']['content']} | {shown['reason']}{note}, for {age} | "
        f"suggested: {suggested['action']}, {suggested['reason']}"
    )


def detail(one: Detail, now: datetime) -> dict[str, object]:
    """Return everything about an item, or how it left the queue."""
    evidence = () if one.item is None or one.memory is None else one.memory.evidence
    return {
        "id": ids.public(ids.REVIEW, one.id),
        "open": one.item is not None,
        "item": None if one.item is None else item(one.item, now),
        "memory": None if one.memory is None else answers.memory_answer(one.memory, now),
        "evidence": [_passage(told, one.passages) for told in evidence],
        "near": [
            {"memory": answers.memory_answer(other, now), "similarity": round(cosine, 4)} for other, cosine in one.near
        ],
        "if_accepted": None if one.foreseen is None else _foreseen(one.foreseen),
        "decided": None if one.ended is None else exit_answer(one.ended),
    }


def decision_answer(memory: UUID, action: ReviewAction, one: ReviewResult, now: datetime) -> dict[str, object]:
    """Return what a decision came to."""
    return {
        "id": ids.public(ids.REVIEW, memory),
        "action": action,
        "outcome": one.outcome,
        "memory": None if one.memory is None else answers.memory_answer(one.memory, now),
        "affected": _affected(one.affected),
    }


def exit_answer(one: ReviewExit) -> dict[str, object]:
    """Return how an item left the queue."""
    return {"by": one.actor, "at": one.at, "event": one.event, "detail": one.detail}


def summary(waiting: Sequence[ReviewBacklog]) -> dict[str, object]:
    """Return how many wait, by reason and age."""
    return {
        "waiting": sum(one.waiting for one in waiting),
        "reasons": [
            {"reason": one.reason, "waiting": one.waiting, "ages": one.ages, "oldest": one.oldest} for one in waiting
        ],
    }


def plain(value: Mapping[str, object]) -> dict[str, object]:
    """Return a value as JSON has it, for a problem's further members."""
    found: dict[str, object] = json.loads(to_json(value))
    return found


def _foreseen(one: ReviewOutcome) -> dict[str, object]:
    return {
        "outcome": one.outcome,
        "memory_id": None if one.memory is None else ids.public(ids.MEMORY, one.memory),
        "affected": _affected(one.affected),
    }


def _affected(affected: Sequence[AffectedMemory]) -> list[dict[str, object]]:
    return [{"memory_id": ids.public(ids.MEMORY, one.id), "change": one.change} for one in affected]


def _passage(told: Evidence, passages: Mapping[UUID, Passage]) -> dict[str, object]:
    found = None if told.turn_id is None else passages.get(told.turn_id)
    return {
        "quote": told.quote,
        "role": told.role,
        "stated_at": told.stated_at,
        "before": [] if found is None else [_spoken(one) for one in found.before],
        "turn": None if found is None else _spoken(found.turn),
        "after": [] if found is None else [_spoken(one) for one in found.after],
    }


def _spoken(one: TurnExcerpt) -> dict[str, object]:
    return {
        "turn_id": ids.public(ids.TURN, one.id),
        "role": one.role,
        "speaker": one.speaker,
        "content": one.content,
        "occurred_at": one.occurred_at,
    }


OK = 200

ReviewId = Annotated[
    str, Path(description="An item's id: its memory's, as a review.", examples=["rev_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])
]


def router(answers: Answers) -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["review"], route_class=GuardedRoute)
    shapes = build(answers)
    add_reads(
        found,
        ADMIN,
        ("/admin/review", list_reviews, "List what waits for a reviewer", shapes.page),
        ("/admin/review/summary", get_review_summary, "Count what waits", SummaryOut),
        ("/admin/review/{review_id}", get_review, "Get an item", shapes.detail),
    )
    _add_decisions(found, shapes)
    return found


def _add_decisions(found: APIRouter, shapes: ReviewAnswers) -> None:
    moved: dict[int | str, dict[str, Any]] = {
        409: {
            "description": "The item has changed, or was decided: `item` is its new state, `decided` says how.",
            "model": shapes.moved,
        }
    }
    for path, handler, operation, summary, model, responses in (
        ("/admin/review/bulk", decide_reviews, "decide_reviews", "Decide up to two hundred items", shapes.bulk, None),
        ("/admin/review/{review_id}", decide_review, "decide_review", "Decide an item", shapes.done, moved),
    ):
        found.add_api_route(
            path,
            handler,
            methods=["POST"],
            operation_id=operation,
            summary=summary,
            response_model=model,
            responses=responses,
            dependencies=IDEMPOTENT,
            openapi_extra=ADMIN,
        )


async def list_reviews(runtime: RuntimeDep, actor: ActorDep, query: Annotated[ReviewQuery, Query()]) -> Response:
    """List what waits, the longest first by default, each with the sides it stands against and what the rules suggest.

    `next_cursor` is null on the last page.
    """
    wanted = ReviewFilter(
        reasons=tuple(query.reason),
        types=canonical_types(query.type, await runtime.type_book.naming(actor.tenant_id, query.type), "type"),
        statuses=tuple(query.status),
        user_id=query.user_id,
        agent_id=query.agent_id,
        since=fields.aware(query.since, UTC),
        until=fields.aware(query.until, UTC),
    )
    listing = Listing(f"review|{actor.tenant_id}|{query.sort}|{query.min_age}|{wanted}")
    after = None if query.cursor is None else cursors.decode(query.cursor, listing, value=datetime)
    page = await runtime.reviews.list(
        actor,
        wanted,
        min_age=None if query.min_age is None else timedelta(seconds=query.min_age),
        newest=query.sort == "newest",
        limit=query.limit,
        after=after,
    )
    now = runtime.clock()
    following = None if page.next is None else cursors.encode(page.next, listing)
    return fields.json_answer({"items": [item(one, now) for one in page.items], "next_cursor": following})


async def get_review_summary(runtime: RuntimeDep, actor: ActorDep) -> Response:
    """Count what waits, by reason and age."""
    return fields.json_answer(summary(await runtime.reviews.summary(actor)))


async def get_review(runtime: RuntimeDep, actor: ActorDep, review_id: ReviewId) -> Response:
    """Get an item: the memory, where it was said, what it stands against, what it resembles, what is suggested.

    An item that has left the queue tells how: `open` is false, and `decided` says by whom and what.
    """
    found = await runtime.reviews.get(actor, ids.parse(ids.REVIEW, review_id))
    return fields.json_answer(detail(found, runtime.clock()))


async def decide_review(
    request: Request, runtime: RuntimeDep, actor: ActorDep, review_id: ReviewId, body: DecideBody
) -> Response:
    """Decide an item.

    `accept`: it is believed; what is pending goes through the write pipeline, what is contested wins. `reject`: it
    is forgotten. `keep_both`: both sides stay, linked and demoted. `supersede_with`: a memory, or a statement, takes
    the place of the item and all its sides. `merge`: it becomes part of the memory that says the same. What is named
    or stated must be about what the item is about. What is expired or superseded stays so when it is accepted, and
    only leaves the queue (`outcome` `kept`).

    The decision goes by the `version` that the reviewer saw. If the item has moved since, nothing is done and the
    answer is a 409 with the new state.
    """
    memory = ids.parse(ids.REVIEW, review_id)
    choice = body.choice(await runtime.type_book.of(actor.tenant_id))

    async def work() -> object:
        done = await runtime.reviews.decide(actor, memory, choice)
        return decision_answer(memory, choice.action, done, runtime.clock())

    return await _told(request, runtime, lambda: run_once(request, runtime, actor, OK, work))


async def decide_reviews(request: Request, runtime: RuntimeDep, actor: ActorDep, body: BulkBody) -> Response:
    """Decide items one after another, each in a transaction of its own; what fails leaves the others be.

    The answer tells each outcome, or the problem with it. If none could be decided it is the first one's problem.
    """
    types = await runtime.type_book.of(actor.tenant_id)
    choices = [
        (_of_bulk(one.id, place), one.choice(types, "decisions", place)) for place, one in enumerate(body.decisions)
    ]

    async def work() -> object:
        results = await runtime.reviews.decide_all(actor, choices)
        failures = [one for one in results if isinstance(one, TypedMemoryError)]
        if len(failures) == len(results):
            raise failures[0]
        now = runtime.clock()
        told = []
        for place, ((memory, choice), result) in enumerate(zip(choices, results, strict=True)):
            if isinstance(result, ReviewResult):
                told.append({"index": place, "status": OK, **decision_answer(memory, choice.action, result, now)})
            else:
                problem = {"problem": problem_of(result, request.scope), **_state(result, now)}
                name = ids.public(ids.REVIEW, memory)
                told.append({"index": place, "status": result.status, "id": name, **problem})
        return {"results": told}

    return await _told(request, runtime, lambda: run_once(request, runtime, actor, OK, work))


def _of_bulk(review: str, place: int) -> UUID:
    try:
        return ids.parse(ids.REVIEW, review)
    except NotFound as error:
        raise InvalidFields([FieldError(field=f"decisions.{place}.id", message=error.message)]) from None


async def _told(request: Request, runtime: Runtime, work: Callable[[], Awaitable[Response]]) -> Response:
    """Do the work; when the item has moved, answer with its new state."""
    try:
        return await work()
    except ReviewItemChanged as moved:
        members = plain(_state(moved, runtime.clock()))
        return respond({**problem_of(moved, request.scope), "status": HTTPStatus.CONFLICT.value, **members})


def _state(error: TypedMemoryError, now: datetime) -> dict[str, object]:
    """Return the new state of an item that has moved; nothing for another error."""
    if not isinstance(error, ReviewItemChanged):
        return {}
    return {
        "item": None if error.item is None else item(error.item, now),
        "decided": None if error.ended is None else exit_answer(error.ended),
    }
