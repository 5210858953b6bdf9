"""The direct way of a request to a route that the guard answers by itself."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from app.errors import TypedMemoryError
from app.http import problems
from app.http.guard import GuardedRoute, Handler


class DirectRoutes:
    """Pure ASGI middleware, the innermost: calls the handler of a route whose path is the one that was asked for.

    The framework would try one route after another, and open stacks for dependencies that such routes don't have,
    which takes a sixth of a small write's time in this process.
    """

    def __init__(self, app: ASGIApp, *, routes: Sequence[BaseRoute]) -> None:
        """Wrap an application with these routes."""
        self.app = app
        self._found = {
            (method, route.path): (route, route.get_route_handler())
            for route in routes
            if isinstance(route, GuardedRoute) and route.direct
            for method in route.methods or ()
            if _first(routes, method, route.path) is route
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or whatever else a server asks for."""
        found = self._of(scope) if scope["type"] == "http" else None
        if found is None:
            await self.app(scope, receive, send)
            return
        route, handle = found
        scope.update(route=route, endpoint=route.endpoint, path_params={})
        request = Request(scope, receive, send)
        try:
            response = await handle(request)
        except (TypedMemoryError, RequestValidationError) as error:
            response = problems.of(request, error)
        await response(scope, receive, send)

    def _of(self, scope: Scope) -> tuple[GuardedRoute, Handler] | None:
        return None if scope.get("root_path") else self._found.get((scope["method"], scope["path"]))


def _first(routes: Sequence[BaseRoute], method: str, path: str) -> BaseRoute | None:
    """Return the route that a request for a path reaches."""
    asked = {"type": "http", "method": method, "path": path, "root_path": "", "headers": []}
    return next((one for one in routes if one.matches(asked)[0] is Match.FULL), None)
