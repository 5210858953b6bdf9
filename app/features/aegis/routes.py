"""The shapes of Aegis Memory: its listings of sessions and entities, and the plain calls of its SDK under `/aegis`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.api.memories.answers import MemoryPageOut
from app.api.memories.bodies import WriteBodies, WriteFields, candidate_from_body, candidates_from
from app.api.memories.read import MemoryId, page_answer
from app.api.query import PositionHeader, QueryFields, Question
from app.errors import InvalidCursor, TypedMemoryError
from app.features.erasure.service import Erasures
from app.http import cursors
from app.http.cursors import Listing, PageQuery
from app.http.guard import BY_MEMORY, NAMED, READ, WRITE, ActorDep, GuardedRoute, RuntimeDep
from app.http.idempotency import IDEMPOTENT, run_once
from app.http.models import MOST_RESULTS, Clocks, Metadata, RequestBody, json_answer
from app.http.problems import FieldError, InvalidFields
from app.http.routes import NO_CONTENT, OK, add_reads
from app.http.visibility import VisibilityQuery
from app.memory.candidate import WriteOutcome
from app.memory.fields import Flag, Name, Sentence, UserId
from app.memory.registry import Registry
from app.model import Actor, Memory, MemoryStatus, ScopeKind
from app.services.memories import MemoryFilters, PagePosition

MOST_ITEMS = 100

_SCOPES = {"global": ScopeKind.GLOBAL, "agent-private": ScopeKind.AGENT, "agent": ScopeKind.AGENT}
"""The kinds of scopes by the SDK's names; a key that is bound to an agent fills in this service's own name."""

Namespace = Literal["default"]

SessionId = Annotated[Name, Path(description="The session, as it was written.", examples=["conv-42"])]
EntityId = Annotated[
    Name,
    Path(
        description="The entity: the `entity_id` it was written with, or its own id here (`ent_...`).",
        examples=["user_123"],
    ),
]


class TimelineQuery(VisibilityQuery, Clocks, PageQuery):
    """Filters and page of a listing in the shape of Aegis Memory."""

    status: list[MemoryStatus] = Field(
        default_factory=list,
        description="By default `active`; with `as_of` also what has been replaced or expired since.",
    )
    limit: int = Field(default=100, ge=1, le=MOST_RESULTS)


def router() -> APIRouter:
    """Return the routes. Their ids are callers' own and may contain slashes."""
    found = APIRouter(tags=["memories"], route_class=GuardedRoute)
    add_reads(
        found,
        READ | NAMED,
        (
            "/memories/typed/episodic/session/{session_id:path}",
            list_session,
            "List a session's episodes in sequence",
            MemoryPageOut,
        ),
        (
            "/memories/typed/semantic/entity/{entity_id:path}",
            list_entity_facts,
            "List what is known about an entity",
            MemoryPageOut,
        ),
    )
    return found


async def list_session(
    runtime: RuntimeDep, actor: ActorDep, session_id: SessionId, query: Annotated[TimelineQuery, Query()]
) -> Response:
    """List a session's episodes by `sequence_number`, then those without one by the time of statement.

    An unknown session has none. `next_cursor` is null on the last page.
    """
    filters = _filters(query, actor)
    listing = query.listing("session", actor.tenant_id, session_id)
    after = _timeline_position(query.cursor, listing)
    page = await runtime.timelines.session(actor, filters, session_id=session_id, limit=query.limit, after=after)
    return page_answer(page, listing, filters.known_at or runtime.clock())


async def list_entity_facts(
    runtime: RuntimeDep, actor: ActorDep, entity_id: EntityId, query: Annotated[TimelineQuery, Query()]
) -> Response:
    """List the semantic memories about an entity, the latest recorded first.

    An unknown entity has none. `next_cursor` is null on the last page.
    """
    filters = _filters(query, actor)
    listing = query.listing("entity", actor.tenant_id, entity_id)
    after = cursors.decode(query.cursor, listing)
    page = await runtime.timelines.entity(actor, filters, entity_id=entity_id, limit=query.limit, after=after)
    return page_answer(page, listing, filters.known_at or runtime.clock())


def _filters(query: TimelineQuery, actor: Actor) -> MemoryFilters:
    then = (MemoryStatus.ACTIVE, MemoryStatus.SUPERSEDED, MemoryStatus.EXPIRED)
    default = (MemoryStatus.ACTIVE,) if query.as_of is None else then
    at = query.instants()
    return MemoryFilters(
        scopes=query.scopes(actor),
        statuses=tuple(query.status) or default,
        as_of=at["as_of"],
        known_at=at["known_at"],
    )


def _timeline_position(cursor: str | None, listing: Listing) -> PagePosition | None:
    """Return the position that a page of a timeline starts after: an episode's number, or its time."""
    try:
        return cursors.decode(cursor, listing, value=float)
    except InvalidCursor:
        return cursors.decode(cursor, listing, value=datetime)


class AegisAddBody(RequestBody):
    """A memory to add, as the SDK sends it; what is shared among named agents has no counterpart here."""

    content: Sentence
    user_id: UserId | None = None
    agent_id: Name | None = None
    namespace: Namespace = "default"
    metadata: Metadata = Field(default_factory=dict)
    ttl_seconds: int | None = Field(default=None, gt=0, le=2**31 - 1)
    scope: Literal["global", "agent-private", "agent"] | None = None


class AegisBatchBody(RequestBody):
    """Memories to add."""

    items: list[AegisAddBody] = Field(min_length=1, max_length=MOST_ITEMS)


class AegisQueryBody(QueryFields):
    """A question, as the SDK sends it."""

    query: Question
    namespace: Namespace = "default"
    min_score: float = Field(default=0.0, ge=0, description="Least relevance, 0 to 1, which is the score here.")
    apply_decay: Flag = Field(default=False, description="Without effect: freshness always counts.")


class AegisUpdateBody(RequestBody):
    """Changes of a memory; what it says changes only by a new statement."""

    metadata: Metadata = Field(default_factory=dict)


def calls_router(registry: Registry, bodies: WriteBodies) -> APIRouter:
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


async def aegis_query(
    runtime: RuntimeDep, actor: ActorDep, body: AegisQueryBody, memory_position: PositionHeader = None
) -> Response:
    """Find memories, best first."""
    asked = body.build_request(body.query, (), runtime.clock())
    found = await runtime.queries.query(actor, asked, position=memory_position)
    memories = [{**_shown(hit.memory), "score": hit.relevance} for hit in found.hits if hit.relevance >= body.min_score]
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
    await runtime.service(Erasures).memory(actor, ids.parse(ids.MEMORY, memory_id))
    return Response(status_code=NO_CONTENT)


def _add(registry: Registry, bodies: WriteBodies) -> Callable[..., Any]:
    async def aegis_add(request: Request, runtime: RuntimeDep, actor: ActorDep, body: AegisAddBody) -> Response:
        """Write a memory of type `standard`."""

        async def work() -> object:
            written = _write_fields(body, bodies.single["standard"])
            candidate = candidate_from_body(registry.get("standard"), written, runtime.clock())
            outcome = await runtime.memories.write(actor, candidate)
            if outcome.memory is None:
                raise InvalidFields([FieldError(field="content", message=f"is not stored: {outcome.reason}")])
            return _result(outcome)

        return await run_once(request, runtime, actor, OK, work)

    return aegis_add


def _add_batch(registry: Registry, bodies: WriteBodies) -> Callable[..., Any]:
    async def aegis_add_batch(request: Request, runtime: RuntimeDep, actor: ActorDep, body: AegisBatchBody) -> Response:
        """Write memories of type `standard`; the result of one that is not stored says why."""

        async def work() -> object:
            spec, written = registry.get("standard"), bodies.single["standard"]
            items = [(spec, _write_fields(one, written)) for one in body.items]
            outcomes = await runtime.memories.write_all(actor, candidates_from(items, runtime.clock(), "items"))
            return {"results": [_result(one) for one in outcomes]}

        return await run_once(request, runtime, actor, OK, work)

    return aegis_add_batch


def _write_fields(given: AegisAddBody, written: type[WriteFields]) -> WriteFields:
    fields = given.model_dump(exclude={"namespace", "scope"}, exclude_none=True)
    if given.scope is not None:
        fields["scope"] = _SCOPES[given.scope]
    return written.model_validate(fields)


def _result(outcome: WriteOutcome | TypedMemoryError) -> dict[str, object]:
    if isinstance(outcome, TypedMemoryError) or outcome.memory is None:
        why = str(outcome) if isinstance(outcome, TypedMemoryError) else outcome.reason
        return {"id": None, "deduped_from": None, "inferred_scope": None, "error": f"is not stored: {why}"}
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
