"""With a model provider that fails: a clear answer, nothing half-written, and no connection held while waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest
from fastapi import FastAPI

from tests.api.conftest import connected, fact, running, settings_for
from tests.provider_server.fixtures import StandIn, provider, provider_process
from tests.support import owner

__all__ = ["provider", "provider_process"]


@dataclass(frozen=True, slots=True)
class Service:
    app: FastAPI
    client: httpx.AsyncClient
    url: str

    async def stored(self) -> int:
        return int((await owner.ask(self.url, "SELECT count(*) FROM memories"))[0][0])


@pytest.fixture
async def service(fresh_database_url: str, provider: StandIn) -> AsyncIterator[Service]:
    settings = settings_for(
        fresh_database_url,
        embedding_provider="openai",
        embedding_base_url=provider.url,
        embedding_model="stand-in",
        embedding_dimensions=32,
        embedding_request_dimensions=True,
        embedding_timeout=0.5,
        embedding_deadline=1.0,
        embedding_attempts=2,
    )
    async with running(settings) as app, connected(app) as client:
        yield Service(app, client, fresh_database_url)


@pytest.mark.parametrize(
    ("behaviour", "order", "status"),
    [
        ("error", {"status": 500}, 503),
        ("rate_limit", {}, 503),
        ("cut", {}, 503),
        ("garbage", {}, 503),
        ("truncated", {}, 503),
        ("nan", {}, 503),
        ("wrong_count", {}, 503),
        ("slow", {"delay": 5}, 504),
    ],
)
async def test_a_failing_provider_is_a_problem_and_nothing_is_written(
    service: Service, provider: StandIn, behaviour: str, order: dict[str, object], status: int
) -> None:
    await provider.behave(behaviour, **order)
    for path, body in (("/memories/typed/fact", fact()), ("/query", {"query": "where does the user work?"})):
        answer = await service.client.post(path, json=body)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert "provider" in answer.json()["type"]
    assert await service.stored() == 0
    await provider.reset()
    assert (await service.client.post("/memories/typed/fact", json=fact())).status_code == 201
    assert await service.stored() == 1


async def test_no_connection_is_held_while_the_provider_is_waited_for(service: Service, provider: StandIn) -> None:
    await provider.behave("slow", delay=0.6)
    database = service.app.state.runtime.database
    writes = [
        asyncio.create_task(service.client.post("/memories/typed/fact", json=fact(predicate=f"p{place}")))
        for place in range(12)
    ]
    for _ in range(250):
        if (await provider.seen())["most_in_flight"] > 0:
            break
        await asyncio.sleep(0.02)
    assert (await provider.seen())["most_in_flight"] > 0
    # Those that the provider's slots are taken for have read nothing either; keys are looked up before.
    await asyncio.sleep(0.1)
    most = 0
    for _ in range(8):
        most = max(most, database.pool_in_use())
        await asyncio.sleep(0.02)
    assert most <= 1, "twelve writes wait; noting when a key was used may take a connection"
    assert {(await one).status_code for one in writes} <= {201, 504}
