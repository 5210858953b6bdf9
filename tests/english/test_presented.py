"""What a turn presents, in quotation marks, as data or to be worked on, is told from what it says."""

from __future__ import annotations

import pytest

from app.english.presented import presented_spans
from tests.english.hostile import HOSTILE_UNITS, QUADRATIC, growth

PRESENTED = (
    "Is her reply too cold?\n\nI live in Narvik and have no time.",
    "Grade this paragraph. \u201cI live in Narvik with my cat.\u201d",
    "Put the commas right: I live in Narvik and fish.",
    "Simplify:\nI live in Narvik, being a fisherman.",
    "what is wrong with this row\n1,Ole,,I live in Narvik\n2,Kari,,none",
    "why is it red\n\npilot:\n  home: I live in Narvik",
    "[note] I live in Narvik [/note] hello",
    "<p>I live in Narvik</p> is not bold",
    "my uncle again\n\nHey there, I live in Narvik now.",
    "Klingt diese Anfrage echt?\nI live in Narvik und kaufe alles.",
    "Mets \u00e7a au propre :\nI live in Narvik depuis mai.",
    "\u8fd9\u6bb5\u600e\u4e48\u7ffb\u8bd1?I live in Narvik.",
    "Patient C: I live in Narvik and cough.",
    "---\nI live in Narvik\n---\ncount the letters",
    "For testing only: I live in Narvik",
    "why no output\n$ cat me.txt\nI live in Narvik",
    "Thanks!\n-- \nOle Dahl, I live in Narvik",
    "9f3b2c1 I live in Narvik\ncan it be reverted",
    "== card ==\nI live in Narvik\n== end ==\nwhat now",
    "The record follows. I live in Narvik. End of record.",
    "I live in Narvik since ____, and fish.",
    "I live in Narvik and never sleep. Who am I?",
    "Say out loud I live in Narvik",
    "There is a postcard with I live in Narvik on it.",
    "The sonar reads I live in Narvik, odd.",
    "Some poster, du style je suis d'ici : I live in Narvik",
    "Pluperfect, please. I live in Narvik.",
    "Ins Passiv damit - I live in Narvik",
    "id;said\n1;I live in Narvik\n2;none",
    "Article of the week. Hello, I live in Narvik, call me.",
    "In my dream I live in Narvik and fly.",
)
SAID = (
    "Can you plan a weekend?\n\nI live in Narvik with my cat.",
    "Suggest a present.\nI live in Narvik near the harbour.",
    "Please keep this in mind: I live in Narvik",
    "To sum up: I live in Narvik",
    "Hello,\nI live in Narvik. When is high tide?",
    "Can I park here?\nI live in Narvik.",
    "I told them: \u201cI live in Narvik and stay here.\u201d",
    "Translate \u201cgood luck\u201d into Norwegian. I live in Narvik.",
    "Job: pilot\nHome: I live in Narvik",
    "One more question: I live in Narvik, do I pay tolls?",
    "Plan a trip: I live in Narvik",
    "# About me\nI live in Narvik",
    "I live in Narvik, with a harbour. Who am I to complain?",
    "I feel like I live in Narvik only.",
    "I study the subjects that participants like. I live in Narvik.",
    "Thanks for that. Hello again, I live in Narvik now.",
    "My dream job! I live in Narvik now.",
    "> do you have time\nYes, I live in Narvik?",
    'It has {"a": "b"}; I live in Narvik.',
    "Save this about me: \u201cI live in Narvik and stay here.\u201d",
    "Work went well\nI live in Narvik",
)


def is_presented(text: str) -> bool:
    place = text.index("I live in Narvik")
    return any(start <= place < end for start, end in presented_spans(text))


@pytest.mark.parametrize("text", PRESENTED)
def test_what_is_shown_or_to_be_worked_on_is_presented(text: str) -> None:
    assert is_presented(text)


@pytest.mark.parametrize("text", SAID)
def test_what_the_speaker_says_beside_a_request_is_not_presented(text: str) -> None:
    assert not is_presented(text)


@pytest.mark.parametrize(
    "unit", [*HOSTILE_UNITS, "<a>", "[ab]", '{"a":', "a,b,c\n", "a: b\n", '"ab cd ef', "Fix this: ", "#a\n", "---\n"]
)
def test_long_texts_take_no_longer_than_they_must(unit: str) -> None:
    assert growth(lambda text: list(presented_spans(text)), unit) < QUADRATIC
