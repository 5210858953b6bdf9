"""Waiting for what another task, process or server does: until it is so, however slow the machine is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

import httpx

PATIENCE: Final = 120.0
"""Seconds after which something that is waited for is held not to come; no test asserts how long it took."""


async def eventually(met: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(PATIENCE):
        while not await met():  # noqa: ASYNC110 - what is waited for is in a database or another process
            await asyncio.sleep(0.02)


def wait_until(met: Callable[[], bool]) -> None:
    """Wait, without an event loop, until something is so."""
    deadline = time.monotonic() + PATIENCE
    while not met():
        assert time.monotonic() < deadline
        time.sleep(0.02)


async def no_jobs_left(client: httpx.AsyncClient) -> None:
    """Wait until no background job of the client's tenant waits or runs: they change what questions find."""

    async def idle() -> bool:
        pages = [await client.get("/jobs", params={"all": True, "status": one}) for one in ("queued", "running")]
        return not any(page.json()["jobs"] for page in pages)

    await eventually(idle)


async def ended_job(client: httpx.AsyncClient, job: str) -> dict[str, Any]:
    """Return a job once it has ended."""
    found: dict[str, Any] = {}

    async def ended() -> bool:
        found.update((await client.get(f"/jobs/{job}")).json())
        return found["finished_at"] is not None

    await eventually(ended)
    return found
