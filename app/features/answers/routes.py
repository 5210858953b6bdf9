"""Answers over HTTP: written by a language model from memories, with citations; at once or as a stream of events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from app.api.memories.answers import RecalledMemoryOut
from app.api.memories.bodies import canonical_types
from app.api.query import PositionHeader, QueryFields, Question
from app.errors import TypedMemoryError
from app.features.answers.service import Answers, GroundedAnswer
from app.http.guard import NAMED, READ, ActorDep, GuardedRoute, RuntimeDep
from app.http.models import EVENT_STREAM, Fraction, Given, Out, event_stream, event_text, json_answer
from app.http.problems import Problem, problem_of
from app.http.routes import OK, add_route
from app.http.unions import with_example
from app.memory.fields import Name
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
    """Return the route."""
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
