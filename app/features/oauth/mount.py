"""The parts of OAuth for `/mcp` that an application mounts.

There is a small authorization server of the service's own, and trust in an outside issuer. Without TM_OAUTH and
TM_OIDC_ISSUER there are the routes for admins alone, and `/mcp` takes API keys as it did.
"""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter
from starlette.routing import BaseRoute

from app.features.mcp.endpoint import BY_KEY, McpAccess
from app.features.oauth.access import TokenAccess
from app.features.oauth.oidc import OutsideIssuer
from app.features.oauth.routes import AuthorizationServer, admin_router
from app.features.oauth.service import ConnectionCache
from app.settings import Settings


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
