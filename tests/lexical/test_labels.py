"""Things that are told apart by a number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.lexical.labels import compare_labels, labels_of


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Has parcel 7781 left?", {("parcel", "7781")}),
        ("the Parcels 7781 and XR-40", {("parcels", "7781"), ("xr", "40")}),
        ("gate #12, gate # 12 and gate 12b", {("gate", "12"), ("gate", "12b")}),
        ("Node 22.18 runs v1.2.3", {("node", "22.18"), ("v", "1.2.3")}),
        ("my 3 cats of 50", {("my", "3"), ("of", "50")}),
        ("Rosa's 18th", set()),
        ("born in Oslo 1987", set()),
        ("窗口 5", {("窗口", "5")}),
    ],
)
def test_a_label_is_a_word_and_the_number_behind_it(text: str, labels: set[tuple[str, str]]) -> None:
    assert labels_of(text) == labels


def compared(question: str, *texts: str) -> dict[int, bool]:
    return compare_labels(labels_of(question), dict(enumerate(texts)))


def test_texts_are_about_the_number_that_is_asked_for_or_another_or_none() -> None:
    asked = "Has parcel 7781 left?"
    texts = ("parcel 7781 waits", "Parcel 7782 has left", "what has left", "parcels 7781 and parcel 7782")
    assert compared(asked, *texts) == {0: True, 1: False, 3: False}
    assert compared(asked, texts[0], "parcel 7782 and parcel 7781") == {0: True, 1: True}


def test_nothing_is_about_another_number_where_none_is_about_that_which_is_asked_for() -> None:
    assert compared("Has parcel 7783 left?", "parcel 7781 waits", "parcel 7782 has left") == {}


def test_a_count_is_no_name() -> None:
    assert compared("Where are my 3 cats?", "my 3 cats sleep", "my 2 dogs bark") == {}


def test_all_numbers_that_a_question_names_are_asked_for() -> None:
    texts = ("gate 4 is open", "gate 5 is shut", "gate 6 is shut")
    assert compared("Is gate 4 nearer than 5?", *texts) == {0: True, 2: False}


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=4))
def test_any_text_is_read_and_only_one_that_has_a_label_is_judged(question: str, texts: list[str]) -> None:
    found = compared(question, *texts)
    assert all(labels_of(texts[place]) for place in found)
    assert not found or any(found.values())
