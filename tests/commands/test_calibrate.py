"""Calibrating an embedding model: measured on built-in pairs, stored with the model, used from the next start on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from app.command_line.terminal import CommandFailed
from app.db import embedding_models
from app.english.word_lists import pairs
from app.errors import ConfigurationError
from app.operations.commands.calibrate import Calibrating, read_pairs
from app.providers.embeddings import Purpose, Vectors
from app.providers.wordllama import WordllamaEmbedder
from app.read.relevance import CALIBRATIONS, UNKNOWN, calibration_of
from tests.api.conftest import running, settings_for
from tests.commands.program import run

WORDLLAMA = CALIBRATIONS["wordllama-256"]


@dataclass
class Squeezed:
    """The embedded model with all its vectors turned towards one direction: everything is more alike."""

    towards: float
    name: str = "squeezed"
    dimensions: int = 256

    async def embed(self, texts: list[str], *, purpose: Purpose = "document") -> Vectors:
        vectors = await WordllamaEmbedder().embed(texts, purpose=purpose)
        turned = vectors + self.towards * np.ones(self.dimensions) / 16
        return np.asarray(turned / np.linalg.norm(turned, axis=1, keepdims=True), dtype=np.float32)

    async def aclose(self) -> None:
        return None


def calibrating(url: str, embedder: object) -> Calibrating:
    return Calibrating(owner_url=url, database=None, embedder=embedder)  # type: ignore[arg-type]


async def test_the_embedded_model_is_the_scale_itself() -> None:
    assert await calibrating("", WordllamaEmbedder()).measure() == WORDLLAMA
    for cosine in (-0.1, 0.0, 0.3, 1.0):
        assert WORDLLAMA.scaled(cosine) == pytest.approx(cosine)


@pytest.mark.parametrize("towards", [0.5, 1.0, 2.0])
async def test_a_model_to_which_everything_is_alike_gets_the_same_scale(towards: float) -> None:
    found = await calibrating("", Squeezed(towards)).measure()
    assert found.unrelated > WORDLLAMA.unrelated + 0.1
    assert found.scaled(found.unrelated) == pytest.approx(WORDLLAMA.unrelated)
    assert found.scaled(found.related) == pytest.approx(WORDLLAMA.related)


async def test_a_model_that_tells_nothing_apart_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="hardly tells an answer"):
        await calibrating("", Squeezed(100.0)).measure()


def test_a_stored_calibration_goes_before_the_known_and_the_known_before_the_default() -> None:
    assert calibration_of("wordllama-256", unrelated=0.5, related=0.9).unrelated == 0.5
    assert calibration_of("wordllama-256", unrelated=None, related=None) == WORDLLAMA
    assert calibration_of("openai:else", unrelated=None, related=None) == UNKNOWN


def test_no_pair_is_about_what_another_is_about() -> None:
    built_in = pairs("calibration", "pairs")
    assert len(built_in) > 30
    assert len(set(built_in.values())) == len(built_in)


GERMAN: Mapping[str, str] = {
    f"Wann beginnt der Kurs im {what}?": f"der Kurs im {what} beginnt um {number} Uhr"
    for number, what in enumerate(
        ("Töpfern", "Segeln", "Fechten", "Nähen", "Backen", "Turnen", "Malen", "Reiten", "Singen", "Imkern"), 5
    )
}


def written(path: Path, given: Mapping[str, str]) -> Path:
    lines = [json.dumps({"question": question, "answer": answer}) for question, answer in given.items()]
    path.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    return path


async def test_pairs_of_ones_own_take_the_place_of_the_built_in_ones(tmp_path: Path) -> None:
    own = read_pairs(written(tmp_path / "pairs.jsonl", GERMAN))
    assert own == GERMAN
    found = await calibrating("", WordllamaEmbedder()).measure(own)
    assert found.unrelated > WORDLLAMA.unrelated + 0.1, "they are all of courses"
    assert found.related > found.unrelated


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (['{"question": "a", "answer": "b"}', "{"], "line 2: the line"),
        (['{"question": "a"}'], "line 1: answer: Field required"),
        (['{"question": "a", "answer": ""}'], "line 1: answer"),
        (['{"question": "a", "answer": "b", "x": 1}'], "line 1: x"),
        (['{"question": "a", "answer": "b"}', '{"question": "c", "answer": "b"}'], "line 2: .* twice"),
        (['{"question": "a", "answer": "b"}'], "has 1 pairs: a median takes at least 10"),
    ],
)
def test_what_is_wrong_with_a_file_of_pairs_is_named(tmp_path: Path, lines: list[str], fault: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(CommandFailed, match=fault):
        read_pairs(path)


async def test_the_command_stores_it_and_the_next_start_uses_it(fresh_database_url: str, tmp_path: Path) -> None:
    settings = settings_for(fresh_database_url)
    async with running(settings) as app:
        assert app.state.runtime.queries.pipeline.search.calibration == WORDLLAMA
        dry = run("calibrate", "--dry-run", TM_DATABASE_URL=fresh_database_url, TM_DATA_DIR=str(tmp_path))
        assert "Nothing was stored." in dry.stdout
        own = written(tmp_path / "pairs.jsonl", GERMAN)
        given = ("calibrate", "--dry-run", "--pairs", str(own))
        told = run(*given, TM_DATABASE_URL=fresh_database_url, TM_DATA_DIR=str(tmp_path))
        assert "Nothing was stored." in told.stdout, told.stderr
        assert told.stdout != dry.stdout
        [model] = await embedding_models.read_models(app.state.runtime.database)
        assert (model.unrelated, model.related) == (None, None)
        done = run("calibrate", TM_DATABASE_URL=fresh_database_url, TM_DATA_DIR=str(tmp_path))
        assert "Stored." in done.stdout
        [model] = await embedding_models.read_models(app.state.runtime.database)
        assert (model.unrelated, model.related) == (WORDLLAMA.unrelated, WORDLLAMA.related)
        await embedding_models.calibrate(fresh_database_url, model.id, unrelated=0.4, related=0.8)
    async with running(settings) as app:
        assert app.state.runtime.queries.pipeline.search.calibration.unrelated == 0.4
