"""API keys over HTTP: list, create, rotate and revoke a tenant's keys."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from app import ids
from app.http import models
from app.http.guard import ADMIN, ActorDep, GuardedRoute, RuntimeDep
from app.http.models import Given, Instant, Out, RequestBody, Source, json_answer, public_id, with_example
from app.http.routes import CREATED, NO_CONTENT, add_reads, add_route
from app.memory.fields import A_NUMBER, Name, UserId
from app.runtime import Runtime
from app.services.keys import KeyRequest, NewKey

RoleName = Literal["read", "write", "review", "admin"]


class KeyBody(RequestBody, **with_example({"name": "assistant", "roles": ["read", "write"]})):
    """A key to create."""

    name: Name = Field(examples=["assistant"])
    roles: list[RoleName] = Field(default=["read", "write"], min_length=1, max_length=4)
    expires_at: Instant | None = None
    user_id: UserId | None = Field(
        default=None, description="For this user alone: what is global is read, nothing of others is."
    )
    agent_id: Name | None = Field(default=None, description="For this agent alone; with `user_id`, both together.")


class RotateBody(RequestBody):
    """The options of a rotation."""

    grace_seconds: Annotated[int, A_NUMBER] = Field(
        default=3600, ge=0, le=30 * 86_400, description="How long the old secret still works."
    )


class KeyOut(Out):
    """A key, without its secret."""

    id: Annotated[str, public_id(ids.KEY)]
    name: str
    prefix: str
    roles: Annotated[list[str], Source(make=sorted)]
    created_at: datetime
    expires_at: Annotated[datetime | None, Source("ends_at")]
    revoked_at: datetime | None
    last_used_at: datetime | None
    user_id: str | None
    agent_id: str | None


class NewKeyOut(KeyOut):
    """A new key with its secret, which is shown only once."""

    key: Annotated[str, Given()]

    @classmethod
    def of(cls, new: NewKey) -> dict[str, Any]:
        """Return a new key with its secret."""
        return cls.answer(new.key, key=new.secret)


class KeysOut(Out):
    """Every key of the tenant, expired and revoked ones included."""

    keys: list[KeyOut]


def router() -> APIRouter:
    """Return the routes of a tenant's own keys."""
    found = APIRouter(tags=["admin"], route_class=GuardedRoute)
    one = "/admin/keys/{key_id}"
    add_reads(found, ADMIN, ("/admin/keys", list_keys, "List keys", KeysOut))
    add_route(found, "POST", ADMIN, "/admin/keys", create_key, "Make a key", NewKeyOut, status_code=CREATED)
    add_route(found, "DELETE", ADMIN, one, revoke_key, "Revoke a key", status_code=NO_CONTENT)
    rotate = (f"{one}/rotate", rotate_key, "Replace a key's secret", NewKeyOut)
    add_route(found, "POST", ADMIN, *rotate, status_code=CREATED)
    return found


async def list_keys(runtime: RuntimeDep, actor: ActorDep) -> Response:
    """List the tenant's keys, newest first, without their secrets."""
    found = await runtime.keys.list(actor.tenant_id)
    return json_answer({"keys": [KeyOut.answer(one) for one in found]})


async def create_key(runtime: RuntimeDep, actor: ActorDep, body: KeyBody) -> Response:
    """Create a key of the tenant; only this answer has its secret."""
    return secret_answer(NewKeyOut.of(await create_key_for(runtime, actor.tenant_id, body, actor.name)))


async def revoke_key(runtime: RuntimeDep, actor: ActorDep, key_id: str) -> Response:
    """Revoke a key: at once in this process, within seconds in others."""
    await runtime.keys.revoke(actor.tenant_id, ids.parse(ids.KEY, key_id), by=actor.name)
    return Response(status_code=NO_CONTENT)


async def rotate_key(runtime: RuntimeDep, actor: ActorDep, key_id: str, body: RotateBody | None = None) -> Response:
    """Create a successor of a key; the old secret works until the end of the grace period."""
    grace = timedelta(seconds=(body or RotateBody()).grace_seconds)
    key = ids.parse(ids.KEY, key_id)
    return secret_answer(NewKeyOut.of(await runtime.keys.rotate(actor.tenant_id, key, grace=grace, by=actor.name)))


async def create_key_for(runtime: Runtime, tenant: UUID, body: KeyBody, by: str) -> NewKey:
    """Create a key of a tenant and return it with its secret."""
    wanted = KeyRequest(
        name=body.name,
        roles=body.roles,
        expires_at=models.aware(body.expires_at, UTC),
        user_id=body.user_id,
        agent_id=body.agent_id,
    )
    return await runtime.keys.create(tenant, wanted, by=by)


def secret_answer(content: object) -> Response:
    """Return a 201 answer that no cache may keep."""
    # No cache may store a secret.
    return json_answer(content, CREATED, {"Cache-Control": "no-store"})
