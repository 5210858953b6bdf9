from math import log2

import pytest

from evals.metrics import mean, ndcg_at, newest_first, recall_at, reciprocal_rank, session_recall_at

RANKING = ["a", "b", "c", "d"]


def test_recall_is_the_share_of_the_evidence_above_the_cut() -> None:
    assert recall_at(RANKING, {"b", "d"}, 2) == 0.5
    assert recall_at(RANKING, {"b", "d"}, 4) == 1.0
    assert recall_at(RANKING, ["b", "x"], 10) == 0.5
    assert recall_at([], {"b"}, 10) == 0.0


def test_evidence_cited_twice_counts_once() -> None:
    assert recall_at(RANKING, ["b", "b", "x"], 4) == 0.5


def test_reciprocal_rank_counts_the_first_hit_only() -> None:
    assert reciprocal_rank(RANKING, {"a"}) == 1.0
    assert reciprocal_rank(RANKING, {"c", "d"}) == pytest.approx(1 / 3)
    assert reciprocal_rank(RANKING, {"x"}) == 0.0


def test_ndcg_discounts_by_the_logarithm_of_the_rank() -> None:
    assert ndcg_at(RANKING, {"a", "b"}) == pytest.approx(1.0)
    assert ndcg_at(RANKING, {"b"}) == pytest.approx(1 / log2(3))
    assert ndcg_at(RANKING, {"a", "c"}) == pytest.approx((1 + 1 / log2(4)) / (1 + 1 / log2(3)))
    assert ndcg_at(RANKING, {"d"}, k=3) == 0.0


def test_ndcg_of_more_evidence_than_fits_can_still_be_perfect() -> None:
    assert ndcg_at(RANKING, set(RANKING), k=2) == pytest.approx(1.0)


def test_a_session_stands_where_its_best_turn_stands() -> None:
    session_of = {"a": "s1", "b": "s1", "c": "s2", "d": "s3"}
    assert session_recall_at(RANKING, session_of, {"s2"}, 2) == 1.0
    assert session_recall_at(RANKING, session_of, {"s2"}, 1) == 0.0
    assert session_recall_at(RANKING, session_of, {"s1", "s3"}, 2) == 0.5


def test_newest_first_compares_the_best_of_each() -> None:
    assert newest_first(RANKING, {"a", "d"}, {"b"})
    assert not newest_first(RANKING, {"c"}, {"b"})
    assert newest_first(RANKING, {"c"}, {"x"})


def test_newest_first_is_missed_when_neither_was_found() -> None:
    assert not newest_first(RANKING, {"x"}, {"y"})
    assert not newest_first([], {"x"}, {"y"})


def test_a_question_without_evidence_has_no_score() -> None:
    with pytest.raises(ValueError, match="without evidence"):
        recall_at(RANKING, (), 5)


def test_mean_of_nothing_is_zero() -> None:
    assert mean([]) == 0.0
    assert mean([0.0, 1.0]) == 0.5
