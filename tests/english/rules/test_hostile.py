"""Texts made to make patterns backtrack, or to break what is proposed."""

from __future__ import annotations

import pytest

from app.english.rules.propose import propose
from tests.english.hostile import HOSTILE_UNITS, LENGTH, QUADRATIC, growth
from tests.english.rules.said import proposed, rendered, turn

UNITS = (
    "I ",
    "I work at ",
    "my ",
    "my dog ",
    "I moved from a to ",
    "I prefer a ",
    "I love a, ",
    "and I ",
    "because I ",
    ", I ",
    "to ",
    "is ",
    "Aa ",
    "Aa of ",
    "Aa and ",
    "the Aa ",
    "Aa, the new nurse at Bb, ",
    "from the Aa Bb ",
    "Sarah said she ",
    "in ",
    "May ",
    "last ",
    "years ago ",
    "every ",
    "not ",
    "n't ",
    "very ",
    "I really ",
    "Hi Anna, ",
    "I have two dogs named Aa and ",
    "I decided to switch from a to b for c. ",
    "Never use ",
    "when I say 'a' do: ",
    "promised Aa I'd ",
    "Mr. ",
    "A. ",
    "1. ",
    "- I ",
    ": ",
    "```",
    "\n>",
    '"a\n',
    "@",
)


@pytest.mark.parametrize("unit", [*HOSTILE_UNITS, *UNITS])
def test_time_is_linear_in_the_length(unit: str) -> None:
    assert growth(lambda text: propose(turn(text)), unit) < QUADRATIC


@pytest.mark.parametrize("unit", ["I love a and ", "and I ", "I have two dogs named Aa and ", "Aa, the "])
def test_time_is_linear_in_long_sentences_too(unit: str) -> None:
    sentence = (unit * 60)[:590] + ".\n"
    assert growth(lambda text: propose(turn(text)), sentence) < QUADRATIC


def test_a_sentence_nobody_would_say_is_passed_over() -> None:
    assert proposed("I work at " + "a" * LENGTH) == ()
    [one] = proposed("I work at " + "a" * LENGTH + ".\nI live in Berlin.")
    assert one.payload["object"] == "Berlin"


@pytest.mark.parametrize(
    "content",
    [
        "I work at \x00Acme",
        "I work at Ac\x07me",
        "I live in Ber\u200blin",
        "I live in \u202eBerlin",
        "I work at Acme\u2028I live in Rome",
        "I love \ud800 hiking",
        "My name is 李雷",
        "I live in 東京",
        "I work at " + "x" * 300,
        "I prefer " + "very " * 30 + "long things",
        "My dog " + "R" * 250 + " barks",
    ],
)
def test_odd_characters_and_endless_names_make_no_invalid_payload(content: str) -> None:
    for one in proposed(content):
        assert rendered(one)
        assert one.quote in content


def test_an_empty_turn_proposes_nothing() -> None:
    for content in ("", " ", "\n\n", "...", "?", "\ufffc"):
        assert proposed(content) == ()
