"""Models in this process: loaded once in the background, answered without until then, bounded in time."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.errors import ConfigurationError, ProviderMisconfigured, ProviderTimeout, ProviderUnavailable
from app.metrics import Metrics
from app.providers.factory import faults, make_embedder, make_reranker
from app.providers.local_models import FastembedEmbedder, LocalReranker
from app.settings import Settings

DIMENSIONS = 8


class Letters:
    """Embeds a text by the letters it has; a text of digits has no meaning to it."""

    def embed(self, documents: Sequence[str], batch_size: int = 64) -> Iterator[Any]:
        assert batch_size
        for text in documents:
            vector = np.zeros(DIMENSIONS, dtype=np.float32)
            for letter in filter(str.isalpha, text):
                vector[ord(letter) % DIMENSIONS] += 3
            yield vector


class Lengths:
    """Scores a text by its length, slowly."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.read = 0

    def rerank(self, query: str, documents: Sequence[str]) -> list[float]:
        assert query
        time.sleep(self.seconds)
        self.read += len(documents)
        return [len(one) / 10 - 1 for one in documents]


async def loaded(model: FastembedEmbedder | LocalReranker) -> None:
    async with asyncio.timeout(30):
        while model.fault is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_vectors_are_of_unit_length_in_the_order_of_the_texts() -> None:
    model = FastembedEmbedder("letters", DIMENSIONS, Letters)
    vectors = await model.embed(["abba", "", "123", "a"])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0)
    assert np.allclose(vectors[1], vectors[2])
    assert float(vectors[0] @ vectors[3]) > 0.5
    assert model.name == "fastembed:letters"


async def test_questions_do_not_wait_for_a_model_that_loads_and_writes_do() -> None:
    begun = threading.Event()

    def load() -> Letters:
        begun.wait(30)
        return Letters()

    model = FastembedEmbedder("slow", DIMENSIONS, load)
    assert "loading" in faults(None, model)["embedding_provider"]
    with pytest.raises(ProviderUnavailable, match="loading"):
        await model.embed(["why"], purpose="query")
    writing = asyncio.create_task(model.embed(["because"]))
    await asyncio.sleep(0.05)
    assert not writing.done()
    begun.set()
    assert (await writing).shape == (1, DIMENSIONS)
    assert faults(None, model) == {}
    assert (await model.embed(["why"], purpose="query")).shape == (1, DIMENSIONS)


async def test_a_model_that_cannot_be_loaded_says_why() -> None:
    def load() -> Letters:
        raise OSError("no such file: model.onnx")

    model = FastembedEmbedder("broken", DIMENSIONS, load)
    with pytest.raises(ProviderMisconfigured, match=r"model\.onnx"):
        await model.embed(["x"])
    assert "can't be loaded" in str(model.fault)


async def test_another_length_of_vectors_names_the_setting() -> None:
    with pytest.raises(ProviderMisconfigured, match="TM_EMBEDDING_DIMENSIONS"):
        await FastembedEmbedder("letters", 5, Letters).embed(["x"])


async def test_a_reranker_reads_so_many_texts_and_no_more() -> None:
    encoder = Lengths()
    model = LocalReranker("lengths", lambda: encoder, deadline=10, most=6)
    await loaded(model)
    scores = await model.score("which", ["x" * length for length in range(1, 11)])
    assert encoder.read == 6
    assert scores[:6] == sorted(scores[:6])
    assert all(0 < one < 1 for one in scores[:6])
    assert scores[6:] == [0.0] * 4


async def test_a_late_reranker_is_given_up_between_two_batches() -> None:
    encoder = Lengths(seconds=0.2)
    model = LocalReranker("slow", lambda: encoder, deadline=0.3, most=40)
    await loaded(model)
    with pytest.raises(ProviderTimeout, match="no scores within"):
        await model.score("which", ["x"] * 40)
    read = encoder.read
    await asyncio.sleep(0.3)
    assert encoder.read == read < 40


async def test_a_reranker_that_loads_is_done_without() -> None:
    hold = threading.Event()

    def load() -> Lengths:
        hold.wait(30)
        return Lengths()

    model = LocalReranker("slow", load, deadline=1, most=3)
    told = faults(None, FastembedEmbedder("letters", DIMENSIONS, Letters), model)
    assert told["reranker"] == "the reranker slow is loading"
    with pytest.raises(ProviderUnavailable):
        await model.score("which", ["x"])
    hold.set()


def test_without_the_extra_the_install_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.providers.local_models.find_spec", lambda _: None)
    with pytest.raises(ConfigurationError, match=r"typed-memory\[local\]"):
        make_embedder(Settings(embedding_provider="fastembed", embedding_model="x"), Metrics())
    with pytest.raises(ConfigurationError, match=r"typed-memory\[local\]"):
        make_reranker(Settings(rerank_provider="fastembed", rerank_model="x"))


def test_nothing_of_it_is_imported_unless_it_is_configured() -> None:
    make_embedder(Settings(), Metrics())
    assert make_reranker(Settings()) is None
    assert "fastembed" not in sys.modules
    assert "onnxruntime" not in sys.modules


needs_onnx = pytest.mark.skipif(
    find_spec("fastembed") is None or find_spec("onnx") is None,
    reason="runs tiny ONNX models: pip install 'typed-memory[local]' onnx",
)


@needs_onnx
async def test_a_model_in_a_folder_embeds_by_onnxruntime(tmp_path: Path) -> None:
    from tests.providers.tiny_onnx import write_model  # noqa: PLC0415 - takes onnx

    write_model(tmp_path / "tiny", ["the", "cat", "sat", "dog", "ran"], DIMENSIONS)
    settings = Settings(
        embedding_provider="fastembed", embedding_model=str(tmp_path / "tiny"), embedding_dimensions=DIMENSIONS
    )
    model = make_embedder(settings, Metrics())
    first, same, other = await model.embed(["the cat sat", "the cat sat", "dog ran"])
    assert model.name == "fastembed:tiny"
    assert float(first @ same) > 0.999
    assert float(first @ other) < 0.9


@needs_onnx
async def test_a_reranker_in_a_folder_scores_by_onnxruntime(tmp_path: Path) -> None:
    from tests.providers.tiny_onnx import write_cross_encoder  # noqa: PLC0415 - takes onnx

    write_cross_encoder(tmp_path / "crossing", ["cat", "the", "sat", "dog"])
    model = make_reranker(Settings(rerank_provider="fastembed", rerank_model=str(tmp_path / "crossing")))
    assert isinstance(model, LocalReranker)
    await loaded(model)
    one, two, none = await model.score("the", ["the cat sat", "cat the cat", "the dog"])
    assert two > one > none == 0.5


def test_a_reranker_that_is_neither_known_nor_a_folder_is_named() -> None:
    pytest.importorskip("fastembed")
    with pytest.raises(ConfigurationError, match="'nowhere', and there is no such folder"):
        make_reranker(Settings(rerank_provider="fastembed", rerank_model="nowhere"))
