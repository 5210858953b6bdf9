"""The arms (`retrieve`) on the columns of scopes; the graph's are in `graph`.

Scores are those of the statements. Inner products are taken in single precision to choose, and in double precision for
what is chosen, so that equal vectors have equal scores, rounded as Postgres returns them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.lexical.bm25 import index_of
from app.read.resident import filters
from app.read.resident.columns import BOTH, CONTENT, CONTEXT, EARLIEST, LATEST, Mask, Scores
from app.read.resident.graph import Graph
from app.read.resident.scope import ResidentScope
from app.read.retrieve import Retrieved, Search
from app.read.retrieve.temporal import FIT, MEANING, STATED
from app.read.values import Arm, Scored, Window

_SLACK: Final = 1e-4
"""How far scores in single precision may be from the true ones, with room."""

_DAY: Final = 86_400_000_000
"""`temporal.TOLD_LATER` in microseconds."""


@dataclass(frozen=True, slots=True)
class Sight:
    """A scope with the rows of it that may be seen, and those that can answer."""

    scope: ResidentScope
    seen: Mask
    answering: Mask

    def of_kind(self, kind: int) -> NDArray[np.intp]:
        """Return the rows that can answer and hold this kind of text."""
        kinds = self.scope.columns.rows["kind"]
        return np.nonzero(self.answering & ((kinds == kind) | (kinds == BOTH)))[0]


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
    sights = []
    for scope in scopes:
        seen = filters.visible(scope.columns, search.filters, search.windows)
        sights.append(Sight(scope, seen, filters.answering(scope, search.filters, seen)))
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
            return [_lexical(one, search, CONTENT) for one in sights]
        case Arm.LEXICAL_CONTEXT:
            return [_lexical(one, search, CONTEXT) for one in sights]
        case Arm.TEMPORAL:
            return [_temporal(one, search) for one in sights]
        case Arm.GRAPH:
            return list(_graph(sights, search))


def _best(nominated: Sequence[Nominated], depth: int) -> tuple[Scored, ...]:
    """Return the best of all scopes, and of equals the newest first."""
    scores = np.concatenate([one.scores for one in nominated])
    high = np.concatenate([one.scope.high[one.places] for one in nominated])
    low = np.concatenate([one.scope.low[one.places] for one in nominated])
    chosen = np.lexsort((low, high, scores))[::-1][:depth]
    ids: list[UUID] = [one.scope.ids[place] for one in nominated for place in one.places.tolist()]
    return tuple((ids[place], score) for place, score in zip(chosen.tolist(), scores[chosen].tolist(), strict=True))


def probe(search: Search) -> NDArray[np.float32]:
    """Return the question's vector, as it is stored."""
    assert search.vector is not None  # noqa: S101 - narrows for the type checker
    return search.vector.to_numpy().astype(np.float32)


def products(vectors: NDArray[np.float32], vector: NDArray[np.float32]) -> Scores:
    """Return inner products as Postgres returns them: each row's is the same wherever it stands."""
    whole = (vectors.astype(np.float64) * vector.astype(np.float64)).sum(axis=1)
    return np.asarray(whole.astype(np.float32), np.float64)


def _grouped(owners: NDArray[np.int32], scores: Scores, count: int) -> Scores:
    best = np.full(count, -np.inf)
    np.maximum.at(best, owners, scores)
    return best


def _semantic(sight: Sight, search: Search, kind: int, questions: float) -> Nominated:
    scope, vector = sight.scope, probe(search)
    columns = scope.columns
    rows = sight.of_kind(kind)
    rows = rows[columns.rows["has_vector"][rows]]
    if not len(rows):
        return _nothing(scope)
    owners = columns.rows["owner"][rows]
    said = _grouped(owners, (columns.vectors @ vector)[rows].astype(np.float64), len(scope.ids))
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


def _lexical(sight: Sight, search: Search, kind: int) -> Nominated:
    scope = sight.scope
    rows, terms = scope.columns.rows, scope.columns.terms
    nominated = np.zeros(len(rows), np.bool_)
    scores = np.zeros(len(rows), np.float32)
    for term in search.nominators:
        nominated[terms["row"][terms["term"] == index_of(term) - 1]] = True
    if search.weights is not None:
        for index, weight in zip(search.weights.indices(), search.weights.values(), strict=True):
            said = terms[terms["term"] == index]
            scores[said["row"]] += said["weight"] * np.float32(weight)
    chosen = sight.of_kind(kind)
    chosen = chosen[nominated[chosen]]
    return Nominated(scope, rows["owner"][chosen].astype(np.intp), scores[chosen].astype(np.float64))


def _temporal(sight: Sight, search: Search) -> Nominated:
    scope, columns = sight.scope, sight.scope.columns
    whole = np.nonzero(sight.answering & (columns.rows["part"] == 0))[0]
    rows = columns.rows[whole]
    near = _nearness(columns.vectors[whole], rows["has_vector"], search)
    scores = np.full(len(rows), -np.inf)
    for window in search.windows:
        lower, upper = filters.bounds(window)
        happened = filters.happened_in(columns, window)[whole]
        scores[happened] = np.maximum(scores, _fit(rows, window) * near)[happened]
        if window.told:
            told = ~rows["dated"] & (rows["stated_at"] >= lower) & (rows["stated_at"] < upper + _DAY)
            scores[told] = np.maximum(scores, STATED * near)[told]
    found = np.nonzero(scores > -np.inf)[0]
    return Nominated(scope, rows["owner"][found].astype(np.intp), scores[found])


def _fit(rows: NDArray[np.void], window: Window) -> Scores:
    """Return by how much of their time events lie in a window."""
    lower, upper = filters.bounds(window)
    whole = rows["event_upper"] - rows["event_lower"]
    inside = np.minimum(rows["event_upper"], upper) - np.maximum(rows["event_lower"], lower)
    bounded = (whole > 0) & (rows["event_lower"] > EARLIEST) & (rows["event_upper"] < LATEST)
    share = np.divide(inside, whole, out=np.ones(len(rows)), where=bounded)
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
