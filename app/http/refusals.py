"""Late answers to requests that are turned away, so that clients which ask again at once can't busy a process.

A refusal that is answered at once is asked for again at once, thousands of times a second. Held back it costs a place
in a list. Refusals leave in the order in which they came, each after a while, and no more than so many a second.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

HOLD_SECONDS = 0.3
"""How long an answer is held back where few are."""

_MOST_A_SECOND = 250
"""Answers given. Where more are held, each is held for longer."""

_STEP_SECONDS = 0.02
"""Between two looks at who is due: answers are given by the handful."""


@dataclass(slots=True)
class Refusals:
    """The refusals that a process holds back, `most` at a time."""

    most: int
    _held: deque[tuple[float, Callable[[], None]]] = field(default_factory=deque, init=False)
    """When each is due, and what answers it; the first is due first."""
    _last: float = field(default=0.0, init=False)
    _look: asyncio.TimerHandle | None = field(default=None, init=False)

    @property
    def held(self) -> int:
        """Return how many are held back."""
        return len(self._held)

    def hold(self, answer: Callable[[], None]) -> bool:
        """Call `answer` after a while; return whether it will be called, or False because too many are held."""
        if self.held >= self.most:
            return False
        loop = asyncio.get_running_loop()
        self._last = max(loop.time() + HOLD_SECONDS, self._last + 1 / _MOST_A_SECOND)
        self._held.append((self._last, answer))
        if self._look is None:
            self._look = loop.call_at(self._last, self._answer)
        return True

    async def wait(self) -> bool:
        """Wait as long as a refusal is held back; return at once, and False, where too many are held."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if not self.hold(lambda: None if turn.done() else turn.set_result(None)):
            return False
        await turn
        return True

    def _answer(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        while self._held and self._held[0][0] <= now:
            self._held.popleft()[1]()
        self._look = loop.call_at(max(self._held[0][0], now + _STEP_SECONDS), self._answer) if self._held else None
