"""The stand-in provider as a fixture: import `provider` (and `provider_process`) into a conftest."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import pytest_asyncio

from tests.support.waiting import PATIENCE

__all__ = ["StandIn", "provider", "provider_process"]

_CHECKOUT: Final = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class StandIn:
    """A running stand-in: `url` is what a `base_url` setting takes."""

    port: int
    client: httpx.AsyncClient

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    def settings(self, wire: str = "openai", **overrides: Any) -> dict[str, Any]:
        """Return the settings of a service whose model it is.

        It is asked once, as long as that takes, and about nothing in the background: whose request takes an order, and
        how many there were, must depend on the test alone. What is stored is what it answered: turns are not kept too.
        """
        return {
            "llm_provider": wire,
            "llm_base_url": self.url,
            "llm_model": "stand-in",
            "llm_api_key": "sk-stand-in",
            "llm_timeout": PATIENCE,
            "llm_deadline": 2 * PATIENCE,
            "llm_attempts": 1,
            "hype": False,
            "keep_episodes": False,
            **overrides,
        }

    async def behave(self, behaviour: str, **order: Any) -> None:
        """Order a behaviour: `times`, `delay`, `status`, `retry_after`, `body`; orders queue up."""
        await self._call("POST", "/_control", {"behaviour": behaviour, **order})

    async def script(self, answers: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """Have a chat model find these memories in a turn that has these words in it, from now on.

        A memory is `{type, payload}`; its quote is the whole turn, and the rest plain, unless given.
        """
        await self._call("POST", "/_script", dict(answers))

    async def batches(self, **manner: Any) -> dict[str, Any]:
        """Say how batches go from now on, if anything is given; return what became of those so far."""
        return await self._call("POST", "/_batches", manner) if manner else await self._call("GET", "/_batches")

    async def recover(self) -> None:
        """Forget all orders; scripts stay, so that a request in between finds what the next one would."""
        await self._call("POST", "/_recover", {})

    async def reset(self) -> None:
        """Forget all orders, scripts and requests."""
        await self._call("POST", "/_reset", {})

    async def seen(self) -> dict[str, Any]:
        """Return the requests so far, and counts."""
        return await self._call("GET", "/_seen")

    async def _call(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        answer = await self.client.request(method, self.root + path, json=body)
        return dict(answer.raise_for_status().json())


@pytest_asyncio.fixture(scope="session")
async def provider_process() -> AsyncIterator[StandIn]:
    """Run one stand-in for the whole session."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.provider_server.provider", cwd=_CHECKOUT, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        port = int(await process.stdout.readline())
        async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
            yield StandIn(port, client)
    finally:
        process.kill()
        await process.wait()


@pytest_asyncio.fixture
async def provider(provider_process: StandIn) -> AsyncIterator[StandIn]:
    """Give the stand-in with nothing ordered and nothing seen."""
    await provider_process.reset()
    yield provider_process
    await provider_process.reset()
