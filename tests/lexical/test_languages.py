"""Texts in other languages than the default one are stemmed by their own stemmer, stored and asked for alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

import pytest

from app.lexical.bm25 import document_weights, query_weights, searched_terms, terms

LINES = [
    tuple(part.strip() for part in line.split("|"))
    for line in (Path(__file__).parent / "other_languages.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
PAIRS = {
    language: [(said, asked) for _, said, asked in lines] for language, lines in groupby(LINES, key=lambda one: one[0])
}

Terms = Callable[[str], Sequence[str]]


def found_first(pairs: Sequence[tuple[str, str]], terms_of: Terms) -> int:
    """Return how many questions have their own statement, and no other, as the best match by BM25."""
    documents = [terms_of(said) for said, _ in pairs]
    frequencies = Counter(term for one in documents for term in set(one))
    average = sum(map(len, documents)) / len(documents)
    weights = [document_weights(one, average_length=average) for one in documents]
    found = 0
    for place, (_, asked) in enumerate(pairs):
        query = query_weights(tuple(dict.fromkeys(terms_of(asked))), frequencies, len(documents))
        scores = [sum(query.get(term, 0.0) * weight for term, weight in one.items()) for one in weights]
        best = max(scores)
        found += best > 0 and [at for at, score in enumerate(scores) if score == best] == [place]
    return found


def by_own_language(text: str) -> Sequence[str]:
    return searched_terms(text, "english")


@pytest.mark.parametrize("language", PAIRS)
def test_another_form_of_a_word_finds_it_in_its_language(language: str) -> None:
    pairs = PAIRS[language]
    assert found_first(pairs, by_own_language) >= max(found_first(pairs, terms), 6)


def test_over_all_languages_far_more_is_found_than_by_the_default_stemmer() -> None:
    before = sum(found_first(pairs, terms) for pairs in PAIRS.values())
    after = sum(found_first(pairs, by_own_language) for pairs in PAIRS.values())
    assert len(LINES) == 64
    assert after >= max(58, before + 15)


@pytest.mark.parametrize(
    "text",
    [
        "Where does my sister Ana de la Cruz live?",
        "I was in Rome",
        "See ya!",
        "Deutsche Bank in Frankfurt",
        "pgvector 0.8.5",
        "Graz",
        "",
    ],
)
def test_english_and_what_no_function_word_tells_is_as_in_the_default_language(text: str) -> None:
    assert searched_terms(text, "english") == terms(text, "english")


def test_the_default_language_may_be_another_one() -> None:
    assert searched_terms("Die Katzen schlafen", "german") == terms("Die Katzen schlafen", "german")
    assert searched_terms("Where are the cats?", "german") == terms("Where are the cats?", "german")
