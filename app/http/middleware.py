"""The middleware around every request: its id, size limit, log line, metrics, and headers for browsers and caches.

The innermost takes it directly to a route that the guard answers by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from time import perf_counter
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import ids
from app.errors import PayloadTooLarge, TypedMemoryError
from app.http import problems
from app.http.guard import POSITION_HEADER, GuardedRoute, Handler
from app.http.idempotency import REPLAYED
from app.http.outcomes import ETAG, LOCATION, RETRY_AFTER
from app.model import Actor
from app.services.limits import WINDOW_SECONDS, RateStatus
from app.telemetry import finish_request

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:\-]{1,128}")
_METHODS = frozenset({"GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS"})
_FAILED = 500
_HUNG_UP = 499
"""The status that metrics record for a request whose client disconnected."""

log = structlog.get_logger("typed_memory.access")


class RequestMiddleware:
    """Pure ASGI, so that nothing is buffered and context variables reach the handler."""

    def __init__(self, app: ASGIApp, *, max_body_bytes: int, streamed: frozenset[str] = frozenset()) -> None:
        """Wrap an application; bodies for the paths in `streamed` may have any size."""
        self.app = app
        self.max_body_bytes = max_body_bytes
        self.streamed = streamed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or whatever else a server asks for."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else ids.new().hex
        # A new dictionary, because the server passes the same one to every request.
        scope["state"] = {**scope.get("state", {}), "request_id": request_id}
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            if scope["method"] == "HEAD":
                # In a copy, because the server omits the body according to the method in its own.
                scope, send = {**scope, "method": "GET"}, _without_body(send)
            await self._observed(scope, receive, send)

    async def _observed(self, scope: Scope, receive: Receive, send: Send) -> None:
        metrics = scope["app"].state.metrics
        answer = _TrackedSend(send, scope["state"])
        started = perf_counter()
        metrics.in_flight.inc()
        try:
            with scope["app"].state.telemetry.request(scope["method"], Headers(scope=scope)) as span:
                await self._answered(scope, receive, answer)
                finish_request(span, scope["method"], _route(scope), answer.status or _FAILED)
        finally:
            metrics.in_flight.dec()
            self._finish(scope, answer.status or _FAILED, perf_counter() - started)

    async def _answered(self, scope: Scope, receive: Receive, answer: _TrackedSend) -> None:
        try:
            limited = receive if scope["path"] in self.streamed else _Limited(scope, receive, self.max_body_bytes)
            await self.app(scope, limited, answer)
        except ClientDisconnect:
            log.info("the client hung up")
            answer.status = answer.status or _HUNG_UP
        except Exception:  # nothing may leave without an answer
            log.exception("unexpected error")
            if not answer.status:
                await problems.respond(problems.internal(scope))(scope, receive, answer)

    def _finish(self, scope: Scope, status: int, seconds: float) -> None:
        route = _route(scope)
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        metrics = scope["app"].state.metrics
        metrics.request(method, route, status, seconds)
        if status >= HTTPStatus.BAD_REQUEST and (refusal := scope["state"].get("refusal")):
            metrics.refused(*refusal)
        actor = scope["state"].get("actor")
        if isinstance(actor, Actor):
            metrics.tenant_request(actor.tenant_id)
        log.info(
            "request",
            method=method,
            route=route,
            status=status,
            ms=round(seconds * 1000, 2),
            tenant=str(actor.tenant_id) if isinstance(actor, Actor) else None,
        )


def _route(scope: Scope) -> str:
    return getattr(scope.get("route"), "path", "unmatched")


def _without_body(send: Send) -> Send:
    """Return a `send` that sends only the head of an answer, so that every GET route also serves HEAD."""
    over = False

    async def head_only(message: Message) -> None:
        nonlocal over
        if message["type"] == "http.response.start":
            await send(message)
        elif not over:
            over = True
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    return head_only


class _TrackedSend:
    """Sends the answer with the request id and the limits of requests, and records its status (0 before it has one)."""

    def __init__(self, send: Send, state: Mapping[str, Any]) -> None:
        self._send = send
        self._state = state
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-Id"] = self._state["request_id"]
            if rates := self._state.get("rates"):
                headers.update(rate_limit_headers(rates))
        await self._send(message)


class _Limited:
    """Receives the body up to the limit, whatever its Content-Length."""

    def __init__(self, scope: Scope, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._seen = 0
        declared = Headers(scope=scope).get("content-length", "")
        self._declared = int(declared) if declared.isdecimal() and len(declared) < 20 else 0  # noqa: PLR2004

    async def __call__(self) -> Message:
        if self._declared > self._limit:
            raise self._too_large()
        message = await self._receive()
        if message["type"] == "http.request":
            self._seen += len(message.get("body", b""))
            if self._seen > self._limit:
                raise self._too_large()
        return message

    def _too_large(self) -> PayloadTooLarge:
        return PayloadTooLarge(f"the body is over {self._limit} bytes: send less, or raise TM_MAX_BODY_BYTES")


SECURITY: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
"""Headers of every answer whose route sets no others, as the pages and their files do."""

_SENT = (
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    "Mcp-Method",
    "Mcp-Name",
    "Mcp-Protocol-Version",
    POSITION_HEADER,
    "X-Request-Id",
)
_RATE, _RATE_POLICY = "RateLimit", "RateLimit-Policy"
_READ = (
    REPLAYED,
    POSITION_HEADER,
    _RATE,
    _RATE_POLICY,
    ETAG,
    LOCATION,
    RETRY_AFTER,
    "WWW-Authenticate",
    "X-Request-Id",
)
_PREFLIGHT_SECONDS = 600


class SecurityHeaders:
    """Pure ASGI middleware that adds the headers to every answer, errors included."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or whatever else a server asks for."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, with_headers if scope["type"] == "http" else send)


def rate_limit_headers(rates: Sequence[RateStatus]) -> dict[str, str]:
    """Return the headers that describe limits of requests, as draft-ietf-httpapi-ratelimit-headers-10 has them."""
    return {
        _RATE_POLICY: ", ".join(f'"{one.policy}";q={one.quota};w={WINDOW_SECONDS}' for one in rates),
        _RATE: ", ".join(f'"{one.policy}";r={one.remaining};t={one.reset_seconds}' for one in rates),
    }


def install_headers(app: FastAPI, origins: Sequence[str]) -> None:
    """Add the headers, and let pages of these origins call the API; call it after the other middleware."""
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=("GET", "POST", "PUT", "PATCH", "DELETE"),
            allow_headers=_SENT,
            expose_headers=_READ,
            max_age=_PREFLIGHT_SECONDS,
        )
    app.add_middleware(SecurityHeaders)


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
