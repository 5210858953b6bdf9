"""Tenants over HTTP, for the operator: list and create them, and create keys for one."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.api.keys import (
    KeyBody,
    NewKeyOut,
    create_key_for,
    secret_answer,
)
from app.http.guard import BY_OPERATOR, OPERATOR, GuardedRoute, RuntimeDep
from app.http.models import Given, Out, RequestBody, json_answer, public_id
from app.http.routes import CREATED, add_reads, add_route
from app.memory.fields import Name
from app.services.keys import FIRST_ROLES, KeyRequest


class TenantBody(RequestBody):
    """A tenant to create."""

    name: Name = Field(examples=["acme"])


def router() -> APIRouter:
    """Return the operator's routes."""
    found = APIRouter(tags=["admin"], route_class=GuardedRoute)
    add_reads(found, OPERATOR, ("/admin/tenants", list_tenants, "List tenants", TenantsOut))
    for path, handler, summary, answer in (
        ("/admin/tenants", create_tenant, "Make a tenant", NewTenantOut),
        ("/admin/tenants/{tenant_id}/keys", create_tenant_key, "Make a key of a tenant", NewKeyOut),
    ):
        add_route(found, "POST", OPERATOR, path, handler, summary, answer, status_code=CREATED)
    return found


class TenantOut(Out):
    """A tenant."""

    id: Annotated[str, public_id(ids.TENANT)]
    name: str
    created_at: datetime


class NewTenantOut(TenantOut):
    """A new tenant, and its first key."""

    key: Annotated[NewKeyOut, Given()]


class TenantsOut(Out):
    """Every tenant."""

    tenants: list[TenantOut]


async def list_tenants(runtime: RuntimeDep) -> Response:
    """List every tenant, oldest first."""
    return json_answer({"tenants": [TenantOut.answer(one) for one in await runtime.tenants.list()]})


async def create_tenant(runtime: RuntimeDep, body: TenantBody) -> Response:
    """Create a tenant and its first key, which has every role."""
    tenant = await runtime.tenants.create(body.name, by=BY_OPERATOR)
    key = await runtime.keys.create(tenant.id, KeyRequest(name="first", roles=FIRST_ROLES), by=BY_OPERATOR)
    return secret_answer(NewTenantOut.answer(tenant, key=NewKeyOut.of(key)))


async def create_tenant_key(runtime: RuntimeDep, tenant_id: str, body: KeyBody) -> Response:
    """Create a key of any tenant."""
    tenant = await runtime.tenants.get(ids.parse(ids.TENANT, tenant_id))
    return secret_answer(NewKeyOut.of(await create_key_for(runtime, tenant.id, body, BY_OPERATOR)))
