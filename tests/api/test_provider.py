"""With a model provider that fails: a clear answer, nothing half-written, and no connection held while waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest
from fastapi import FastAPI

from tests.api.conftest import connected, fact, running, served, settings_for
from tests.provider_server.fixtures import StandIn, provider, provider_process
from tests.support import owner
from tests.support.waiting import PATIENCE, eventually

__all__ = ["provider", "provider_process"]


@dataclass(frozen=True, slots=True)
class Service:
    app: FastAPI
    client: httpx.AsyncClient
    url: str

    async def stored(self) -> int:
        return int((await owner.ask(self.url, "SELECT count(*) FROM memories"))[0][0])


@pytest.fixture
async def service(request: pytest.FixtureRequest, fresh_database_url: str, provider: StandIn) -> AsyncIterator[Service]:
    """A service whose provider has as many seconds for an answer as the fixture's parameter says."""
    settings = settings_for(
        fresh_database_url,
        embedding_provider="openai",
        embedding_base_url=provider.url,
        embedding_model="stand-in",
        embedding_dimensions=32,
        embedding_request_dimensions=True,
        embedding_timeout=getattr(request, "param", PATIENCE),
        embedding_deadline=2 * PATIENCE,
        embedding_attempts=2,
    )
    async with running(settings) as app, connected(app) as client:
        yield Service(app, client, fresh_database_url)


HASTY = 2.0


@pytest.mark.parametrize(
    ("service", "behaviour", "order", "status"),
    [
        (PATIENCE, "error", {"status": 500}, 503),
        (PATIENCE, "rate_limit", {}, 503),
        (PATIENCE, "cut", {}, 503),
        (PATIENCE, "garbage", {}, 503),
        (PATIENCE, "truncated", {}, 503),
        (PATIENCE, "nan", {}, 503),
        (PATIENCE, "wrong_count", {}, 503),
        (HASTY, "slow", {"delay": 600}, 504),
    ],
    indirect=["service"],
)
async def test_a_failing_provider_is_a_problem_and_nothing_is_written(
    service: Service, provider: StandIn, behaviour: str, order: dict[str, object], status: int
) -> None:
    assert (await service.client.post("/memories/typed/fact", json=fact(object="Acme"))).status_code == 201
    await provider.behave(behaviour, **order)
    asked = {"query": "where does the user work?", "user_id": "u1"}
    for path, body in (("/memories/typed/fact", fact()), ("/query", asked)):
        answer = await service.client.post(path, json=body)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert "provider" in answer.json()["type"]
    assert await service.stored() == 1
    await provider.reset()
    assert (await service.client.post("/memories/typed/fact", json=fact())).status_code == 201
    assert await service.stored() == 2


@pytest.mark.long
async def test_no_connection_is_held_while_the_provider_is_waited_for(service: Service, provider: StandIn) -> None:
    await provider.behave("slow", delay=600)
    database = service.app.state.runtime.database
    writes = [
        asyncio.create_task(served(service.client, "/memories/typed/fact", fact(predicate=f"p{place}")))
        for place in range(12)
    ]

    async def waited_for() -> bool:
        return bool((await provider.seen())["most_in_flight"])

    async def none_held() -> bool:
        """Keys are looked up before, and when a key was used is noted beside a request."""
        return bool(database.pool_in_use() == 0)

    await eventually(waited_for)
    await eventually(none_held)
    # Those that the provider's slots are taken for wait as well.
    assert not any(one.done() for one in writes)
    await provider.recover()
    assert {(await one).status_code for one in writes} == {201}


async def test_vectors_of_another_length_turn_readiness_degraded_with_the_mend(
    fresh_database_url: str, provider: StandIn
) -> None:
    settings = settings_for(
        fresh_database_url,
        embedding_provider="openai",
        embedding_base_url=provider.url,
        embedding_model="stand-in",
        embedding_dimensions=33,
    )
    async with running(settings) as app, connected(app) as client:
        assert (await client.post("/memories/typed/fact", json=fact())).status_code >= 500
        ready = (await client.get("/readyz")).json()
        assert ready["ready"]
        [reason] = ready["degraded"].values()
        assert "not 33: set TM_EMBEDDING_DIMENSIONS to what it answers" in reason
