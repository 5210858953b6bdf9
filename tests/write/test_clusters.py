"""Groups of alike memories: near their medoid, large enough, apart, and the same in whatever order they come."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.features.lifecycle.grouping import ALIKE, FEWEST, clusters, cosines

Matrix = NDArray[np.float64]


def uniform(size: int, likeness: float) -> Matrix:
    """Everyone equally like everyone."""
    matrix = np.full((size, size), likeness)
    np.fill_diagonal(matrix, 1.0)
    return matrix


@st.composite
def alike(draw: st.DrawFn) -> Matrix:
    """Directions around a few centres, some of them close, as similarities."""
    dimensions = draw(st.integers(2, 4))
    centres = draw(st.integers(1, 3))
    size = draw(st.integers(0, 30))
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    middle = chance.normal(size=(centres, dimensions))
    spread = draw(st.sampled_from([0.05, 0.3, 0.7, 1.5]))
    rows = middle[chance.integers(centres, size=size)] + spread * chance.normal(size=(size, dimensions))
    return cosines(rows.astype(np.float32))


@given(alike())
def test_members_are_near_their_medoid_and_groups_large_and_apart(similarity: Matrix) -> None:
    found = clusters(similarity)
    everyone = [one for group in found for one in group]
    assert len(everyone) == len(set(everyone))
    for medoid, *others in found:
        assert len(others) + 1 >= FEWEST
        members = [medoid, *others]
        assert all(similarity[medoid, one] >= ALIKE for one in members)
        sums = similarity[np.ix_(members, members)].sum(axis=1)
        assert sums[0] == pytest.approx(sums.max(), abs=1e-9)


@given(alike())
def test_nobody_left_could_have_led_a_group_of_those_left(similarity: Matrix) -> None:
    free = np.ones(len(similarity), dtype=bool)
    for group in clusters(similarity):
        free[list(group)] = False
    left = similarity[np.ix_(free, free)]
    assert clusters(left) == []


@given(alike(), st.randoms())
def test_the_order_in_which_they_come_does_not_matter(similarity: Matrix, chance: object) -> None:
    order = list(range(len(similarity)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    shuffled = clusters(similarity[np.ix_(order, order)])
    assert {frozenset(order[one] for one in group) for group in shuffled} == {
        frozenset(group) for group in clusters(similarity)
    }


@pytest.mark.parametrize(
    ("size", "likeness", "count"),
    [(FEWEST, ALIKE, 1), (FEWEST - 1, 1.0, 0), (FEWEST, np.nextafter(ALIKE, 0), 0), (0, 1.0, 0), (12, 0.9, 1)],
)
def test_both_thresholds_are_inclusive(size: int, likeness: float, count: int) -> None:
    assert len(clusters(uniform(size, likeness))) == count


def test_two_topics_make_two_groups() -> None:
    similarity = np.block([[uniform(6, 0.8), np.zeros((6, 5))], [np.zeros((5, 6)), uniform(5, 0.9)]])
    assert sorted(map(sorted, clusters(similarity))) == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]


def test_a_chain_is_not_a_group() -> None:
    angles = np.linspace(0, np.pi, 13)
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for group in clusters(cosines(rows.astype(np.float32))):
        assert max(group) - min(group) <= 6


def test_a_vector_of_nothing_is_like_nothing() -> None:
    similarity = cosines(np.zeros((6, 4), dtype=np.float32))
    assert clusters(similarity) == []
