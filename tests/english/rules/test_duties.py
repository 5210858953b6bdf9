"""Rules laid on the listener or on all; labelled jokes; and names with a full stop of their own."""

from __future__ import annotations

import pytest

from app.english.rules.propose import propose
from app.english.speech_acts import speech_act
from app.model import SpeechAct
from tests.english.rules.said import turn


def told(text: str) -> list[tuple[object, ...]]:
    return [tuple(one.payload.values()) for one in propose(turn(text))]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("You must never merge on a red build.", "never merge on a red build"),
        ("You are not permitted to email customers directly.", "never email customers directly"),
        ("You must always ask before deleting files.", "always ask before deleting files"),
        ("You have to always encrypt backups.", "always encrypt backups"),
    ],
)
def test_what_is_laid_on_the_listener_stands(text: str, value: str) -> None:
    assert any(value in one for one in told(text)), told(text)


@pytest.mark.parametrize(
    ("text", "predicate", "value"),
    [
        ("The use of personal laptops is strictly forbidden.", "may-not-use", "personal laptops"),
        ("Visitors are not allowed in the server room.", "prohibited-from", "Visitors in the server room"),
        ("Copying client files is prohibited.", "prohibited-from", "Copying client files"),
    ],
)
def test_what_is_forbidden_to_all_is_a_rule(text: str, predicate: str, value: str) -> None:
    assert any(predicate in one and value in one for one in told(text)), told(text)


@pytest.mark.parametrize(
    "text", ["You must not miss this film!", "My card is banned.", "You never know.", "It is not allowed."]
)
def test_what_rules_nothing_gives_no_rule(text: str) -> None:
    assert told(text) == []


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
