"""Nearness of words: what it raises, by how much, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from app.providers.embeddings import Vectors
from app.providers.wordllama import WordllamaEmbedder
from app.read.near_words import NearWords, content_words, match_words
from app.read.plan import OPEN
from app.read.values import Fused
from tests.read.test_rank import TURNS, ranking_row

WORDS = WordllamaEmbedder().words
BY_WORDS = replace(OPEN, words=0.2, said_before=0.5)
DOCTORS = ("The physician called", "Trains were late again", "", "My doctor plays chess")


def raised(question: str, *contents: str, **plan: Any) -> dict[str, float]:
    """What each memory gains, in the new order; all were equally good before, and were said one after the other."""
    rows = {
        (row := ranking_row(number, opening=content, session_id="s", sequence_number=10 * number)).id: row
        for number, content in enumerate(contents, start=1)
    }
    return matched(rows, question, **plan)


def matched(rows: dict[UUID, Any], question: str, **plan: Any) -> dict[str, float]:
    fused = [Fused(one, 1.0, {}) for one in rows]
    asked = dict.fromkeys(content_words(question, "english"), 1.0)
    found = match_words(
        fused, rows, asked, words=NearWords(WORDS, "english"), verbatim=TURNS, plan=replace(BY_WORDS, **plan)
    )
    return {rows[one.id].opening: one.retrieval - 1.0 for one in found}


def test_a_word_of_like_meaning_raises_a_memory_that_says_none_of_the_words() -> None:
    gains = raised("Which doctor?", "We painted the fence green", "The physician called", "Trains were late again")
    assert next(iter(gains)) == "The physician called"
    assert 0 < gains["The physician called"] < 0.2


def test_the_best_gains_by_the_share_of_the_question_that_its_words_come_near() -> None:
    known, half = ("A doctor called", "A doctor plays chess"), ("A doctor called", "Some rain fell")
    assert raised("doctor chess", *known)["A doctor plays chess"] == pytest.approx(0.2)
    assert raised("doctor chess", *half)["A doctor called"] == pytest.approx(0.1, abs=0.03)
    assert 0 < raised("sonata quark", *half)["A doctor called"] < 0.05


def test_the_same_word_is_nearer_than_one_of_like_meaning() -> None:
    gains = raised("Which doctor?", "A physician called", "A doctor called", "Some rain fell")
    assert next(iter(gains)) == "A doctor called"


def after_a_piano(kind: str, **plan: Any) -> dict[str, float]:
    """What two turns gain, and a belief or turn that was said with the second; the third said something else."""
    said = [(1, "My piano is out of tune"), (2, "Twice already since May"), (4, "Trains were late again")]
    turns = [
        ranking_row(number, type="episodic", opening=content, session_id="s", sequence_number=number)
        for number, content in said
    ]
    other = ranking_row(9, type=kind, opening="Since May", session_id="s", sequence_number=2)
    return matched({row.id: row for row in (*turns, other)}, "the piano", **plan)


def test_a_turn_gains_by_half_from_the_turn_before_it() -> None:
    gains = after_a_piano("episodic")
    assert gains["My piano is out of tune"] > gains["Twice already since May"] > gains["Trains were late again"]
    assert after_a_piano("episodic", said_before=0.0)["Twice already since May"] < gains["Twice already since May"]


def test_a_belief_gains_nothing_from_the_turn_before_it() -> None:
    assert after_a_piano("fact")["Since May"] < after_a_piano("episodic")["Since May"]


def around(*turns: tuple[int, str, int, str]) -> dict[int, float]:
    """What is said around each turn (a number, its session, its place there, its text) adds: of pianos and doctors."""
    rows = {
        (row := ranking_row(number, type="episodic", opening=text, session_id=session, sequence_number=at)).id: row
        for number, session, at, text in turns
    }
    asked = {"piano": 1.0, "doctor": 1.0}
    fused = [Fused(one, 1.0, {}) for one in rows]
    plan = replace(BY_WORDS, around=0.1)
    found = match_words(fused, rows, asked, words=NearWords(WORDS, "english"), verbatim=TURNS, plan=plan)
    return {one.id.int: one.around for one in found}


def test_a_turn_gains_by_words_that_others_of_its_session_say() -> None:
    shares = around(
        (1, "a", 1, "My piano is out of tune"),
        (2, "b", 1, "My piano is out of tune"),
        (3, "b", 9, "The physician called"),
        (4, "c", 1, "Trains were late again"),
    )
    assert shares[2] > shares[1] > shares[4]
    assert shares[3] > shares[4]


def test_a_turn_gains_more_by_words_that_are_said_within_two_turns_of_it() -> None:
    said = ((1, "a", 1, "My piano is out of tune"), (2, "b", 1, "My piano is out of tune"))
    shares = around(*said, (3, "a", 3, "The doctor called"), (4, "b", 4, "The doctor called"))
    assert shares[1] == pytest.approx(0.2)
    assert shares[1] > shares[2]


def test_nothing_is_around_beliefs_alone() -> None:
    rows = {(row := ranking_row(number, opening="The doctor called")).id: row for number in (1, 2)}
    fused = [Fused(one, 1.0, {}) for one in rows]
    found = match_words(fused, rows, {"doctor": 1.0}, words=NearWords(WORDS, "english"), verbatim=TURNS, plan=BY_WORDS)
    assert [one.around for one in found] == [0.0, 0.0]


def test_what_has_no_words_gains_least_and_no_question_without_words_moves_anything() -> None:
    gains = raised("Which doctor?", "The physician called", "", "?!")
    assert next(iter(gains)) == "The physician called"
    assert gains[""] == gains["?!"] < 0.2
    assert set(raised("what of it", "The physician called", "Trains").values()) == {0.0}


def test_only_the_first_are_compared_and_those_without_a_row_are_left_out() -> None:
    rows = {(row := ranking_row(number, opening="The doctor called")).id: row for number in (1, 2)}
    fused = [Fused(one, 1.0, {}) for one in (UUID(int=3), *rows)]
    plan = replace(BY_WORDS, compared=2)
    found = match_words(fused, rows, {"doctor": 1.0}, words=NearWords(WORDS, "english"), verbatim=TURNS, plan=plan)
    assert [(one.id.int, one.retrieval, one.words) for one in found] == [
        (1, pytest.approx(1.2), pytest.approx(0.2)),
        (2, 1.0, 0.0),
    ]


def test_only_the_beginning_of_a_long_text_is_compared() -> None:
    padding = " ".join(f"nothing{number}" for number in range(60))
    gains = raised("Which doctor?", f"{padding} physician", "The physician called")
    assert next(iter(gains)) == "The physician called"


def test_what_is_remembered_of_texts_changes_nothing() -> None:
    remembering = NearWords(WORDS, "english")
    first = remembering.nearest(["doctor", "train"], DOCTORS)
    again = remembering.nearest(["doctor", "train"], tuple(reversed(DOCTORS)))
    assert np.allclose(first, again[:, ::-1])
    assert first.shape == (2, len(DOCTORS))
    assert first.min() == 0 < first[0, 0] < first[0, 3]


def test_a_text_is_read_once() -> None:
    embedded: list[str] = []

    def vectors(words: Sequence[str]) -> Vectors:
        embedded.extend(words)
        return WORDS(words)

    remembering = NearWords(vectors, "english")
    remembering.nearest(["doctor"], DOCTORS)
    assert sorted(embedded) == sorted({word for text in DOCTORS for word in content_words(text, "english")})
    embedded.clear()
    remembering.nearest(["train", "doctor"], DOCTORS)
    assert embedded == ["train"]


def test_texts_that_are_alike_resemble_each_other_as_wholes() -> None:
    near, far = NearWords(WORDS, "english").resemblance("I row on the fjord", ["We row on the lake", "Cheese is dear"])
    assert near > 0.3 > far
    assert NearWords(WORDS, "english").resemblance("I row on the fjord", []) == []


def test_a_full_memory_of_words_begins_anew() -> None:
    little = NearWords(WORDS, "english", most=120)
    for number in range(40):
        texts = [f"word{number}a and a doctor", f"word{number}b"]
        assert np.allclose(little.nearest(["doctor"], texts), NearWords(WORDS, "english").nearest(["doctor"], texts))
