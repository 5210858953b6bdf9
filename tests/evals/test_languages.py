"""Four languages are told and asked in the same language, with a small multilingual embedder's recorded vectors."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from evals import languages
from evals.metrics import mean

pytestmark = pytest.mark.long

LEAST = 0.75
"""Share of the questions of each language whose answer is among the first three matches."""


def test_every_pair_has_its_vectors_and_no_two_are_the_same() -> None:
    pairs = languages.pairs()
    assert Counter(one.language for one in pairs) == dict.fromkeys(("German", "Spanish", "Japanese", "Arabic"), 16)
    known = languages.recorded()
    assert len(known) == 2 * len(pairs)
    assert np.allclose([np.linalg.norm(one) for one in known.values()], 1.0, atol=1e-5)


def test_questions_are_in_other_words_than_what_answers_them() -> None:
    for one in languages.pairs():
        shared = {*one.says.lower().split()} & {*one.asked.lower().split()}
        assert len([word for word in shared if len(word) > 4]) <= 1, one


@pytest.mark.timeout(600)
async def test_each_language_finds_its_answers() -> None:
    _, found = await languages.found_by_recorded()
    assert {language: mean(one) for language, one in found.items() if mean(one) < LEAST} == {}
