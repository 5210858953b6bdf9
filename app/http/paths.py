"""The forms of a path that mean the same route: with `/v1` before it or without, with a slash at its end or without.

A slash within an id is written `%2F`. Servers decode it in `path`, so that only `raw_path` tells it from the slashes
between the segments.
"""

from __future__ import annotations

from typing import Final

from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import ASGIApp, Receive, Scope, Send

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
