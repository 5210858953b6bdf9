"""The parts of OAuth for `/mcp` that an application mounts.

There is a small authorization server of the service's own, and trust in an outside issuer. Without TM_OAUTH and
TM_OIDC_ISSUER there are the routes for admins alone, and `/mcp` takes API keys as it did.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from cachetools import TTLCache
from fastapi import APIRouter
from starlette.requests import Request
from starlette.routing import BaseRoute

from app.errors import Forbidden, NotFound, Unauthenticated
from app.features.mcp.endpoint import BY_KEY, McpAccess, role_of
from app.features.oauth.addresses import base_of, resource_of
from app.features.oauth.oidc import OutsideIssuer
from app.features.oauth.routes import AuthorizationServer, admin_router, connections_of
from app.features.oauth.service import ConnectionCache
from app.features.oauth.values import FIRST_SCOPES, PREFIXES, SCOPES, TokenKind
from app.http import guard
from app.http.problems import CHALLENGE
from app.model import Actor
from app.runtime import Runtime
from app.settings import Settings

_TOKEN = "by_token"  # noqa: S105 - the name of a mark
_DOTS_OF_A_JWT = 2
_KNOWN_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenAccess:
    """Lets in the callers of tokens, and tells others where to get one."""

    settings: Settings
    cache: ConnectionCache
    issuer: OutsideIssuer | None = None
    _tenants: TTLCache[UUID, bool] = field(default_factory=lambda: TTLCache(1_000, ttl=_KNOWN_SECONDS))

    def access(self) -> McpAccess:
        """Return it as the endpoint takes it."""
        return McpAccess(authenticate=self._authenticate, require=self._require)

    async def _authenticate(self, request: Request) -> Actor:
        base = base_of(request, self.settings)
        resource = None if base is None else resource_of(base)
        given = request.headers.get("authorization") is not None
        try:
            return await self._actor(request, resource)
        except Unauthenticated:
            self._challenge(request, base, 'error="invalid_token"' if given else None, FIRST_SCOPES)
            raise

    async def _actor(self, request: Request, resource: str | None) -> Actor:
        runtime: Runtime = request.app.state.runtime
        token = guard.bearer_token(request)
        if self.settings.oauth and token.startswith(f"{PREFIXES[TokenKind.ACCESS]}_"):
            actor = await connections_of(runtime, self.cache).let_in(token, resource)
        elif self.issuer is not None and token.count(".") == _DOTS_OF_A_JWT:
            actor = await self.issuer.let_in(token, resource, runtime.clock().timestamp())
            await self._require_tenant(runtime, actor.tenant_id)
        else:
            return await BY_KEY.authenticate(request)
        setattr(request.state, _TOKEN, True)
        return actor

    async def _require_tenant(self, runtime: Runtime, tenant: UUID) -> None:
        if tenant not in self._tenants:
            try:
                await runtime.tenants.get(tenant)
            except NotFound:
                raise Unauthenticated("the token names a tenant that is not here") from None
            self._tenants[tenant] = True

    def _require(self, request: Request, actor: Actor, content: bytes) -> None:
        """Raise Forbidden where a token lacks the scope of a message, so that its client asks the user for it."""
        if not getattr(request.state, _TOKEN, False):
            return
        for role in _roles(content):
            if role not in actor.roles:
                wanted = [one for one in SCOPES if one in actor.roles or one == role]
                base = base_of(request, self.settings)
                self._challenge(request, base, 'error="insufficient_scope"', wanted)
                raise Forbidden(f"this takes the scope {role!r}: connect again and allow it")

    def _challenge(self, request: Request, base: str | None, error: str | None, scopes: Sequence[str]) -> None:
        """Say in the answer where tokens are to be had (RFC 9728, RFC 6750)."""
        if base is None:
            return
        metadata = f'resource_metadata="{base}/.well-known/oauth-protected-resource{resource_of("")}"'
        told = (error, f'scope="{" ".join(scopes)}"', metadata)
        setattr(request.state, CHALLENGE, ", ".join(one for one in told if one is not None))


def _roles(content: bytes) -> Iterator[str]:
    """Yield the roles that the messages of a body take; a body that is no message is refused later."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return
    for one in found if isinstance(found, list) else [found]:
        if isinstance(one, dict) and (role := role_of(one.get("method"), one.get("params"))) is not None:
            yield role


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth:
    """The parts: routes for admins, routes for clients, and `access`, the way into `/mcp`."""

    router: APIRouter
    routes: list[BaseRoute]
    access: McpAccess


def oauth_of(settings: Settings) -> OAuth:
    """Return the parts as the service is configured."""
    cache, issuer = ConnectionCache(), OutsideIssuer.of(settings)
    router = admin_router(settings, cache)
    if not settings.oauth and issuer is None:
        return OAuth(router=router, routes=[], access=BY_KEY)
    access = TokenAccess(settings=settings, cache=cache, issuer=issuer).access()
    return OAuth(router=router, routes=AuthorizationServer(settings=settings, cache=cache).routes(), access=access)
