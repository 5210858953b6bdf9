"""Counts that are costly to read and good for some seconds: callers within that time share one read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from app.errors import TypedMemoryError

Value = TypeVar("Value")


@dataclass(slots=True)
class RecentValue(Generic[Value]):
    """A value with the time it was read at; one caller reads it again, and others wait for that."""

    found: Value | None = None
    at: float = float("-inf")
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def get(self, read: Callable[[], Awaitable[Value]], *, seconds: float) -> Value:
        """Return the value, read again when it is older than `seconds`."""
        async with self.lock:
            now = time.monotonic()
            if self.found is None or now - self.at >= seconds:
                self.found = await read()
                self.at = now
            return self.found


async def in_time(value: Awaitable[Value], *, patience: float) -> Value | None:
    """Return what is awaited; None when it fails or takes more than `patience` seconds."""
    try:
        async with asyncio.timeout(patience):
            return await value
    except (TypedMemoryError, TimeoutError):
        return None
