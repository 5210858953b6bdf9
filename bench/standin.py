"""A model provider to wait for: the tests' own, as a process of its own, with the delay of a real one."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.client import Connection, Post

_CHECKOUT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """A running stand-in for a chat model."""

    port: int

    async def behave(self, answers: Mapping[str, Sequence[Mapping[str, Any]]], *, delay: float) -> None:
        """Have the model find these memories in a turn that has these words in it, `delay` seconds after it is asked.

        What it was told before is forgotten.
        """
        await self._tell("/_reset", {})
        await self._tell("/_script", answers)
        if delay:
            await self._tell("/_control", {"behaviour": "slow", "delay": delay})

    async def _tell(self, path: str, body: object) -> None:
        async with Connection(self.port) as connection:
            await connection.send(Post.of(path, body, ""))


@asynccontextmanager
async def standing_in() -> AsyncIterator[StandIn]:
    """Run a stand-in for as long as the block."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.provider_server.provider"), cwd=_CHECKOUT, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None  # noqa: S101 - narrows for the type checker
    try:
        yield StandIn(port=int(await process.stdout.readline()))
    finally:
        process.kill()
        await process.wait()
