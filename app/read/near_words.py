"""Nearness of the question's words to those of a memory, one by one, and the order of the matches by it.

The vector of a whole text blurs its words, and the lexical index knows no word of like meaning. So each word of the
question is compared with each of a memory, and the nearest counts: late interaction (Khattab and Zaharia, "ColBERT",
2020), with words in place of tokens.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.db.memories.ranking import RankingRow
from app.lexical.bm25 import STOP_WORDS, terms
from app.lexical.tokens import normalise, tokenize
from app.providers.embeddings import Vectors, WordVectors
from app.read.fuse import scale
from app.read.texts import kept, terms_in
from app.read.values import Fused, QueryPlan, Scaling

_MOST_WORDS: Final = 40
"""Distinct words of a memory that are compared."""

_REACH: Final = 2
"""Turns before and after one whose words are said around it."""

_Session = tuple[UUID, str]
"""A scope, and a session in it."""

_Turn = tuple[_Session, int]
"""A session, and the number of a turn in it."""

_KEPT: Final = 20_000
"""Words whose vectors a process keeps, 20 MB, and texts whose words it remembers, some 10 MB."""


def content_words(text: str, language: str) -> list[str]:
    """Return the distinct words of a text in the order in which it says them, without stop words."""
    stop = STOP_WORDS.get(language, frozenset())
    return [word for word in dict.fromkeys(tokenize(normalise(text))) if word not in stop]


class NearWords:
    """Compares words of questions with those of texts by the cosines of their vectors.

    A user's questions meet the same texts again and again, so the words of the last texts are kept, as places in a
    table of vectors; of the texts only hashes. Where the table is full it begins anew. For one thread.
    """

    def __init__(self, vectors: WordVectors, language: str, *, most: int = _KEPT) -> None:
        self._vectors = vectors
        self.language = language
        self._kept = most
        self._words = kept(partial(content_words, language=language))
        self._table: Vectors | None = None
        self._places: dict[str, int] = {}
        self._texts: dict[int, NDArray[np.intp]] = {}
        self._whole = kept(lambda text: vectors([text])[0])

    def nearest(self, asked: Sequence[str], texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the highest cosine of each asked word (rows) with a content word of each text (columns).

        It is 0 at least, and with a text that has no words.
        """
        most = len(self._places) + len(texts) * _MOST_WORDS + len(asked)
        if len(self._texts) + len(texts) > self._kept or most > self._kept:
            self._places.clear()
            self._texts.clear()
        said = [self._said(text) for text in texts]
        nearest = np.zeros((len(texts), len(asked)))
        some = [place for place, words in enumerate(said) if len(words)]
        if some and self._table is not None:
            # The same words stand in many texts.
            every = np.concatenate(said)
            present = np.zeros(len(self._places), np.bool_)
            present[every] = True
            distinct = np.flatnonzero(present)
            near = self._table[distinct] @ self._table[self._placed(asked)].T
            at = np.empty(len(present), np.intp)
            at[distinct] = np.arange(len(distinct))
            cosines = near[at[every]]
            starts = np.cumsum([0, *(len(said[place]) for place in some[:-1])])
            nearest[some] = np.maximum.reduceat(cosines, starts, axis=0)
        return np.maximum(nearest, 0.0).T

    def resemblance(self, text: str, others: Sequence[str]) -> list[float]:
        """Return the cosine of each other text with this one, as wholes."""
        if not others:
            return []
        said = np.stack([self._whole(one) for one in others])
        return [float(one) for one in said @ self._whole(text)]

    def _said(self, text: str) -> NDArray[np.intp]:
        """Return the places of a text's first content words in the table."""
        key = hash(text)
        found = self._texts.get(key)
        if found is None:
            found = self._texts[key] = self._placed(content_words(text, self.language)[:_MOST_WORDS])
        return found

    def _placed(self, words: Sequence[str]) -> NDArray[np.intp]:
        """Return the places of these words in the table, to which those that are new are added."""
        if new := [word for word in dict.fromkeys(words) if word not in self._places]:
            vectors = self._vectors(new)
            if self._table is None:
                self._table = np.empty((self._kept, vectors.shape[1]), np.float32)
            first = len(self._places)
            self._table[first : first + len(new)] = vectors
            self._places.update((word, place) for place, word in enumerate(new, start=first))
        return np.array([self._places[word] for word in words], np.intp)


def match_words(
    fused: Sequence[Fused],
    rows: Mapping[UUID, RankingRow],
    asked: Mapping[str, float],
    *,
    words: NearWords,
    verbatim: Collection[str],
    plan: QueryPlan,
) -> tuple[Fused, ...]:
    """Return the memories in their new order, the first with up to `plan.words` more for the nearness of their words.

    `asked` has the question's words and what each weighs. A word counts by the highest cosine with a word of the
    memory, or, for a turn (a memory of a `verbatim` type), `plan.said_before` of that with one of the turn before it,
    where that was found, too. The sums are scaled to 0..1 as an arm's scores are, and then by the share of the weight
    of all words that the best of them has: where no memory comes near the question's words, they tell little. Of the
    first, those without a row are left out. What is said around each is compared, too, for `rank` to add.
    """
    first = [one for one in fused[: plan.compared] if one.id in rows]
    if not first or not asked:
        return tuple(fused)
    compared = [rows[one.id] for one in first]
    turns = [_turn_of(row, verbatim) for row in compared]
    near = words.nearest(list(asked), [row.opening for row in compared])
    weights = np.fromiter(asked.values(), np.float64)
    around = np.zeros(len(first))
    if plan.around and any(turns):
        said_around = _window(compared, turns, [one for one in rows.values() if one.type in verbatim], asked)
        around = plan.around * (_scaled(weights @ _in_session(near, turns)) + _scaled(said_around))
    before = _turns_before(turns)
    near = np.maximum(near, plan.said_before * np.where(before >= 0, near[:, before], 0.0))
    scores = weights @ near
    gains = plan.words * (scores.max() / weights.sum()) * _scaled(scores)
    raised = [
        Fused(one.id, one.retrieval + gain, one.places, gain, share)
        for one, gain, share in zip(first, gains.tolist(), around.tolist(), strict=True)
    ]
    return tuple(sorted([*raised, *fused[plan.compared :]], key=itemgetter(1, 0), reverse=True))


def _scaled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores in any order scaled to 0..1 by their range."""
    order = np.argsort(-scores, kind="stable")
    return np.array(scale(scores[order].tolist(), Scaling.RANGE))[np.argsort(order)]


def _in_session(near: NDArray[np.float64], turns: Sequence[_Turn | None]) -> NDArray[np.float64]:
    """Return the highest nearness of each asked word (rows) to a turn of each one's session (columns); a belief's own.

    A session is about one thing after another: that it comes near every word says that it is the one meant.
    """
    sessions: dict[_Session, list[int]] = defaultdict(list)
    for place, turn in enumerate(turns):
        if turn is not None:
            sessions[turn[0]].append(place)
    best = near.copy()
    for places in sessions.values():
        if len(places) > 1:
            best[:, places] = near[:, places].max(axis=1, keepdims=True)
    return best


def _window(
    compared: Sequence[RankingRow],
    turns: Sequence[_Turn | None],
    found: Sequence[RankingRow],
    asked: Mapping[str, float],
) -> NDArray[np.float64]:
    """Return the weight of the question's words that are said by each memory, or, of a turn, within two turns of it.

    Only turns that were `found` count: those that no arm found have few of the question's words.
    """
    weights: dict[str, float] = {}
    for word, weight in asked.items():
        weights |= {term: max(weight, weights.get(term, 0.0)) for term in terms(word)}
    # What is said is a number with a bit for each term, so that turns are joined and weighed fast.
    bits = {term: 1 << place for place, term in enumerate(weights)}
    sessions: dict[_Session, dict[int, str]] = {turn[0]: {} for turn in turns if turn is not None}
    for row in found:
        if row.session_id is not None and row.sequence_number is not None:
            texts = sessions.get((row.scope_id, row.session_id))
            if texts is not None:
                texts[row.sequence_number] = row.opening
    known: dict[str, int] = {}
    joined = []
    for row, turn in zip(compared, turns, strict=True):
        near = {row.opening}
        if turn is not None:
            texts, at = sessions[turn[0]], turn[1]
            near.update(texts[place] for place in range(at - _REACH, at + _REACH + 1) if place in texts)
        every = 0
        for text in near:
            if text not in known:
                known[text] = sum(bits[term] for term in bits.keys() & terms_in(text))
            every |= known[text]
        joined.append(every)
    weighed = {one: sum(weights[term] for term, bit in bits.items() if one & bit) for one in set(joined)}
    return np.array([weighed[one] for one in joined])


def _turns_before(turns: Sequence[_Turn | None]) -> NDArray[np.intp]:
    """Return the place of the turn before each turn, -1 where it is not among them and for beliefs."""
    places = {turn: place for place, turn in enumerate(turns) if turn is not None}
    before = (None if turn is None else places.get((turn[0], turn[1] - 1)) for turn in turns)
    return np.array([-1 if place is None else place for place in before], dtype=np.intp)


def _turn_of(row: RankingRow, verbatim: Collection[str]) -> _Turn | None:
    """Return the session of a turn, and its number in it; None of a belief, and without a session."""
    if row.type not in verbatim or row.session_id is None or row.sequence_number is None:
        return None
    return (row.scope_id, row.session_id), row.sequence_number
