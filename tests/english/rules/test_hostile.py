"""Texts made to make patterns backtrack, or to break what is proposed."""

from __future__ import annotations

import time

import pytest

from app.english.rules.propose import MOST_SENTENCES, unread
from app.providers.rule_extractor import propose
from tests.english.hostile import HOSTILE_UNITS, LENGTH, QUADRATIC, growth
from tests.english.rules.said import proposed, rendered, sentences, turn

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


GAPS = (" ", "\t", ", ", " ,", " - ", "\u00a0")


def of_two_lines(text: str) -> None:
    """Read a turn with this line twice: of a long one, the lines between the first and the last are a document."""
    propose(turn(f"{text}\n{text}"))


@pytest.mark.long
@pytest.mark.parametrize("unit", [*HOSTILE_UNITS, *UNITS])
def test_time_is_linear_in_the_length(unit: str) -> None:
    assert growth(of_two_lines, unit) < QUADRATIC


@pytest.mark.long
@pytest.mark.parametrize("unit", ["I love a and ", "and I ", "I have two dogs named Aa and ", "Aa, the "])
def test_time_is_linear_in_long_sentences_too(unit: str) -> None:
    sentence = f"{(unit * 60)[:590]}. "
    assert growth(of_two_lines, sentence) < QUADRATIC


@pytest.mark.parametrize("signs", [".", "?", "\u2026", "!?"])
def test_time_is_linear_in_signs_that_end_nothing(signs: str) -> None:
    assert growth(lambda text: of_two_lines(f"I saw {text}what"), signs) < QUADRATIC


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize(("before", "after"), [("Mona works as", "a baker"), ("I sold", "a chair I made in 2011")])
def test_a_gap_takes_no_longer_than_words_do(before: str, after: str, gap: str) -> None:
    def seconds(between: str) -> float:
        started = time.thread_time()
        propose(turn(f"{before} {between[:500]} {after}."))
        return time.thread_time() - started

    plain = min(seconds("her old red " * 50) for _ in range(3))
    assert min(seconds(gap * 500) for _ in range(3)) < 5 * plain + 0.01


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


def test_sentences_without_an_end_are_left_to_the_episode_with_the_reason() -> None:
    long = "I live in Oslo. " + "I work at Heron Labs and " * 300 + "I left.\nThat is all."
    assert sentences(long) == sentences("I live in Oslo.") != []
    assert unread(turn(long)) == (
        "1 sentence of it left to its episode: the rules read sentences of at most 600 characters, and at most 1,000 "
        "of a turn"
    )
    assert unread(turn("I live in Oslo. " * 300)) is None


def test_no_more_sentences_are_read_than_the_bound() -> None:
    many = "Hm, it rained. " * MOST_SENTENCES + "I live in Oslo.\nThat is all."
    assert sentences(many) == []
    assert (unread(turn(many)) or "").startswith("2 sentences of it")
