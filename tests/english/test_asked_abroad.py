"""English words for questions in other languages, and turns that tell of somebody of the speaker's alone."""

from __future__ import annotations

import pytest

from app.english.asked_abroad import in_english


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Welche Schuhgröße habe ich?", "which shoe size i?"),
        ("Wie heißt mein Hund?", "name my dog?"),
        ("Qual è il mio colore preferito?", "which my colour favourite?"),
        ("¿Cuándo es el cumpleaños de mi hija?", "when birthday my child?"),
        ("Gdzie pracuje moja siostra?", "where work my sister?"),
        ("Quel était mon ancien médecin ?", "which my previously doctor?"),
        ("Как зовут мою собаку?", "name my dog?"),
        ("私の誕生日はいつですか", "my birthday when?"),
        ("我的医生是谁", "my doctor who?"),
    ],
)
def test_a_question_is_said_in_english_words(question: str, words: str) -> None:
    assert in_english(question) == words


def test_a_name_that_is_not_known_stays() -> None:
    assert in_english("Où travaille Odile ?") == "where work Odile?"


@pytest.mark.parametrize(
    "question", ["When is my next dentist appointment?", "", "Wer bin ich?", "Fasse den Artikel über Moose zusammen"]
)
def test_nothing_is_said_of_english_and_where_no_word_is_known(question: str) -> None:
    assert in_english(question) == ""
