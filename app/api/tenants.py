"""Tenants, for the operator."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.api.keys import (
    CREATED,
    KeyBody,
    KeyOperation,
    NewKeyOut,
    create_key_for,
    new_key_answer,
    operations_router,
    secret_answer,
)
from app.api.plumbing import fields
from app.api.plumbing.fields import Out, RequestBody
from app.api.plumbing.guard import BY_OPERATOR, OPERATOR, RuntimeDep
from app.db.tenants import Tenant
from app.memory.fields import Name
from app.services.tenants import FIRST_ROLES


class TenantBody(RequestBody):
    """A tenant to make."""

    name: Name = Field(examples=["acme"])


def router() -> APIRouter:
    """Return the operator's routes."""
    return operations_router(_OPERATORS)


class TenantOut(Out):
    """A tenant."""

    id: str
    name: str
    created_at: datetime


class NewTenantOut(TenantOut):
    """A tenant just made, and its first key."""

    key: NewKeyOut


class TenantsOut(Out):
    """Every tenant."""

    tenants: list[TenantOut]


async def list_tenants(runtime: RuntimeDep) -> Response:
    """List every tenant, oldest first."""
    return fields.json_answer({"tenants": [_tenant(one) for one in await runtime.tenants.list()]})


async def create_tenant(runtime: RuntimeDep, body: TenantBody) -> Response:
    """Make a tenant and its first key, which has every role."""
    tenant = await runtime.tenants.create(body.name, by=BY_OPERATOR)
    key = await runtime.keys.create(tenant.id, name="first", roles=FIRST_ROLES, by=BY_OPERATOR)
    return secret_answer({**_tenant(tenant), "key": new_key_answer(key)})


async def create_tenant_key(runtime: RuntimeDep, tenant_id: str, body: KeyBody) -> Response:
    """Make a key of any tenant."""
    tenant = await runtime.tenants.get(ids.parse(ids.TENANT, tenant_id))
    return secret_answer(new_key_answer(await create_key_for(runtime, tenant.id, body, BY_OPERATOR)))


def _tenant(one: Tenant) -> dict[str, object]:
    return {"id": ids.public(ids.TENANT, one.id), "name": one.name, "created_at": one.created_at}


_OPERATORS = (
    KeyOperation(
        method="GET",
        path="/admin/tenants",
        handler=list_tenants,
        role=OPERATOR,
        summary="List tenants",
        model=TenantsOut,
    ),
    KeyOperation(
        method="POST",
        path="/admin/tenants",
        handler=create_tenant,
        role=OPERATOR,
        summary="Make a tenant",
        model=NewTenantOut,
        status=CREATED,
    ),
    KeyOperation(
        method="POST",
        path="/admin/tenants/{tenant_id}/keys",
        handler=create_tenant_key,
        role=OPERATOR,
        summary="Make a key of a tenant",
        model=NewKeyOut,
        status=CREATED,
    ),
)
