"""What a whole turn does: only what is not meant in any sentence is not meant."""

from __future__ import annotations

import pytest

from app.english.quotations import quoted_spans
from app.english.role_play import NO_FRAMING
from app.english.turn_acts import act_of_turn
from app.model import SpeechAct


@pytest.mark.parametrize(
    ("said", "act"),
    [
        ("If I owned a boat, I would sail to Malta.", SpeechAct.HYPOTHETICAL),
        ("I'm actually a pilot, so walk me through the checklist", SpeechAct.ROLEPLAY),
        ("I own a castle. Just kidding!", SpeechAct.SARCASM),
        ("Oh great, another meeting.", SpeechAct.SARCASM),
        ("If I owned a boat, I would sail to Malta. I own a kayak.", SpeechAct.ASSERTION),
        ("Is it raining?", SpeechAct.ASSERTION),
        ("My aunt said that she sold her boat.", SpeechAct.ASSERTION),
        ("", SpeechAct.ASSERTION),
    ],
)
def test_a_turn_is_meant_unless_none_of_its_statements_is(said: str, act: SpeechAct) -> None:
    assert act_of_turn(said, NO_FRAMING, ()) is act


def test_a_turn_in_the_words_of_others_is_a_quotation() -> None:
    said = "> I live in Malta.\n> I sail a lot."
    assert act_of_turn(said, NO_FRAMING, quoted_spans(said, None)) is SpeechAct.QUOTATION
