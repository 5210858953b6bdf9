"""Work for the processor in a coroutine: at once where it is brief, in a thread where all other requests would wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def work(do: Callable[[], T], *, brief: bool) -> T:
    """Return what `do` returns; `brief`: it takes a few milliseconds at most, which others can wait for."""
    return do() if brief else await asyncio.to_thread(do)
