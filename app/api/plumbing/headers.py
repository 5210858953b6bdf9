"""Headers of every answer that tell browsers and caches what not to do, and answers to pages of other origins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.plumbing.guard import POSITION_HEADER
from app.api.plumbing.idempotency import REPLAYED
from app.services.quotas import WINDOW_SECONDS, RateStatus

SECURITY: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
"""Headers of every answer whose route sets no others, as the pages and their files do."""

_SENT = ("Authorization", "Content-Type", "Idempotency-Key", POSITION_HEADER, "X-Request-Id")
_RATE, _RATE_POLICY = "RateLimit", "RateLimit-Policy"
_READ = (REPLAYED, POSITION_HEADER, _RATE, _RATE_POLICY, "Retry-After", "X-Request-Id")
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


def install(app: FastAPI, origins: Sequence[str]) -> None:
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
