"""The two listings in the shape of Aegis Memory: a session's episodes in sequence, and an entity's facts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field
from starlette.responses import Response

from app.api.memories.answers import MemoryPageOut
from app.api.memories.read import page_answer
from app.api.plumbing import cursors
from app.api.plumbing.binding import NAMED
from app.api.plumbing.cursors import Listing, PageQuery
from app.api.plumbing.fields import MOST_RESULTS, Clocks
from app.api.plumbing.guard import READ, ActorDep, GuardedRoute, RuntimeDep
from app.api.plumbing.routes import add_reads
from app.api.plumbing.visibility import VisibilityQuery
from app.errors import InvalidCursor
from app.memory.fields import Name
from app.model import Actor, MemoryStatus
from app.services.memories import MemoryFilters, PagePosition

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
    listing = Listing(f"session|{actor.tenant_id}|{session_id}|{filters}")
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
    listing = Listing(f"entity|{actor.tenant_id}|{entity_id}|{filters}")
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
