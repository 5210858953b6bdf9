"""The life of a memory as arithmetic: every number that the seeds give, and the laws that hold for all others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.freshness import CATEGORY_DECAY, EXPIRY, Decay, freshness, since_last_use
from app.memory.lifecycle import is_over
from app.memory.registry import discover
from app.model import Category

TYPES = discover()
NOW = datetime(2026, 5, 9, 12, tzinfo=UTC)


def expires(days: float, decay: Decay, *, accesses: int = 0) -> bool:
    return freshness(days=days, decay=decay, access_count=accesses) < EXPIRY


@pytest.mark.parametrize(
    ("type_name", "lives", "gone"),
    # half-life x log2(10) = half-life x 3.3219
    [("event", 99, 100), ("preference", 298, 299), ("fact", 597, 598), ("relation", 597, 598), ("entity", 1212, 1213)],
)
def test_an_untouched_memory_expires_after_3_32_half_lives(type_name: str, lives: float, gone: float) -> None:
    decay = TYPES.get(type_name).decay(None)
    assert not expires(lives, decay)
    assert expires(gone, decay)


@pytest.mark.parametrize(("accesses", "boost"), [(0, 1.0), (1, 1.2), (5, 2.48832), (6, 2.985984), (7, 3.0), (20, 3.0)])
def test_accesses_lengthen_a_life_by_at_most_log2_of_three_half_lives(accesses: int, boost: float) -> None:
    assert freshness(days=0, decay=Decay(half_life_days=30), access_count=accesses) == pytest.approx(boost)
    # 3 x 2^(-t/30) = .1 at t = 147.2: nothing is immortal for being used often.
    assert expires(148, Decay(half_life_days=30), accesses=accesses)
    assert expires(147, Decay(half_life_days=30), accesses=accesses) is (accesses < 6)


@pytest.mark.parametrize("category", [Category.PROCEDURAL, Category.CONTROL, Category.CORE])
def test_procedures_controls_and_core_never_expire(category: Category) -> None:
    assert not expires(100_000, CATEGORY_DECAY[category])


@pytest.mark.parametrize("category", [Category.EPISODIC, Category.SEMANTIC])
def test_the_floor_of_the_others_is_under_the_threshold(category: Category) -> None:
    assert freshness(days=100_000, decay=CATEGORY_DECAY[category]) == 0.02
    assert expires(100_000, CATEGORY_DECAY[category])


def test_what_was_never_accessed_fades_since_it_was_stated() -> None:
    stated, decay = NOW - timedelta(days=30), Decay(half_life_days=30)
    found = since_last_use(stated_at=stated, last_accessed_at=None, access_count=0, decay=decay, now=NOW)
    assert found == 0.5


def test_validity_is_over_from_its_end_on() -> None:
    assert is_over(NOW, NOW)
    assert not is_over(NOW, NOW - timedelta(microseconds=1))
    assert not is_over(None, NOW)


@given(
    st.floats(0, 10_000), st.floats(0.1, 1000) | st.none(), st.floats(0, 0.6), st.integers(0, 100), st.integers(0, 100)
)
def test_more_accesses_never_expire_a_memory_sooner(
    days: float, half_life: float | None, floor: float, fewer: int, more: int
) -> None:
    decay = Decay(half_life_days=half_life, floor=floor)
    few, many = sorted((fewer, more))
    if expires(days, decay, accesses=many):
        assert expires(days, decay, accesses=few)
    if floor >= 0.1 or half_life is None:
        assert not expires(days, decay, accesses=few)


@given(st.floats(0.1, 1000), st.integers(1, 41))
def test_an_access_just_now_is_always_fresh_enough(half_life: float, accesses: int) -> None:
    assert not expires(0, Decay(half_life_days=half_life), accesses=accesses)
