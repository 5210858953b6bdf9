"""The form of a turn raises doubt whether it says a statement or shows it."""

from __future__ import annotations

import pytest

from app.english.leads import may_be_presented
from tests.english.hostile import HOSTILE_UNITS, QUADRATIC, growth

DOUBTFUL = (
    "Radio spot, ten seconds. I live in Narvik.",
    "Count the vowels. I live in Narvik. Then the commas.",
    "Postcard from the attic: I live in Narvik",
    "Letzte Zeile im Heft. I live in Narvik.",
    "\u4f5c\u6587\u7b2c\u4e09\u7bc7\u3002I live in Narvik.",
    "I live in Narvik. Too long?",
    "Hard to translate - I live in Narvik",
    "My aunt has a new page: I live in Narvik",
    "Is my aunt joking?\n\nI live in Narvik and sell fog.",
    "We found this on the door:\nI live in Narvik",
)
PLAIN = (
    "I live in Narvik.",
    "My week was long. I live in Narvik.",
    "Which coat is warm enough? I live in Narvik.",
    "That was a useful list. I live in Narvik.",
    "Thanks for the list. I live in Narvik.",
    "Hooray! I live in Narvik.",
    "Update: I live in Narvik.",
    "Keep this in mind: I live in Narvik.",
    "Is it late?\nI live in Narvik.",
    "I live in Narvik. Which coat would you take in such a place at all, in winter?",
    "Slow day.\n\nMore later.\n\nI live in Narvik.",
)


def is_doubtful(text: str) -> bool:
    place = text.index("I live in Narvik")
    return may_be_presented(text, place, place)


@pytest.mark.parametrize("text", DOUBTFUL)
def test_a_statement_that_may_be_shown_is_doubtful(text: str) -> None:
    assert is_doubtful(text)


@pytest.mark.parametrize("text", PLAIN)
def test_a_statement_in_plain_talk_is_not_doubtful(text: str) -> None:
    assert not is_doubtful(text)


def test_an_opening_before_a_later_statement_counts_from_the_first() -> None:
    text = "I fish a lot. I live in Narvik."
    assert not may_be_presented(text, text.index("I live"), 0)


@pytest.mark.parametrize("unit", [*HOSTILE_UNITS, "a: ", "a - ", "a. "])
def test_long_texts_take_no_longer_than_they_must(unit: str) -> None:
    assert growth(lambda text: may_be_presented(text, len(text) - 1, len(text) - 1), unit) < QUADRATIC
