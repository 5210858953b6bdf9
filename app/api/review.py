"""The review queue: what waits for a person, with all there is to know, and what they decide."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from app import ids
from app.api import cursors, fields, review_views, views
from app.api.candidates import canonical_types
from app.api.cursors import Listing
from app.api.deps import ActorDep, RuntimeDep
from app.api.guard import ADMIN, GuardedRoute
from app.api.idempotent import IDEMPOTENT, once
from app.api.models import Answers
from app.api.problems import FieldError, InvalidFields, of_error, respond
from app.api.review_shapes import BulkBody, DecideBody, ReviewAnswers, ReviewQuery, SummaryOut, build
from app.api.routes import add_reads
from app.db.review import Wanted
from app.errors import NotFound, TypedMemoryError
from app.runtime import Runtime
from app.services.review import Moved
from app.write.reviewing import Done

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
    wanted = Wanted(
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
    return views.answer({"items": [review_views.item(one, now) for one in page.items], "next_cursor": following})


async def get_review_summary(runtime: RuntimeDep, actor: ActorDep) -> Response:
    """Count what waits, by reason and age."""
    return views.answer(review_views.summary(await runtime.reviews.summary(actor)))


async def get_review(runtime: RuntimeDep, actor: ActorDep, review_id: ReviewId) -> Response:
    """Get an item: the memory, where it was said, what it stands against, what it resembles, what is suggested.

    An item that has left the queue tells how: `open` is false, and `decided` says by whom and what.
    """
    found = await runtime.reviews.get(actor, ids.parse(ids.REVIEW, review_id))
    return views.answer(review_views.detail(found, runtime.clock()))


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
        return review_views.done(memory, choice.action, done, runtime.clock())

    return await _told(request, runtime, lambda: once(request, runtime, actor, OK, work))


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
            if isinstance(result, Done):
                told.append({"index": place, "status": OK, **review_views.done(memory, choice.action, result, now)})
            else:
                problem = {"problem": of_error(result, request.scope), **_state(result, now)}
                name = ids.public(ids.REVIEW, memory)
                told.append({"index": place, "status": result.status, "id": name, **problem})
        return {"results": told}

    return await _told(request, runtime, lambda: once(request, runtime, actor, OK, work))


def _of_bulk(review: str, place: int) -> UUID:
    try:
        return ids.parse(ids.REVIEW, review)
    except NotFound as error:
        raise InvalidFields([FieldError(field=f"decisions.{place}.id", message=error.message)]) from None


async def _told(request: Request, runtime: Runtime, work: Callable[[], Awaitable[Response]]) -> Response:
    """Do the work; when the item has moved, answer with its new state."""
    try:
        return await work()
    except Moved as moved:
        members = review_views.plain(_state(moved, runtime.clock()))
        return respond({**of_error(moved, request.scope), "status": HTTPStatus.CONFLICT.value, **members})


def _state(error: TypedMemoryError, now: datetime) -> dict[str, object]:
    """Return the new state of an item that has moved; nothing for another error."""
    if not isinstance(error, Moved):
        return {}
    return {
        "item": None if error.item is None else review_views.item(error.item, now),
        "decided": None if error.ended is None else review_views.ended(error.ended),
    }
