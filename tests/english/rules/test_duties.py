"""Orders that stand though they are asked, labelled jokes, and names with a full stop of their own."""

from __future__ import annotations

import pytest

from app.english.speech_acts import speech_act
from app.model import SpeechAct
from app.providers.rule_extractor import propose
from tests.english.rules.said import turn


def told(text: str) -> list[tuple[object, ...]]:
    return [tuple(one.payload.values()) for one in propose(turn(text))]


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("As a joke: I rule the moon.", SpeechAct.SARCASM),
        ("In jest, I am the pope.", SpeechAct.SARCASM),
        ("I run the whole bank (joking).", SpeechAct.SARCASM),
        ("As a joke, we painted the shed pink.", SpeechAct.ASSERTION),
    ],
)
def test_what_is_called_a_joke_is_one(text: str, act: SpeechAct) -> None:
    assert speech_act(text) is act


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I work at Wayne Corp.", "Wayne Corp."),
        ("I work at Nokia.", "Nokia"),
        ("I live in Portland, O.R.", "Portland, O.R."),
        ("I moved to the U.K.", "U.K."),
    ],
)
def test_a_name_keeps_its_own_full_stop(text: str, value: str) -> None:
    assert any(value in one for one in told(text)), told(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Could you always spell names in capitals?", "always spell names in capitals"),
        ("would you please stop adding hashtags to your replies", "never add hashtags to replies"),
        ("Can you answer in Welsh from now on?", "Welsh"),
        ("I've bad lungs, so I need a smoke-free room every time you reserve a hotel.", "smoke-free room every time"),
    ],
)
def test_an_order_that_stands_may_be_a_question_or_a_need(text: str, value: str) -> None:
    assert any(value in str(field) for one in told(text) for field in one), told(text)
    assert speech_act(text) is SpeechAct.ASSERTION


@pytest.mark.parametrize(
    "text",
    ["Could you stop the music?", "Can you tell me when the pool opens?", "Will you be in whenever I come by?"],
)
def test_a_request_of_the_moment_is_no_order_that_stands(text: str) -> None:
    assert told(text) == []


def test_who_introduces_themselves_may_add_an_age_and_a_job() -> None:
    found = told("Hello, I'm Ottilie, 61, a baker from Ghent.")
    assert {one[-1] for one in found} >= {"Ottilie", "61", "baker"}


def test_an_age_is_no_part_of_a_job_and_a_family_no_employer() -> None:
    assert told("I'm a 37-year-old plumber with four sons") == told("I'm a plumber")
