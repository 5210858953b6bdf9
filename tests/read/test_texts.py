from __future__ import annotations

from app.lexical.bm25 import terms
from app.read.texts import LONGEST, kept, names_apart, names_within, terms_in
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
