from __future__ import annotations

from app.lexical.bm25 import terms
from app.read.texts import KEPT, LONGEST, kept, names_apart, names_within, own_life_in, terms_in, without_words
from app.read.values import worded


def test_a_text_is_read_once_unless_it_is_long() -> None:
    read = list[str]()

    @kept
    def length(text: str) -> int:
        read.append(text)
        return len(text)

    long = "a" * (LONGEST + 1)
    assert [length(one) for one in ("two", "two", long, long)] == [3, 3, len(long), len(long)]
    assert read == ["two", long, long]


def test_more_texts_than_are_kept_are_read_again() -> None:
    read = list[str]()

    @kept
    def length(text: str) -> int:
        read.append(text)
        return len(text)

    texts = [str(number) for number in range(2 * KEPT)]
    assert [length(one) for one in texts] == list(map(len, texts))
    assert len(read) == len(texts)
    assert [length(texts[-1]), length(texts[0])] == [4, 1]
    assert read[len(texts) :] == ["0"]


def test_words_that_are_known_are_left_out_of_a_text() -> None:
    assert without_words("Ask Mira , please - or Mira's aunt !", frozenset({"mira"})) == "Ask please or Mira's aunt"
    assert without_words("Ask Mira , please !", frozenset({"nobody"})) == "Ask Mira please"


def test_terms_are_those_of_the_index() -> None:
    text = "Ana's check-in at v1.2.3 took 2 hours, and hours more"
    assert terms_in(text) == frozenset(terms(text))


def test_a_note_is_worded_with_its_number() -> None:
    assert worded(("first", ("beside turns: +{:.4f}", 0.12346))) == ("first", "beside turns: +0.1235")


def test_two_full_names_that_share_a_word_are_two() -> None:
    assert names_apart("Ines Prado runs it.", "Lunch with Ines Moura.") == frozenset({"ine"})
    assert not names_apart("Ines Prado runs it.", "Lunch with Ines.")
    assert not names_apart("Ines Prado runs it.", "Lunch with Ines Prado.")


def test_names_within_a_text_are_not_what_begins_its_sentences() -> None:
    assert names_within("The tour to ESRIN was off. Rain, said Ole.") == terms_in("ESRIN Ole")


def test_words_of_another_language_that_look_like_english_pronouns_speak_of_nobody() -> None:
    assert own_life_in("He colgado las cortinas en Gijón.") == {"lives-in"}
    assert own_life_in("He hung the curtains here in Hitra.") == frozenset()
