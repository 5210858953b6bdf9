"""A bound on what is in work at once, and the order of those that wait: next is the tenant that had the least lately.

A queue that does not empty is shed (CoDel, as in Maurer, "Fail at Scale", ACM Queue 2015). A request that joins a queue
which was empty a moment ago may wait for a while, so bursts pass. In a standing queue no request waits for long, since
all would only wait for the queue itself.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from time import monotonic

from app.errors import Overloaded
from app.pauses import Pause

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

    def is_full(self, whose: Hashable) -> bool:
        """Return whether one more request of a tenant would be turned away at once."""
        share = self._shares.get(whose)
        if share is None or not share.waiting:
            return False
        limits = self.limits
        most = limits.standing_each if self._is_standing(share, self.clock()) else limits.waiting_each
        return len(share.waiting) >= most or self.waiting >= limits.waiting

    @asynccontextmanager
    async def admitted(self, whose: Hashable) -> AsyncIterator[Pause]:
        """Wait for a turn, and hold a place for as long as the block; raise Overloaded when there is none in time.

        Yields what the request calls between its steps, to wait while one of a tenant that had less is in work.
        """
        now = self.clock()
        self._charge(now)
        share = self._seen(whose, now)
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
        patience = self.limits.standing if self._is_standing(share, now) else self.limits.patience
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[float] = loop.create_future()
        share.waiting.append(turn)
        self.waiting += 1
        self._queues.add(share)
        # By then what is in work may wait for somebody, and nobody else would look.
        look = loop.call_later(_AT_WORK_SECONDS, lambda: self._next(self.clock()))
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
                raise self._turned_away("late") from None
            raise
        finally:
            look.cancel()

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
                self._take(share, now)
                turn.set_result(now)

    def _turned_away(self, why: str) -> Overloaded:
        self.shed(why)
        return Overloaded("the service has more to do than it can: retry after a moment", retry_after=1)
