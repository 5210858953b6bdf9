"""Activity over HTTP: the calling key; users, agents and sessions with their counts; turns and writes a day."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.features.activity.service import Activity
from app.http import cursors
from app.http.cursors import PageQuery
from app.http.guard import ADMIN, BY_ENTITY, NAMED, OPEN, READ, ActorDep, GuardedRoute, RuntimeDep
from app.http.models import MOST_RESULTS, Given, Out, PageOut, RequestBody, Source, json_answer, public_id
from app.http.routes import add_reads
from app.http.visibility import OwnedQuery
from app.memory.fields import Name
from app.model import Actor, ScopeKind

MOST_DAYS = 90


class NamesQuery(OwnedQuery, PageQuery):
    """Filters of a listing of users or agents."""

    q: Name | None = Field(default=None, description="Only ids that hold this text, whatever the case.")


class SessionsQuery(OwnedQuery, PageQuery):
    """Filters of a listing of sessions."""


class SeriesQuery(RequestBody):
    """The number of days to return, today included."""

    days: int = Field(default=30, ge=1, le=MOST_DAYS)


class WhoAmIOut(Out):
    """The key that the request carries, and its tenant."""

    tenant_id: Annotated[str, public_id(ids.TENANT)]
    tenant: Annotated[str, Given()]
    key_id: Annotated[str | None, public_id(ids.KEY)]
    key_name: Annotated[str, Source("name")]
    roles: Annotated[list[str], Source(make=sorted)]
    user_id: str | None = Field(description="The user that the key is bound to.")
    agent_id: str | None = Field(description="The agent that the key is bound to.")


class CountsOut(Out):
    """Counts of rows under an id."""

    memories: int = Field(description="Of every status.")
    active: int
    waiting: int = Field(description="Memories that wait for a reviewer.")
    turns: int
    last_active_at: datetime | None = Field(
        description="Time of the last write of a memory, an import included, or of the last turn."
    )


class UserOut(CountsOut):
    """A user."""

    user_id: Annotated[str, Source("name")]


class AgentOut(CountsOut):
    """An agent."""

    agent_id: Annotated[str, Source("name")]


class SessionOut(Out):
    """A session that memories come from."""

    session_id: str
    memories: int
    turns: int
    first_at: datetime
    last_at: datetime


class UserPage(PageOut):
    """Some users, in the order of their ids."""

    users: list[UserOut]


class AgentPage(PageOut):
    """Some agents, in the order of their ids."""

    agents: list[AgentOut]


class SessionPage(PageOut):
    """Some sessions, in the order of their ids."""

    sessions: list[SessionOut]


class NeighbourOut(Out):
    """An entity that an active memory names together with another; `label` is the memory's predicate or type."""

    entity_id: Annotated[str, public_id(ids.ENTITY, "entity")]
    name: str
    entity_type: str
    memory_id: Annotated[str, public_id(ids.MEMORY, "memory")]
    content: str
    label: str


class NeighboursOut(Out):
    """Entities that memories name together with one; an entity is listed once for each such memory."""

    neighbours: list[NeighbourOut]


class DayOut(Out):
    """Turns and writes of a day, in UTC."""

    day: date
    turns: dict[str, int] = Field(description="Turns by status.")
    skipped: dict[str, int] = Field(description="Skipped turns by reason. Numbers in reasons may read N.")
    decisions: dict[str, int] = Field(description="Writes by decision.")


class SeriesOut(Out):
    """Days, oldest first."""

    days: list[DayOut]


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["admin"], route_class=GuardedRoute)
    add_reads(
        found,
        READ,
        ("/users", list_users, "List users", UserPage),
        ("/agents", list_agents, "List agents", AgentPage),
    )
    add_reads(found, READ | OPEN, ("/whoami", who_am_i, "Get the tenant and the roles of the key", WhoAmIOut))
    add_reads(found, READ | NAMED, ("/sessions", list_sessions, "List sessions", SessionPage))
    add_reads(
        found,
        READ | BY_ENTITY,
        ("/entities/{entity_id}/neighbours", get_neighbours, "Get the entities that are named together", NeighboursOut),
    )
    add_reads(found, ADMIN, ("/admin/stats/series", get_series, "Get what happened each day", SeriesOut))
    return found


async def who_am_i(runtime: RuntimeDep, actor: ActorDep) -> Response:
    """Get the tenant and the roles of the key that the request carries."""
    tenant = await runtime.tenants.get(actor.tenant_id)
    return json_answer(WhoAmIOut.answer(actor, tenant=tenant.name))


async def list_users(runtime: RuntimeDep, actor: ActorDep, query: Annotated[NamesQuery, Query()]) -> Response:
    """List users with stored memories or turns, a page at a time; `next_cursor` is null on the last page.

    Those of everybody take `all=true`, as nobody is in the global scope; counts are of the scopes that are listed.
    """
    return await _list_names(runtime, actor, query, ScopeKind.USER, UserPage)


async def list_agents(runtime: RuntimeDep, actor: ActorDep, query: Annotated[NamesQuery, Query()]) -> Response:
    """List agents with stored memories or turns, a page at a time; `next_cursor` is null on the last page.

    Those of everybody take `all=true`, as nobody is in the global scope; counts are of the scopes that are listed.
    """
    return await _list_names(runtime, actor, query, ScopeKind.AGENT, AgentPage)


async def _list_names(
    runtime: RuntimeDep, actor: Actor, query: NamesQuery, kind: ScopeKind, answer: type[UserPage | AgentPage]
) -> Response:
    scopes = await query.visible(runtime.tenants, actor)
    listing = query.listing(f"{kind}s", actor.tenant_id)
    after = cursors.decode_name(query.cursor, listing) or ""
    page = await runtime.service(Activity).names(
        actor, kind, scopes, text=query.q or "", after=after, limit=query.limit
    )
    return json_answer(answer.page(page.items, cursors.encode_name(page.next, listing)))


async def list_sessions(runtime: RuntimeDep, actor: ActorDep, query: Annotated[SessionsQuery, Query()]) -> Response:
    """List the sessions that memories come from, a page at a time; `next_cursor` is null on the last page."""
    scopes = await query.visible(runtime.tenants, actor)
    listing = query.listing("sessions", actor.tenant_id)
    page = await runtime.service(Activity).sessions(
        actor, scopes=scopes, after=cursors.decode_name(query.cursor, listing) or "", limit=query.limit
    )
    return json_answer(SessionPage.page(page.items, cursors.encode_name(page.next, listing)))


async def get_neighbours(runtime: RuntimeDep, actor: ActorDep, entity_id: str) -> Response:
    """Get the entities that active memories name together with one, at most 200, of the latest memories first."""
    found = await runtime.service(Activity).neighbours(actor, ids.parse(ids.ENTITY, entity_id), limit=MOST_RESULTS)
    return json_answer({"neighbours": [NeighbourOut.answer(one) for one in found]})


async def get_series(runtime: RuntimeDep, actor: ActorDep, query: Annotated[SeriesQuery, Query()]) -> Response:
    """Get turns and writes of each day, by status and by decision, oldest day first."""
    found = await runtime.service(Activity).days(actor, days=query.days)
    return json_answer({"days": [DayOut.answer(one) for one in found]})
