"""Fusion of the arms, and the nearness of words: what it raises, by how much, and what it leaves alone."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.providers.wordllama import WordllamaEmbedder
from app.read.fuse import content_words, fuse, match_words, scale
from app.read.plan import OPEN
from app.read.values import Arm, Arms, Fused, Scaling
from tests.read.test_rank import TURNS, ranking_row

PLAN = replace(OPEN, weights=dict.fromkeys(Arm, 1.0))

lists = st.dictionaries(
    st.integers(0, 40).map(lambda n: UUID(int=n)), st.floats(0.001, 1.0), min_size=1, max_size=30
).map(lambda scores: tuple(sorted(scores.items(), key=lambda one: -one[1])))
some_arms = st.dictionaries(st.sampled_from(Arm), lists, min_size=1)

WORDS = WordllamaEmbedder().words
BY_WORDS = replace(OPEN, words=0.2, said_before=0.5)


@given(some_arms)
def test_a_memory_that_is_first_in_every_arm_is_first(arms: Arms) -> None:
    best = UUID(int=99)
    led = {arm: ((best, 2.0), *scored) for arm, scored in arms.items()}
    assert fuse(led, PLAN)[0].id == best


@given(some_arms, st.data())
def test_a_better_score_in_one_arm_never_makes_the_sum_smaller(arms: Arms, data: st.DataObject) -> None:
    arm = data.draw(st.sampled_from(sorted(arms)))
    place = data.draw(st.integers(0, len(arms[arm]) - 1))
    memory, score = arms[arm][place]
    top = arms[arm][0][1]
    raised = data.draw(st.floats(score, max(score, top)))
    better = [one if at != place else (memory, raised) for at, one in enumerate(arms[arm])]
    # Within the list's range: the arm's scale is set by its best and its last.
    if place in {0, len(better) - 1}:
        return
    after = fuse({**arms, arm: better}, PLAN)
    before = fuse(arms, PLAN)
    assert _sum_of(after, memory) >= _sum_of(before, memory) - 1e-12


@given(some_arms)
def test_the_parts_add_up_and_the_order_is_by_the_sum(arms: Arms) -> None:
    fused = fuse(arms, PLAN)
    assert [one.retrieval for one in fused] == sorted((one.retrieval for one in fused), reverse=True)
    for one in fused:
        assert math.isclose(one.retrieval, math.fsum(added for *_, added in one.places.values()))
        for rank, _, scaled, added in one.places.values():
            expected = scaled + PLAN.rank_share * math.sqrt(scaled) / (PLAN.k + rank)
            whole = len(arms) * (1 + PLAN.rank_share / (PLAN.k + 1))
            assert math.isclose(added, expected / whole)


@given(some_arms)
def test_what_is_first_in_every_arm_has_a_score_of_one(arms: Arms) -> None:
    best = UUID(int=99)
    scaling = dict.fromkeys(Arm, Scaling.RANGE)
    led = {arm: ((best, 2.0), *scored) for arm, scored in arms.items()}
    assert math.isclose(fuse(led, replace(PLAN, scaling=scaling))[0].retrieval, 1.0)


@given(some_arms)
def test_the_order_a_list_comes_in_says_nothing(arms: Arms) -> None:
    assert fuse(arms, PLAN) == fuse({arm: tuple(reversed(scored)) for arm, scored in arms.items()}, PLAN)


def test_the_best_of_a_time_has_all_of_its_weight_and_the_nearest_in_the_graph_only_what_it_scores() -> None:
    found = ((UUID(int=1), 0.4), (UUID(int=2), 0.2))
    scaled = {arm: [one.places[arm][2] for one in fuse({arm: found}, PLAN)] for arm in (Arm.TEMPORAL, Arm.GRAPH)}
    assert scaled == {Arm.TEMPORAL: [1.0, 0.5], Arm.GRAPH: [0.4, 0.2]}


def test_an_arm_without_weight_says_nothing() -> None:
    arms = {Arm.GRAPH: ((UUID(int=1), 1.0),)}
    assert fuse(arms, replace(PLAN, weights={Arm.SEMANTIC: 1.0})) == ()


def test_equal_scores_share_a_rank() -> None:
    arms = {Arm.GRAPH: ((UUID(int=3), 0.9), (UUID(int=2), 0.5), (UUID(int=1), 0.5))}
    ranks = {one.id.int: one.places[Arm.GRAPH][0] for one in fuse(arms, PLAN)}
    assert ranks == {3: 1, 2: 2, 1: 2}


def test_no_more_are_returned_than_are_considered() -> None:
    arms = {Arm.GRAPH: tuple((UUID(int=n), n / 50) for n in range(50))}
    assert [one.id.int for one in fuse(arms, replace(PLAN, considered=2))] == [49, 48]


def test_scores_are_scaled_to_the_list_to_its_best_or_not_at_all() -> None:
    assert scale([4.0, 3.0, 2.0], Scaling.RANGE) == pytest.approx([1.0, 0.625, 0.25])
    assert scale([4.0, 3.0, 2.0], Scaling.BEST) == [1.0, 0.75, 0.5]
    assert scale([0.7, 0.2], Scaling.NONE) == [0.7, 0.2]
    assert scale([3.0, 3.0], Scaling.RANGE) == [1.0, 1.0]
    assert scale([], Scaling.RANGE) == []


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=120), st.sampled_from(Scaling))
def test_the_worst_of_a_list_by_its_range_is_not_worthless(scores: list[float], scaling: Scaling) -> None:
    ordered = sorted(scores, reverse=True)
    scaled = scale(ordered, scaling)
    assert scaled == sorted(scaled, reverse=True)
    assert all(0 <= one <= 1 for one in scaled)
    if scaling is Scaling.RANGE:
        assert scaled[0] == 1
        assert scaled[-1] == 1 if ordered[0] == ordered[-1] else scaled[-1] >= 1 / (len(scores) + 1) - 1e-9


def _sum_of(fused: tuple[Fused, ...], memory: UUID) -> float:
    return next(one.retrieval for one in fused if one.id == memory)


def raised(question: str, *contents: str, **plan: Any) -> dict[str, float]:
    """What each memory gains, in the new order; all were equally good before, and were said one after the other."""
    rows = {
        (row := ranking_row(number, opening=content, session_id="s", sequence_number=10 * number)).id: row
        for number, content in enumerate(contents, start=1)
    }
    return matched(rows, question, **plan)


def matched(rows: dict[UUID, Any], question: str, **plan: Any) -> dict[str, float]:
    fused = [Fused(one, 1.0, {}) for one in rows]
    asked = dict.fromkeys(content_words(question, "english"), 1.0)
    found = match_words(
        fused, rows, asked, vectors=WORDS, language="english", verbatim=TURNS, plan=replace(BY_WORDS, **plan)
    )
    return {rows[one.id].opening: one.retrieval - 1.0 for one in found}


def test_a_word_of_like_meaning_raises_a_memory_that_says_none_of_the_words() -> None:
    gains = raised("Which doctor?", "We painted the fence green", "The physician called", "Trains were late again")
    assert next(iter(gains)) == "The physician called"
    assert 0 < gains["The physician called"] < 0.2


def test_the_best_gains_by_the_share_of_the_question_that_its_words_come_near() -> None:
    known, half = ("A doctor called", "A doctor plays chess"), ("A doctor called", "Some rain fell")
    assert raised("doctor chess", *known)["A doctor plays chess"] == pytest.approx(0.2)
    assert raised("doctor chess", *half)["A doctor called"] == pytest.approx(0.1, abs=0.03)
    assert 0 < raised("sonata quark", *half)["A doctor called"] < 0.05


def test_the_same_word_is_nearer_than_one_of_like_meaning() -> None:
    gains = raised("Which doctor?", "A physician called", "A doctor called", "Some rain fell")
    assert next(iter(gains)) == "A doctor called"


def after_a_piano(kind: str, **plan: Any) -> dict[str, float]:
    """What two turns gain, and a belief or turn that was said with the second; the third said something else."""
    said = [(1, "My piano is out of tune"), (2, "Twice already since May"), (4, "Trains were late again")]
    turns = [
        ranking_row(number, type="episodic", opening=content, session_id="s", sequence_number=number)
        for number, content in said
    ]
    other = ranking_row(9, type=kind, opening="Since May", session_id="s", sequence_number=2)
    return matched({row.id: row for row in (*turns, other)}, "the piano", **plan)


def test_a_turn_gains_by_half_from_the_turn_before_it() -> None:
    gains = after_a_piano("episodic")
    assert gains["My piano is out of tune"] > gains["Twice already since May"] > gains["Trains were late again"]
    assert after_a_piano("episodic", said_before=0.0)["Twice already since May"] < gains["Twice already since May"]


def test_a_belief_gains_nothing_from_the_turn_before_it() -> None:
    assert after_a_piano("fact")["Since May"] < after_a_piano("episodic")["Since May"]


def test_what_has_no_words_gains_least_and_no_question_without_words_moves_anything() -> None:
    gains = raised("Which doctor?", "The physician called", "", "?!")
    assert next(iter(gains)) == "The physician called"
    assert gains[""] == gains["?!"] < 0.2
    assert set(raised("what of it", "The physician called", "Trains").values()) == {0.0}


def test_only_the_first_are_compared_and_those_without_a_row_are_left_out() -> None:
    rows = {(row := ranking_row(number, opening="The doctor called")).id: row for number in (1, 2)}
    fused = [Fused(one, 1.0, {}) for one in (UUID(int=3), *rows)]
    plan = replace(BY_WORDS, compared=2)
    found = match_words(fused, rows, {"doctor": 1.0}, vectors=WORDS, language="english", verbatim=TURNS, plan=plan)
    assert [(one.id.int, one.retrieval, one.words) for one in found] == [
        (1, pytest.approx(1.2), pytest.approx(0.2)),
        (2, 1.0, 0.0),
    ]


def test_only_the_beginning_of_a_long_text_is_compared() -> None:
    padding = " ".join(f"nothing{number}" for number in range(60))
    gains = raised("Which doctor?", f"{padding} physician", "The physician called")
    assert next(iter(gains)) == "The physician called"
