"""Work that goes on after its request was answered."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class BackgroundWork:
    """Tasks of a service that nobody waits for until it closes; errors are the coroutines' own to handle."""

    _tasks: set[asyncio.Task[None]] = field(default_factory=set, repr=False)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a coroutine and return its task."""
        # The loop refers to tasks weakly: without the set one could vanish before it ends.
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def finish(self) -> None:
        """Wait until all is done, also what the tasks start meanwhile."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
