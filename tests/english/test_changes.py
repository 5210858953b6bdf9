"""What a text says of change, in several languages, and of whom it tells."""

from __future__ import annotations

import pytest

from app.english.changes import (
    adds,
    another_person,
    is_done_by_another,
    is_owned_by_another,
    tells_change,
    tells_no_change,
)
from app.lexical.tokens import normalise, tokenize


@pytest.mark.parametrize(
    "text",
    [
        "The ferry is history, a bridge takes me across these days.",
        "Still can't believe it: we swapped the barge for a cabin.",
        "Seit Ostern rudere ich nur noch am Wochenende.",
        "J'ai arrêté l'aviron.",
        "Ya no remo.",
        "Ho smesso di remare.",
        "Larguei o remo.",
        "Ik ben met roeien gestopt.",
        "Rzuciłem wioślarstwo.",
        "Теперь я хожу под парусом.",
        "我不再划船了",
        "ボートはやめて、ヨットにしています",
        "이제 요트를 타요",
    ],
)
def test_that_something_is_different_is_told_in_several_languages(text: str) -> None:
    assert tells_change(text)
    assert not tells_no_change(text)


@pytest.mark.parametrize(
    "text",
    [
        "Perhaps I will row again one day.",
        "I almost sold the barge.",
        "When I was small we had a new boat each spring.",
        "Vielleicht ziehe ich irgendwann auf ein neues Boot.",
        "Quizás algún día cambie de barco.",
        "Может быть, я когда-нибудь продам лодку",
        "昔は船に乗っていた",
        "Only for tonight we sleep on the barge.",
        "Wir sind bis Sonntag auf dem Boot.",
    ],
)
def test_what_may_be_or_was_once_is_no_change(text: str) -> None:
    assert tells_no_change(text)


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("I row in the evenings as well.", True),
        ("We bought a second boat, an additional dinghy is next to another pier.", True),
        ("Ich segle auch.", True),
        ("The barge is too small.", False),
        ("Also, I sold the barge.", False),
    ],
)
def test_what_comes_beside_the_rest_is_told_from_what_takes_its_place(text: str, *, added: bool) -> None:
    assert adds(text) is added


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("My older brother sold his barge.", "brother"),
        ("A friend of mine moved onto a barge.", "friend"),
        ("Sverre's uncle has a new barge.", "uncle"),
        ("user's sister lives on a barge", "sister"),
        ("Meine Cousine hat ein neues Boot.", "Cousine"),
        ("La barca de mi vecino se llama Luz.", "vecino"),
        ("我朋友买了船", "朋友"),
        ("Maria sold the barge.", "Maria"),
        ("My brother sold me his barge.", ""),
        ("My wife and I bought a barge.", ""),
        ("I moved in with my sister.", ""),
        ("Moved in with my sister.", ""),
        ("The barge is sold.", ""),
        ("My brother sold his barge for 900 and mocks my dinghy.", "brother"),
        ("The couple next door moor in Hitra.", "couple"),
        ("Painted the barge for my uncle.", "uncle"),
        ("My brother left me.", ""),
        ("My uncle helped me tow the barge to Molde.", ""),
    ],
)
def test_who_is_told_of_is_the_person_at_the_beginning_unless_the_speaker_is_there(text: str, person: str) -> None:
    assert another_person(text) == person


@pytest.mark.parametrize(
    ("statement", "told", "done"),
    [
        ("I moor at Molde.", "The harbour master moors at Hitra.", True),
        ("My ferry leaves at six.", "The mail boat leaves at five.", True),
        ("I moor at Molde.", "My barge moors at Hitra.", False),
        ("I moor at Molde.", "The mooring at Molde is full.", False),
        ("The ferry leaves at six.", "The mail boat leaves at five.", False),
    ],
)
def test_what_another_does_is_told_from_what_its_speaker_does(statement: str, told: str, *, done: bool) -> None:
    assert is_done_by_another(tokenize(normalise(told)), tokenize(normalise(statement))) is done


@pytest.mark.parametrize(
    ("statement", "told", "owned"),
    [
        ("My berth is number 4.", "The pilot's new berth is number 9.", True),
        ("user's berth is number 4", "The pilot\u2019s berth is number 9.", True),
        ("My berth is number 4.", "The pilot's gone to sea.", False),
        ("My berth is number 4.", "My berth's the last one now.", False),
        ("The berth is number 4.", "The pilot's berth is number 9.", False),
    ],
)
def test_what_another_has_is_told_from_what_its_speaker_has(statement: str, told: str, *, owned: bool) -> None:
    assert is_owned_by_another(tokenize(normalise(told)), tokenize(normalise(statement))) is owned
