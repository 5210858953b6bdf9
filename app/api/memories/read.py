"""Read, list, change, delete, history.

Memories: reading, listing, changing, erasing, history; `memory_writes` has the writing.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field, Json, create_model, model_validator
from starlette.responses import Response

from app import ids
from app.api.erasure import ReceiptOut, receipt
from app.api.memories import answers, write
from app.api.memories.answers import Answers
from app.api.memories.bodies import WriteBodies
from app.api.memories.candidates import canonical_types
from app.api.plumbing import cursors, fields
from app.api.plumbing.cursors import LONGEST, Listing
from app.api.plumbing.fields import (
    OWNER,
    Clocks,
    Fraction,
    Instant,
    Lifetime,
    Metadata,
    Out,
    RequestBody,
    VisibilityQuery,
)
from app.api.plumbing.guard import READ, WRITE, ActorDep, GuardedRoute, Handler, RuntimeDep, add_reads
from app.api.plumbing.idempotency import IDEMPOTENT, own_key, run_once
from app.api.plumbing.problems import FieldError, InvalidFields
from app.api.plumbing.unions import from_query, maybe, with_example
from app.api.query import MOST_RESULTS
from app.db.memories.listing import MemoryFilters, Sort
from app.memory.fields import Name, Topic
from app.memory.normalise import normalise_key, words
from app.memory.registry import Registry
from app.model import Actor, Category, MemoryStatus, Scope, ScopeKind, Visibility
from app.runtime import Runtime
from app.services.memories import MemoryPage


class MemoryListQuery(VisibilityQuery):
    """Which memories to list."""

    owner: Name | None = Field(default=None, description=OWNER)
    type: list[Name] = Field(
        default_factory=list, max_length=50, description="Only these types; repeat it for several."
    )
    status: list[MemoryStatus] = Field(
        default_factory=list,
        description="Only these statuses; repeat it for several. By default all but `pending`: history too.",
    )
    subject: Name | None = Field(default=None, description="Only what is about this, as memories show it in `subject`.")
    topic: Topic | None = None
    session_id: Name | None = None
    min_importance: Fraction | None = Field(default=None, description="Only what matters at least this much.")
    q: Name | None = Field(default=None, description="Only memories whose text holds each of these words.")
    entity: Name | None = Field(
        default=None,
        description="Only memories that name this entity, by its `ent_` id; of every type.",
        examples=["ent_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"],
    )
    predicate: Name | None = Field(default=None, description="Only memories with this predicate.")
    metadata: Json[Metadata] | None = Field(
        default=None,
        description="Only memories whose metadata contain this JSON object.",
        examples=['{"source":"crm"}'],
    )
    recorded_since: Instant | None = Field(default=None, description="Only what was recorded then or later.")
    recorded_until: Instant | None = Field(default=None, description="Only what was recorded before.")
    needs_review: bool | None = Field(
        default=None, description="Only what waits for a reviewer, or only what does not."
    )
    validity: Literal["now", "any"] = Field(
        default="now",
        description="`now` leaves out what is active and not true now: what is over, or has not begun. With "
        "`known_at`, then instead of now; `as_of` says itself when.",
    )
    sort: Sort = Sort.NEWEST
    limit: int = Field(default=50, ge=1, le=MOST_RESULTS)
    cursor: str | None = Field(default=None, min_length=1, max_length=LONGEST)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.owner is not None and (self.user_id, self.agent_id, self.scope) != (None, None, None):
            raise ValueError("owner names scopes by itself: leave out user_id, agent_id and scope")
        return self


def listing_by(registry: Registry) -> type[MemoryListQuery]:
    """Return the query of listings, with the fields of payloads that the types there are can be narrowed by."""
    fields: dict[str, Any] = {
        name: (
            maybe(Name),
            Field(default=None, description=f"Only memories of type {spec.name} with this {words(name)}."),
        )
        for spec in registry
        for name in spec.filters
    }
    return create_model("ListQuery", __base__=MemoryListQuery, __doc__=MemoryListQuery.__doc__, **fields)


MOST_COUNTED = 100_000


class MemoryCountOut(Out):
    """How many memories there are; `capped`: more than 100,000, and only so many were counted."""

    total: int
    capped: bool
    by_type: dict[str, int]
    by_status: dict[str, int]


class PatchBody(RequestBody, **with_example({"importance": 0.9, "topic": "work"})):
    """What may be changed about a memory; what it says is changed by writing a newer one."""

    importance: Fraction | None = None
    topic: Topic | None = None
    category: Category | None = None
    valid_until: Instant | None = Field(default=None, description="Until when it is true; null: without an end.")
    ttl_seconds: Lifetime | None = Field(
        default=None, description="Instead of valid_until: how much longer it is true, in seconds from now."
    )
    needs_review: bool | None = Field(default=None, description="Whether a person should look at it.")
    metadata: Metadata | None = Field(default=None, description="Takes the place of what was there.")

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("name at least one field to change")
        return self

    def changes(self, now: datetime) -> dict[str, object]:
        """Return the fields that were given; null empties only what may be empty."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        emptied = sorted({name for name, value in given.items() if value is None} - {"topic", "valid_until"})
        if emptied:
            raise InvalidFields([FieldError(field=name, message="must not be null") for name in emptied])
        if given.get("valid_until") is not None:
            given["valid_until"] = fields.aware(self.valid_until, UTC)
        if self.ttl_seconds is not None:
            if "valid_until" in given:
                raise InvalidFields(fields.both_ends())
            given["valid_until"] = now + timedelta(seconds=self.ttl_seconds)
        given.pop("ttl_seconds", None)
        return given


MemoryId = Annotated[str, Path(description="A memory's id.", examples=["mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])]


def router(registry: Registry, bodies: WriteBodies, answers: Answers) -> APIRouter:
    """Return the routes of memories."""
    found = APIRouter(tags=["memories"], route_class=GuardedRoute)
    write.add(found, registry, bodies, answers)
    add_reads(
        found,
        READ,
        ("/memories", _listing(registry), "List memories", answers.page),
        ("/memories/count", _counting(registry), "Count memories", MemoryCountOut),
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
    async def list_memories(runtime: RuntimeDep, actor: ActorDep, query: MemoryListQuery) -> Response:
        """List memories, a page at a time; `next_cursor` is null on the last page.

        What is active but over, or has not begun, is listed with `validity=any`.
        """
        filters = await _filters(query, runtime, actor)
        listing = Listing(f"{actor.tenant_id}|{query.sort}|{query.validity}|{filters}")
        filters = _valid_now(filters, query, runtime.clock())
        after = None
        if query.cursor is not None:
            after = cursors.decode(query.cursor, listing, value=_sorted_by(query.sort))
        page = await runtime.memories.list(actor, filters, sort=query.sort, limit=query.limit, after=after)
        return fields.json_answer(page_of(page, listing, filters.known_at or runtime.clock()))

    list_memories.__annotations__["query"] = from_query(listing_by(registry))
    return list_memories


def _counting(registry: Registry) -> Handler:
    async def count_memories(runtime: RuntimeDep, actor: ActorDep, query: MemoryListQuery) -> Response:
        """Count the memories that `GET /memories` lists with the same filters; `sort` and `cursor` change nothing."""
        filters = await _filters(query, runtime, actor)
        found = await runtime.memories.count(actor, _valid_now(filters, query, runtime.clock()), most=MOST_COUNTED)
        return fields.json_answer(
            {
                "total": min(found.total, MOST_COUNTED),
                "capped": found.capped,
                "by_type": found.by_type,
                "by_status": found.by_status,
            }
        )

    count_memories.__annotations__["query"] = from_query(listing_by(registry))
    return count_memories


def _valid_now(filters: MemoryFilters, query: MemoryListQuery, now: datetime) -> MemoryFilters:
    """Return the filters with the instant at which active memories must hold, unless the query leaves it open."""
    if query.validity == "any" or filters.as_of is not None:
        return filters
    return replace(filters, valid_at=filters.known_at or now)


async def get_memory(
    runtime: RuntimeDep, actor: ActorDep, memory_id: MemoryId, clocks: Annotated[Clocks, Query()]
) -> Response:
    """Get a memory, whatever its status; 404 where it was not known then, or did not hold then."""
    instants = clocks.instants()
    found = await runtime.memories.get(actor, ids.parse(ids.MEMORY, memory_id), **instants)
    return fields.json_answer(answers.memory_answer(found, instants["known_at"] or runtime.clock()))


async def get_memory_history(
    runtime: RuntimeDep, actor: ActorDep, memory_id: MemoryId, clocks: Annotated[Clocks, Query()]
) -> Response:
    """Get every version of a belief, oldest statement first, and what happened to them.

    With `as_of` only the versions that held then; with `known_at` the history as it was told then.
    """
    instants = clocks.instants()
    found = await runtime.memories.history(actor, ids.parse(ids.MEMORY, memory_id), **instants)
    return fields.json_answer(answers.history_answer(found, instants["known_at"] or runtime.clock()))


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
        return answers.memory_answer(found, runtime.clock())

    return await run_once(request, runtime, actor, 200, work)


async def delete_memory(request: Request, runtime: RuntimeDep, actor: ActorDep, memory_id: MemoryId) -> Response:
    """Erase a memory and everything made of it, and answer with a receipt.

    A turn that no other memory rests on is erased with it; of one that others rest on, the words quoted for this
    memory, and it can't be replayed. `kept` names those others: they may say the same, and stay.
    """

    async def work() -> object:
        done = await runtime.erasing.memory(actor, ids.parse(ids.MEMORY, memory_id), own=own_key(request))
        return receipt(done)

    return await run_once(request, runtime, actor, 200, work)


async def _filters(query: MemoryListQuery, runtime: Runtime, actor: Actor) -> MemoryFilters:
    registry = await runtime.type_book.naming(actor.tenant_id, query.type)
    if query.owner is None:
        scopes = scopes_of(query, actor)
    else:
        scopes = await runtime.activity.scopes_of_user(actor, query.owner)
    return MemoryFilters(
        scopes=scopes,
        types=canonical_types(query.type, registry, "type"),
        statuses=tuple(query.status),
        subject=query.subject,
        topic=query.topic,
        session_id=query.session_id,
        min_importance=query.min_importance,
        texts=() if query.q is None else tuple(query.q.split()),
        entity=None if query.entity is None else ids.parse(ids.ENTITY, query.entity),
        predicate=None if query.predicate is None else normalise_key(query.predicate),
        metadata=None if query.metadata is None else json.dumps(query.metadata, sort_keys=True),
        recorded_since=fields.aware(query.recorded_since, UTC),
        recorded_until=fields.aware(query.recorded_until, UTC),
        needs_review=query.needs_review,
        fields=_payload_fields(query, registry),
        **query.instants(),
    )


def _payload_fields(query: MemoryListQuery, registry: Registry) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    given = ((name, stored, getattr(query, name, None)) for name, stored in registry.filters.items())
    return tuple(
        (name, stored(value), registry.filtered_by(name)) for name, stored, value in given if value is not None
    )


def scopes_of(query: VisibilityQuery, actor: Actor) -> tuple[Any, ...] | None:
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


def page_of(page: MemoryPage, listing: Listing, now: datetime) -> dict[str, object]:
    """Return a page as it is answered; freshness is as of `now`."""
    return {
        "memories": [answers.memory_answer(one, now) for one in page.memories],
        "next_cursor": None if page.next is None else cursors.encode(page.next, listing),
    }
