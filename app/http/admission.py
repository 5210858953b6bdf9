"""Admission of requests: into work now, into a queue, or not at all; and the deadline of each.

Requests that wait for others (a language model, a long upload) have a lane of their own: they cost this process little,
and must not take the places of those that are answered in milliseconds.

In a queue, next is the tenant that had the least lately. A queue that does not empty is shed (CoDel, as in Maurer,
"Fail at Scale", ACM Queue 2015). A request that joins a queue which was empty a moment ago may wait for a while, so
bursts pass. In a standing queue no request waits for long, since all would only wait for the queue itself.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from time import monotonic
from uuid import UUID

from cachetools import LRUCache
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import DeadlineExceeded, Overloaded
from app.http import problems
from app.http.refusals import HOLD_SECONDS, Refusals
from app.model import Actor
from app.pauses import Pause, pausing
from app.settings import Settings

UNMETERED = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths that must be answered even under overload."""

_LONG = re.compile(r"/(turns|turns/[^/]+/replay|documents|documents/.+|import|export|mcp|answer)")
"""Paths whose requests may wait for a model, or for the caller, or store and erase megabytes whole or not at all."""

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
    refusals: Refusals
    keys: KnownKeys = field(default_factory=KnownKeys)
    observe: Callable[[str], None] = field(default=lambda _why: None)
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
            refusals=Refusals(most=max(1, settings.connections // 2)),
        )
        return found

    def queue(self, path: str) -> FairQueue:
        """Return the queue of requests for a path."""
        return self.quick if _LONG.fullmatch(path) is None else self.long

    def refuses(self, path: str, authorization: bytes) -> bool:
        """Return whether a request would be turned away at once, and count it; call it as the request arrives."""
        if path in UNMETERED or self.queue(path).expects(self.keys.tenant(authorization)):
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
        admission = self.admission
        queue = admission.queue(scope["path"])
        deadline = admission.deadline if queue is admission.quick else None
        authorization = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        asked = monotonic()
        try:
            async with queue.admitted(admission.keys.tenant(authorization)) as pause:
                with pausing(pause):
                    await self._within(deadline, scope, receive, send)
        except Overloaded as error:
            held = monotonic() - asked >= HOLD_SECONDS or await admission.refusals.wait()
            answer = problems.answer(error, scope)
            if not held:
                answer.headers["Connection"] = "close"
            await answer(scope, receive, send)
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


_HALF_LIFE_SECONDS = 5.0
"""After how long work that a tenant got counts half."""

_RECENT_SECONDS = 10.0
"""For how long a tenant that asked keeps others to their part."""

_LESS = 1.5
"""How many times less work a tenant must have had for the others to let its request finish first."""

_PAUSE_SECONDS = 0.05
"""The longest pause of a request in work; it may hold a connection to the database."""

_MOMENT = 0.01
"""Seconds of work that keep nobody else to its part: a probe's."""

_AT_WORK_SECONDS = 1.0
"""For how long a request in work is held to be at work; after that it waits for somebody: a lock, another service."""

_LOOK_SECONDS = 0.25
"""How often a queue is looked at while somebody waits, because time alone frees places: who is in work may wait for
somebody, and who asked lately asks no more."""

_ROOM_A_TURN = 0.1
"""How many more may wait in a standing queue for each of it that got its turn in time."""

_LEAST_ROOM = 3.0
"""How many may always wait, as long as in a queue that was empty: a client with four connections is no flood."""

_LOOKED_AT = 16
"""Of those who asked last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLimits:
    """Bounds on the requests in work, on those of one tenant while others ask too, and on those that wait.

    `in_work_each` counts those that are at work; with those that wait for somebody they are at most half of `in_work`.
    `patience` is how long one may wait in a queue that was empty as recently. In one that was not, a standing queue,
    `standing_each` of a tenant may wait, for `standing` seconds.
    """

    in_work: int
    in_work_each: int
    waiting_each: int
    waiting: int
    standing_each: int
    patience: float = 2.0
    standing: float = 0.2


@dataclass(slots=True, eq=False)
class _Share:
    """The requests of one tenant in work and in waiting, and the seconds of the process that it got, which fade."""

    known: bool
    begun: list[float] = field(default_factory=list)
    """When each request in work began."""

    waiting: deque[asyncio.Future[float]] = field(default_factory=deque)
    empty_at: float = -math.inf
    seen_at: float = -math.inf
    room: float = math.inf
    """How many may wait in a standing queue without one of them waiting too long, as far as is known."""

    used: float = 0.0
    used_at: float = 0.0

    @property
    def in_work(self) -> int:
        return len(self.begun)

    def at_work(self, now: float) -> int:
        return sum(one > now - _AT_WORK_SECONDS for one in self.begun)

    def of_late(self, now: float) -> float:
        return self.used * math.exp2((self.used_at - now) / _HALF_LIFE_SECONDS)

    def spend(self, seconds: float, now: float) -> None:
        self.used, self.used_at = self.of_late(now) + seconds, now

    def is_gone(self, now: float) -> bool:
        return not self.in_work and not self.waiting and self.seen_at < now - _RECENT_SECONDS


@dataclass(slots=True, kw_only=True)
class FairQueue:
    """A queue that admits requests; `shed` takes the reason of each that is turned away.

    None is the tenant of requests that are nobody's: they have a part like a tenant's, and nobody steps back for them.
    """

    limits: QueueLimits
    shed: Callable[[str], None]
    clock: Callable[[], float] = monotonic
    in_work: int = field(default=0, init=False)
    waiting: int = field(default=0, init=False)
    _charged_at: float = field(default=0.0, init=False)
    _shares: dict[Hashable, _Share] = field(default_factory=dict, init=False)
    """By tenant, those who asked last at the end."""
    _working: set[_Share] = field(default_factory=set, init=False)
    _queues: set[_Share] = field(default_factory=set, init=False)
    _paused: list[asyncio.Future[None]] = field(default_factory=list, init=False)
    _looks: asyncio.TimerHandle | None = field(default=None, init=False)
    _expected: Counter[Hashable] = field(default_factory=Counter, init=False)
    """Requests by tenant that arrived in this round of the event loop, and ask for their turn in the next."""

    def is_full(self, whose: Hashable) -> bool:
        """Return whether one more request of a tenant would be turned away at once."""
        share = self._shares.get(whose)
        if share is None or not share.waiting:
            return False
        return len(share.waiting) >= self._most(share) or self.waiting >= self.limits.waiting

    def expects(self, whose: Hashable) -> bool:
        """Return whether an arriving request of a tenant has a chance beside those that arrived in the same round.

        A round of a busy loop reads the requests of many connections before the first of them asks for its turn.
        """
        share, expected = self._shares.get(whose), self._expected
        free = max(0, self.limits.in_work - self.in_work)
        if share is None or not share.waiting:
            full = expected[whose] >= self.limits.waiting_each + free
        else:
            full = len(share.waiting) + expected[whose] >= self._most(share)
        if full or self.waiting + expected.total() >= self.limits.waiting + free:
            return False
        if not expected:
            asyncio.get_running_loop().call_soon(expected.clear)
        expected[whose] += 1
        return True

    def _most(self, share: _Share) -> float:
        """Return how many of a tenant that has some waiting may wait."""
        standing = self._is_standing(share, self.clock())
        return min(self.limits.standing_each, share.room) if standing else self.limits.waiting_each

    @asynccontextmanager
    async def admitted(self, whose: Hashable) -> AsyncIterator[Pause]:
        """Wait for a turn, and hold a place for as long as the block; raise Overloaded when there is none in time.

        Yields what the request calls between its steps, to wait while one of a tenant that had less is in work.
        """
        now = self.clock()
        self._charge(now)
        share = self._seen(whose, now)
        self._next(now)  # What is charged, and who asks, decides whom the others give way to.
        if not share.waiting and self._may_begin(share, now):
            share.empty_at = begun = now
            self._take(share, begun)
        elif self.is_full(whose):
            raise self._turned_away("full")
        else:
            begun = await self._turn(share, now)
        try:
            yield partial(self._pause, share)
        finally:
            self._give_back(share, begun)

    def _seen(self, whose: Hashable, now: float) -> _Share:
        share = self._shares.pop(whose, None) or _Share(known=whose is not None)
        share.seen_at = now
        self._shares[whose] = share
        while (oldest := next(iter(self._shares.items())))[1].is_gone(now):
            del self._shares[oldest[0]]
        return share

    def _may_begin(self, share: _Share, now: float) -> bool:
        """Return whether a tenant may have one more in work.

        While others ask too, not more than its part, and none while one is in work for a tenant that had less.
        """
        if self.in_work >= self.limits.in_work:
            return False
        if not self._has_others(share, now):
            return True
        if share.at_work(now) >= self.limits.in_work_each or 2 * share.in_work >= max(2, self.limits.in_work):
            return False
        return not self._gives_way(share, now)

    def _gives_way(self, share: _Share, now: float) -> bool:
        """Return whether a request is in work for a tenant that had less."""
        less = share.of_late(now) / _LESS
        return any(one is not share and one.known and one.of_late(now) < less for one in self._working)

    async def _pause(self, share: _Share) -> None:
        """Wait while a request of a tenant that had less is in work, but no longer than for most requests."""
        if len(self._working) == 1 or not self._gives_way(share, self.clock()):
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_PAUSE_SECONDS):
                while self._gives_way(share, self.clock()):
                    turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                    self._paused.append(turn)
                    await turn

    def _has_others(self, share: _Share, now: float) -> bool:
        """Return whether among those who asked last is another tenant that had more than a moment's work."""
        last = (one for one in islice(reversed(self._shares.values()), _LOOKED_AT) if one.known and one is not share)
        return any(one.in_work or (one.seen_at > now - _RECENT_SECONDS and one.of_late(now) > _MOMENT) for one in last)

    def _is_standing(self, share: _Share, now: float) -> bool:
        return now - share.empty_at > self.limits.patience

    async def _turn(self, share: _Share, now: float) -> float:
        """Wait until a place is given to the request; return when."""
        if not share.waiting:
            share.empty_at = now
        standing = self._is_standing(share, now) and len(share.waiting) >= _LEAST_ROOM
        patience = self.limits.standing if standing else self.limits.patience
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[float] = loop.create_future()
        share.waiting.append(turn)
        self.waiting += 1
        self._queues.add(share)
        if self._looks is None:
            self._looks = loop.call_later(_LOOK_SECONDS, self._look)
        try:
            async with asyncio.timeout(patience):
                return await turn
        except BaseException as error:
            if turn in share.waiting:
                share.waiting.remove(turn)
                self._left(share)
            elif not turn.cancelled():  # else it was passed over, for it had been given up already
                self._give_back(share, turn.result())
            if isinstance(error, TimeoutError):
                share.room = max(_LEAST_ROOM, len(share.waiting))
                raise self._turned_away("late") from None
            raise

    def _left(self, share: _Share) -> None:
        self.waiting -= 1
        if not share.waiting:
            self._queues.discard(share)

    def _take(self, share: _Share, now: float) -> None:
        share.begun.append(now)
        self.in_work += 1
        self._working.add(share)

    def _charge(self, now: float) -> None:
        """Divide the time since the last charge among the requests in work, which share one event loop."""
        for share in self._working:
            share.spend((now - self._charged_at) * share.in_work / self.in_work, now)
        self._charged_at = now

    def _give_back(self, share: _Share, begun: float) -> None:
        now = self.clock()
        self._charge(now)
        share.begun.remove(begun)
        self.in_work -= 1
        if not share.in_work:
            self._working.discard(share)
        self._next(now)
        paused, self._paused = self._paused, []
        for turn in paused:
            if not turn.done():
                turn.set_result(None)

    def _next(self, now: float) -> None:
        """Give free places to those who wait, first to the tenant that had the least of late."""
        while ready := [one for one in self._queues if self._may_begin(one, now)]:
            share = min(ready, key=lambda one: (one.in_work, one.of_late(now)))
            turn = share.waiting.popleft()
            self._left(share)
            if not share.waiting:
                share.empty_at = now
            if not turn.done():
                share.room = min(share.room, self.limits.standing_each) + _ROOM_A_TURN
                self._take(share, now)
                turn.set_result(now)

    def _look(self) -> None:
        """Give the places that time has freed, again and again while somebody waits."""
        self._next(self.clock())
        waits = bool(self._queues)
        self._looks = asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._look) if waits else None

    def _turned_away(self, why: str) -> Overloaded:
        self.shed(why)
        return Overloaded("the service has more to do than it can: retry after a moment", retry_after=1)
