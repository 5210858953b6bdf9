"""What a speaker does with a sentence, and with a whole turn: only what is not meant in any sentence is not meant."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.english import speech_acts
from app.english.quotations import quoted_spans
from app.english.role_play import NO_FRAMING
from app.english.speech_acts import SKIPPED, act_of_turn, more_cautious, speech_act
from app.memory.confidence import UNCERTAIN_ACTS
from app.model import SpeechAct
from tests.english.hostile import HOSTILE_UNITS, QUADRATIC, growth
from tests.english.phrases import failing, phrases


@pytest.mark.parametrize("act", list(SpeechAct))
def test_the_act_of_each_phrase(act: SpeechAct) -> None:
    listed = phrases("speech_acts", act)
    assert len(listed) >= 15
    assert failing(listed, lambda text: speech_act(text) is act) == []


@pytest.mark.parametrize(
    ("before", "sentence", "act"),
    [
        ("Let's play a game: pretend I'm a pirate.", "I live on a ship.", SpeechAct.ROLEPLAY),
        ("Pretend you know me.", "By the way, I moved to Berlin.", SpeechAct.ASSERTION),
        ("You are a pirate.", "I am your captain.", SpeechAct.ROLEPLAY),
        ("You are a pirate. I am your captain. Enough of the game.", "I own a kayak.", SpeechAct.ASSERTION),
        ("Let's pretend I'm a king. Okay, I'll stop pretending.", "I own a kayak.", SpeechAct.ASSERTION),
        ("Hypothetically speaking, I am rich.", "I own a castle.", SpeechAct.HYPOTHETICAL),
        ("For the sake of discussion, I am rich.", "I own a castle.", SpeechAct.HYPOTHETICAL),
        ("Suppose I'm a doctor.", "I work nights.", SpeechAct.HYPOTHETICAL),
        ("Suppose I'm a doctor.", "In reality I'm a nurse.", SpeechAct.ASSERTION),
        ("Suppose I'm a doctor. Anyway, thanks.", "I work nights.", SpeechAct.ASSERTION),
        ("What if I were a doctor?", "I'm a nurse.", SpeechAct.ASSERTION),
        ("Just imagine!", "I got the job at Siemens.", SpeechAct.ASSERTION),
        ("She wrote: \u201cI quit my job.", "I live in Oslo now.\u201d", SpeechAct.QUOTATION),
        ('He said "I am a pilot.', 'I live in Oslo."', SpeechAct.QUOTATION),
        ('He said "I am a pilot."', "I live in Oslo.", SpeechAct.ASSERTION),
        ('My screen is 27" wide.', "I live in Oslo.", SpeechAct.ASSERTION),
        ("You're a great help!", "I live in Oslo.", SpeechAct.ASSERTION),
        ("Where do you live?", "I live in Oslo.", SpeechAct.ASSERTION),
    ],
)
def test_what_came_before_sets_the_frame(before: str, sentence: str, act: SpeechAct) -> None:
    assert speech_act(sentence, before) is act


@pytest.mark.parametrize(
    "variant",
    ["I\u2019m actually a doctor, so walk me through it.", "  i'm  actually a\ndoctor,   so WALK ME through it  "],
)
def test_typography_case_and_spacing_change_nothing(variant: str) -> None:
    assert speech_act(variant) is SpeechAct.ROLEPLAY


def test_the_more_cautious_verdict_wins_whoever_gives_it() -> None:
    assert more_cautious(SpeechAct.ASSERTION, SpeechAct.ROLEPLAY) is SpeechAct.ROLEPLAY
    assert more_cautious(SpeechAct.SARCASM, SpeechAct.HYPOTHETICAL) is SpeechAct.SARCASM
    assert more_cautious(SpeechAct.NEGATION, SpeechAct.QUOTATION) is SpeechAct.QUOTATION


@given(st.sampled_from(SpeechAct), st.sampled_from(SpeechAct), st.sampled_from(SpeechAct))
def test_caution_is_an_order(first: SpeechAct, second: SpeechAct, third: SpeechAct) -> None:
    assert more_cautious(first, first) is first
    assert more_cautious(first, second) is more_cautious(second, first)
    assert more_cautious(more_cautious(first, second), third) is more_cautious(first, more_cautious(second, third))


def test_an_act_is_skipped_or_capped_or_meant_never_two_of_them() -> None:
    assert not SKIPPED & UNCERTAIN_ACTS
    assert set(SpeechAct) - SKIPPED - UNCERTAIN_ACTS == {SpeechAct.ASSERTION, SpeechAct.NEGATION}


@pytest.mark.parametrize("unit", HOSTILE_UNITS)
def test_hostile_text_takes_no_longer_than_its_length_explains(unit: str) -> None:
    assert growth(lambda text: speech_act(text, text), unit) < QUADRATIC


@given(st.text(max_size=300), st.text(max_size=100))
def test_every_text_has_an_act(sentence: str, before: str) -> None:
    assert speech_act(sentence, before) in SpeechAct


@pytest.mark.parametrize(
    ("said", "act"),
    [
        ("If I owned a boat, I would sail to Malta.", SpeechAct.HYPOTHETICAL),
        ("Say my boat was sinking, whom would I call?", SpeechAct.HYPOTHETICAL),
        ("I'm actually a pilot, so walk me through the checklist", SpeechAct.ROLEPLAY),
        ("I own a castle. Just kidding!", SpeechAct.SARCASM),
        ("I own a castle. Haha, I'm kidding of course.", SpeechAct.SARCASM),
        ("I own a castle, jk", SpeechAct.SARCASM),
        ("I own a castle. Hehe, nope, I'm just joking", SpeechAct.SARCASM),
        ("I own a castle. I rent a flat. Only joking!", SpeechAct.ASSERTION),
        ("I rent a flat. It's a palace, just kidding, it has one room.", SpeechAct.ASSERTION),
        ("I own a castle. Just kidding, I rent a flat.", SpeechAct.ASSERTION),
        ("My uncle owns a castle. He was just joking about the moat.", SpeechAct.ASSERTION),
        ("Oh great, another meeting.", SpeechAct.SARCASM),
        ("If I owned a boat, I would sail to Malta. I own a kayak.", SpeechAct.ASSERTION),
        ("Is it raining?", SpeechAct.ASSERTION),
        ("My aunt said that she sold her boat.", SpeechAct.ASSERTION),
        ("", SpeechAct.ASSERTION),
    ],
)
def test_a_turn_is_meant_unless_none_of_its_statements_is(said: str, act: SpeechAct) -> None:
    assert act_of_turn(said, NO_FRAMING, ()) is act


def test_a_long_turn_of_a_game_is_read_once_and_its_sentences_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0

    class Counted:
        def __init__(self, pattern: re.Pattern[str]) -> None:
            self._pattern = pattern

        def search(self, text: str) -> re.Match[str] | None:
            nonlocal read
            read += len(text)
            return self._pattern.search(text)

    monkeypatch.setattr(speech_acts, "_PLAYING", Counted(speech_acts._PLAYING))
    turn = "You are a pirate. " + "Aye. " * 600
    assert act_of_turn(turn, NO_FRAMING, ()) is SpeechAct.ROLEPLAY
    assert len(turn) < read < 2.1 * len(turn)


def test_a_turn_is_read_up_to_its_first_assertion(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []

    act = speech_acts._act

    def noting(sentence: str, before: str, frames: speech_acts._Frames) -> SpeechAct:
        looked_at.append(sentence)
        return act(sentence, before, frames)

    monkeypatch.setattr(speech_acts, "_act", noting)
    assert act_of_turn("Is it late? I own a boat. Pretend it is red.", NO_FRAMING, ()) is SpeechAct.ASSERTION
    assert looked_at == ["Is it late?", "I own a boat."]


def test_a_turn_in_the_words_of_others_is_a_quotation() -> None:
    said = "> I live in Malta.\n> I sail a lot."
    assert act_of_turn(said, NO_FRAMING, quoted_spans(said, None)) is SpeechAct.QUOTATION
