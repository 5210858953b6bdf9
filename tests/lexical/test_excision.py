"""Sentences are taken out of texts; what others quote stays, unless its words are those that go."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.lexical.excision import Wording, excise
from app.lexical.tokens import sentence_spans

SENTENCES = ("I like tea.", "I live in Rome.", "Dr. Ana knows!", "Is green tea good?", "Yes.")


@pytest.mark.parametrize(
    ("text", "quote", "left"),
    [
        ("I like tea. I live in Rome.", "like tea", "I live in Rome."),
        ("I met Dr. Bo. He is kind.", "He is kind", "I met Dr. Bo."),
        ("Ich wohne in Bern. Ich mag Tee!", "ich  mag Tee", "Ich wohne in Bern."),
        ("No sentence ends here", "ends", ""),
        ("Nothing of it.", "Elsewhere", "Nothing of it."),
    ],
)
def test_the_sentence_of_a_quotation_goes(text: str, quote: str, left: str) -> None:
    assert excise(text, quotes=[quote]).text() == left


def test_a_quotation_of_others_stays_where_it_is_apart() -> None:
    text = "I like tea and I live in Rome. Bye."
    assert excise(text, quotes=["I like tea"], kept=["I live in Rome"]).text("-") == "- I live in Rome. Bye."
    assert excise(text, quotes=["I live in Rome"], kept=["I like tea"]).text() == "I like tea. Bye."
    assert excise(text, quotes=["I like tea"], kept=["tea and I live in Rome"]).text() == "Bye."


def test_a_sentence_with_all_words_goes_in_any_form() -> None:
    wording = Wording.of("allergic to walnuts", language="english")
    text = "Walnuts? My allergy is bad. You are allergic to a walnut."
    assert excise(text, quotes=(), wording=wording).text() == "Walnuts? My allergy is bad."
    assert all(needle in text.lower() for needle in wording.needles)


@pytest.mark.parametrize("text", ["", "a", "it is", "..."])
def test_too_little_is_known_by_no_words(text: str) -> None:
    assert not Wording.of(text, language="english", without={"it"}).terms


@given(st.lists(st.sampled_from(SENTENCES)), st.lists(st.sampled_from(SENTENCES)), st.lists(st.sampled_from(SENTENCES)))
def test_what_goes_is_gone_and_the_rest_stays(said: list[str], mine: list[str], others: list[str]) -> None:
    text = " ".join(said)
    found = excise(text, quotes=mine, kept=others)
    assert not any(quote in found.text() for quote in mine)
    for one in set(said) - set(mine):
        if not any(quote in one for quote in mine):
            assert found.text("|").count(one) == text.count(one)
    assert "".join(text[start:end] for start, end in sentence_spans(text)).replace(" ", "") == text.replace(" ", "")
