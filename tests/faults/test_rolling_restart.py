"""Two replicas restarted one after the other behind a balancer that probes: no request fails."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count

import httpx
import pytest

from tests.commands.program import Served

pytestmark = pytest.mark.long

KEY = "tm_key_of_the_rolling_restart_0123456789abcdef"
PROBE_SECONDS = 0.2
DELAY_SECONDS = 2.0
CLIENTS = 6
PAUSE_SECONDS = 0.03


@dataclass(slots=True)
class Balancer:
    """Sends requests to replicas that were ready when it looked last."""

    client: httpx.AsyncClient
    replicas: dict[str, str] = field(default_factory=dict)
    ready: list[str] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    both: asyncio.Event = field(default_factory=asyncio.Event)
    turns: count[int] = field(default_factory=count)

    async def probe(self) -> None:
        while True:
            ready = []
            for url in list(self.replicas.values()):
                with suppress(httpx.HTTPError):
                    found = await self.client.get(f"{url}/readyz", headers={"Connection": "close"})
                    ready += [url] if found.status_code == 200 else []
            self.ready = ready
            (self.both.set if len(ready) > 1 else self.both.clear)()
            await asyncio.sleep(PROBE_SECONDS)

    async def ask(self, number: int) -> None:
        while True:
            turn = next(self.turns)
            url = self.ready[turn % len(self.ready)]
            body = {"predicate": "visited", "object": f"place {turn}", "user_id": f"u{number}"}
            try:
                answer = await self.client.post(f"{url}/memories/typed/fact", json=body)
            except httpx.HTTPError as error:
                self.answers[type(error).__name__] += 1
            else:
                self.answers[str(answer.status_code)] += 1
            await asyncio.sleep(PAUSE_SECONDS)


async def started(settings: dict[str, str]) -> Served:
    return await asyncio.to_thread(Served(**settings).__enter__)


async def test_a_rolling_restart_fails_no_request(fresh_database_url: str) -> None:
    settings = {
        "TM_DATABASE_URL": fresh_database_url,
        "TM_BOOTSTRAP_KEY": KEY,
        "TM_PRE_STOP_DELAY": str(DELAY_SECONDS),
        "TM_DATABASE_POOL_SIZE": "4",
    }
    headers = {"Authorization": f"Bearer {KEY}"}
    running = {name: await started(settings) for name in "ab"}
    async with httpx.AsyncClient(headers=headers, timeout=30, limits=httpx.Limits(max_connections=40)) as client:
        balancer = Balancer(client=client, replicas={name: one.url for name, one in running.items()})
        probing = asyncio.create_task(balancer.probe())
        await balancer.both.wait()
        asking = [asyncio.create_task(balancer.ask(number)) for number in range(CLIENTS)]
        try:
            for name in "ab":
                assert await asyncio.to_thread(running[name].stop, signal.SIGTERM) == 0
                del balancer.replicas[name]
                running[name] = await started(settings)
                balancer.replicas[name] = running[name].url
                await balancer.both.wait()
        finally:
            for task in (*asking, probing):
                task.cancel()
            await asyncio.gather(*asking, probing, return_exceptions=True)
            for one in running.values():
                if one.process.poll() is None:
                    await asyncio.to_thread(one.stop)
    assert set(balancer.answers) == {"201"}, balancer.answers
    assert balancer.answers["201"] > 50
