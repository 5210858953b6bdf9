from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import numpy as np

from evals.twins import Held, Superseded, duplicates, twins

TEA = Held(id=UUID(int=1), place="one", type="preference", about="Ada", content="Ada likes green tea")
CLOSE = np.array([[1.0, 0.0], [0.95, 0.312]], dtype=np.float32)
FAR = np.array([[1.0, 0.0], [0.9, 0.436]], dtype=np.float32)


def beside(**changes: str) -> list[Held]:
    return [TEA, replace(TEA, id=UUID(int=2), **{"content": "Ada likes tea", **changes})]


def test_near_memories_of_one_subject_are_twins() -> None:
    [pair] = twins(beside(), CLOSE)
    assert (pair.one.id, pair.other.id, pair.same_words) == (UUID(int=1), UUID(int=2), False)
    assert 0.94 < pair.likeness < 0.96
    assert duplicates([pair]) == {UUID(int=1), UUID(int=2)}


def test_memories_apart_in_meaning_or_about_others_are_no_twins() -> None:
    assert twins(beside(), FAR) == []
    assert twins(beside(about="Bo"), CLOSE) == []


def test_the_same_words_are_twins_whatever_they_are_about() -> None:
    [pair] = twins(beside(about="Bo", content=" ada likes GREEN tea."), FAR)
    assert pair.same_words


def test_memories_of_another_type_or_conversation_are_no_twins() -> None:
    assert twins(beside(type="fact", content=TEA.content), CLOSE) == []
    assert twins(beside(place="two", content=TEA.content), CLOSE) == []


def test_three_alike_are_three_duplicates_in_three_pairs() -> None:
    held = [*beside(), replace(TEA, id=UUID(int=3))]
    pairs = twins(held, np.array([[1.0, 0.0]] * 3, dtype=np.float32))
    assert len(pairs) == 3
    assert len(duplicates(pairs)) == 3


def test_nothing_held_has_no_twins() -> None:
    assert twins([], np.empty((0, 2), dtype=np.float32)) == []


def test_a_supersession_is_known_by_both_its_texts() -> None:
    old, new = beside()
    pair = Superseded(old=old, new=new)
    assert len(pair.digest) == 16
    assert pair.digest != Superseded(old=new, new=old).digest
    assert pair.digest == Superseded(old=replace(old, id=UUID(int=9)), new=new).digest
