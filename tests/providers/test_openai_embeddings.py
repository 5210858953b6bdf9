import numpy as np
import pytest

from app.metrics import Metrics
from app.providers.embeddings import has_no_words
from app.providers.factory import make_embedder
from app.settings import Settings
from tests.provider_server.fixtures import StandIn
from tests.provider_server.provider import DEFAULT_DIMENSIONS
from tests.providers.embedding import KEY, POLICY, Make, attempts, unit


async def test_vectors_have_unit_length_and_the_order_of_the_texts(provider: StandIn, make: Make) -> None:
    vectors = await make().embed(["green tea", "black coffee", "green tea leaves"])
    assert vectors.shape == (3, DEFAULT_DIMENSIONS)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    assert vectors[1] == pytest.approx(unit("black coffee"), abs=1e-6)
    assert vectors[0] @ vectors[2] > vectors[0] @ vectors[1]


async def test_the_request_is_the_openai_one(provider: StandIn, make: Make) -> None:
    await make().embed(["tea"])
    seen = (await provider.seen())["requests"]
    assert seen == [
        {
            "path": "/v1/embeddings",
            "body": {"model": "stand-in", "input": ["tea"], "encoding_format": "float"},
            "authorization": f"Bearer {KEY}",
        }
    ]


async def test_without_a_key_none_is_sent(provider: StandIn, make: Make) -> None:
    await make(api_key=None, base_url=provider.url + "/").embed(["tea"])
    assert (await provider.seen())["requests"][0]["authorization"] is None


async def test_fewer_dimensions_are_asked_for_when_told_to(provider: StandIn, make: Make) -> None:
    vectors = await make(dimensions=8, request_dimensions=True).embed(["tea"])
    assert vectors[0] == pytest.approx(unit("tea", 8), abs=1e-6)


async def test_prefixes_that_are_configured_tell_a_query_from_a_document(
    provider: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured = {
        "PROVIDER": "openai",
        "BASE_URL": provider.url,
        "MODEL": "stand-in",
        "DIMENSIONS": str(DEFAULT_DIMENSIONS),
        "QUERY_PREFIX": "query: ",
        "DOCUMENT_PREFIX": "passage: ",
    }
    for name, value in configured.items():
        monkeypatch.setenv(f"TM_EMBEDDING_{name}", value)
    embedder = make_embedder(Settings(), Metrics())
    await embedder.embed(["tea"], purpose="query")
    await embedder.embed(["tea"])
    await embedder.aclose()
    seen = (await provider.seen())["requests"]
    assert [request["body"]["input"] for request in seen] == [["query: tea"], ["passage: tea"]]


async def test_order_is_kept_across_batches(provider: StandIn, make: Make) -> None:
    texts = [f"text number {number}" for number in range(10)]
    await provider.behave("slow", times=1, delay=0.2)
    vectors = await make(batch_size=3).embed(texts)
    assert vectors == pytest.approx(np.array([unit(text) for text in texts]), abs=1e-6)
    seen = (await provider.seen())["requests"]
    assert sorted(len(request["body"]["input"]) for request in seen) == [1, 3, 3, 3]


async def test_no_more_batches_at_a_time_than_allowed(provider: StandIn, make: Make) -> None:
    await provider.behave("slow", delay=0.1)
    await make(batch_size=1).embed([f"text {number}" for number in range(8)])
    assert (await provider.seen())["most_in_flight"] == POLICY.concurrency


async def test_nothing_to_embed_asks_nothing(provider: StandIn, make: Make) -> None:
    assert (await make().embed([])).shape == (0, DEFAULT_DIMENSIONS)
    assert await attempts(provider) == 0


async def test_empty_texts_are_not_sent_and_have_a_valid_vector(provider: StandIn, make: Make) -> None:
    vectors = await make().embed(["", "tea", " \n"])
    assert vectors[0] == pytest.approx(has_no_words(DEFAULT_DIMENSIONS))
    assert vectors[1] == pytest.approx(unit("tea"), abs=1e-6)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    assert (await provider.seen())["requests"][0]["body"]["input"] == ["tea"]
