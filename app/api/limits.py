"""Limits over HTTP: of a key by the tenant's administrator, and of a tenant by the operator."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.http.guard import ADMIN, BY_OPERATOR, OPERATOR, ActorDep, GuardedRoute, RuntimeDep
from app.http.models import Out, Source, json_answer, with_example
from app.http.routes import add_reads, add_route
from app.settings import Limits


class LimitsBody(Limits, **with_example({"requests_per_minute": 600, "turns_per_day": 10_000})):
    """Limits to set; what is left out or null gets the service's default."""


class UsageOut(Out):
    """Usage since midnight UTC. Memories and turns are counted while a daily limit is set."""

    memories: int
    turns: int
    tokens: int = Field(description="Tokens that extraction and answers took of the language model.")


class LimitsOut(Out):
    """The limits of a key or a tenant: those that were set for it, those that count, and what was used today."""

    own: Annotated[Limits, Source(make=Limits.model_dump)]
    effective: Annotated[Limits, Source(make=Limits.model_dump)]
    used_today: Annotated[UsageOut, Source(make=UsageOut.answer)]


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["admin"], route_class=GuardedRoute)
    add_reads(
        found,
        ADMIN,
        ("/admin/limits", get_limits, "Get the tenant's limits", LimitsOut),
        ("/admin/keys/{key_id}/limits", get_key_limits, "Get a key's limits", LimitsOut),
    )
    add_reads(
        found,
        OPERATOR,
        ("/admin/tenants/{tenant_id}/limits", get_tenant_limits, "Get the limits of a tenant", LimitsOut),
    )
    path, summary = "/admin/keys/{key_id}/limits", "Replace a key's limits"
    add_route(found, "PUT", ADMIN, path, put_key_limits, summary, LimitsOut)
    path, summary = "/admin/tenants/{tenant_id}/limits", "Replace the limits of a tenant"
    add_route(found, "PUT", OPERATOR, path, put_tenant_limits, summary, LimitsOut)
    return found


async def get_limits(runtime: RuntimeDep, actor: ActorDep) -> Response:
    """Get the limits of the tenant as a whole, which the operator sets, and what all its keys used today."""
    return await _limits_of(runtime, actor.tenant_id)


async def get_key_limits(runtime: RuntimeDep, actor: ActorDep, key_id: str) -> Response:
    """Get a key's limits and what it used today."""
    return await _limits_of(runtime, actor.tenant_id, ids.parse(ids.KEY, key_id))


async def put_key_limits(runtime: RuntimeDep, actor: ActorDep, key_id: str, body: LimitsBody) -> Response:
    """Replace a key's limits: at once in this process, within seconds in others."""
    key = ids.parse(ids.KEY, key_id)
    return json_answer(LimitsOut.answer(await runtime.quotas.change(actor.tenant_id, key, body, by=actor.name)))


async def get_tenant_limits(runtime: RuntimeDep, tenant_id: str) -> Response:
    """Get the limits of a tenant and what it used today."""
    return await _limits_of(runtime, (await runtime.tenants.get(ids.parse(ids.TENANT, tenant_id))).id)


async def put_tenant_limits(runtime: RuntimeDep, tenant_id: str, body: LimitsBody) -> Response:
    """Replace the limits of a tenant as a whole."""
    tenant = await runtime.tenants.get(ids.parse(ids.TENANT, tenant_id))
    return json_answer(LimitsOut.answer(await runtime.quotas.change(tenant.id, None, body, by=BY_OPERATOR)))


async def _limits_of(runtime: RuntimeDep, tenant: UUID, key: UUID | None = None) -> Response:
    return json_answer(LimitsOut.answer(await runtime.quotas.report(tenant, key)))
