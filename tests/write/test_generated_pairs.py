"""Pairs of statements that differ in one word of a class stay two; paraphrases merge as before."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from app.memory.candidate import WriteDecision
from app.memory.normalise import sentence
from app.model import MemoryStatus
from app.providers.wordllama import WordllamaEmbedder
from app.write.dedup import repetition
from app.write.resolve import resolve
from app.write.values import Existing
from tests.support.stores import Store, embedder
from tests.write.swaps import PAIRS, Pair
from tests.write.test_fallback import prepared

pytestmark = pytest.mark.long

__all__ = ["embedder"]

PARAPHRASES = [
    (line.split(" | ")[0], line.split(" | ")[1])
    for line in (Path(__file__).parents[1] / "english" / "paraphrases.txt").read_text().splitlines()
    if not line.startswith("#")
]
MERGED_BEFORE = 181
"""Paraphrases that were duplicates while only listed words kept near texts apart."""


async def merged(pairs: list[Pair], embedder: WordllamaEmbedder) -> list[Pair]:
    """Return the pairs whose second statement the service takes for a repetition of the first."""
    vectors = await embedder.embed([side for pair in pairs for side in pair])
    likeness = (vectors[::2] * vectors[1::2]).sum(axis=1).astype(np.float64).tolist()
    return [
        pair
        for pair, cosine in zip(pairs, likeness, strict=True)
        if decided(*pair, cosine) or sentence(pair[0]) == sentence(pair[1])
    ]


def decided(first: str, second: str, cosine: float) -> bool:
    new = resolve(prepared("semantic", content=second), [], uuid4())
    there = Existing(
        id=uuid4(),
        type="semantic",
        slot=None,
        value=None,
        status=MemoryStatus.ACTIVE,
        stated_at=new.prepared.stated_at,
        valid_from=new.prepared.stated_at,
        parts=new.prepared.parts,
        confidence=0.7,
        relation="near",
        content=first,
        payload={"content": first},
        topic=None,
        session_id=None,
        sequence_number=None,
        similarity=cosine,
    )
    return repetition(new, [there], {}) is not None


@pytest.mark.parametrize("name", PAIRS)
async def test_statements_that_differ_in_a_word_of_a_class_stay_two(name: str, embedder: WordllamaEmbedder) -> None:
    pairs = list(PAIRS[name])
    assert len(pairs) >= 500
    assert await merged(pairs, embedder) == []
    assert await merged([(other, one) for one, other in pairs], embedder) == []


async def test_paraphrases_merge_as_before(embedder: WordllamaEmbedder) -> None:
    assert len(PARAPHRASES) >= 200
    assert len(await merged(PARAPHRASES, embedder)) >= MERGED_BEFORE


@pytest.mark.parametrize("name", PAIRS)
async def test_a_batch_keeps_statements_that_differ_in_a_word_of_a_class(store: Store, name: str) -> None:
    pairs = PAIRS[name][:: len(PAIRS[name]) // 60]
    texts = sorted({side for pair in pairs for side in pair})
    outcomes = await store.write_all([store.candidate("semantic", content=text) for text in texts])
    into = {
        frozenset((text, one.memory.content))
        for text, one in zip(texts, outcomes, strict=True)
        if one.decision is not WriteDecision.ADDED and one.memory is not None
    }
    assert into.isdisjoint(map(frozenset, PAIRS[name]))
