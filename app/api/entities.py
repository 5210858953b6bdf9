"""Entities over HTTP: list them, read one, its graph of relations, merge and unmerge."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.http import cursors
from app.http.cursors import PageQuery
from app.http.guard import BY_ENTITY, NAMED, READ, WRITE, ActorDep, GuardedRoute, RuntimeDep
from app.http.idempotency import run_once
from app.http.models import Clocks, Given, Out, PageOut, RequestBody, Source, json_answer, public_id, public_ids
from app.http.routes import OK, add_changes, add_reads
from app.http.visibility import OwnedQuery
from app.memory.fields import Flag, Name
from app.model import ScopeKind
from app.services.entities import EntityFilters, RelationEdge

DEEPEST = 3

MOST_MERGED = 50

EntityId = Annotated[str, Path(description="An entity's id.", examples=["ent_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])]


class EntityQuery(OwnedQuery, Clocks, PageQuery):
    """Filters of entities.

    Entities have no validity, so `as_of` has no effect on them; `known_at` lists them as they were known then.
    """

    entity_type: Name | None = None
    name: Name | None = Field(default=None, description="Any of its names, whatever the case.")
    prefix: Name | None = Field(default=None, description="A word of one of its names begins with this.")


class GraphQuery(Clocks):
    """The depth of the graph, and its time: `as_of` selects relations that were valid then."""

    depth: int = Field(default=1, ge=1, le=DEEPEST, description="Steps to go.")


class EntityOut(Out):
    """An entity and its names."""

    id: Annotated[str, public_id(ids.ENTITY)]
    canonical_name: Annotated[str, Source("name")]
    entity_type: str
    aliases: list[str]
    attributes: dict[str, Any]
    mention_count: int
    scope: Annotated[ScopeKind, Source("scope.kind")]
    user_id: Annotated[str | None, Source("scope.user_id")]
    agent_id: Annotated[str | None, Source("scope.agent_id")]
    merged_into: Annotated[str | None, public_id(ids.ENTITY)] = Field(
        description="The entity that its names lead to now."
    )
    merged: Annotated[list[str], public_ids(ids.ENTITY)] = Field(
        description="Entities that were merged into it; what is known of them is its own."
    )
    created_at: datetime


class FormerAttributeOut(Out):
    """A value that an attribute had."""

    name: str
    value: Any
    retired_at: datetime = Field(description="When the service learnt another value.")


class EntityDetailOut(EntityOut):
    """An entity with its names, its attributes, and the values that these had before."""

    former_attributes: Annotated[list[FormerAttributeOut], Given()] = Field(description="The latest first.")


class EntityPage(PageOut):
    """Some entities."""

    entities: list[EntityOut]


class EndOut(Out):
    """One end of an edge."""

    id: Annotated[str, Given()]
    name: Annotated[str, Given()]


def _from_end(edge: RelationEdge) -> dict[str, object]:
    return EndOut.answer(None, id=ids.public(ids.ENTITY, edge.from_entity), name=edge.from_name)


def _to_end(edge: RelationEdge) -> dict[str, object]:
    return EndOut.answer(None, id=ids.public(ids.ENTITY, edge.to_entity), name=edge.to_name)


class EdgeOut(Out):
    """A relation between two entities, and the memory that states it."""

    from_entity: Annotated[EndOut, Source("", _from_end)]
    relation_type: str
    to_entity: Annotated[EndOut, Source("", _to_end)]
    since: datetime | None
    memory_id: Annotated[str, public_id(ids.MEMORY, "memory")]
    hop: int


class GraphOut(Out):
    """An entity and the relations around it, nearest first."""

    entity: EntityOut
    relations: list[EdgeOut]


class MergeBody(RequestBody):
    """The entities to merge."""

    into: Name = Field(description="The entity that survives.", examples=["ent_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])
    others: list[Name] = Field(
        alias="from",
        min_length=1,
        max_length=MOST_MERGED,
        description="Those that become part of it.",
        examples=[["ent_0198c5a2f0a87b3c9d2e4f6a8b0c1d2f"]],
    )
    reason: Name | None = Field(default=None, description="Kept in the audit log.")
    force: Flag = Field(default=False, description="Merge entities of different types.")


class UnmergeBody(RequestBody):
    """The entity to unmerge."""

    entity: Name = Field(examples=["ent_0198c5a2f0a87b3c9d2e4f6a8b0c1d2f"])


class ContradictionOut(Out):
    """Two memories that share a slot by the merge: the moved one, now contested, and the holder of the slot."""

    memory_id: Annotated[str, public_id(ids.MEMORY, "memory")]
    holder_id: Annotated[str, public_id(ids.MEMORY, "holder")]


class MovedOut(Out):
    """Counts of rows that were moved from one entity."""

    entity_id: Annotated[str, public_id(ids.ENTITY, "entity")]
    aliases: int
    memories: int
    contradictions: list[ContradictionOut]


class MergeOut(Out):
    """The surviving entity, and the entities that were merged into it."""

    entity: EntityOut
    merged: Annotated[list[MovedOut], Source("moved")]


class UnmergeOut(Out):
    """An unmerged entity, and the counts of rows that were moved back; `revived` memories are active again."""

    entity: EntityOut
    survivor: EntityOut
    aliases: Annotated[int, Source("undone.aliases")]
    memories: Annotated[int, Source("undone.memories")]
    revived: Annotated[list[str], public_ids(ids.MEMORY, "undone.revived")]


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["entities"], route_class=GuardedRoute)
    add_reads(
        found,
        READ | BY_ENTITY,
        ("/entities/{entity_id}", get_entity, "Get an entity", EntityDetailOut),
        ("/entities/{entity_id}/graph", get_entity_graph, "Get the relations around", GraphOut),
    )
    add_reads(found, READ | NAMED, ("/entities", list_entities, "List entities", EntityPage))
    add_changes(
        found,
        WRITE,
        ("/entities/merge", merge_entities, "Make entities one", MergeOut),
        ("/entities/unmerge", unmerge_entity, "Undo a merge", UnmergeOut),
    )
    return found


async def list_entities(runtime: RuntimeDep, actor: ActorDep, query: Annotated[EntityQuery, Query()]) -> Response:
    """List entities, a page at a time; `next_cursor` is null on the last page."""
    scopes = await query.visible(runtime.tenants, actor)
    known_at = query.instants()["known_at"]
    filters = EntityFilters(scopes=scopes, entity_type=query.entity_type, alias=query.name, prefix=query.prefix)
    listing = query.listing("entities", actor.tenant_id)
    page = await runtime.entities.list(
        actor,
        filters=filters,
        after=cursors.decode_id(query.cursor, listing),
        limit=query.limit,
        known_at=known_at,
    )
    return json_answer(EntityPage.page(page.items, cursors.encode_id(page.next, listing)))


async def get_entity(
    runtime: RuntimeDep, actor: ActorDep, entity_id: EntityId, clocks: Annotated[Clocks, Query()]
) -> Response:
    """Get an entity with its names, its attributes and their former values.

    With `known_at`, as it was known then; entities have no validity, so `as_of` has no effect.
    """
    known_at = clocks.instants()["known_at"]
    found, former = await runtime.entities.get(actor, ids.parse(ids.ENTITY, entity_id), known_at=known_at)
    told = [FormerAttributeOut.answer(one) for one in former]
    return json_answer(EntityDetailOut.answer(found, former_attributes=told))


async def get_entity_graph(
    runtime: RuntimeDep, actor: ActorDep, entity_id: EntityId, query: Annotated[GraphQuery, Query()]
) -> Response:
    """Get an entity and the relations around it that active memories state, at `as_of` or `known_at` if given."""
    entity, edges = await runtime.entities.graph(
        actor, ids.parse(ids.ENTITY, entity_id), depth=query.depth, **query.instants()
    )
    return json_answer({"entity": EntityOut.answer(entity), "relations": [EdgeOut.answer(one) for one in edges]})


async def merge_entities(request: Request, runtime: RuntimeDep, actor: ActorDep, body: MergeBody) -> Response:
    """Merge entities: their names resolve to the survivor, and their memories become the survivor's.

    Where both had a value in one slot, the moved memory is contested; a different value is also a contradiction, which
    goes to review. Nothing is superseded.
    """

    async def work() -> object:
        others = [ids.parse(ids.ENTITY, one) for one in body.others]
        into = ids.parse(ids.ENTITY, body.into)
        done = await runtime.entities.merge(actor, into, others, force=body.force, reason=body.reason)
        return MergeOut.answer(done)

    return await run_once(request, runtime, actor, OK, work)


async def unmerge_entity(request: Request, runtime: RuntimeDep, actor: ActorDep, body: UnmergeBody) -> Response:
    """Undo the merge of an entity; all that the merge moved is moved back.

    Memories written meanwhile stay with the survivor, unless they name this entity by a name of its own.
    """

    async def work() -> object:
        return UnmergeOut.answer(await runtime.entities.unmerge(actor, ids.parse(ids.ENTITY, body.entity)))

    return await run_once(request, runtime, actor, OK, work)
