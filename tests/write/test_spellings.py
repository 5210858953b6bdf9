"""Counting letters nominates every alias that the likeness of two spellings could accept."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from app.write.resolve import SIMILAR, alike, similarity

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=64)


@given(names=st.lists(NAMES, max_size=5, unique=True), aliases=st.lists(NAMES, max_size=5))
def test_no_similar_alias_is_left_out(names: list[str], aliases: list[str]) -> None:
    found = alike(names, aliases)
    for name in names:
        assert {one for one in aliases if similarity(name, one) >= SIMILAR} <= set(found.get(name, ()))


@given(name=st.text("abcdefg ", min_size=5, max_size=20), place=st.integers(0, 19), other=st.sampled_from("xyz"))
def test_a_name_with_one_letter_changed_is_nominated_when_it_is_long_enough(name: str, place: int, other: str) -> None:
    at = place % len(name)
    changed = name[:at] + other + name[at + 1 :]
    assert bool(alike([name], [changed])) is (2 * (len(name) - 1) >= SIMILAR * 2 * len(name))


def test_names_of_other_letters_are_not_nominated() -> None:
    chosen = random.Random(1)  # noqa: S311 - no secret
    aliases = ["".join(chosen.choices("ghijklm", k=10)) for _ in range(200)]
    assert alike(["abcdef abc"], aliases) == {}


def test_more_than_255_of_a_letter_are_counted_as_255() -> None:
    assert alike(["a" * 200], ["a" * 300, "a" * 210]) == {"a" * 200: ["a" * 210]}
