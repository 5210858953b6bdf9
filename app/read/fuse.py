"""Fusion of what the arms found into one list, and its order by the nearness of words.

A memory's sum is of its arms' scaled scores with a share of reciprocal ranks (seed 001). The vector of a whole text
blurs its words, and the lexical index knows no word of like meaning. So each word of the question is compared with each
of a memory, and the nearest counts: late interaction (Khattab and Zaharia, "ColBERT", 2020), with words in place of
tokens.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.db.memories.ranking import RankingRow
from app.lexical.bm25 import STOP_WORDS
from app.lexical.tokens import normalise, tokenize
from app.providers.embeddings import Vectors, WordVectors
from app.read.values import Arm, ArmPlace, Arms, Fused, QueryPlan, Scaling

_ADDED = itemgetter(3)
"""What a place adds to the sum."""

_MOST_WORDS: Final = 40
"""Distinct words of a memory that are compared."""


def fuse(arms: Arms, plan: QueryPlan) -> tuple[Fused, ...]:
    """Return the best `plan.considered` memories, by the sum of what each arm adds.

    An arm adds `weight x (scaled + rank_share x sqrt(scaled) / (k + rank))`, divided so that a memory that is first in
    every arm has 1. Equal scores share a rank, so the order of a list's ties says nothing; equal sums are ordered by
    id, newest first.
    """
    asked = {arm: scored for arm, scored in arms.items() if scored and plan.weights.get(arm, 0) > 0}
    whole = sum(plan.weights[arm] for arm in asked) * _part(1, 1.0, plan)
    found: dict[UUID, dict[Arm, ArmPlace]] = defaultdict(dict)
    for arm, scored in asked.items():
        ordered = sorted(scored, key=itemgetter(1), reverse=True)
        places = _places([score for _, score in ordered], plan.weights[arm] / whole, plan.scaling[arm], plan)
        for (memory, _), place in zip(ordered, places, strict=True):
            found[memory][arm] = place
    sums = [(math.fsum(map(_ADDED, places.values())), memory) for memory, places in found.items()]
    sums.sort(reverse=True)
    return tuple(Fused(memory, total, found[memory]) for total, memory in sums[: plan.considered])


def _part(rank: int, scaled: float, plan: QueryPlan) -> float:
    return scaled + plan.rank_share * math.sqrt(scaled) / (plan.k + rank)


def _places(scores: Sequence[float], share: float, scaling: Scaling, plan: QueryPlan) -> Iterator[ArmPlace]:
    """Return the places of an arm's scores, best first; `share` is the arm's of all."""
    rank, previous = 0, math.inf
    for at, (score, scaled) in enumerate(zip(scores, scale(scores, scaling), strict=True), start=1):
        if score < previous:
            rank, previous = at, score
        yield rank, score, scaled, share * _part(rank, scaled, plan)


def scale(scores: Sequence[float], scaling: Scaling) -> list[float]:
    """Return scores, best first, as 0..1; a list whose scores are all equal is all 1.

    By their own range, the worst of `n` is `1 / (n + 1)`, not 0: nothing says that it is worthless, only that the
    others are better, and the fewer they are the less it says.
    """
    if not scores:
        return []
    if scaling is Scaling.NONE:
        return [min(1.0, max(0.0, score)) for score in scores]
    if scaling is Scaling.EQUAL:
        return [1.0] * len(scores)
    best, least = scores[0], 0.0
    if scaling is Scaling.RANGE:
        least = scores[-1] - (best - scores[-1]) / len(scores)
    else:
        scores = [max(0.0, score) for score in scores]
    if best <= least:
        return [1.0] * len(scores)
    span = best - least
    return [(score - least) / span for score in scores]


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
