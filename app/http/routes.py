"""Additions of routes to a router, and the forms of a path that mean the same route."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.idempotency import IDEMPOTENT

OK = 200

CREATED = 201

ACCEPTED = 202

NO_CONTENT = 204

NOT_MODIFIED = 304

Handler = Callable[..., Any]

Listed = tuple[str, Handler, str, Any]
"""A route: its path, its handler, whose name is the operation's id, a summary, and the model of the answer."""


def add_route(
    found: APIRouter,
    method: str,
    role: Mapping[str, Any],
    path: str,
    handler: Handler,
    summary: str,
    answer: Any = None,  # noqa: ANN401 - a model, or a type made at run time
    **more: Any,  # noqa: ANN401 - what FastAPI takes
) -> None:
    """Add a route; `role` is one of the guard's constants, and `more` goes to `add_api_route`."""
    named = {"operation_id": handler.__name__, "response_model": answer, **more}
    found.add_api_route(path, handler, methods=[method], summary=summary, openapi_extra=dict(role), **named)


def add_reads(found: APIRouter, role: Mapping[str, Any], *routes: Listed) -> None:
    """Add GET routes of one role."""
    for one in routes:
        add_route(found, "GET", role, *one)


def add_changes(found: APIRouter, role: Mapping[str, Any], *routes: Listed) -> None:
    """Add POST routes of one role that take an `Idempotency-Key`."""
    for one in routes:
        add_route(found, "POST", role, *one, dependencies=IDEMPOTENT)


PREFIX: Final = "/v1"
"""The version of the API, which may stand before every route."""

_KEPT: Final = frozenset({"/admin/"})
"""Paths whose slash at the end has a route of its own."""


class RoutePaths:
    """Pure ASGI middleware that serves each form of a path by the one that the routes have."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or whatever else a server asks for."""
        if scope["type"] == "http":
            before = scope.get("root_path", "")
            path = scope["path"].removeprefix(before)
            versioned = path == PREFIX or path.startswith(f"{PREFIX}/")
            if versioned or path.endswith("/"):
                scope = _in_the_form_of_routes(scope, before, versioned=versioned)
        await self.app(scope, receive, send)


def _in_the_form_of_routes(scope: Scope, before: str, *, versioned: bool) -> Scope:
    """Return the scope with the path as routes have it; it keeps a slash that belongs to an id."""
    path, raw = scope["path"].removeprefix(before), _raw(scope)
    if versioned:
        path, raw = path.removeprefix(PREFIX) or "/", raw.removeprefix(PREFIX.encode()) or b"/"
    if len(path) > 1 and path.endswith("/") and raw.endswith(b"/") and path not in _KEPT:
        path, raw = path[:-1], raw[:-1]
    return {**scope, "path": before + path, "raw_path": before.encode() + raw}


def segments(scope: Scope) -> int:
    """Return the number of segments of the path that was asked for, in which `%2F` separates none."""
    return _raw(scope).count(b"/")


def _raw(scope: Scope) -> bytes:
    """Return the path as it was sent, without the root path."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return raw.partition(b"?")[0].removeprefix(scope.get("root_path", "").encode())


class SegmentedRoute(APIRoute):
    """A route in whose path a user's id is one segment."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match a path; a user's id may hold an encoded slash, but is one segment all the same.

        Others match as they are: `DELETE /users/ana/memories` must not erase a user of that name.
        """
        match, child = super().matches(scope)
        if match is not Match.NONE and "{user_id:path}" in self.path and segments(scope) != self.path.count("/"):
            return Match.NONE, {}
        return match, child
