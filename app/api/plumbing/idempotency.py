"""The `Idempotency-Key` header: what every write route wraps its work in."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from fastapi import Depends, Header, Request
from pydantic_core import to_json
from starlette.responses import Response

from app.api.plumbing.wire import JSON
from app.errors import InvalidInput
from app.model import Actor
from app.runtime import Runtime
from app.services.idempotency import IdempotencySlot, StoredResponse, fingerprint_of

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
LONGEST = 255


@dataclass(frozen=True, slots=True)
class ReplayableResponse:
    """What a write answers whose status depends on how it went."""

    status: int
    content: object


async def declared(
    _key: str | None = Header(
        default=None,
        alias=HEADER,
        description="Send a write again under the same key, and it is done once and answered the same for "
        "24 hours. Another body under the same key is a conflict.",
        examples=["7b0e7a54-6c1f-4a53-9c56-1f0f6bb6b1a1"],
    ),
) -> None:
    """Put the header into OpenAPI; `once` reads it."""


IDEMPOTENT: Final = (Depends(declared),)
"""What a route depends on for OpenAPI to show that it takes the header."""


async def run_once(
    request: Request, runtime: Runtime, actor: Actor, status: int, work: Callable[[], Awaitable[object]]
) -> Response:
    """Return the work's answer with `status` (204 has no body), or that of the same request before it."""

    async def answered() -> StoredResponse:
        content = await work()
        if isinstance(content, ReplayableResponse):
            return StoredResponse(status=content.status, body=to_json(content.content).decode())
        return StoredResponse(status=status, body="" if content is None else to_json(content).decode())

    key = request.headers.get(HEADER)
    if key is None:
        return _response(await answered())
    if not 0 < len(key) <= LONGEST or not key.isascii() or not key.isprintable():
        raise InvalidInput(f"must be 1 to {LONGEST} printable ASCII characters", field=HEADER)
    slot = IdempotencySlot(tenant_id=actor.tenant_id, route=_route(request), key=_kept(key))
    fingerprint = fingerprint_of(request.scope["query_string"], await request.body())
    return _response(await runtime.idempotency.run(slot, fingerprint, answered))


def own_key(request: Request) -> tuple[str, str] | None:
    """Return the route and key that the request's own answer will be kept under, None if it won't be."""
    key = request.headers.get(HEADER)
    return None if key is None else (_route(request), _kept(key))


def _kept(key: str) -> str:
    """Return a key as it is kept: callers may have made it of what they write, and that may have to go."""
    return hashlib.sha256(key.encode()).hexdigest()


def _route(request: Request) -> str:
    """Return method and path, at a length that a key can have."""
    return hashlib.sha256(f"{request.method} {request.url.path}".encode()).hexdigest()


def _response(answer: StoredResponse) -> Response:
    headers = {REPLAYED: "true"} if answer.replayed else None
    media_type = JSON if answer.body else None
    return Response(answer.body, status_code=answer.status, media_type=media_type, headers=headers)
