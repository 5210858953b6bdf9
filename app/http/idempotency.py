"""The `Idempotency-Key` header, and the wrapper of all write routes that implements it."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from fastapi import Depends, Header, Request
from pydantic_core import from_json, to_json
from starlette.responses import Response

from app.errors import InvalidInput
from app.http.models import JSON
from app.http.outcomes import outcome_headers
from app.model import Actor
from app.runtime import Runtime
from app.services.idempotency import IdempotencySlot, StoredResponse, fingerprint_of

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
LONGEST = 255


@dataclass(frozen=True, slots=True)
class ReplayableResponse:
    """An answer of a write whose status depends on the outcome, or that is not kept for a retry: not `final`."""

    status: int
    content: object
    final: bool = True


async def declared(
    _key: str | None = Header(
        default=None,
        alias=HEADER,
        description="Send a write again under the same key, and it is done once and answered the same for "
        "24 hours. Another body under the same key is a conflict.",
        examples=["7b0e7a54-6c1f-4a53-9c56-1f0f6bb6b1a1"],
    ),
) -> None:
    """Declare the header for OpenAPI; `run_once` reads it."""


IDEMPOTENT: Final = (Depends(declared),)
"""The dependency that declares the header in a route's OpenAPI operation."""


async def run_once(
    request: Request,
    runtime: Runtime,
    actor: Actor,
    status: int,
    work: Callable[[], Awaitable[object]],
    *,
    headers: Callable[[object], Mapping[str, str]] | None = None,
) -> Response:
    """Return the work's answer with `status` (204 has no body), or the stored answer of the same request.

    `headers` makes further headers of the answer's content.
    """
    made: object = None

    async def answered() -> StoredResponse:
        nonlocal made
        made = content = await work()
        if isinstance(content, ReplayableResponse):
            made = content.content
            body = to_json(made).decode()
            return StoredResponse(status=content.status, body=body, final=content.final)
        return StoredResponse(status=status, body="" if content is None else to_json(content).decode())

    key = request.headers.get(HEADER)
    if key is None:
        return _response(request, await answered(), made, headers)
    if not 0 < len(key) <= LONGEST or not key.isascii() or not key.isprintable():
        raise InvalidInput(f"must be 1 to {LONGEST} printable ASCII characters", field=HEADER)
    slot = IdempotencySlot(tenant_id=actor.tenant_id, route=_route(request), key=_digest_key(key, actor))
    fingerprint = fingerprint_of(request.scope["query_string"], await request.body())
    answer = await runtime.idempotency.run(slot, fingerprint, answered)
    return _response(request, answer, from_json(answer.body) if answer.replayed and answer.body else made, headers)


def own_key(request: Request) -> tuple[str, str] | None:
    """Return the route and key under which the request's answer will be stored, None if it won't."""
    key = request.headers.get(HEADER)
    return None if key is None else (_route(request), _digest_key(key, request.state.actor))


def _digest_key(key: str, actor: Actor) -> str:
    """Return the digest of a key, because callers may derive keys from content that has to be erased.

    API keys that are bound to different users or agents never share an answer.
    """
    own = to_json([actor.user_id, actor.agent_id]) if actor.bound else b""
    return hashlib.sha256(own + key.encode()).hexdigest()


def _route(request: Request) -> str:
    """Return method and path, shortened to the length of a database key."""
    return hashlib.sha256(f"{request.method} {request.url.path}".encode()).hexdigest()


def _response(
    request: Request,
    answer: StoredResponse,
    content: object,
    headers: Callable[[object], Mapping[str, str]] | None,
) -> Response:
    found = outcome_headers(answer.status, content, request.scope.get("root_path", ""))
    if headers is not None and answer.status < HTTPStatus.BAD_REQUEST:
        found |= headers(content)
    if answer.replayed:
        found[REPLAYED] = "true"
    media_type = JSON if answer.body else None
    return Response(answer.body, status_code=answer.status, media_type=media_type, headers=found)
