"""What a speaker takes back in the same breath, and what only looks like it."""

from __future__ import annotations

import pytest

from app.english.rules.propose import apply_corrections
from tests.english.hostile import HOSTILE_UNITS, QUADRATIC, growth
from tests.english.rules.said import proposed, sentences


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ("I live in Oslo. Wait, no, Bergen.", ["fact: user lives in Bergen"]),
        ("I live in Oslo, sorry, Bergen.", ["fact: user lives in Bergen"]),
        ("I live in Oslo \u2014 I mean Bergen \u2014 these days", ["fact: user lives in Bergen"]),
        (
            "I live in Oslo (oops, Bergen) and work at Equinor.",
            ["fact: user lives in Bergen", "fact: user works at Equinor"],
        ),
        ("My name is Marta, no wait, Marte.", ["fact: user has name Marte"]),
        ("We use Trello, or rather Notion.", ["fact: user uses Notion"]),
        ("I prefer tea, no, coffee.", ["preference: user prefers coffee for drinks choice"]),
        ("I'm 41, sorry, 42 years old.", ["fact: user has age 42"]),
        ("I take 20 mg of ramipril, no, 10 mg.", ["fact: user takes 10 mg of ramipril"]),
        ("I take 5 mg of ramipril, no, 10 mg.", []),
        ("I take ramipril 5 mg, sorry, 10 mg every morning.", ["fact: user takes ramipril 10 mg every morning"]),
        ("My exam is on July 3rd, sorry, July 5th.", ["event: user's exam, on 2026-07-05"]),
        ("I have two sons. No, three.", []),
        ("I live in New York, sorry, New Jersey.", ["fact: user lives in New Jersey"]),
        (
            "My doctor is Dr. Smith, sorry, Dr. Jones.",
            ["fact: user has doctor Dr. Jones", "entity: Dr. Jones is a person; relationship: user's doctor"],
        ),
    ],
)
def test_what_is_said_instead_is_read(content: str, read: list[str]) -> None:
    assert sentences(content) == read


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ("I work at Equinor, sorry Leo", "fact: user works at Equinor"),
        ("I work at Equinor. Sorry, Leo.", "fact: user works at Equinor"),
        ("I live in Oslo. No, really.", "fact: user lives in Oslo"),
        ("I live in Oslo. No, thanks.", "fact: user lives in Oslo"),
        ("I like coffee, no milk", "preference: user likes coffee"),
        ("I like coffee. No, wait. We have none.", "preference: user likes coffee"),
        ("I live in Oslo. No, New York is nicer.", "fact: user lives in Oslo"),
        ("I love Oslo. Oh, Bergen!", "preference: user likes oslo"),
        ("I'm 41, actually.", ""),
    ],
)
def test_what_takes_nothing_back_changes_nothing(content: str, read: str) -> None:
    assert apply_corrections(content) == content
    assert not read or sentences(content) == [read]


def test_offsets_stay_and_the_quote_holds_both() -> None:
    content = "Hi. I live in Oslo, sorry, Bergen. I work at Equinor."
    assert len(apply_corrections(content)) == len(content)
    assert [one.quote for one in proposed(content)] == ["I live in Oslo, sorry, Bergen", "I work at Equinor"]


@pytest.mark.parametrize("unit", [*HOSTILE_UNITS, "a, no, ", "7 - no, ", "A. Sorry, "])
def test_time_grows_with_the_length_of_a_hostile_text(unit: str) -> None:
    assert growth(apply_corrections, unit) < QUADRATIC
