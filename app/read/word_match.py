"""The nearness of the words of found memories to those of the question, word by word.

The vector of a whole text blurs its words, and the lexical index knows no word of like meaning. Here each word of the
question is compared with each of a memory, and the nearest counts: late interaction (Khattab and Zaharia, "ColBERT",
2020), with words in place of tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.db.memories.ranking import RankingRow
from app.lexical.bm25 import STOP_WORDS
from app.lexical.tokens import normalise, tokenize
from app.providers.embeddings import Vectors, WordVectors
from app.read.fuse import scale
from app.read.values import Fused, QueryPlan, Scaling

OPENING: Final = 400
"""Characters of a memory that are compared: with more, a long text has a near word for everything."""

_MOST_WORDS: Final = 40
"""Distinct words of a memory that are compared."""


def content_words(text: str, language: str) -> list[str]:
    """Return the distinct words of a text in the order in which it says them, without stop words."""
    stop = STOP_WORDS.get(language, frozenset())
    return [word for word in dict.fromkeys(tokenize(normalise(text))) if word not in stop]


def match_words(
    fused: Sequence[Fused],
    rows: Mapping[UUID, RankingRow],
    asked: Mapping[str, float],
    *,
    vectors: WordVectors,
    language: str,
    verbatim: Collection[str],
    plan: QueryPlan,
) -> tuple[Fused, ...]:
    """Return the memories in their new order, the first with up to `plan.words` more for the nearness of their words.

    `asked` has the question's words and what each weighs. A word counts by the highest cosine with a word of the
    memory, or, for a turn (a memory of a `verbatim` type), `plan.said_before` of that with one of the turn before it,
    where that was found, too. The sums are scaled to 0..1 as an arm's scores are, and then by the share of the weight
    of all words that the best of them has: where no memory comes near the question's words, they tell little. Of the
    first, those without a row are left out.
    """
    first = [one for one in fused[: plan.compared] if one.id in rows]
    if not first or not asked:
        return tuple(fused)
    compared = [rows[one.id] for one in first]
    texts = [content_words(row.opening, language)[:_MOST_WORDS] for row in compared]
    near = np.maximum(_nearest(vectors(list(asked)), texts, vectors), 0.0)
    before = _turns_before(compared, verbatim)
    near = np.maximum(near, plan.said_before * np.where(before >= 0, near[:, before], 0.0))
    weights = np.fromiter(asked.values(), np.float64)
    scores = weights @ near
    order = np.argsort(-scores, kind="stable")
    covered = scores[order[0]] / weights.sum()
    gains = plan.words * covered * np.array(scale(scores[order].tolist(), Scaling.RANGE))[np.argsort(order)]
    raised = [
        one._replace(retrieval=one.retrieval + gain, words=gain)
        for one, gain in zip(first, gains.tolist(), strict=True)
    ]
    return tuple(sorted([*raised, *fused[plan.compared :]], key=itemgetter(1, 0), reverse=True))


def _nearest(asked: Vectors, texts: Sequence[Sequence[str]], vectors: WordVectors) -> NDArray[np.float64]:
    """Return the highest cosine of each asked word (rows) with a word of each text (columns), 0 with none."""
    known = {word: place for place, word in enumerate(dict.fromkeys(word for text in texts for word in text))}
    nearest = np.zeros((len(asked), len(texts)))
    some = [place for place, text in enumerate(texts) if text]
    if some:
        cosines = asked @ vectors(list(known)).T
        said = np.fromiter((known[word] for text in texts for word in text), np.intp)
        starts = np.cumsum([0, *(len(texts[place]) for place in some[:-1])])
        nearest[:, some] = np.maximum.reduceat(cosines[:, said], starts, axis=1)
    return nearest


def _turns_before(rows: Sequence[RankingRow], verbatim: Collection[str]) -> NDArray[np.intp]:
    """Return the place of the turn before each turn, -1 where it is not among them and for beliefs."""
    keys = [
        (row.scope_id, row.session_id, row.sequence_number)
        if row.type in verbatim and row.session_id is not None and row.sequence_number is not None
        else None
        for row in rows
    ]
    places = {key: place for place, key in enumerate(keys) if key is not None}
    before = (None if key is None else places.get((key[0], key[1], key[2] - 1)) for key in keys)
    return np.array([-1 if place is None else place for place in before], dtype=np.intp)
