"""Keeps the embedded server up: one that died under the service is started again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from app.db.embedded import EmbeddedServer, start_embedded
from app.db.embedded_process import find_server
from app.errors import ConfigurationError

EVERY = 1.0
"""Seconds between two looks at the server."""

_PATIENCE = 30.0


@dataclass(slots=True)
class Watch:
    """A share in the embedded server that outlives the server's own death."""

    server: EmbeddedServer
    restarted: Callable[[], None]
    failed: Callable[[str], None]

    async def run(self) -> None:
        """Look every second until cancelled; `restarted` and `failed` are told what came of a death."""
        while True:
            await asyncio.sleep(EVERY)
            try:
                await asyncio.to_thread(self._look)
            except ConfigurationError as error:
                self.failed(error.message)

    def release(self) -> None:
        """Give the share up; the last one out shuts the server down. Blocks."""
        self.server.release()

    def _look(self) -> None:
        cluster = self.server.data_dir / "cluster"
        if find_server(cluster, time.monotonic() + _PATIENCE) is not None:
            return
        dead = self.server
        self.server = start_embedded(dead.data_dir)
        dead.release()
        if self.server.url != dead.url:
            self.failed("the embedded database came back on another port: restart the service")
        self.restarted()
