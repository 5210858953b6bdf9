"""Admission of requests: into work now, into a queue, or not at all; and the deadline of each.

Requests that wait for others (a language model, a long upload) have a lane of their own: they cost this process little,
and must not take the places of those that are answered in milliseconds.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from uuid import UUID

from cachetools import LRUCache
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.plumbing import problems
from app.api.plumbing.fair_queue import FairQueue, QueueLimits
from app.errors import DeadlineExceeded, Overloaded
from app.model import Actor
from app.pauses import pausing
from app.settings import Settings

UNMETERED = frozenset({"/healthz", "/readyz", "/metrics", "/admin/events"})
"""Paths that must be answered even under overload; event streams have a bound of their own."""

LONG = frozenset({"/turns", "/import", "/export", "/mcp", "/answer"})
"""Paths whose requests may wait for a model, or for the caller."""

_LONG_LANE = 8
"""How many times more such requests may be in work."""

_KEYS_KNOWN = 10_000


@dataclass(slots=True)
class KnownKeys:
    """The tenants of the Authorization headers that were accepted before, by their hashes; others are strangers'."""

    _tenants: LRUCache[bytes, UUID] = field(default_factory=lambda: LRUCache(_KEYS_KNOWN))

    def tenant(self, authorization: bytes) -> UUID | None:
        """Return the tenant, None for a stranger."""
        return self._tenants.get(_digest(authorization))

    def learn(self, authorization: bytes, tenant: UUID) -> None:
        """Remember whose key it is, which only says whose turn a request is: the key itself is checked each time."""
        self._tenants[_digest(authorization)] = tenant


@dataclass(slots=True)
class Admission:
    """The queues in front of a process. `observe` takes the reason of each request that is turned away."""

    quick: FairQueue
    long: FairQueue
    deadline: float
    keys: KnownKeys = field(default_factory=KnownKeys)
    observe: Callable[[str], None] = field(default=lambda _why: None)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when open streams must end, because the process is about to stop."""

    draining: bool = False
    """True when the process is about to stop: it still serves requests, but sends balancers and clients elsewhere."""

    @classmethod
    def of(cls, settings: Settings) -> Admission:
        """Return the queues as configured."""
        bounds = QueueLimits(
            in_work=settings.request_concurrency,
            in_work_each=settings.tenant_request_concurrency,
            waiting_each=settings.tenant_request_queue,
            waiting=settings.request_queue,
            standing_each=max(1, settings.tenant_request_queue // 4),
        )
        most = _LONG_LANE * bounds.in_work
        long = replace(bounds, in_work=most, in_work_each=max(most // 4, _LONG_LANE * bounds.in_work_each))

        def shed(why: str) -> None:
            found.observe(why)

        found = cls(
            quick=FairQueue(limits=bounds, shed=shed),
            long=FairQueue(limits=long, shed=shed),
            deadline=settings.request_deadline,
        )
        return found

    def refuses(self, path: str, authorization: bytes) -> bool:
        """Return whether a request would be turned away at once; count it if so."""
        if path in UNMETERED or path in LONG or not self.quick.is_full(self.keys.tenant(authorization)):
            return False
        self.observe("full")
        return True

    def waiting(self) -> int:
        """Return how many requests wait for their turn."""
        return self.quick.waiting + self.long.waiting


class AdmissionMiddleware:
    """Pure ASGI: takes each request through its queue, and ends it at its deadline."""

    def __init__(self, app: ASGIApp, *, admission: Admission) -> None:
        """Wrap an application."""
        self.app = app
        self.admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request when it is its turn, or answer that it won't be."""
        if scope["type"] != "http" or scope["path"] in UNMETERED:
            await self.app(scope, receive, send)
            return
        admission, long = self.admission, scope["path"] in LONG
        authorization = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        queue = admission.long if long else admission.quick
        try:
            async with queue.admitted(admission.keys.tenant(authorization)) as pause:
                with pausing(pause):
                    await self._within(None if long else admission.deadline, scope, receive, send)
        except Overloaded as error:
            await problems.answer(error, scope)(scope, receive, send)
            return
        actor = scope["state"].get("actor")
        if isinstance(actor, Actor):
            admission.keys.learn(authorization, actor.tenant_id)

    async def _within(self, seconds: float | None, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            if self.admission.draining and message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                await self.app(scope, receive, noted)
        except TimeoutError:
            if begun or not limit.expired():
                raise
            error = DeadlineExceeded(
                f"this took longer than {seconds:g} seconds: ask for less at once; what it should have written is "
                "written whole or not at all, so send it again with the same Idempotency-Key",
                retry_after=1,
            )
            await problems.answer(error, scope)(scope, receive, send)


def _digest(authorization: bytes) -> bytes:
    return hashlib.sha256(authorization).digest()
