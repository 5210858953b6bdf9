"""Locks of scopes within one process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID
from weakref import WeakValueDictionary


@dataclass(frozen=True, slots=True)
class ScopeLocks:
    """Lets one write of this process at a time into a scope, so that they don't outrun one another.

    It only saves retries: between processes, and for correctness, the scope's version decides, and a write that lost
    locks the scope.
    """

    _locks: WeakValueDictionary[UUID, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    @asynccontextmanager
    async def enter(self, scope: UUID) -> AsyncIterator[None]:
        """Wait for the scope and hold it."""
        lock = self._locks.get(scope)
        if lock is None:
            lock = asyncio.Lock()
            self._locks[scope] = lock
        async with lock:
            yield
