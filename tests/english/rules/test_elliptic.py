"""Short answers, read with the questions that they answer."""

from __future__ import annotations

import pytest

from app.english.rules.propose import propose
from app.write.ground import Grounding, ground
from tests.english.hostile import HOSTILE_UNITS, QUADRATIC, growth
from tests.english.rules.said import TYPES, rendered, turn

ANSWERED = [
    ("Where do you live?", "Berlin.", ["user lives in Berlin"]),
    ("Thanks! And where are you based these days? \U0001f642", "In New York, currently.", ["user lives in New York"]),
    ("Where are you from?", "Sweden", ["user comes from Sweden"]),
    ("Where were you born?", "Porto!", ["user born in Porto"]),
    ("Who do you work for?", "Volkswagen", ["user works at Volkswagen"]),
    ("What\u2019s your name?", "Ana.", ["user has name Ana"]),
    ("How old are you?", "32", ["user has age 32"]),
    ("When is your birthday?", "On May 4th.", ["user born on May 4th"]),
    ("What's your favorite color?", "Blue.", ["user prefers Blue for favourite colour"]),
    ("Do you have any allergies?", "Yes, penicillin.", ["user allergic to penicillin"]),
    ("Any allergies?", "Peanuts and eggs", ["user allergic to Peanuts", "user allergic to eggs"]),
    ("How many children do you have?", "Two children.", ["user has two children"]),
    ("What should I call you?", "Lexi", ["user prefers Lexi for name preferred"]),
    ("So what do you do for a living?", "plumber", ["user has role plumber"]),
    ("What's your job?", "I work as an electrician", ["user has role electrician"]),
    ("What do you do?", "Data analyst at Siemens", ["user has role Data analyst", "user works at Siemens"]),
    (
        "Who do you report to?",
        "Ingrid Larsen, head of sales",
        ["user reports to Ingrid Larsen"],
    ),
    ("Which languages do you speak?", "German and French.", ["user speaks German", "user speaks French"]),
]


@pytest.mark.parametrize(("question", "answer", "read"), ANSWERED)
def test_a_short_answer_says_what_its_question_asked(question: str, answer: str, read: list[str]) -> None:
    asked, given = turn(question, "assistant"), turn(answer)
    found = propose(given, [asked])
    assert [rendered(one) for one in found] == read
    for one in found:
        assert one.quote == answer
        assert isinstance(ground(one, given, [asked], TYPES), Grounding)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where do you live?", "With my parents."),
        ("Where do you live?", "Guess!"),
        ("Where do you live?", "Why?"),
        ("Where do you live?", "Nowhere special"),
        ("Where do you live?", "The red house, the one by the lake"),
        ("Where does she live?", "Berlin."),
        ("Where would you like to live?", "Berlin."),
        ("Where do you live? I ask because I like Rome.", "Berlin."),
        ("Do you have any allergies?", "None."),
        ("Do you have any allergies?", "No, nothing"),
        ("Do you have any allergies?", "Yes."),
        ("How old are you?", "Old enough"),
        ("What's your name?", "I won't tell"),
        ("What's your favourite food?", "Not sure"),
        ("When is your birthday?", "Soon."),
        ("What should I call you?", "anything"),
        ("What do you do for work?", "Nothing much"),
        ("What do you do?", "This and that"),
        ("Who's your manager?", "nobody really"),
    ],
)
def test_what_is_no_plain_answer_is_not_read(question: str, answer: str) -> None:
    assert propose(turn(answer), [turn(question, "assistant")]) == ()


def test_only_another_speakers_question_right_before_is_answered() -> None:
    question, answer = turn("Where do you live?", "assistant"), turn("Berlin.")
    assert propose(answer, [question, turn("Let me see.", "assistant")]) == ()
    assert propose(answer, [turn("Where do you live?")]) == ()
    assert propose(turn("Berlin.", "assistant"), [turn("Where do you live?")]) == ()
    [one] = propose(turn("Berlin.", speaker="Ana"), [turn("Where do you live?", speaker="Ben")])
    assert rendered(one) == "Ana lives in Berlin"


def test_a_whole_statement_is_read_as_it_stands() -> None:
    found = propose(turn("I live in Berlin."), [turn("Where do you live?", "assistant")])
    assert [(rendered(one), one.quote) for one in found] == [("user lives in Berlin", "I live in Berlin")]


@pytest.mark.parametrize("unit", HOSTILE_UNITS)
def test_hostile_questions_take_no_longer_than_their_length_explains(unit: str) -> None:
    def work(text: str) -> None:
        propose(turn(text[:50]), [turn(f"{text}?", "assistant")])

    assert growth(work, unit) < QUADRATIC
