"""Administration: a tenant's keys, and, for the operator, tenants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from app import ids
from app.api import fields, views
from app.api.deps import ActorDep, RuntimeDep
from app.api.guard import ADMIN, BY_OPERATOR, OPERATOR, GuardedRoute
from app.api.models import Out
from app.api.requests import KeyBody, RotateBody, TenantBody
from app.db.keys import StoredKey
from app.db.tenants import Tenant
from app.runtime import Runtime
from app.services.keys import NewKey
from app.services.tenants import FIRST_ROLES

CREATED = 201
NO_CONTENT = 204


class KeyOut(Out):
    """A key, without its secret."""

    id: str
    name: str
    prefix: str
    roles: list[str]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


class NewKeyOut(KeyOut):
    """A key just made: the one time its secret is shown."""

    key: str


class KeysOut(Out):
    """Every key of the tenant, ended ones included."""

    keys: list[KeyOut]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operation:
    """A route: how it is called, by whom, and what it answers."""

    method: str
    path: str
    handler: Callable[..., Any]
    role: dict[str, Any]
    summary: str
    model: type[BaseModel] | None = None
    status: int = 200


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["admin"], route_class=GuardedRoute)
    for one in (*_TENANTS_OWN, *_OPERATORS):
        found.add_api_route(
            one.path,
            one.handler,
            methods=[one.method],
            operation_id=one.handler.__name__,
            summary=one.summary,
            response_model=one.model,
            status_code=one.status,
            openapi_extra=one.role,
        )
    return found


async def list_keys(runtime: RuntimeDep, actor: ActorDep) -> Response:
    """List the tenant's keys, newest first, without their secrets."""
    found = await runtime.keys.list(actor.tenant_id)
    return views.answer({"keys": [_key(one) for one in found]})


async def create_key(runtime: RuntimeDep, actor: ActorDep, body: KeyBody) -> Response:
    """Make a key of the tenant; its secret is in this answer and nowhere else."""
    return _created(_new_key(await _create(runtime, actor.tenant_id, body, actor.name)))


async def revoke_key(runtime: RuntimeDep, actor: ActorDep, key_id: str) -> Response:
    """End a key: at once in this process, within seconds in others."""
    await runtime.keys.revoke(actor.tenant_id, ids.parse(ids.KEY, key_id), by=actor.name)
    return Response(status_code=NO_CONTENT)


async def rotate_key(runtime: RuntimeDep, actor: ActorDep, key_id: str, body: RotateBody | None = None) -> Response:
    """Make a successor of a key; the old secret works through the grace period."""
    grace = timedelta(seconds=(body or RotateBody()).grace_seconds)
    key = ids.parse(ids.KEY, key_id)
    return _created(_new_key(await runtime.keys.rotate(actor.tenant_id, key, grace=grace, by=actor.name)))


async def list_tenants(runtime: RuntimeDep) -> Response:
    """List every tenant, oldest first."""
    return views.answer({"tenants": [_tenant(one) for one in await runtime.tenants.list()]})


async def create_tenant(runtime: RuntimeDep, body: TenantBody) -> Response:
    """Make a tenant and its first key, which has every role."""
    tenant = await runtime.tenants.create(body.name, by=BY_OPERATOR)
    key = await runtime.keys.create(tenant.id, name="first", roles=FIRST_ROLES, by=BY_OPERATOR)
    return _created({**_tenant(tenant), "key": _new_key(key)})


async def create_tenant_key(runtime: RuntimeDep, tenant_id: str, body: KeyBody) -> Response:
    """Make a key of any tenant."""
    tenant = await runtime.tenants.get(ids.parse(ids.TENANT, tenant_id))
    return _created(_new_key(await _create(runtime, tenant.id, body, BY_OPERATOR)))


async def _create(runtime: Runtime, tenant: UUID, body: KeyBody, by: str) -> NewKey:
    return await runtime.keys.create(
        tenant, name=body.name, roles=body.roles, expires_at=fields.aware(body.expires_at, UTC), by=by
    )


def _created(content: object) -> Response:
    # A secret must not stay in anybody's cache.
    return views.answer(content, CREATED, {"Cache-Control": "no-store"})


def _key(one: StoredKey) -> dict[str, object]:
    return {
        "id": ids.public(ids.KEY, one.id),
        "name": one.name,
        "prefix": one.prefix,
        "roles": sorted(one.roles),
        "created_at": one.created_at,
        "expires_at": one.expires_at,
        "revoked_at": one.revoked_at,
        "last_used_at": one.last_used_at,
    }


def _new_key(new: NewKey) -> dict[str, object]:
    return {**_key(new.key), "key": new.secret}


def _tenant(one: Tenant) -> dict[str, object]:
    return {"id": ids.public(ids.TENANT, one.id), "name": one.name, "created_at": one.created_at}


_TENANTS_OWN = (
    _Operation(
        method="GET",
        path="/admin/keys",
        handler=list_keys,
        role=ADMIN,
        summary="List keys",
        model=KeysOut,
    ),
    _Operation(
        method="POST",
        path="/admin/keys",
        handler=create_key,
        role=ADMIN,
        summary="Make a key",
        model=NewKeyOut,
        status=CREATED,
    ),
    _Operation(
        method="DELETE",
        path="/admin/keys/{key_id}",
        handler=revoke_key,
        role=ADMIN,
        summary="Revoke a key",
        status=NO_CONTENT,
    ),
    _Operation(
        method="POST",
        path="/admin/keys/{key_id}/rotate",
        handler=rotate_key,
        role=ADMIN,
        summary="Replace a key's secret",
        model=NewKeyOut,
        status=CREATED,
    ),
)

_OPERATORS = (
    _Operation(
        method="GET",
        path="/admin/tenants",
        handler=list_tenants,
        role=OPERATOR,
        summary="List tenants",
        model=TenantsOut,
    ),
    _Operation(
        method="POST",
        path="/admin/tenants",
        handler=create_tenant,
        role=OPERATOR,
        summary="Make a tenant",
        model=NewTenantOut,
        status=CREATED,
    ),
    _Operation(
        method="POST",
        path="/admin/tenants/{tenant_id}/keys",
        handler=create_tenant_key,
        role=OPERATOR,
        summary="Make a key of a tenant",
        model=NewKeyOut,
        status=CREATED,
    ),
)
