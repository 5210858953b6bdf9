"""Entities: who and what the memories are about, and how they are related."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.api import cursors, views
from app.api.cursors import LONGEST, Listing
from app.api.deps import ActorDep, RuntimeDep
from app.api.guard import READ, GuardedRoute
from app.api.models import Out
from app.api.requests import MOST_RESULTS, In
from app.db.entities import Edge, Entity
from app.db.listing import Position
from app.memory.spec import Name
from app.model import ScopeKind, Visibility

DEEPEST = 3

EntityId = Annotated[str, Path(description="An entity's id.", examples=["ent_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])]


class EntityQuery(In):
    """Which entities to list. Naming a user or an agent shows those a query by them would see."""

    user_id: Name | None = None
    agent_id: Name | None = None
    entity_type: Name | None = None
    name: Name | None = Field(default=None, description="Any of its names, whatever the case.")
    limit: int = Field(default=50, ge=1, le=MOST_RESULTS)
    cursor: str | None = Field(default=None, min_length=1, max_length=LONGEST)


class EntityOut(Out):
    """An identity and its names."""

    id: str
    canonical_name: str
    entity_type: str
    aliases: list[str]
    attributes: dict[str, Any]
    mention_count: int
    scope: ScopeKind
    user_id: str | None
    agent_id: str | None
    merged_into: str | None
    created_at: datetime


class EntityPage(Out):
    """Some entities."""

    entities: list[EntityOut]
    next_cursor: str | None


class EndOut(Out):
    """One end of an edge."""

    id: str
    name: str


class EdgeOut(Out):
    """A relation between two entities, and the memory that states it."""

    from_entity: EndOut
    relation_type: str
    to_entity: EndOut
    since: datetime | None
    memory_id: str
    hop: int


class GraphOut(Out):
    """An entity and the relations around it, nearest first."""

    entity: EntityOut
    relations: list[EdgeOut]


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["entities"], route_class=GuardedRoute)
    for path, handler, operation, summary, model in (
        ("/entities", list_entities, "list_entities", "List entities", EntityPage),
        ("/entities/{entity_id}", get_entity, "get_entity", "Get an entity", EntityOut),
        ("/entities/{entity_id}/graph", get_graph, "get_entity_graph", "Get the relations around", GraphOut),
    ):
        found.add_api_route(
            path, handler, methods=["GET"], operation_id=operation, summary=summary, response_model=model,
            openapi_extra=READ,
        )  # fmt: skip
    return found


async def list_entities(runtime: RuntimeDep, actor: ActorDep, query: Annotated[EntityQuery, Query()]) -> Response:
    """List entities, a page at a time; `next_cursor` is null on the last page."""
    scopes: tuple[UUID, ...] | None = None
    if query.user_id is not None or query.agent_id is not None:
        visible = Visibility(user_id=query.user_id, agent_id=query.agent_id)
        scopes = tuple(one.id(actor.tenant_id) for one in visible.scopes())
    listing = Listing(f"entities|{actor.tenant_id}|{scopes}|{query.entity_type}|{query.name}")
    after = None if query.cursor is None else cursors.decode(query.cursor, listing, value=None).id
    shown, more = await runtime.entities.list(
        actor, scopes=scopes, entity_type=query.entity_type, name=query.name, after=after, limit=query.limit
    )
    following = cursors.encode(Position(id=shown[-1].id), listing) if more else None
    return views.answer({"entities": [_entity(one) for one in shown], "next_cursor": following})


async def get_entity(runtime: RuntimeDep, actor: ActorDep, entity_id: EntityId) -> Response:
    """Get an entity with its names and attributes."""
    return views.answer(_entity(await runtime.entities.get(actor, ids.parse(ids.ENTITY, entity_id))))


async def get_graph(
    runtime: RuntimeDep,
    actor: ActorDep,
    entity_id: EntityId,
    depth: Annotated[int, Query(ge=1, le=DEEPEST, description="Steps to go.")] = 1,
) -> Response:
    """Get an entity and the relations that active memories state around it."""
    entity, edges = await runtime.entities.graph(actor, ids.parse(ids.ENTITY, entity_id), depth=depth)
    return views.answer({"entity": _entity(entity), "relations": [_edge(one) for one in edges]})


def _entity(one: Entity) -> dict[str, object]:
    return {
        "id": ids.public(ids.ENTITY, one.id),
        "canonical_name": one.name,
        "entity_type": one.entity_type,
        "aliases": one.aliases,
        "attributes": one.attributes,
        "mention_count": one.mention_count,
        "scope": one.scope.kind,
        "user_id": one.scope.user_id,
        "agent_id": one.scope.agent_id,
        "merged_into": None if one.merged_into is None else ids.public(ids.ENTITY, one.merged_into),
        "created_at": one.created_at,
    }


def _edge(one: Edge) -> dict[str, object]:
    return {
        "from_entity": {"id": ids.public(ids.ENTITY, one.from_entity), "name": one.from_name},
        "relation_type": one.relation_type,
        "to_entity": {"id": ids.public(ids.ENTITY, one.to_entity), "name": one.to_name},
        "since": one.since,
        "memory_id": ids.public(ids.MEMORY, one.memory),
        "hop": one.hop,
    }
