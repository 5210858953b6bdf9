"""Questions whose best matches a reranking model orders, and what is answered when it is late or fails."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.api.conftest import connected, running, settings_for, written
from tests.provider_server.fixtures import StandIn, provider, provider_process

__all__ = ["provider", "provider_process"]

KEY = "sk-a-key-that-nobody-may-see"
QUESTION = "Which of my instruments is the oldest and the most expensive?"
BEST = "Of my instruments the oldest and the most expensive is the harp."


@pytest.fixture(scope="module", params=["cohere", "tei"])
async def client(
    request: pytest.FixtureRequest, module_database_url: str, provider_process: StandIn
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service with a reranker, whose memories these tests only read."""
    settings = settings_for(
        module_database_url,
        rerank_provider=request.param,
        rerank_base_url=provider_process.url if request.param == "cohere" else provider_process.root,
        rerank_model="stand-in",
        rerank_api_key=KEY,
        rerank_deadline=0.5,
    )
    async with running(settings) as app, connected(app) as found:
        for number in range(14):
            content = f"My instruments, note {number}: the oldest is expensive."
            await written(found, "episodic", content=content, session_id="s", sequence_number=number, user_id="u1")
        await written(found, "episodic", content=BEST, session_id="s", sequence_number=99, user_id="u1")
        yield found


async def asked(client: httpx.AsyncClient, **more: Any) -> dict[str, Any]:
    body = {"query": QUESTION, "user_id": "u1", "min_relevance": 0, "explain": True, **more}
    answer = await client.post("/query", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def contents(found: dict[str, Any]) -> list[str]:
    return [one["memory"]["content"] for one in found["memories"]]


async def test_the_best_matches_come_in_the_order_of_the_model(client: httpx.AsyncClient, provider: StandIn) -> None:
    found = await asked(client, rerank=True, top_k=5)
    assert len(found["memories"]) == 5
    assert contents(found)[0] == BEST
    scores = [one["score"] for one in found["memories"]]
    assert scores == sorted(scores, reverse=True)
    assert found["memories"][0]["notes"][0].startswith("rerank: ")
    assert found["degraded"] == []
    [request] = (await provider.seen())["requests"]
    assert len(request["body"].get("documents") or request["body"]["texts"]) == 15


@pytest.mark.parametrize(
    ("behaviour", "order"), [("slow", {}), ("error", {"status": 500}), ("garbage", {}), ("cut", {}), ("truncated", {})]
)
async def test_without_the_model_the_answer_is_the_usual_one_and_says_so(
    client: httpx.AsyncClient,
    provider: StandIn,
    behaviour: str,
    order: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    plain = await asked(client, top_k=5)
    await provider.behave(behaviour, **order)
    found = await asked(client, rerank=True, top_k=5)
    assert contents(found) == contents(plain)
    assert found["context"]["text"] == plain["context"]["text"]
    [said] = found["degraded"]
    assert said.startswith("ranked without a reranker: ")
    assert KEY not in said
    assert KEY not in "".join(capsys.readouterr())


async def test_it_is_asked_only_when_it_is_asked_for_and_there_is_something_to_order(
    client: httpx.AsyncClient, provider: StandIn
) -> None:
    await asked(client)
    empty = await asked(client, rerank=True, user_id="nobody")
    assert (empty["memories"], empty["degraded"]) == ([], [])
    assert (await provider.seen())["count"] == 0
