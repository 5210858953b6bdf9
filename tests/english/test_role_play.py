"""Frames that reach over turns, and where they end."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.english.role_play import FRAMED_TURNS, NO_FRAMING, framing, opens_frame
from app.model import SpeechAct
from app.providers.rule_extractor import propose
from tests.english.hostile import HOSTILE_UNITS, QUADRATIC, growth
from tests.english.rules.said import turn

STATED = "I live in Tortuga."
PLAY = "Let's roleplay: you're a pirate and I'm a sailor"


def act(*turns: str, stated: str = STATED) -> SpeechAct | None:
    """How a statement is framed that is made after these turns."""
    return framing(stated, turns).at(0, stated)


@pytest.mark.parametrize(
    ("opening", "expected"),
    [
        (PLAY, SpeechAct.ROLEPLAY),
        ("Let\u2019s role-play a scene at the docks.", SpeechAct.ROLEPLAY),
        ("Let's pretend I'm a nurse.", SpeechAct.ROLEPLAY),
        ("In this story I'm a detective in Paris.", SpeechAct.ROLEPLAY),
        ("You are a dragon and I am a knight.", SpeechAct.ROLEPLAY),
        ("Pretend until I say stop that I'm a doctor.", SpeechAct.ROLEPLAY),
        ("For the next few messages act as if I'm a doctor.", SpeechAct.ROLEPLAY),
        ("Act as if I'm a doctor for the rest of this conversation.", SpeechAct.ROLEPLAY),
        ("Roleplay: I'm a wizard.", SpeechAct.ROLEPLAY),
        ("Persona: a retired diver with two sons.", SpeechAct.ROLEPLAY),
        ("Shall we play doctors? You're ill.", SpeechAct.ROLEPLAY),
        ("Pretend I'm a doctor.", SpeechAct.ROLEPLAY),
        ("I'll be the patient and you're the doctor.", SpeechAct.ROLEPLAY),
        ("For the rest of this conversation, imagine I live in Rome.", SpeechAct.HYPOTHETICAL),
        ("let's play a game. you are the ferryman, I am Ulfgar", SpeechAct.ROLEPLAY),
        ("You're the judge, I'm Portia", SpeechAct.ROLEPLAY),
        ("Can we do a murder mystery? I'll be Professor Quill", SpeechAct.ROLEPLAY),
        ("*walks into the inn*", SpeechAct.ROLEPLAY),
        ("We are writing a play together, I do Hamlet", SpeechAct.ROLEPLAY),
        ("D&D time! I'm a level 3 druid", SpeechAct.ROLEPLAY),
        ("Imagine that I'm a baker in Lyon and you're my apprentice.", SpeechAct.ROLEPLAY),
        ("Suppose you are the mayor, and I'm a reporter.", SpeechAct.ROLEPLAY),
        ("Be the innkeeper, I'll be the ferryman.", SpeechAct.ROLEPLAY),
        ("Du bist der Lotse und ich die Reederin.", SpeechAct.ROLEPLAY),
        ("Jouons à la marchande !", SpeechAct.ROLEPLAY),
        ("Tu joues le juge, moi le voleur.", SpeechAct.ROLEPLAY),
        ("Wir spielen Hafen, ich bin der Koch.", SpeechAct.ROLEPLAY),
        ("Hagamos una escena: empiezas tú.", SpeechAct.ROLEPLAY),
        ("Interroge-moi comme si j'étais le voleur.", SpeechAct.ROLEPLAY),
        ("Question me as if I were the thief.", SpeechAct.ROLEPLAY),
        ("I'll reply as a retired diver.", SpeechAct.ROLEPLAY),
    ],
)
def test_a_frame_reaches_over_the_turns_after_it(opening: str, expected: SpeechAct) -> None:
    assert act(opening) is expected
    assert act(opening, "Arr, where is the ship?") is expected


@pytest.mark.parametrize(
    "words",
    [
        "Act as a career coach.",
        "Pretend I'm five and explain gravity.",
        "Let's pretend this never happened.",
        "I love role-playing games.",
        "You are a good listener and I'm a fan.",
        "You're a star and I'm a mess",
        "What if I were a doctor?",
        "From now on, answer in German.",
        "My kids pretend to be pirates.",
        "We did a roleplay in therapy yesterday.",
        "Imagine a world where dogs talk.",
        "I play the guitar and you?",
        "We play chess on Fridays.",
        "You are right, I am Portuguese.",
        "We're playing a game tonight against Leeds.",
        "I'm Anna and you are very helpful",
    ],
)
def test_what_only_serves_one_request_or_is_no_game_frames_nothing(words: str) -> None:
    assert act(words) is None


@pytest.mark.parametrize(
    "left",
    [
        "stop",
        "Ok, stop.",
        "End of roleplay",
        "ok back to reality",
        "seriously now",
        "Okay, let's stop pretending.",
        "Stop the roleplay please",
        "Let's get back to normal.",
        "That was fun! No more roleplay.",
    ],
)
def test_a_frame_is_left(left: str) -> None:
    assert act(PLAY, left) is None


@pytest.mark.parametrize("words", ["I never stop talking", "We stop at the harbour", "The ship won't stop."])
def test_what_only_speaks_of_stopping_leaves_nothing(words: str) -> None:
    assert act(PLAY, words) is SpeechAct.ROLEPLAY


def test_in_one_turn_what_comes_after_the_end_is_meant() -> None:
    text = "I live in Tortuga. Okay, stop the roleplay. I live in Bonn."
    found = framing(text, [PLAY])
    assert found.at(0, "I live in Tortuga.") is SpeechAct.ROLEPLAY
    assert found.at(text.index("I live in Bonn"), "I live in Bonn.") is None


def test_a_sentence_may_speak_for_real_in_the_midst_of_it() -> None:
    assert act(PLAY, stated="In real life, I live in Bonn.") is None


def test_a_frame_ends_by_itself() -> None:
    assert act(PLAY, *["Arr!"] * (FRAMED_TURNS - 1)) is SpeechAct.ROLEPLAY
    assert act(PLAY, *["Arr!"] * FRAMED_TURNS) is None
    three = "For the next 3 messages, assume I'm a CEO."
    assert act(three, "one", "two") is SpeechAct.HYPOTHETICAL
    assert act(three, "one", "two", "three") is None


def test_only_its_speaker_opens_one() -> None:
    assert framing(PLAY, [], opens=False).at(0, PLAY) is None


@settings(max_examples=60)
@given(st.text(max_size=400), st.lists(st.text(max_size=100), max_size=5))
def test_any_text_is_read(text: str, before: list[str]) -> None:
    found = framing(text, before).at(len(text), text)
    assert found in {None, SpeechAct.HYPOTHETICAL, SpeechAct.ROLEPLAY}


@pytest.mark.parametrize("unit", [*HOSTILE_UNITS, "let's play ", "you are a b ", "pretend ", "for the next "])
def test_long_texts_take_no_longer_than_they_must(unit: str) -> None:
    assert growth(lambda text: framing(text, []), unit) < QUADRATIC


@pytest.mark.parametrize(
    "words",
    ["Be the first to know, I'm pregnant!", "Du bist ein Schatz, ich wohne in Ulm.", "Tú eres amable y yo leo."],
)
def test_thanks_and_news_open_no_game(words: str) -> None:
    assert not opens_frame(words)


def test_naming_the_assistant_an_assistant_opens_no_game() -> None:
    assert framing("I'm Lena and you're my assistant. I live in Ghent.", []) == NO_FRAMING


def test_the_rules_know_a_game_whose_parts_are_names() -> None:
    found = propose(turn("You're Asterix and I'm Obelix. I live in Gaul."))
    assert found
    assert {one.speech_act for one in found} == {SpeechAct.ROLEPLAY}


def test_what_is_announced_with_a_colon_is_not_ones_own_in_the_next_turn() -> None:
    for announced in ("My neighbour Jo wrote to me:", "Here is what a colleague sent me:", "The landlord's message:"):
        assert act(announced) is SpeechAct.QUOTATION, announced
        assert act(announced, "Thanks, noted.") is None, announced
    assert act("My plan for tomorrow:") is None


def test_what_follows_the_heading_of_a_part_of_a_book_is_told() -> None:
    text = "Chapter 2: I live in Tortuga."
    assert framing(text, []).at(text.index("I live"), "I live in Tortuga.") is SpeechAct.ROLEPLAY
    assert act("Chapter 2: I live in Tortuga.") is None
