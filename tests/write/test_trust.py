from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory import confidence
from app.memory.candidate import DIRECT_SOURCE
from app.memory.extraction import Role
from app.memory.registry import discover
from app.model import ConfidenceParts, ReadMode
from app.read.assemble import FLOORS
from app.write.candidates import CAPS, UNKNOWN, source_strength

PRIORS = {one.name: one.prior for one in discover()}
READ_FLOOR = FLOORS[ReadMode.DEFAULT]


def believed(role: Role | None, extractor: float, kind: str, *, first_person: bool = True, mentions: int = 1) -> float:
    source = source_strength(role, first_person=first_person)
    parts = ConfidenceParts(source=source, extractor=extractor, prior=PRIORS[kind], mentions=mentions)
    return round(confidence.score(parts), 4)


@pytest.mark.parametrize(("mentions", "expected"), [(1, 0.65), (3, 0.75), (5, 0.85)])
def test_a_preference_in_the_first_person_is_the_worked_example_of_the_seed(mentions: int, expected: float) -> None:
    assert believed(Role.USER, 0.9, "preference", mentions=mentions) == expected


def test_sources_rank_as_the_design_says() -> None:
    ranked = [
        source_strength(Role.USER, first_person=True),
        source_strength(Role.USER, first_person=False),
        source_strength(Role.TOOL, first_person=True),
        source_strength(Role.ASSISTANT, first_person=True),
        source_strength(None, first_person=True),
    ]
    assert ranked == sorted(set(ranked), reverse=True)
    assert source_strength(Role.SYSTEM, first_person=True) == UNKNOWN
    assert set(CAPS) == set(Role)


def test_a_user_in_the_first_person_is_believed_like_a_direct_write() -> None:
    assert source_strength(Role.USER, first_person=True) == DIRECT_SOURCE


@pytest.mark.parametrize(
    ("role", "first_person", "extractor", "kind", "expected"),
    [
        (Role.USER, True, 0.8, "fact", 0.62),
        (Role.USER, False, 0.8, "fact", 0.575),
        (Role.USER, False, 0.8, "event", 0.568),
        (Role.TOOL, False, 0.8, "fact", 0.53),
        (Role.TOOL, False, 0.8, "event", 0.523),
    ],
)
def test_what_users_and_tools_say_is_recalled(
    *, role: Role, first_person: bool, extractor: float, kind: str, expected: float
) -> None:
    assert believed(role, extractor, kind, first_person=first_person) == expected
    assert expected >= READ_FLOOR


@pytest.mark.parametrize(
    ("role", "extractor", "kind", "expected"),
    [
        (Role.ASSISTANT, 0.8, "fact", 0.485),
        (Role.ASSISTANT, 0.8, "preference", 0.49),
        (None, 0.9, "preference", 0.47),
    ],
)
def test_what_an_assistant_or_nobody_says_once_is_stored_but_not_recalled(
    role: Role | None, extractor: float, kind: str, expected: float
) -> None:
    assert believed(role, extractor, kind) == expected
    assert confidence.WRITE_FLOOR <= expected < READ_FLOOR


def test_an_assistant_that_is_repeated_is_recalled() -> None:
    assert believed(Role.ASSISTANT, 0.8, "fact", mentions=2) >= READ_FLOOR


def test_a_user_whose_words_are_half_grounded_stays_over_the_floor_and_a_tool_falls_under_it() -> None:
    assert believed(Role.USER, 0.9 * 0.5, "fact") >= READ_FLOOR
    assert believed(Role.TOOL, 0.9 * 0.5, "fact") < READ_FLOOR


@given(role=st.sampled_from([None, *Role]), first_person=st.booleans(), claimed=st.floats(0, 1))
def test_a_claimed_strength_never_lifts_a_source_above_its_cap(
    *, role: Role | None, first_person: bool, claimed: float
) -> None:
    cap = source_strength(role, first_person=first_person)
    assert source_strength(role, first_person=first_person, claimed=claimed) == min(cap, claimed)
