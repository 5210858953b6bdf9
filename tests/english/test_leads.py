"""The form of a turn raises doubt whether it says a statement or shows it."""

from __future__ import annotations

import pytest

from app.english.leads import is_framed, may_be_presented, own_sentences
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


FRAMED = (
    "Radio spot, ten seconds. I live in Narvik. Is the pause too long?",
    "Shop window, second line: I live in Narvik and I sell fog. Does the comma hurt?",
    "The mug reads I live in Narvik. Funny or sad?",
    "Aushang an der T\u00fcr. Ich wohne in Narvik. Zu frech?",
    "Cartel del portal. Vivo en Narvik y tengo un loro. \u00bfLa letra cansa?",
    "motto=I live in Narvik",
    "Flat | I live in Narvik",
)
UNFRAMED = (
    "I live in Narvik.",
    "Slow day. I live in Narvik. Any ideas for the evening?",
    "Slow day. I live in Narvik. Where to swim?",
    "Slow day. I live in Narvik. Is it safe?",
    "Slow day. I live in Narvik. Can she move in?",
    "Slow day. I live in Narvik. The shop was empty.",
    "Slow day at my shop. I live in Narvik. Is the pause too long?",
    "Slow day. I live in Narvik. What is the best route for me?",
    "Thanks for the list. I live in Narvik. Is the pause too long?",
    "Slow day! I live in Narvik. Is the pause too long?",
    "About me. I live in Narvik. Is the pause too long?",
    "Busco piso. Vivo en Narvik. \u00bfEs caro el centro?",
    "about me = I live in Narvik",
)


def is_doubtful(text: str) -> bool:
    place = text.index("I live in Narvik")
    return may_be_presented(text, (place, place + len("I live in Narvik")), place)


def framed(text: str) -> bool:
    said = next(one for one in ("I live in Narvik", "Ich wohne in Narvik", "Vivo en Narvik") if one in text)
    return is_framed(text, (text.index(said), text.index(said) + len(said)))


@pytest.mark.parametrize("text", DOUBTFUL)
def test_a_statement_that_may_be_shown_is_doubtful(text: str) -> None:
    assert is_doubtful(text)


@pytest.mark.parametrize("text", PLAIN)
def test_a_statement_in_plain_talk_is_not_doubtful(text: str) -> None:
    assert not is_doubtful(text)


def test_an_opening_before_a_later_statement_counts_from_the_first() -> None:
    text = "I fish a lot. I live in Narvik."
    assert not may_be_presented(text, (text.index("I live"), len(text)), 0)


@pytest.mark.parametrize("text", FRAMED)
def test_nothing_of_a_turn_is_its_speakers_voice_between_an_opening_and_a_question_about_it(text: str) -> None:
    assert framed(text)


@pytest.mark.parametrize("text", UNFRAMED)
def test_a_first_person_or_a_request_beside_a_statement_is_its_speakers_voice(text: str) -> None:
    assert not framed(text)


def test_what_speaks_of_its_speaker_has_a_first_person_in_english() -> None:
    assert own_sentences("Open the page. I am vegan.") == ["I am vegan."]
    assert own_sentences("Abre la p\u00e1gina, por favor.") == ["Abre la p\u00e1gina, por favor."]


@pytest.mark.parametrize("unit", [*HOSTILE_UNITS, "a: ", "a - ", "a. "])
def test_long_texts_take_no_longer_than_they_must(unit: str) -> None:
    assert growth(lambda text: may_be_presented(text, (len(text) - 1, len(text)), len(text) - 1), unit) < QUADRATIC
    assert growth(lambda text: is_framed(text, (len(text) // 2, len(text) // 2 + 1)), unit) < QUADRATIC
