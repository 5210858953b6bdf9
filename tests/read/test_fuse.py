"""Fusion of the arms into one list."""

from __future__ import annotations

import math
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.read.fuse import fuse, scale
from app.read.plan import OPEN
from app.read.values import Arm, Arms, Fused, Scaling

PLAN = replace(OPEN, weights=dict.fromkeys(Arm, 1.0))

lists = st.dictionaries(
    st.integers(0, 40).map(lambda n: UUID(int=n)), st.floats(0.001, 1.0), min_size=1, max_size=30
).map(lambda scores: tuple(sorted(scores.items(), key=lambda one: -one[1])))
some_arms = st.dictionaries(st.sampled_from(Arm), lists, min_size=1)


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
