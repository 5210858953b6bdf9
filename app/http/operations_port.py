"""Access to operations (metrics, documents, reasons of readiness): which callers may read them, and on which port."""

from __future__ import annotations

import hmac

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.errors import NotFound, Unauthenticated
from app.http import problems
from app.settings import Settings

PATHS = frozenset({"/", "/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"})
"""Paths that TM_OPERATIONS_PORT answers, besides the files of /docs."""


class OperationsPort:
    """Pure ASGI middleware that answers nothing else on the port for operations."""

    def __init__(self, app: ASGIApp, *, port: int) -> None:
        """Wrap an application."""
        self.app = app
        self.port = port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request, unless it is for the API and came by this port."""
        path = scope.get("path", "")
        if scope["type"] == "http" and port_of(scope) == self.port and not (path in PATHS or path.startswith("/docs/")):
            error = NotFound("this port is for operations alone: the API is on TM_PORT")
            await problems.answer(error, scope)(scope, receive, send)
            return
        await self.app(scope, receive, send)


def port_of(scope: Scope) -> int | None:
    """Return the port that a request came by, as the server's socket has it."""
    server = scope.get("server")
    return None if server is None else server[1]


def may_operate(request: Request) -> bool:
    """Return whether the request may read what is about the service as a whole."""
    settings: Settings = request.app.state.settings
    if _elsewhere(request, settings):
        return False
    if settings.operations_access != "operator":
        return settings.operations_access == "open"
    return is_operators(request.headers.get("authorization", "").partition(" ")[2].strip(), settings)


def require_operations(request: Request) -> None:
    """Raise NotFound or Unauthenticated where the request may not read what is about the service as a whole."""
    if may_operate(request):
        return
    settings: Settings = request.app.state.settings
    if _elsewhere(request, settings):
        raise NotFound("this is on another port (TM_OPERATIONS_PORT)")
    if settings.operations_access == "closed":
        raise NotFound("this is closed here (TM_OPERATIONS_ACCESS)")
    raise Unauthenticated("this takes the operator key (TM_OPERATOR_KEY)")


def is_operators(token: str, settings: Settings) -> bool:
    """Return whether a token is the operator's key."""
    key = settings.operator_key
    return key is not None and hmac.compare_digest(token.encode(), key.get_secret_value().encode())


def _elsewhere(request: Request, settings: Settings) -> bool:
    return settings.operations_port is not None and port_of(request.scope) != settings.operations_port
