"""Weights of a question's words among the visible memories: the rarer a word, the more it weighs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from app.db.entities.query_lookup import QueryLookup
from app.lexical.bm25 import idf, index_of, query_weights, terms
from app.read.near_words import content_words
from app.read.values import ParsedQuery

MOST_COMPARED: Final = 64
"""Distinct words of a question that are compared one by one with those of the memories."""


@lru_cache(maxsize=20_000)
def _terms_of(word: str, language: str) -> tuple[str, ...]:
    """Return the terms of a word: questions have few words."""
    return terms(word, language)


def document_counts(query: ParsedQuery, known: QueryLookup) -> dict[int, int]:
    """Return the number of documents with each term of the question, by the term's index.

    A term of a name that the question does not say (`my sister` for Ana) has the number of memories about that entity.
    """
    return {**{index_of(term): mentions for term, mentions in query.lent.items()}, **known.frequencies}


def term_weights(query: ParsedQuery, counted: Mapping[int, int], documents: int) -> dict[int, float]:
    """Return the weight of each term, by its index; `documents` is the size of the collection."""
    frequencies = {term: counted.get(index_of(term), 0) for term in query.terms}
    return query_weights(query.terms, frequencies, documents)


def word_weights(text: str, counted: Mapping[int, int], documents: int, language: str) -> dict[str, float]:
    """Return the weight of each of the first words of a text as it is spelled: that of its rarest term."""
    return {
        word: max(idf(counted.get(index_of(term), 0), documents) for term in found)
        for word in content_words(text, language)[:MOST_COMPARED]
        if (found := _terms_of(word, language))
    }
