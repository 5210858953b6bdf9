"""Questions whose best matches a reranking model orders, and what is answered when it is late or fails."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import pytest

from app.providers.local_models import LocalReranker
from app.settings import Settings
from tests.api.conftest import connected, running, settings_for, written
from tests.provider_server.fixtures import StandIn, provider, provider_process
from tests.support.waiting import PATIENCE

__all__ = ["provider", "provider_process"]

KEY = "sk-a-key-that-nobody-may-see"
QUESTION = "Which of my instruments is the oldest and the most expensive?"
BEST = "Of my instruments the oldest and the most expensive is the harp."


@pytest.fixture(scope="module", params=["cohere", "tei"])
def reranked(request: pytest.FixtureRequest, module_database_url: str, provider_process: StandIn) -> Settings:
    """Settings of a service with a reranker."""
    return settings_for(
        module_database_url,
        rerank_provider=request.param,
        rerank_base_url=provider_process.url if request.param == "cohere" else provider_process.root,
        rerank_model="stand-in",
        rerank_api_key=KEY,
        rerank_deadline=PATIENCE,
    )


@pytest.fixture(scope="module")
async def client(reranked: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A client of such a service, whose memories these tests only read."""
    async with running(reranked) as app, connected(app) as found:
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
    ("behaviour", "order"), [("error", {"status": 500}), ("garbage", {}), ("cut", {}), ("truncated", {})]
)
async def test_without_the_model_the_answer_is_the_usual_one_and_says_so(
    client: httpx.AsyncClient,
    provider: StandIn,
    behaviour: str,
    order: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    await answers_as_usual(client, provider, behaviour, **order)
    assert KEY not in "".join(capsys.readouterr())


async def test_a_late_model_is_not_waited_for(
    client: httpx.AsyncClient, reranked: Settings, provider: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    hasty = reranked.model_copy(update={"rerank_deadline": 0.5})
    async with running(hasty) as app, connected(app, client.headers["authorization"].split()[1]) as impatient:
        await answers_as_usual(impatient, provider, "slow", delay=600)
    assert KEY not in "".join(capsys.readouterr())


async def answers_as_usual(client: httpx.AsyncClient, provider: StandIn, behaviour: str, **order: Any) -> None:
    plain = await asked(client, top_k=5)
    await provider.behave(behaviour, **order)
    found = await asked(client, rerank=True, top_k=5)
    assert contents(found) == contents(plain)
    assert found["context"]["text"] == plain["context"]["text"]
    [said] = found["degraded"]
    assert said.startswith("ranked without a reranker: ")
    assert KEY not in said


class Harps:
    """Finds a text that tells of a harp better than any other."""

    def rerank(self, query: str, documents: Sequence[str]) -> list[float]:
        assert query
        return [float("harp" in one) for one in documents]


async def test_a_model_in_the_process_is_loaded_beside_answers_and_readiness_says_so(
    client: httpx.AsyncClient, reranked: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = threading.Event()

    def load() -> Harps:
        loads.wait(PATIENCE)
        return Harps()

    local = LocalReranker("harps", load, deadline=PATIENCE, most=30)
    monkeypatch.setattr("app.assembly.make_reranker", lambda _: local)
    async with running(reranked) as app, connected(app, client.headers["authorization"].split()[1]) as found:
        ready = (await found.get("/readyz")).json()
        assert (ready["ready"], ready["degraded"]["reranker"]) == (True, "the reranker harps is loading")
        [said] = (await asked(found, rerank=True, top_k=5))["degraded"]
        assert said == "ranked without a reranker: the reranker harps is loading"
        loads.set()
        while local.fault is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert "reranker" not in (await found.get("/readyz")).json()["degraded"]
        answer = await asked(found, rerank=True, top_k=5)
        assert (contents(answer)[0], answer["degraded"]) == (BEST, [])


async def test_it_is_asked_only_when_it_is_asked_for_and_there_is_something_to_order(
    client: httpx.AsyncClient, provider: StandIn
) -> None:
    await asked(client)
    empty = await asked(client, rerank=True, user_id="nobody")
    assert (empty["memories"], empty["degraded"]) == ([], [])
    assert (await provider.seen())["count"] == 0
