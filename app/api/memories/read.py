"""Memories over HTTP: read, list, change and erase them, and read their history."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field, Json, create_model, model_validator
from starlette.responses import Response

from app import ids
from app.api.memories import write
from app.api.memories.answers import AnyMemory, HistoryOut, MemoryOut, MemoryPageOut
from app.api.memories.bodies import WriteBodies, canonical_types
from app.api.memories.etags import IfMatch, IfNoneMatch, etag_headers, is_listed, unless_changed
from app.http import cursors, models
from app.http.cursors import Listing, PageQuery
from app.http.guard import BY_MEMORY, NAMED, READ, WRITE, ActorDep, GuardedRoute, RuntimeDep
from app.http.idempotency import IDEMPOTENT, run_once
from app.http.models import (
    Clocks,
    Fraction,
    Instant,
    Lifetime,
    Metadata,
    Out,
    QueryFraction,
    RequestBody,
    Source,
    Tags,
    from_query,
    json_answer,
    maybe,
    wanted_metadata,
    with_example,
)
from app.http.outcomes import ETAG
from app.http.problems import FieldError, InvalidFields
from app.http.routes import NOT_MODIFIED, OK, Handler, add_reads, add_route
from app.http.visibility import OwnedQuery
from app.memory.fields import Flag, Name, Topic
from app.memory.normalise import normalise_key, words
from app.memory.registry import Registry
from app.model import Actor, Category, MemoryStatus
from app.runtime import Runtime
from app.services.memories import MemoryFilters, MemoryPage, Sort


class MemoryListQuery(OwnedQuery, Clocks, PageQuery):
    """Filters of memories."""

    type: list[Name] = Field(
        default_factory=list, max_length=50, description="Only these types; repeat it for several."
    )
    status: list[MemoryStatus] = Field(
        default_factory=list,
        description="Only these statuses; repeat it for several. By default all but `pending`: history too.",
    )
    subject: Name | None = Field(default=None, description="Only what is about this, as memories show it in `subject`.")
    topic: Topic | None = Field(default=None, description="Only what is filed under this, in any letter case.")
    session_id: Name | None = None
    min_importance: QueryFraction | None = Field(default=None, description="Only what matters at least this much.")
    min_confidence: QueryFraction | None = Field(default=None, description="Only what is trusted at least this much.")
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
    tags: Tags = Field(default_factory=list)
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
    sort: Sort = Field(
        default=Sort.NEWEST,
        description="A name alone sorts from low to high, a minus before it from high to low: `-importance` puts what "
        "matters most first, `importance` what matters least, `-recorded_at` the newest.",
    )

    @model_validator(mode="after")
    def _tags_once(self) -> Self:
        wanted_metadata(self.metadata, self.tags)
        return self


def listing_by(registry: Registry) -> type[MemoryListQuery]:
    """Return the model of listings' query strings, with the registry's fields of payloads to filter by."""
    models: dict[str, Any] = {
        name: (
            maybe(Name),
            Field(default=None, description=f"Only memories of type {spec.name} with this {words(name)}."),
        )
        for spec in registry
        for name in spec.filters
    }
    return create_model("ListQuery", __base__=MemoryListQuery, __doc__=MemoryListQuery.__doc__, **models)


MOST_COUNTED = 100_000


class MemoryCountOut(Out):
    """The number of memories; `capped` means that counting stopped at 100,000."""

    total: Annotated[int, Source(make=lambda total: min(total, MOST_COUNTED))]
    capped: bool
    by_type: dict[str, int]
    by_status: dict[str, int]


_CAN_BE_EMPTY = frozenset({"topic", "valid_until"})
"""Fields of a memory that null clears."""


class PatchBody(RequestBody, **with_example({"importance": 0.9, "topic": "work"})):
    """Changes of a memory; its content can only be changed by writing a newer memory."""

    importance: Fraction | None = None
    topic: Topic | None = Field(default=None, description="The topic; null for none.")
    category: Category | None = None
    valid_until: Instant | None = Field(default=None, description="Until when it is true; null: without an end.")
    ttl_seconds: Lifetime | None = Field(
        default=None, description="Instead of valid_until: how much longer it is true, in seconds from now."
    )
    needs_review: Flag | None = Field(default=None, description="Mark it for review.")
    metadata: Metadata | None = Field(default=None, description="Takes the place of what was there.")

    @property
    def given(self) -> set[str]:
        """Return the fields to change: null clears a field that can be empty, and leaves others unchanged."""
        return {name for name in self.model_fields_set if name in _CAN_BE_EMPTY or getattr(self, name) is not None}

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("name at least one field to change")
        return self

    def changes(self, now: datetime) -> dict[str, object]:
        """Return the new values by field; raise InvalidFields for a body that changes nothing, or has two ends."""
        if not self.given:
            errors = [FieldError(field=name, message="must not be null") for name in sorted(self.model_fields_set)]
            raise InvalidFields(errors)
        changed = {name: getattr(self, name) for name in self.given}
        if changed.get("valid_until") is not None:
            changed["valid_until"] = models.aware(self.valid_until, UTC)
        if self.ttl_seconds is not None:
            if "valid_until" in changed:
                raise InvalidFields(models.both_ends())
            changed["valid_until"] = now + timedelta(seconds=self.ttl_seconds)
            del changed["ttl_seconds"]
        return changed


MemoryId = Annotated[str, Path(description="A memory's id.", examples=["mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])]


def router(registry: Registry, bodies: WriteBodies) -> APIRouter:
    """Return the routes of memories."""
    found = APIRouter(tags=["memories"], route_class=GuardedRoute)
    write.add(found, registry, bodies)
    add_reads(
        found,
        READ | NAMED,
        ("/memories", _listing(registry), "List memories", MemoryPageOut),
        ("/memories/count", _counting(registry), "Count memories", MemoryCountOut),
    )
    one = ("/memories/{memory_id}", get_memory, "Get a memory", AnyMemory)
    same = {NOT_MODIFIED: {"description": "It was not changed since."}}
    add_route(found, "GET", READ | BY_MEMORY, *one, responses=same)
    add_reads(
        found,
        READ | BY_MEMORY,
        (
            "/memories/{memory_id}/history",
            get_memory_history,
            "Get every version of a belief and what happened to it",
            HistoryOut,
        ),
    )
    change = ("/memories/{memory_id}", patch_memory, "Change what is not the belief itself", AnyMemory)
    add_route(found, "PATCH", WRITE | BY_MEMORY, *change, dependencies=IDEMPOTENT)
    return found


def _listing(registry: Registry) -> Handler:
    async def list_memories(runtime: RuntimeDep, actor: ActorDep, query: MemoryListQuery) -> Response:
        """List memories, a page at a time; `next_cursor` is null on the last page.

        Active memories that are not valid now are listed with `validity=any`.
        """
        filters = _valid_now(await _filters(query, runtime, actor), query, runtime.clock())
        listing = query.listing("memories", actor.tenant_id)
        after = cursors.decode(query.cursor, listing, value=_sorted_by(query.sort))
        page = await runtime.memories.list(actor, filters, sort=query.sort, limit=query.limit, after=after)
        return page_answer(page, listing, filters.known_at or runtime.clock())

    list_memories.__annotations__["query"] = from_query(listing_by(registry))
    return list_memories


def _counting(registry: Registry) -> Handler:
    async def count_memories(runtime: RuntimeDep, actor: ActorDep, query: MemoryListQuery) -> Response:
        """Count the memories that `GET /memories` lists with the same filters; `sort` and `cursor` have no effect."""
        filters = await _filters(query, runtime, actor)
        found = await runtime.memories.count(actor, _valid_now(filters, query, runtime.clock()), most=MOST_COUNTED)
        return json_answer(MemoryCountOut.answer(found))

    count_memories.__annotations__["query"] = from_query(listing_by(registry))
    return count_memories


def _valid_now(filters: MemoryFilters, query: MemoryListQuery, now: datetime) -> MemoryFilters:
    """Return the filters with the time at which active memories must be valid, unless the query leaves it open."""
    if query.validity == "any" or filters.as_of is not None:
        return filters
    return replace(filters, valid_at=filters.known_at or now)


async def get_memory(
    runtime: RuntimeDep,
    actor: ActorDep,
    memory_id: MemoryId,
    clocks: Annotated[Clocks, Query()],
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Get a memory of any status; 404 if it was not known at `known_at`, or not valid at `as_of`."""
    instants = clocks.instants()
    found = await runtime.memories.get(actor, ids.parse(ids.MEMORY, memory_id), **instants)
    answer = MemoryOut.answer(found, instants["known_at"] or runtime.clock())
    tagged = etag_headers(answer)
    if is_listed(tagged[ETAG], if_none_match):
        return Response(status_code=NOT_MODIFIED, headers=tagged)
    return json_answer(answer, headers=tagged)


async def get_memory_history(
    runtime: RuntimeDep, actor: ActorDep, memory_id: MemoryId, clocks: Annotated[Clocks, Query()]
) -> Response:
    """Get every version of a belief, oldest statement first, and their audit events.

    With `as_of`, only versions that were valid then; with `known_at`, the history as it was known then.
    """
    instants = clocks.instants()
    found = await runtime.memories.history(actor, ids.parse(ids.MEMORY, memory_id), **instants)
    return json_answer(HistoryOut.answer(found, instants["known_at"] or runtime.clock()))


async def patch_memory(
    request: Request,
    runtime: RuntimeDep,
    actor: ActorDep,
    memory_id: MemoryId,
    body: PatchBody,
    if_match: IfMatch = None,
) -> Response:
    """Change importance, topic, category, metadata, end of validity or the review mark.

    `needs_review=false` removes only a mark that `needs_review=true` set; others are decided by a reviewer, and
    answer 409. So does a later end for a memory that was superseded or has ended, and any change of a forgotten
    memory.
    """
    changes = body.changes(runtime.clock())

    async def work() -> object:
        memory, check = ids.parse(ids.MEMORY, memory_id), unless_changed(if_match)
        found = await runtime.memories.patch(actor, memory, changes, check=check)
        return MemoryOut.answer(found, runtime.clock())

    return await run_once(request, runtime, actor, OK, work, headers=etag_headers)


async def _filters(query: MemoryListQuery, runtime: Runtime, actor: Actor) -> MemoryFilters:
    registry = await runtime.type_book.naming(actor.tenant_id, query.type)
    metadata = wanted_metadata(query.metadata, query.tags)
    return MemoryFilters(
        scopes=await query.visible(runtime.tenants, actor),
        types=canonical_types(query.type, registry, "type"),
        statuses=tuple(query.status),
        subject=query.subject,
        topic=query.topic,
        session_id=query.session_id,
        min_importance=query.min_importance,
        min_confidence=query.min_confidence,
        texts=() if query.q is None else tuple(query.q.split()),
        entity=None if query.entity is None else ids.parse(ids.ENTITY, query.entity),
        predicate=None if query.predicate is None else normalise_key(query.predicate),
        metadata=json.dumps(metadata, sort_keys=True) if metadata else None,
        needs_review=query.needs_review,
        fields=_payload_fields(query, registry),
        **models.period(query.recorded_since, query.recorded_until, "recorded_"),
        **query.instants(),
    )


def _payload_fields(query: MemoryListQuery, registry: Registry) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    given = ((name, stored, getattr(query, name, None)) for name, stored in registry.filters.items())
    return tuple(
        (name, stored(value), registry.filtered_by(name)) for name, stored, value in given if value is not None
    )


def _sorted_by(sort: Sort) -> type[datetime | float] | None:
    match sort.column:
        case "id":
            return None
        case "stated_at":
            return datetime
        case _:
            return float


def page_answer(page: MemoryPage, listing: Listing, now: datetime) -> Response:
    """Return the answer with a page; freshness is as of `now`."""
    return json_answer(MemoryPageOut.page(page.items, cursors.encode(page.next, listing), now))
