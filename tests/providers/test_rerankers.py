"""Rerankers against a real server that speaks both formats, slow, failing and talking nonsense."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import SecretStr

from app.errors import ConfigurationError, ProviderError, ProviderMisconfigured, ProviderProtocolError, ProviderTimeout
from app.providers.factory import make_reranker
from app.providers.rerankers import Reranker, RerankModel, Wire
from app.settings import Settings
from tests.provider_server.fixtures import StandIn
from tests.provider_server.provider import overlap

KEY = "sk-a-key-that-nobody-may-see"
QUESTION = "who plays the harp"
TEXTS = ["it rains", "Clara plays the harp", "Robert plays chess", ""]
BOTH = pytest.mark.parametrize("wire", ["cohere", "tei"])


@asynccontextmanager
async def reranker(provider: StandIn, wire: Wire, deadline: float = 2.0, **more: Any) -> AsyncIterator[Reranker]:
    base = provider.url if wire == "cohere" else provider.root
    model = RerankModel(wire=wire, base_url=base, model="stand-in", api_key=SecretStr(KEY), **more)
    made = Reranker(model, deadline=deadline)
    yield made
    await made.aclose()


@BOTH
async def test_each_text_gets_its_own_score_whatever_the_order_of_the_answer(provider: StandIn, wire: Wire) -> None:
    async with reranker(provider, wire) as model:
        assert await model.score(QUESTION, TEXTS) == pytest.approx([overlap(QUESTION, one) for one in TEXTS])
        assert await model.score(QUESTION, []) == []
    [request] = (await provider.seen())["requests"]
    assert KEY in str(request)


@BOTH
async def test_many_texts_go_in_batches(provider: StandIn, wire: Wire) -> None:
    texts = [f"text {number} about the harp" for number in range(70)]
    async with reranker(provider, wire) as model:
        assert await model.score("text 69", texts) == pytest.approx([overlap("text 69", one) for one in texts])
    assert (await provider.seen())["count"] == 3


NONSENSE: list[tuple[str, dict[str, Any]]] = [
    ("garbage", {}),
    ("truncated", {}),
    *(
        ("error", {"status": 200, "body": body})
        for body in (
            {},
            [],
            {"results": [{"index": 0, "relevance_score": 0.5}]},
            [{"index": 0, "score": 0.5}] * 4,
            {"results": [{"index": place, "relevance_score": None} for place in range(4)]},
            [{"index": place, "score": "high"} for place in range(4)],
            {"results": [{"index": place, "relevance_score": 7.5} for place in range(4)]},
            [{"index": place, "score": -3.0} for place in range(4)],
        )
    ),
]


@BOTH
@pytest.mark.parametrize(("behaviour", "order"), NONSENSE)
async def test_nonsense_is_an_error_and_no_order(
    provider: StandIn, wire: Wire, behaviour: str, order: dict[str, Any]
) -> None:
    await provider.behave(behaviour, **order)
    async with reranker(provider, wire) as model:
        with pytest.raises(ProviderProtocolError) as caught:
            await model.score(QUESTION, TEXTS)
    assert "Clara" not in str(caught.value)
    assert KEY not in str(caught.value)


@BOTH
@pytest.mark.parametrize("status", [400, 401, 404, 413, 422, 429, 500, 503])
async def test_a_refusal_or_failure_is_not_tried_again(provider: StandIn, wire: Wire, status: int) -> None:
    await provider.behave("error", status=status)
    async with reranker(provider, wire) as model:
        with pytest.raises(ProviderError) as caught:
            await model.score(QUESTION, TEXTS)
    assert (await provider.seen())["count"] == 1
    assert KEY not in str(caught.value)
    if status == 401:
        assert isinstance(caught.value, ProviderMisconfigured)
        assert "TM_RERANK_API_KEY" in str(caught.value)


@BOTH
async def test_it_is_given_up_when_it_is_late(provider: StandIn, wire: Wire) -> None:
    await provider.behave("slow")
    async with reranker(provider, wire, deadline=0.2) as model:
        started = time.monotonic()
        with pytest.raises(ProviderTimeout):
            await model.score(QUESTION, [f"text {number}" for number in range(70)])
        assert time.monotonic() - started < 10


async def test_one_that_is_not_there_is_an_error() -> None:
    model = Reranker(RerankModel(wire="tei", base_url="http://127.0.0.1:1"), deadline=60.0)
    with pytest.raises(ProviderError, match="can't be reached"):
        await model.score(QUESTION, TEXTS)
    await model.aclose()


async def test_settings_choose_it() -> None:
    assert make_reranker(Settings()) is None
    with pytest.raises(ConfigurationError, match="TM_RERANK_BASE_URL"):
        make_reranker(Settings(rerank_provider="tei"))
    with pytest.raises(ConfigurationError, match="TM_RERANK_API_KEY"):
        make_reranker(
            Settings(rerank_provider="cohere", rerank_base_url="http://a", rerank_api_key=SecretStr("two words"))
        )
    made = make_reranker(Settings(rerank_provider="cohere", rerank_base_url="https://api.example.com/v2"))
    assert made is not None
    await asyncio.gather(made.aclose())
