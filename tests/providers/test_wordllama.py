import asyncio
import logging
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import ConfigurationError
from app.providers.embeddings import Embedder, has_no_words
from app.providers.wordllama import DIRECT_CHARACTERS, WordllamaEmbedder

TEXTS = [
    "I went to the support group yesterday and it was so powerful.",
    "tea",
    "我喜欢猫 ☃",
    "  spaces   and\nlines ",
    "long " * 3000,
    "pg_trgm v1.2.3",
]


@pytest.fixture(scope="module")
def embedder() -> WordllamaEmbedder:
    return WordllamaEmbedder()


async def test_it_is_an_embedder_of_unit_vectors(embedder: WordllamaEmbedder) -> None:
    any_embedder: Embedder = embedder
    vectors = await any_embedder.embed(TEXTS)
    assert (any_embedder.name, any_embedder.dimensions) == ("wordllama-256", 256)
    assert vectors.shape == (len(TEXTS), 256)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert (await any_embedder.embed([])).shape == (0, 256)
    await any_embedder.aclose()


async def test_vectors_are_those_of_the_wordllama_package(
    embedder: WordllamaEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "basicConfig", lambda **_: None)
    import wordllama  # noqa: PLC0415

    folder = Path(wordllama.__file__).parent
    reference = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    assert await embedder.embed(TEXTS) == pytest.approx(reference.embed(TEXTS, norm=True), abs=1e-6)


async def test_a_text_has_one_vector_alone_or_in_a_batch_asked_or_told(embedder: WordllamaEmbedder) -> None:
    together = await embedder.embed(TEXTS)
    for number, text in enumerate(TEXTS):
        alone = await embedder.embed([text], purpose="query")
        assert np.array_equal(alone[0], together[number])


async def test_a_text_without_tokens_has_a_valid_vector(embedder: WordllamaEmbedder) -> None:
    vectors = await embedder.embed(["", "tea"])
    assert vectors[0] == pytest.approx(has_no_words(256))


@settings(max_examples=50)
@given(texts=st.lists(st.text(st.characters(), max_size=50), max_size=4))
def test_any_text_has_a_unit_vector(embedder: WordllamaEmbedder, texts: list[str]) -> None:
    vectors = embedder._embed_all(texts)
    assert np.isfinite(vectors).all()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


async def test_only_what_is_short_is_done_on_the_event_loop(
    embedder: WordllamaEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    where: list[bool] = []
    embed_one = embedder._embed_one

    def noting(text: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        where.append(threading.current_thread() is threading.main_thread())
        return embed_one(text)

    monkeypatch.setattr(embedder, "_embed_one", noting)
    await embedder.embed(["x" * DIRECT_CHARACTERS])
    await embedder.embed(["x" * (DIRECT_CHARACTERS + 1)])
    assert where == [True, False]


async def test_calls_at_the_same_time_do_not_disturb_each_other(embedder: WordllamaEmbedder) -> None:
    expected = await embedder.embed(TEXTS)
    for found in await asyncio.gather(*(embedder.embed(TEXTS) for _ in range(8))):
        assert np.array_equal(found, expected)


async def test_the_observer_is_told() -> None:
    outcomes: list[tuple[str, int]] = []
    embedder = WordllamaEmbedder(observer=lambda outcome, _, texts: outcomes.append((outcome, texts)))
    await embedder.embed(["a", "b"])
    assert outcomes == [("ok", 2)]


def test_a_missing_model_stops_the_start_and_names_the_mend(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="TM_EMBEDDING_PROVIDER"):
        WordllamaEmbedder(folder=tmp_path)


@pytest.mark.parametrize(
    "known", ["Where does my sister live now?", "Wo wohnt meine Schwester?", "Где живёт сестра?", "18:30"]
)
def test_it_knows_the_letters_of_scripts_that_it_has_words_of(embedder: WordllamaEmbedder, known: str) -> None:
    assert embedder.coverage(known) > 0.7


@pytest.mark.parametrize(
    "unknown", ["我姐姐现在住在哪里", "우리 누나는 지금 어디에 살아요?", "Πού μένει η αδελφή μου", "أين تعيش أختي"]
)
def test_it_does_not_know_those_of_scripts_that_it_reads_as_bytes(embedder: WordllamaEmbedder, unknown: str) -> None:
    assert embedder.coverage(unknown) < 0.2
