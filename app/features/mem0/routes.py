"""Mem0's HTTP interface under `/mem0`, as its client calls it: point its `host` here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from app.api.memories.bodies import WriteBodies
from app.errors import NotConfigured
from app.features.mem0 import bodies as mem0
from app.features.mem0.bodies import require_project
from app.features.mem0.reads import (
    mem0_entities,
    mem0_event,
    mem0_generate_profile,
    mem0_get,
    mem0_history,
    mem0_list,
    mem0_list_by_query,
    mem0_profile,
    mem0_project,
    mem0_search,
    mem0_update_project,
)
from app.features.mem0.writes import (
    adding,
    mem0_delete,
    mem0_delete_all,
    mem0_delete_entity,
    mem0_delete_many,
    mem0_feedback,
    updating,
    updating_many,
)
from app.http.guard import (
    ADMIN,
    BY_JOB,
    BY_MEMORY,
    NAMED,
    OPEN,
    READ,
    WRITE,
    ActorDep,
    GuardedRoute,
    Handler,
    RuntimeDep,
)
from app.http.models import json_answer
from app.memory.registry import Registry

REFUSED: Final[Mapping[str, str]] = {
    "/v1/exports": "exports by a schema: use GET /export",
    "/v1/exports/get": "exports by a schema: use GET /export",
    "/v1/summary": "summaries of exports: use GET /users/{user_id}/profile",
    "/v1/events": "lists of events: use GET /jobs",
    "/v2/profiles/{rest:path}": "samples and settings of profiles: a profile is always up to date, and needs none",
    "/api/{rest:path}": "other organisations and projects, members, or webhooks of mem0: the key's tenant is both, "
    "and webhooks are made by POST /admin/webhooks",
}
"""Calls of the client that have no counterpart, with what to use instead."""


METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE"]


class TokenRoute(GuardedRoute):
    """A guarded route that reads `Authorization: Token KEY` as `Bearer KEY`."""

    def get_route_handler(self) -> Handler:
        """Return the guarded handler behind the other name of the scheme."""
        guarded = super().get_route_handler()

        async def renamed(request: Request) -> Response:
            headers = [
                (name, b"Bearer " + value[6:] if name == b"authorization" and value[:6].lower() == b"token " else value)
                for name, value in request.scope["headers"]
            ]
            request.scope["headers"] = headers
            return await guarded(Request(request.scope, request.receive))

        return renamed


def router(registry: Registry, bodies: WriteBodies) -> APIRouter:
    """Return the routes; they are not in the OpenAPI document, whose types are this service's own."""
    found = APIRouter(prefix="/mem0", tags=["memories"], route_class=TokenRoute, include_in_schema=False)
    project = "/api/v1/orgs/organizations/{tenant_id}/projects/{project_id}"
    one, owner = "/v1/memories/{memory_id}", "/v2/entities/{entity_type}/{user_id:path}"
    add, update = adding(registry, bodies), updating(registry, bodies)
    searches = [f"/{version}/memories/search" for version in ("v1", "v2", "v3")]
    routes: list[tuple[str, str, Callable[..., Any], Mapping[str, Any]]] = [
        ("GET", "/v1/ping", mem0_ping, READ | OPEN),
        *(("POST", path, mem0_search, READ | NAMED) for path in searches),
        *(("POST", path, add, WRITE | NAMED) for path in ("/v1/memories", "/v3/memories/add")),
        ("GET", "/v1/memories", mem0_list_by_query, READ | NAMED),
        *(("POST", path, mem0_list, READ | NAMED) for path in ("/v2/memories", "/v3/memories")),
        ("DELETE", "/v1/memories", mem0_delete_all, ADMIN),
        ("GET", one, mem0_get, READ | BY_MEMORY),
        ("PUT", one, update, WRITE | BY_MEMORY),
        ("DELETE", one, mem0_delete, WRITE | BY_MEMORY),
        ("GET", f"{one}/history", mem0_history, READ | BY_MEMORY),
        ("PUT", "/v1/batch", updating_many(registry, bodies), WRITE),
        ("DELETE", "/v1/batch", mem0_delete_many, WRITE),
        ("POST", "/v1/feedback", mem0_feedback, WRITE),
        ("GET", "/v1/entities", mem0_entities, READ),
        ("DELETE", owner, mem0_delete_entity, ADMIN),
        ("GET", "/v2/entities/user/{user_id:path}/profile", mem0_profile, READ | NAMED),
        ("POST", "/v2/profiles/jobs", mem0_generate_profile, READ | OPEN),
        ("GET", "/v1/event/{job_id}", mem0_event, READ | BY_JOB),
        ("GET", project, mem0_project, ADMIN),
        ("PATCH", project, mem0_update_project, ADMIN),
    ]
    for method, path, handler, role in routes:
        found.add_api_route(path, handler, methods=[method], openapi_extra=dict(role))
    for path, why in REFUSED.items():
        found.add_api_route(path, _refusing(why), methods=METHODS, openapi_extra=dict(READ))
    return found


def _refusing(why: str) -> Callable[..., Any]:
    async def mem0_refused(_query: Annotated[mem0.ProjectQuery, Query()]) -> Response:
        """Refuse a call that has no counterpart here."""
        raise NotConfigured(f"there are no {why}")

    return mem0_refused


async def mem0_ping(runtime: RuntimeDep, actor: ActorDep, query: Annotated[mem0.ProjectFields, Query()]) -> Response:
    """Say that the key is good, and whose it is: the tenant is the organisation and the project."""
    tenant = require_project(actor, query)
    named = (await runtime.tenants.get(actor.tenant_id)).name
    return json_answer({"status": "ok", "org_id": tenant, "project_id": tenant, "user_email": None, "tenant": named})
