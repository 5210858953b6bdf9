from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory import freshness
from app.memory.freshness import CATEGORY_DECAY, Decay
from app.memory.registry import discover
from app.model import Category

TYPES = discover()


@pytest.mark.parametrize(
    ("type_name", "half_life"),
    [("entity", 365), ("fact", 180), ("relation", 180), ("preference", 90), ("event", 30)],
)
def test_a_type_is_half_fresh_after_its_half_life(type_name: str, half_life: float) -> None:
    decay = TYPES.get(type_name).decay(None)
    assert decay.half_life_days == half_life
    assert freshness.freshness(days=half_life, decay=decay) == pytest.approx(0.5)
    assert decay.floor == 0.0


def test_the_worked_numbers_of_the_seed() -> None:
    fact, event = Decay(half_life_days=180), Decay(half_life_days=30)
    assert freshness.freshness(days=180, decay=fact) == pytest.approx(0.5)
    assert freshness.freshness(days=360, decay=fact) == pytest.approx(0.25)
    assert freshness.freshness(days=180, decay=event) == pytest.approx(0.016, abs=0.0005)
    assert freshness.freshness(days=45, decay=event) == pytest.approx(0.35, abs=0.005)
    assert freshness.boost(5) == pytest.approx(2.49, abs=0.005)
    # The seed rounds twice (.35 x 2.49 = .87); the exact value is .8798.
    assert freshness.freshness(days=45, decay=event, access_count=5) == pytest.approx(0.8798, abs=0.0005)


def test_an_event_reaches_the_expiry_floor_after_roughly_a_hundred_days() -> None:
    event = Decay(half_life_days=30)
    assert freshness.freshness(days=99, decay=event) > freshness.EXPIRY
    assert freshness.freshness(days=100, decay=event) < freshness.EXPIRY


def test_the_boost_is_capped_at_three() -> None:
    assert freshness.boost(6) < 3.0
    assert freshness.boost(7) == freshness.boost(20) == freshness.boost(100) == freshness.boost(10**9) == 3.0


@pytest.mark.parametrize(
    ("category", "half_life", "floor"),
    [(Category.EPISODIC, 45, 0.02), (Category.SEMANTIC, 120, 0.02), (Category.CORE, 120, 0.60)],
)
def test_the_categories_of_the_cognitive_seed(category: Category, half_life: float, floor: float) -> None:
    decay = CATEGORY_DECAY[category]
    assert freshness.freshness(days=half_life, decay=decay) == pytest.approx(max(0.5, floor))
    assert freshness.freshness(days=100_000, decay=decay) == floor


@pytest.mark.parametrize("category", [Category.PROCEDURAL, Category.CONTROL])
def test_procedures_and_controls_never_decay(category: Category) -> None:
    assert freshness.freshness(days=100_000, decay=CATEGORY_DECAY[category]) == 1.0


def test_an_explicit_category_wins_over_the_type() -> None:
    assert TYPES.get("fact").decay(Category.CORE) == Decay(half_life_days=120, floor=0.60)
    assert TYPES.get("fact").decay(Category.SEMANTIC) == Decay(half_life_days=120, floor=0.02)
    assert TYPES.get("fact").decay(None) == Decay(half_life_days=180)


@given(st.floats(0, 10_000), st.floats(0, 10_000), st.integers(0, 50), st.floats(0.1, 1000), st.floats(0, 0.6))
def test_freshness_falls_with_time_and_never_under_its_floor(
    first: float, second: float, accesses: int, half_life: float, floor: float
) -> None:
    decay = Decay(half_life_days=half_life, floor=floor)
    early, late = sorted((first, second))
    sooner = freshness.freshness(days=early, decay=decay, access_count=accesses)
    later = freshness.freshness(days=late, decay=decay, access_count=accesses)
    assert sooner >= later >= floor
