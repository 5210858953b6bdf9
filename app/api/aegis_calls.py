"""The plain calls of the Aegis Memory SDK under `/aegis`: add, query, get, update and delete, in its shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.api.memories.bodies import WriteBodies, WriteFields
from app.api.memories.candidates import candidate_from_body
from app.api.memories.read import MemoryId
from app.api.plumbing.binding import BY_MEMORY, NAMED
from app.api.plumbing.fields import Metadata, RequestBody
from app.api.plumbing.guard import READ, WRITE, ActorDep, GuardedRoute, RuntimeDep
from app.api.plumbing.idempotency import IDEMPOTENT, run_once
from app.api.plumbing.problems import FieldError, InvalidFields
from app.api.plumbing.routes import NO_CONTENT, OK
from app.api.plumbing.wire import json_answer
from app.api.query import QueryFields, Question
from app.memory.candidate import WriteOutcome
from app.memory.fields import Flag, Name, Sentence
from app.memory.registry import Registry
from app.model import Actor, Memory, ScopeKind
from app.runtime import Runtime

MOST_ITEMS = 100

_SCOPES = {"global": ScopeKind.GLOBAL, "agent-private": ScopeKind.AGENT}

Namespace = Literal["default"]


class AegisAddBody(RequestBody):
    """A memory to add, as the SDK sends it; what is shared among named agents has no counterpart here."""

    content: Sentence
    user_id: Name | None = None
    agent_id: Name | None = None
    namespace: Namespace = "default"
    metadata: Metadata = Field(default_factory=dict)
    ttl_seconds: int | None = Field(default=None, gt=0, le=2**31 - 1)
    scope: Literal["global", "agent-private"] | None = None


class AegisBatchBody(RequestBody):
    """Memories to add."""

    items: list[AegisAddBody] = Field(min_length=1, max_length=MOST_ITEMS)


class AegisQueryBody(QueryFields):
    """A question, as the SDK sends it."""

    query: Question
    namespace: Namespace = "default"
    min_score: float = Field(default=0.0, ge=0, description="Only what scores so high.")
    apply_decay: Flag = Field(default=False, description="Without effect: freshness always counts.")


class AegisUpdateBody(RequestBody):
    """Changes of a memory; what it says changes only by a new statement."""

    metadata: Metadata = Field(default_factory=dict)


def router(registry: Registry, bodies: WriteBodies) -> APIRouter:
    """Return the routes; they are not in the OpenAPI document, whose types are this service's own."""
    found = APIRouter(prefix="/aegis", tags=["memories"], route_class=GuardedRoute, include_in_schema=False)
    one = "/memories/{memory_id}"
    for method, path, handler, extra in (
        ("POST", "/memories/add", _add(registry, bodies), WRITE | NAMED),
        ("POST", "/memories/add_batch", _add_batch(registry, bodies), WRITE),
        ("POST", "/memories/query", aegis_query, READ | NAMED),
        ("GET", one, aegis_get, READ | BY_MEMORY),
        ("PATCH", one, aegis_update, WRITE | BY_MEMORY),
        ("DELETE", one, aegis_delete, WRITE | BY_MEMORY),
    ):
        dependencies = IDEMPOTENT if extra.get("x-required-role") == "write" else ()
        found.add_api_route(path, handler, methods=[method], dependencies=dependencies, openapi_extra=dict(extra))
    return found


async def aegis_query(runtime: RuntimeDep, actor: ActorDep, body: AegisQueryBody) -> Response:
    """Find memories, best first."""
    asked = body.build_request(body.query, (), runtime.clock())
    found = await runtime.queries.query(actor, asked)
    memories = [{**_shown(hit.memory), "score": hit.score} for hit in found.hits if hit.score >= body.min_score]
    return json_answer({"memories": memories, "query_time_ms": round(found.took_ms, 3)})


async def aegis_get(runtime: RuntimeDep, actor: ActorDep, memory_id: MemoryId) -> Response:
    """Read a memory."""
    return json_answer(_shown(await runtime.memories.get(actor, ids.parse(ids.MEMORY, memory_id))))


async def aegis_update(
    request: Request, runtime: RuntimeDep, actor: ActorDep, memory_id: MemoryId, body: AegisUpdateBody
) -> Response:
    """Replace a memory's metadata."""

    async def work() -> object:
        memory = ids.parse(ids.MEMORY, memory_id)
        return _shown(await runtime.memories.patch(actor, memory, {"metadata": body.metadata}))

    return await run_once(request, runtime, actor, OK, work)


async def aegis_delete(runtime: RuntimeDep, actor: ActorDep, memory_id: MemoryId) -> Response:
    """Erase a memory."""
    await runtime.erasing.memory(actor, ids.parse(ids.MEMORY, memory_id))
    return Response(status_code=NO_CONTENT)


def _add(registry: Registry, bodies: WriteBodies) -> Callable[..., Any]:
    async def aegis_add(request: Request, runtime: RuntimeDep, actor: ActorDep, body: AegisAddBody) -> Response:
        """Write a memory of type `standard`."""

        async def work() -> object:
            return await _added(runtime, actor, registry, bodies.single["standard"], body)

        return await run_once(request, runtime, actor, OK, work)

    return aegis_add


def _add_batch(registry: Registry, bodies: WriteBodies) -> Callable[..., Any]:
    async def aegis_add_batch(request: Request, runtime: RuntimeDep, actor: ActorDep, body: AegisBatchBody) -> Response:
        """Write memories of type `standard`, one after another."""

        async def work() -> object:
            written = bodies.single["standard"]
            return {"results": [await _added(runtime, actor, registry, written, one) for one in body.items]}

        return await run_once(request, runtime, actor, OK, work)

    return aegis_add_batch


async def _added(
    runtime: Runtime, actor: Actor, registry: Registry, written: type[WriteFields], given: AegisAddBody
) -> dict[str, object]:
    fields = given.model_dump(exclude={"namespace", "scope"}, exclude_none=True)
    if given.scope is not None:
        fields["scope"] = _SCOPES[given.scope]
    outcome = await runtime.memories.write(
        actor, candidate_from_body(registry.get("standard"), written.model_validate(fields), runtime.clock())
    )
    return _result(outcome)


def _result(outcome: WriteOutcome) -> dict[str, object]:
    if outcome.memory is None:
        raise InvalidFields([FieldError(field="content", message=f"is not stored: {outcome.reason}")])
    name = ids.public(ids.MEMORY, outcome.memory.id)
    merged = outcome.decision == "merged"
    return {"id": name, "deduped_from": name if merged else None, "inferred_scope": _scope(outcome.memory)}


def _scope(memory: Memory) -> str:
    return "global" if memory.scope.kind is ScopeKind.GLOBAL else "agent-private"


def _shown(memory: Memory) -> dict[str, Any]:
    return {
        "id": ids.public(ids.MEMORY, memory.id),
        "content": memory.content,
        "user_id": memory.scope.user_id,
        "agent_id": memory.scope.agent_id,
        "namespace": "default",
        "metadata": dict(memory.metadata),
        "created_at": memory.recorded_at.isoformat(),
        "scope": _scope(memory),
        "shared_with_agents": [],
        "derived_from_agents": [],
        "coordination_metadata": {},
        "memory_type": memory.type,
    }
