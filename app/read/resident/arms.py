"""The arms (`retrieve`) on the columns of scopes; the graph's are in `graph`.

Scores are those of the statements. Inner products are taken in single precision to choose, and in double precision for
what is chosen, so that equal vectors have equal scores, rounded as Postgres returns them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from app.lexical.bm25 import index_of
from app.read.resident import filters
from app.read.resident.columns import CONTENT, CONTEXT, EARLIEST, LATEST, Mask, Scores, mask
from app.read.resident.graph import Graph
from app.read.resident.scope import ResidentScope
from app.read.retrieve import Retrieved, Search
from app.read.retrieve.temporal import FIT, MEANING, STATED
from app.read.values import Arm, Scored, Window

_OTHER: Final = {CONTENT: CONTEXT, CONTEXT: CONTENT}
"""The kind of row that holds no text of a kind."""

_SLACK: Final = 1e-4
"""How far scores in single precision may be from the true ones, with room."""

_DAY: Final = 86_400_000_000
"""`temporal.TOLD_LATER` in microseconds."""


class Sight:
    """A scope as a search sees it: its rows that may be seen, those that can answer, and what arms share."""

    def __init__(self, scope: ResidentScope, search: Search) -> None:
        """Look at a scope."""
        self.scope, self.search = scope, search
        self.rows = scope.columns.rows
        self.seen = filters.visible(scope.columns, search.filters, search.windows)
        self.answering = filters.answering(scope, search.filters, self.seen)

    def of_kind(self, kind: int) -> NDArray[np.intp]:
        """Return the rows that can answer and hold this kind of text."""
        return np.flatnonzero(self.answering & (self.rows["kind"] != _OTHER[kind]))

    @cached_property
    def near(self) -> NDArray[np.float32]:
        """The inner products of all vectors with the question's, in single precision."""
        return self.scope.columns.vectors @ probe(self.search)

    @cached_property
    def said(self) -> tuple[Mask, NDArray[np.float32]]:
        """For each row whether a term nominates it, and its BM25."""
        postings = self.scope.columns.postings
        nominated = np.zeros(self.scope.columns.count, np.bool_)
        scores = np.zeros(self.scope.columns.count, np.float32)
        for term in self.search.nominators:
            nominated[postings.rows[postings.having(index_of(term) - 1)]] = True
        weights = self.search.weights
        for index, weight in () if weights is None else zip(weights.indices(), weights.values(), strict=True):
            having = postings.having(index)
            scores[postings.rows[having]] += postings.weights[having] * np.float32(weight)
        return nominated, scores


@dataclass(frozen=True, slots=True)
class Nominated:
    """Memories of a scope by their places, and their scores."""

    scope: ResidentScope
    places: NDArray[np.intp]
    scores: Scores


def retrieve(scopes: Sequence[ResidentScope], search: Search) -> Retrieved:
    """Return what each arm nominates, as the statement does; arms that have nothing to go by, nothing."""
    found: dict[Arm, tuple[Scored, ...]] = {}
    seconds: dict[Arm, float] = {}
    sights = [Sight(scope, search) for scope in scopes if scope.columns.count]
    for arm in Arm:
        if arm in search.arms and search.has_input(arm):
            started = perf_counter()
            found[arm] = _best(_nominated(arm, sights, search), search.depth)
            seconds[arm] = perf_counter() - started
    return Retrieved(arms=found, seconds=seconds)


def _nominated(arm: Arm, sights: Sequence[Sight], search: Search) -> list[Nominated]:
    match arm:
        case Arm.SEMANTIC:
            return [_semantic(one, search, CONTENT, search.questions) for one in sights]
        case Arm.SEMANTIC_CONTEXT:
            return [_semantic(one, search, CONTEXT, 0.0) for one in sights]
        case Arm.LEXICAL:
            return [_lexical(one, CONTENT) for one in sights]
        case Arm.LEXICAL_CONTEXT:
            return [_lexical(one, CONTEXT) for one in sights]
        case Arm.TEMPORAL:
            return [_temporal(one, search) for one in sights]
        case Arm.GRAPH:
            return list(_graph(sights, search))


def _best(nominated: Sequence[Nominated], depth: int) -> tuple[Scored, ...]:
    """Return the best of all scopes, and of equals the newest first."""
    if not nominated:
        return ()
    if len(nominated) == 1:
        return _best_of(nominated[0], depth)
    scores = np.concatenate([one.scores for one in nominated])
    places = np.concatenate([one.places for one in nominated])
    scopes = np.repeat(np.arange(len(nominated)), [len(one.places) for one in nominated])
    if len(scores) > depth:
        kept = scores >= np.partition(scores, -depth)[-depth]
        scores, places, scopes = scores[kept], places[kept], scopes[kept]
    high = np.concatenate([one.scope.high[places[scopes == at]] for at, one in enumerate(nominated)])
    low = np.concatenate([one.scope.low[places[scopes == at]] for at, one in enumerate(nominated)])
    chosen = np.lexsort((low, high, scores))[::-1][:depth]
    found = zip(scopes[chosen].tolist(), places[chosen].tolist(), scores[chosen].tolist(), strict=True)
    return tuple((nominated[at].scope.ids[place], score) for at, place, score in found)


def _best_of(one: Nominated, depth: int) -> tuple[Scored, ...]:
    """Return the same of one scope: most questions see one that holds anything."""
    scope, scores, places = one.scope, one.scores, one.places
    if len(scores) > depth:
        kept = scores >= np.partition(scores, -depth)[-depth]
        scores, places = scores[kept], places[kept]
    chosen = np.lexsort((scope.low[places], scope.high[places], scores))[::-1][:depth]
    ids = scope.ids
    return tuple(
        [(ids[place], score) for place, score in zip(places[chosen].tolist(), scores[chosen].tolist(), strict=True)]
    )


def probe(search: Search) -> NDArray[np.float32]:
    """Return the question's vector, as it is stored."""
    assert search.vector is not None  # noqa: S101 - narrows for the type checker
    return search.vector.to_numpy().astype(np.float32)


def products(vectors: NDArray[np.float32], vector: NDArray[np.float32]) -> Scores:
    """Return inner products as Postgres returns them: each row's is the same wherever it stands."""
    whole = (vectors.astype(np.float64) * vector.astype(np.float64)).sum(axis=1)
    return np.asarray(whole.astype(np.float32), np.float64)


def _grouped(owners: NDArray[np.int32], scores: Scores, count: int) -> Scores:
    """Return the best score of each owner; an owner's rows stand together."""
    best = np.full(count, -np.inf)
    if len(owners):
        first = np.empty(len(owners), np.bool_)
        first[0] = True
        np.not_equal(owners[1:], owners[:-1], out=first[1:])
        if first.all():
            best[owners] = scores
        else:
            starts = np.flatnonzero(first)
            best[owners[starts]] = np.maximum.reduceat(scores, starts)
    return best


def _semantic(sight: Sight, search: Search, kind: int, questions: float) -> Nominated:
    scope, vector = sight.scope, probe(search)
    columns = scope.columns
    rows = sight.of_kind(kind)
    rows = rows[columns.rows["has_vector"][rows]]
    if not len(rows):
        return _nothing(scope)
    owners = columns.rows["owner"][rows]
    said = _grouped(owners, sight.near[rows].astype(np.float64), len(scope.ids))
    asked = scope.questions
    gaining = questions > 0 and len(asked.owners) > 0
    if gaining:
        said = _gained(said, _grouped(asked.owners, (asked.vectors @ vector).astype(np.float64), len(said)), questions)
    places = np.nonzero(said > -np.inf)[0]
    if len(places) > search.depth:
        least = np.partition(said[places], -search.depth)[-search.depth] - _SLACK
        places = places[said[places] >= least]
    chosen = np.zeros(len(said), np.bool_)
    chosen[places] = True
    of_chosen = rows[chosen[owners]]
    exact = _grouped(columns.rows["owner"][of_chosen], products(columns.vectors[of_chosen], vector), len(said))
    if gaining:
        near = chosen[asked.owners]
        heard = _grouped(asked.owners[near], products(asked.vectors[near], vector), len(said))
        exact = _gained(exact, heard, questions)
    return Nominated(scope, places, exact[places])


def _gained(said: Scores, asked: Scores, questions: float) -> Scores:
    with np.errstate(invalid="ignore"):
        return np.where(asked > said, said + questions * (asked - said), said)


def _lexical(sight: Sight, kind: int) -> Nominated:
    nominated, scores = sight.said
    chosen = sight.of_kind(kind)
    chosen = chosen[nominated[chosen]]
    owners = sight.rows["owner"][chosen]
    return Nominated(sight.scope, owners.astype(np.intp), scores[chosen].astype(np.float64))


def _temporal(sight: Sight, search: Search) -> Nominated:
    scope, columns, rows = sight.scope, sight.scope.columns, sight.rows
    whole = sight.answering & (rows["part"] == 0)
    happened = [whole & filters.happened_in(columns, window) for window in search.windows]
    told = [whole & _told_in(rows, window) for window in search.windows]
    found = np.nonzero(np.logical_or.reduce([*happened, *told]))[0]
    near = _nearness(columns.vectors[found], rows["has_vector"][found], search)
    times = {name: rows[name][found] for name in ("event_lower", "event_upper")}
    scores = np.full(len(found), -np.inf)
    for window, then, said in zip(search.windows, happened, told, strict=True):
        scores = np.where(then[found], np.maximum(scores, _fit(times, window) * near), scores)
        scores = np.where(said[found], np.maximum(scores, STATED * near), scores)
    return Nominated(scope, rows["owner"][found].astype(np.intp), scores)


def _told_in(rows: Mapping[str, NDArray[Any]], window: Window) -> Mask:
    """Tell of each row whether it has no time of its own and was told in a window, or soon after."""
    if not window.told:
        return np.zeros(len(rows["owner"]), np.bool_)
    lower, upper = filters.bounds(window)
    return mask(~rows["dated"] & (rows["stated_at"] >= lower) & (rows["stated_at"] < upper + _DAY))


def _fit(rows: Mapping[str, NDArray[Any]], window: Window) -> Scores:
    """Return by how much of their time events lie in a window."""
    lower, upper = filters.bounds(window)
    whole = rows["event_upper"] - rows["event_lower"]
    inside = np.minimum(rows["event_upper"], upper) - np.maximum(rows["event_lower"], lower)
    bounded = (whole > 0) & (rows["event_lower"] > EARLIEST) & (rows["event_upper"] < LATEST)
    share = np.divide(inside, whole, out=np.ones(len(whole)), where=bounded)
    return np.asarray(FIT + (1 - FIT) * share, np.float64)


def _nearness(vectors: NDArray[np.float32], has: Mask, search: Search) -> Scores:
    if search.vector is None:
        return np.ones(len(vectors))
    vector = probe(search).astype(np.float64)
    if vectors.shape[1] != len(vector):
        return np.full(len(vectors), 1 - MEANING)
    exact = vectors.astype(np.float64)
    sizes = np.sqrt((exact * exact).sum(axis=1) * (vector * vector).sum())
    cosines = np.divide((exact * vector).sum(axis=1), sizes, out=np.zeros(len(exact)), where=has & (sizes > 0))
    return np.asarray((1 - MEANING) + MEANING * np.maximum(0.0, np.minimum(1.0, cosines)), np.float64)


def _graph(sights: Sequence[Sight], search: Search) -> Iterator[Nominated]:
    graph = Graph(search, [(one.scope, one.seen) for one in sights])
    scores = graph.scores()
    for sight in sights:
        scope = sight.scope
        found = [(scope.owners[one], score) for one, score in scores.items() if one in scope.owners]
        places = np.array([place for place, _ in found], np.intp)
        first = scope.first[places]
        can = (first >= 0) & sight.answering[first] if len(places) else np.zeros(0, np.bool_)
        yield Nominated(scope, places[can], np.array([score for _, score in found], np.float64)[can])


def _nothing(scope: ResidentScope) -> Nominated:
    return Nominated(scope, np.zeros(0, np.intp), np.zeros(0))
