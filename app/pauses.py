"""Pauses of a request in work between its steps, for requests that are to finish first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Pause = Callable[[], Awaitable[None]]

_PAUSE: ContextVar[Pause | None] = ContextVar("pause", default=None)


@contextmanager
def pausing(pause: Pause) -> Iterator[None]:
    """Call `pause` at each step of what runs in the block."""
    before = _PAUSE.set(pause)
    try:
        yield
    finally:
        _PAUSE.reset(before)


async def step() -> None:
    """Let others go first, where the request in work has to."""
    if (pause := _PAUSE.get()) is not None:
        await pause()
