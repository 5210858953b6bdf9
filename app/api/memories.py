"""Memories: reading, listing, changing, erasing, history; `memory_writes` has the writing."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from app import ids
from app.api import cursors, memory_writes, views
from app.api.bodies import WriteBodies
from app.api.candidates import (
    canonical_types,
)
from app.api.cursors import Listing
from app.api.deps import ActorDep, RuntimeDep
from app.api.erasure import ReceiptOut, receipt
from app.api.guard import READ, WRITE, GuardedRoute
from app.api.idempotent import IDEMPOTENT, once, own_key
from app.api.models import Answers
from app.api.problems import FieldError, InvalidFields
from app.api.requests import Clocks, ListQuery, PatchBody, Seen, listing_by
from app.api.routes import Handler, add_reads
from app.api.shapes import from_query
from app.db.listing import Filters, Sort
from app.memory.registry import Registry
from app.model import Actor, Scope, ScopeKind, Visibility
from app.services.memories import Page

MemoryId = Annotated[str, Path(description="A memory's id.", examples=["mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])]


def router(registry: Registry, bodies: WriteBodies, answers: Answers) -> APIRouter:
    """Return the routes of memories."""
    found = APIRouter(tags=["memories"], route_class=GuardedRoute)
    memory_writes.add(found, registry, bodies, answers)
    add_reads(
        found,
        READ,
        ("/memories", _listing(registry), "List memories", answers.page),
        ("/memories/{memory_id}", get_memory, "Get a memory", answers.memory),
        (
            "/memories/{memory_id}/history",
            get_memory_history,
            "Get every version of a belief and what happened to it",
            answers.history,
        ),
    )
    _add_changes(found, answers)
    return found


def _add_changes(found: APIRouter, answers: Answers) -> None:
    found.add_api_route(
        "/memories/{memory_id}",
        patch_memory,
        methods=["PATCH"],
        operation_id="patch_memory",
        summary="Change what is not the belief itself",
        response_model=answers.memory,
        dependencies=IDEMPOTENT,
        openapi_extra=WRITE,
    )
    found.add_api_route(
        "/memories/{memory_id}",
        delete_memory,
        methods=["DELETE"],
        operation_id="delete_memory",
        summary="Erase a memory",
        response_model=ReceiptOut,
        dependencies=IDEMPOTENT,
        openapi_extra=WRITE,
    )


def _listing(registry: Registry) -> Handler:
    async def list_memories(runtime: RuntimeDep, actor: ActorDep, query: ListQuery) -> Response:
        """List memories, a page at a time; `next_cursor` is null on the last page.

        What is active but over, or has not begun, is listed with `validity=any`.
        """
        filters = _filters(query, actor, await runtime.type_book.naming(actor.tenant_id, query.type))
        listing = Listing(f"{actor.tenant_id}|{query.sort}|{query.validity}|{filters}")
        if query.validity == "now" and filters.as_of is None:
            filters = replace(filters, valid_at=filters.known_at or runtime.clock())
        after = None
        if query.cursor is not None:
            after = cursors.decode(query.cursor, listing, value=_sorted_by(query.sort))
        page = await runtime.memories.list(actor, filters, sort=query.sort, limit=query.limit, after=after)
        return views.answer(page_of(page, listing, filters.known_at or runtime.clock()))

    list_memories.__annotations__["query"] = from_query(listing_by(registry))
    return list_memories


async def get_memory(
    runtime: RuntimeDep, actor: ActorDep, memory_id: MemoryId, clocks: Annotated[Clocks, Query()]
) -> Response:
    """Get a memory, whatever its status; 404 where it was not known then, or did not hold then."""
    instants = clocks.instants()
    found = await runtime.memories.get(actor, ids.parse(ids.MEMORY, memory_id), **instants)
    return views.answer(views.memory(found, instants["known_at"] or runtime.clock()))


async def get_memory_history(
    runtime: RuntimeDep, actor: ActorDep, memory_id: MemoryId, clocks: Annotated[Clocks, Query()]
) -> Response:
    """Get every version of a belief, oldest statement first, and what happened to them.

    With `as_of` only the versions that held then; with `known_at` the history as it was told then.
    """
    instants = clocks.instants()
    found = await runtime.memories.history(actor, ids.parse(ids.MEMORY, memory_id), **instants)
    return views.answer(views.history(found, instants["known_at"] or runtime.clock()))


async def patch_memory(
    request: Request, runtime: RuntimeDep, actor: ActorDep, memory_id: MemoryId, body: PatchBody
) -> Response:
    """Change importance, topic, category, metadata, end of validity or the review mark.

    `needs_review=false` takes off only a mark that `needs_review=true` put there; every other is decided by a
    reviewer, and answers 409. So does a later end for what has been superseded or was said to be over, and any
    change of a memory that was forgotten.
    """
    changes = body.changes(runtime.clock())

    async def work() -> object:
        found = await runtime.memories.patch(actor, ids.parse(ids.MEMORY, memory_id), changes)
        return views.memory(found, runtime.clock())

    return await once(request, runtime, actor, 200, work)


async def delete_memory(request: Request, runtime: RuntimeDep, actor: ActorDep, memory_id: MemoryId) -> Response:
    """Erase a memory and everything made of it, and answer with a receipt.

    A turn that no other memory rests on is erased with it; of one that others rest on, the words quoted for this
    memory, and it can't be replayed. `kept` names those others: they may say the same, and stay.
    """

    async def work() -> object:
        done = await runtime.erasing.memory(actor, ids.parse(ids.MEMORY, memory_id), own=own_key(request))
        return receipt(done)

    return await once(request, runtime, actor, 200, work)


def _filters(query: ListQuery, actor: Actor, registry: Registry) -> Filters:
    return Filters(
        scopes=scopes_of(query, actor),
        types=canonical_types(query.type, registry, "type"),
        statuses=tuple(query.status),
        subject=query.subject,
        topic=query.topic,
        session_id=query.session_id,
        min_importance=query.min_importance,
        fields=_payload_fields(query, registry),
        **query.instants(),
    )


def _payload_fields(query: ListQuery, registry: Registry) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    given = ((name, stored, getattr(query, name, None)) for name, stored in registry.filters.items())
    return tuple(
        (name, stored(value), registry.filtered_by(name)) for name, stored, value in given if value is not None
    )


def scopes_of(query: Seen, actor: Actor) -> tuple[Any, ...] | None:
    """Return the ids of the scopes that are listed; None for all of the tenant's."""
    if query.scope is None and query.user_id is None and query.agent_id is None:
        return None
    needed = {ScopeKind.USER: "user_id", ScopeKind.AGENT: "agent_id"}.get(query.scope or ScopeKind.GLOBAL)
    if needed is not None and getattr(query, needed) is None:
        raise InvalidFields([FieldError(field=needed, message=f"is required for scope {query.scope}")])
    seen: tuple[Scope, ...] = Visibility(user_id=query.user_id, agent_id=query.agent_id).scopes()
    return tuple(one.id(actor.tenant_id) for one in seen if query.scope in {None, one.kind})


def _sorted_by(sort: Sort) -> type[datetime | float] | None:
    match sort.column:
        case "id":
            return None
        case "stated_at":
            return datetime
        case _:
            return float


def page_of(page: Page, listing: Listing, now: datetime) -> dict[str, object]:
    """Return a page as it is answered; freshness is as of `now`."""
    return {
        "memories": [views.memory(one, now) for one in page.memories],
        "next_cursor": None if page.next is None else cursors.encode(page.next, listing),
    }
