"""Which written date says all that another does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.english.dates.finder import same_date

FULL = ["4 May 1990", "May 4th, 1990", "the 4th of May 1990", "1990-05-04", "4 may, 1990"]


@pytest.mark.parametrize("precise", FULL)
@pytest.mark.parametrize("vague", [*FULL, "1990", "May 1990", "1990-05", "4 May", "May the 4th"])
def test_a_full_date_covers_its_parts(precise: str, vague: str) -> None:
    assert same_date(precise, vague)
    assert same_date(vague, precise) == (vague in FULL)


@pytest.mark.parametrize(
    ("known", "other"),
    [
        ("4 May 1990", "1991"),
        ("4 May 1990", "5 May"),
        ("4 May 1990", "June 1990"),
        ("4 May", "1990"),
        ("May 4th", "Berlin"),
        ("Berlin", "Berlin"),
        ("1990", "1990s"),
        ("2 Foo 1990", "1990"),
        ("45 May 1990", "1990"),
        ("", ""),
    ],
)
def test_what_says_more_or_other_is_not_covered(known: str, other: str) -> None:
    assert not same_date(known, other)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_can_be_asked_about(one: str, other: str) -> None:
    assert not (same_date(one, other) and same_date(other, one)) or same_date(one, one)
