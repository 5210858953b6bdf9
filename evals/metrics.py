"""Scores of a ranked list against the evidence, without a model.

Every function takes a ranking (ids, best first, each once) and the ids that are right. A question
without evidence has no score: leave it out before averaging.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log2


def recall_at(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the share of `relevant` found among the first `k`, 0 to 1."""
    wanted = _wanted(relevant)
    return len(wanted.intersection(ranking[:k])) / len(wanted)


def reciprocal_rank(ranking: Sequence[str], relevant: Collection[str]) -> float:
    """Return 1 / rank of the first right answer (rank counts from 1), 0 when there is none."""
    wanted = _wanted(relevant)
    return next((1 / rank for rank, item in enumerate(ranking, start=1) if item in wanted), 0.0)


def ndcg_at(ranking: Sequence[str], relevant: Collection[str], k: int = 10) -> float:
    """Return the discounted gain of the first `k` over the best possible, every hit worth 1."""
    wanted = _wanted(relevant)
    gain = sum(1 / log2(rank + 1) for rank, item in enumerate(ranking[:k], start=1) if item in wanted)
    best = sum(1 / log2(rank + 1) for rank in range(1, min(k, len(wanted)) + 1))
    return gain / best


def session_recall_at(
    ranking: Sequence[str],
    session_of: Mapping[str, str],
    relevant_sessions: Collection[str],
    k: int,
) -> float:
    """Return the share of `relevant_sessions` among the first `k` distinct sessions.

    A session stands where its best turn stands.
    """
    sessions = list(dict.fromkeys(session_of[turn] for turn in ranking))
    return recall_at(sessions, relevant_sessions, k)


def newest_first(ranking: Sequence[str], newest: Collection[str], stale: Collection[str]) -> bool:
    """Return whether the best of `newest` stands above the best of `stale`.

    A list that holds none of `newest` is a miss, even when it holds none of `stale` either.
    """
    wanted, overtaken = _wanted(newest), _wanted(stale)
    first = next((item for item in ranking if item in wanted or item in overtaken), None)
    return first in wanted


def mean(values: Iterable[float]) -> float:
    """Return the average, 0 of nothing."""
    collected = list(values)
    return sum(collected) / len(collected) if collected else 0.0


def _wanted(relevant: Collection[str]) -> set[str]:
    wanted = set(relevant)
    if not wanted:
        raise ValueError("nothing is relevant: leave a question without evidence out")
    return wanted
