"""Shifts in a store's mix: told where counts and change are large enough, and never by chance alone."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.drift import BEFORE_DAYS, RECENT_DAYS, DayRow, shifts

TODAY = date(2026, 9, 1)


def days(kind: str, name: str, recent: tuple[int, int], before: tuple[int, int]) -> list[DayRow]:
    """The same count and total on each day of the two stretches."""
    rows = []
    for back in range(1, RECENT_DAYS + BEFORE_DAYS + 1):
        count, total = recent if back <= RECENT_DAYS else before
        rows.append(DayRow(day=TODAY - timedelta(days=back), kind=kind, name=name, count=count, total=total))
    return rows


def test_a_share_that_doubled_is_told_with_its_numbers() -> None:
    [shift] = shifts(days("type", "fact", (60, 100), (30, 100)), TODAY)
    assert (shift.kind, shift.name) == ("type", "fact")
    assert [shift.recent.value, shift.before.value] == pytest.approx([0.6, 0.3])
    assert [shift.recent.of, shift.before.of] == [700, 2800]
    # (.6 - .3) / sqrt(.36 x .64 x (1/700 + 1/2800))
    assert shift.z == pytest.approx(14.79, abs=0.01)


@pytest.mark.parametrize(
    ("recent", "before"),
    [
        ((34, 100), (30, 100)),
        ((4, 7), (1, 7)),
        ((60, 100), (1, 7)),
        ((30, 100), (30, 100)),
        ((0, 100), (0, 100)),
    ],
    ids=["small", "few now", "few before", "none", "nothing"],
)
def test_these_are_not_told(recent: tuple[int, int], before: tuple[int, int]) -> None:
    assert shifts(days("type", "fact", recent, before), TODAY) == []


def test_a_name_that_is_new_or_gone_is_told() -> None:
    rows = days("turn", "processed", (50, 100), (100, 100)) + days("turn", "skipped", (50, 100), (0, 100))
    assert {(one.name, one.z > 0) for one in shifts(rows, TODAY)} == {("processed", False), ("skipped", True)}
    gone = [one for one in days("rejected", "under the floor", (0, 100), (20, 100)) if one.count]
    gone += [one for one in days("rejected", "other", (0, 100), (0, 100)) if (TODAY - one.day).days <= RECENT_DAYS]
    [shift] = shifts(gone, TODAY)
    assert (shift.name, shift.recent.value) == ("under the floor", 0)


def test_today_and_what_is_long_ago_do_not_count() -> None:
    far = TODAY - timedelta(days=RECENT_DAYS + BEFORE_DAYS + 1)
    extra = [DayRow(day=day, kind="type", name="fact", count=10**6, total=10**6) for day in (TODAY, far)]
    assert shifts(days("type", "fact", (30, 100), (30, 100)) + extra, TODAY) == []


def confidences(means: tuple[float, float], spread: float, each: int) -> list[DayRow]:
    rows = []
    for back in range(1, RECENT_DAYS + BEFORE_DAYS + 1):
        mean = means[0] if back <= RECENT_DAYS else means[1]
        day = TODAY - timedelta(days=back)
        squares = each * (mean**2 + spread**2)
        for name, value in (("sum", each * mean * 1e3), ("squares", squares * 1e6)):
            rows.append(DayRow(day=day, kind="confidence", name=name, count=round(value), total=each))
    return rows


def test_a_mean_confidence_that_fell_is_told() -> None:
    [shift] = shifts(confidences((0.6, 0.8), 0.15, 40), TODAY)
    assert (shift.kind, shift.name) == ("confidence", "mean")
    assert shift.recent.value == pytest.approx(0.6, abs=1e-3)
    # The difference of -.2 over the root of .15^2 / 280 + .15^2 / 1120.
    assert shift.z == pytest.approx(-19.96, abs=0.1)
    assert shifts(confidences((0.79, 0.8), 0.15, 40), TODAY) == []
    assert shifts(confidences((0.6, 0.8), 0.15, 5), TODAY) == []


def test_without_any_spread_the_z_is_bounded() -> None:
    [shift] = shifts(confidences((0.5, 0.8), 0.0, 40), TODAY)
    assert shift.z == pytest.approx(-99)


@given(st.integers(0, 2**32 - 1), st.floats(0.02, 0.98))
def test_chance_alone_is_hardly_ever_told(seed: int, share: float) -> None:
    chance = np.random.default_rng(seed)
    rows = [
        DayRow(
            day=TODAY - timedelta(days=back), kind="type", name="fact", count=int(chance.binomial(50, share)), total=50
        )
        for back in range(1, RECENT_DAYS + BEFORE_DAYS + 1)
    ]
    assert shifts(rows, TODAY) == []


@given(st.permutations(days("type", "fact", (60, 100), (30, 100)) + confidences((0.6, 0.8), 0.1, 40)))
def test_the_order_of_rows_does_not_matter(rows: list[DayRow]) -> None:
    assert [one.kind for one in shifts(rows, TODAY)] == ["confidence", "type"]
