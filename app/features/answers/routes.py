"""Answers over HTTP, written by a language model from memories, at once or as a stream of events; profiles of users."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.api.memories.answers import RecalledMemoryOut
from app.api.memories.bodies import canonical_types
from app.api.query import GroupOut, PositionHeader, QueryFields, Question
from app.errors import TypedMemoryError
from app.features.answers.profiles import DEFAULT_BUDGET, Profiles
from app.features.answers.service import Answers, GroundedAnswer
from app.http.guard import NAMED, READ, ActorDep, GuardedRoute, RuntimeDep
from app.http.models import (
    EVENT_STREAM,
    Fraction,
    Given,
    Out,
    RequestBody,
    event_stream,
    event_text,
    json_answer,
    public_ids,
    with_example,
)
from app.http.problems import Problem, problem_of
from app.http.routes import OK, add_reads, add_route
from app.memory.fields import Name, UserId
from app.model import Visibility
from app.runtime import Runtime
from app.services.query import QueryRequest, QueryResult


class AnswerBody(QueryFields, **with_example({"query": "Where does Ana live?", "user_id": "ana"})):
    """A question to answer from memories."""

    query: Question = Field(description="In plain words, as a person would ask.", examples=["Where does Ana live?"])
    types: list[Name] = Field(default_factory=list, max_length=50, description="Only these; all by default.")
    min_relevance: Fraction | None = Field(
        default=None, description="Only what is this relevant; by default the floors of the embedding model."
    )


class AnswerOut(Out):
    """An answer, and the memories that it rests on; without one, `abstained` says why."""

    text: Annotated[str | None, Given()]
    citations: Annotated[list[RecalledMemoryOut], Given()]
    abstained: Annotated[str | None, Given()]
    model: Annotated[str, Given()]


def router() -> APIRouter:
    """Return the routes. Ids of users are callers' own and may contain slashes."""
    found = APIRouter(tags=["query"], route_class=GuardedRoute)
    add_route(
        found,
        "POST",
        READ | NAMED,
        "/answer",
        answer,
        "Ask, and get an answer with citations",
        AnswerOut,
        responses={
            OK: {"content": {EVENT_STREAM: {"schema": {"type": "string"}}}},
            501: {"model": Problem, "description": "There is no language model."},
        },
    )
    add_reads(
        found, READ | NAMED, ("/users/{user_id:path}/profile", get_profile, "Get what holds of a user", ProfileOut)
    )
    return found


async def answer(
    request: Request,
    runtime: RuntimeDep,
    actor: ActorDep,
    body: AnswerBody,
    memory_position: PositionHeader = None,
) -> Response:
    """Answer a question from memories alone, with the memories that the answer rests on.

    Where nothing relevant is remembered, or it does not answer the question, `text` is null and `abstained` says why.
    With `Accept: text/event-stream` the memories come first (`recalled`), then the words as the model writes them
    (`delta`, each with more `text`), then the whole answer with its citations (`answer`), or a problem (`problem`).
    Without a language model the answer is a 501.
    """
    now = runtime.clock()
    types = canonical_types(body.types, await runtime.type_book.naming(actor.tenant_id, body.types), "types")
    asked = body.build_request(body.query, types, now)
    recalled = await runtime.service(Answers).recall(actor, asked, position=memory_position)
    if EVENT_STREAM in request.headers.get("accept", ""):
        return event_stream(_stream(request, runtime, asked, recalled))
    return json_answer(_shown(await runtime.service(Answers).answer(actor, asked, recalled), runtime))


async def _stream(request: Request, runtime: Runtime, asked: QueryRequest, recalled: QueryResult) -> AsyncIterator[str]:
    now, actor = runtime.clock(), request.state.actor
    yield event_text("recalled", {"memories": [RecalledMemoryOut.answer(hit.memory, now) for hit in recalled.hits]})
    try:
        async with aclosing(runtime.service(Answers).stream(actor, asked, recalled)) as written:
            async for one in written:
                yield (
                    event_text("delta", {"text": one})
                    if isinstance(one, str)
                    else event_text("answer", _shown(one, runtime))
                )
    except TypedMemoryError as error:
        yield event_text("problem", problem_of(error, request.scope))


def _shown(given: GroundedAnswer, runtime: Runtime) -> dict[str, Any]:
    now = runtime.clock()
    cited = [RecalledMemoryOut.answer(hit.memory, now) for hit in given.cited]
    return AnswerOut.answer(
        None, text=given.text, citations=cited, abstained=given.abstained, model=runtime.service(Answers).model
    )


LARGEST_PROFILE = 10_000


class ProfileQuery(RequestBody):
    """The size of a profile, and the agent whose memories of the user belong to it, too."""

    agent_id: Name | None = None
    token_budget: int = Field(default=DEFAULT_BUDGET, ge=0, le=LARGEST_PROFILE, description="Most tokens of `text`.")


class ProfileOut(Out):
    """The profile of a user: a block to paste, its size, its groups, and the memories in it."""

    user_id: Annotated[str, Given()]
    text: str
    tokens: int
    groups: Annotated[list[GroupOut], Given([])]
    memory_ids: Annotated[list[str], public_ids(ids.MEMORY, "memories")]


async def get_profile(
    runtime: RuntimeDep, actor: ActorDep, user_id: UserId, query: Annotated[ProfileQuery, Query()]
) -> Response:
    """Get a block for the head of a prompt: who the user is, constraints, preferences, and what is current.

    It needs no question and no model. Global memories don't belong to it. A user who is not known has an empty one.
    """
    visibility = Visibility(user_id=user_id, agent_id=query.agent_id)
    found = await runtime.service(Profiles).get(actor, visibility, budget=query.token_budget)
    groups = [GroupOut.answer(one) for one in found.groups]
    return json_answer(ProfileOut.answer(found, user_id=user_id, groups=groups))
