"""What a question leaves to the messages before it."""

from __future__ import annotations

import pytest

from app.english.follow_ups import Said, question_of


def asked(*said: str) -> str | None:
    """Return the question of messages; those of the assistant begin with a dash."""
    return question_of([Said(by_user=not one.startswith("-"), text=one.removeprefix("-")) for one in said])


@pytest.mark.parametrize(
    ("before", "last", "question"),
    [
        (("Who is my dentist?", "-It is Dr. Anna Meyer."), "When do I see her?", "When do I see Anna Meyer?"),
        (("I met Robert.", "-Nice."), "What is his job?", "What is Robert's job?"),
        (("I met Robert and Clara.", "-Nice."), "Did she call him?", "Did Clara call him?"),
        (
            ("Which lamps did I get in May?", "-Two."),
            "When will they arrive?",
            "When will they arrive? (lamps)",
        ),
        (("Where does Clara live?", "-In Porto."), "And Robert?", "And Robert? (Clara live)"),
        (("How is the harp lesson going?", "-Well.", "ok"), "How much is it?", "How much is it? (harp lesson)"),
    ],
)
def test_names_and_words_come_from_what_was_said_before(before: tuple[str, ...], last: str, question: str) -> None:
    found = asked(*before, last)
    assert found is not None
    assert found.replace("Dr. ", "") == question


@pytest.mark.parametrize(
    "last",
    [
        "Where do I live?",
        "What did Robert say about his boat?",
        "What is the book that I bought in Rome about?",
        "How long did it take me to paint the fence?",
        "Is there a pharmacy near my office?",
        "Thanks!",
        "What is one of my favourite songs?",
    ],
)
def test_a_question_that_stands_by_itself_takes_nothing(last: str) -> None:
    assert asked("Tell me about Clara and her lamps.", "-She has three.", last) == last


def test_the_last_message_of_the_user_is_the_question_whoever_spoke_last() -> None:
    assert asked("Where do I live?", "-Let me look that up.") == "Where do I live?"
    assert asked("-Hello!") is None
    assert asked() is None
