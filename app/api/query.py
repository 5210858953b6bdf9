"""Questions: the read pipeline, and the same engine in the Aegis shape."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from app.api import views
from app.api.deps import ActorDep, RuntimeDep
from app.api.guard import READ, GuardedRoute
from app.api.models import Answers
from app.api.requests import QueryBody, RecallBody


def router(answers: Answers) -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["query"], route_class=GuardedRoute)
    found.add_api_route(
        "/query",
        query,
        methods=["POST"],
        operation_id="query",
        summary="Ask, and get memories, context and reasons",
        response_model=answers.query,
        openapi_extra=READ,
    )
    for path, operation in (("/memories/typed/query", "query_typed"), ("/memories/query", "query_memories")):
        found.add_api_route(
            path,
            recall,
            methods=["POST"],
            operation_id=operation,
            summary="Ask, and get memories",
            response_model=answers.recall,
            openapi_extra=READ,
        )
    return found


async def query(runtime: RuntimeDep, actor: ActorDep, body: QueryBody) -> Response:
    """Understand the question, retrieve under its filters, rank, and assemble the context to paste."""
    now = runtime.clock()
    request = body.to_request(await runtime.type_book.naming(actor.tenant_id, body.types), now)
    result = await runtime.queries.query(actor, request)
    return views.answer(views.query_result(result, request.known_at or now))


async def recall(runtime: RuntimeDep, actor: ActorDep, body: RecallBody) -> Response:
    """Ask the same engine in the shape of Aegis Memory."""
    now = runtime.clock()
    request = body.to_request(await runtime.type_book.naming(actor.tenant_id, body.memory_types), now)
    result = await runtime.queries.query(actor, request)
    return views.answer(views.recall_result(result, request.known_at or now))
