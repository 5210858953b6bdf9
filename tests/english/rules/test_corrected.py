"""Words that a speaker takes back at once: what is left cannot be told, so nothing of the sentence is read."""

from __future__ import annotations

import pytest

from tests.english.rules.said import sentences


@pytest.mark.parametrize(
    "content",
    [
        "I live in Oslo, sorry, Bergen.",
        "I live in Oslo \u2014 I mean Bergen \u2014 these days",
        "I live in Oslo (oops, Bergen) and work at Equinor.",
        "My name is Marta, no wait, Marte.",
        "We use Trello, or rather Notion.",
        "I prefer tea, no, coffee.",
        "I'm 41, sorry, 42 years old.",
        "I take 20 mg of ramipril, no, 10 mg.",
        "My exam is on July 3rd, sorry, July 5th.",
        "My doctor is Dr. Smith, sorry, Dr. Jones.",
    ],
)
def test_a_sentence_that_takes_its_words_back_states_nothing(content: str) -> None:
    assert sentences(content) == []


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ("I work at Equinor. Sorry, Leo.", "fact: user works at Equinor"),
        ("I live in Oslo. No, really.", "fact: user lives in Oslo"),
        ("I live in Oslo. No, thanks.", "fact: user lives in Oslo"),
        ("I like coffee, no milk", "preference: user likes coffee"),
        ("I love Oslo. Oh, Bergen!", "preference: user likes oslo"),
        ("I no longer smoke, I live in Oslo", "fact: user lives in Oslo"),
        ("I live in Oslo. Sorry, Bergen is where I was born.", "fact: user lives in Oslo"),
        ("I live in Oslo. No, I never said that.", "fact: user lives in Oslo"),
        ("I live in Oslo. Wait, what?", "fact: user lives in Oslo"),
        ("I live in Oslo. I work at Equinor. Oops, Statkraft.", "fact: user lives in Oslo"),
        ("I live in Oslo. I own a yacht. Just kidding!", "fact: user lives in Oslo"),
        ("I live in Oslo. My flat is a palace, jk.", "fact: user lives in Oslo"),
        ("I have a cat. No wait, I also have a parrot.", "fact: user has a cat"),
        ("I live in Oslo. Leo, sorry, I must go.", "fact: user lives in Oslo"),
        ("I like coffee. No milk.", "preference: user likes coffee"),
        ("I live in Oslo. Actually lovely.", "fact: user lives in Oslo"),
        ("I work at Equinor. Scratch that, I work at Statkraft.", "fact: user works at Statkraft"),
    ],
)
def test_what_takes_nothing_back_is_read(content: str, read: str) -> None:
    assert read in sentences(content)


@pytest.mark.parametrize(
    "content",
    [
        "I live in Oslo. Oops, Bergen.",
        "I work at Equinor. Sorry, Statkraft!",
        "My brother is Leo. Wait no, Theo.",
        "My boss is Clara. Sorry, Nadia.",
        "I was born in 1971. No, 1972.",
        "I have four horses. Sorry, five.",
        "My exam is on Tuesday... or was it on Wednesday?",
        "I love tea. Oops, coffee.",
        "I live in Oslo. No wait.",
        "I live in Oslo. No wait, Bergen, I moved there in May.",
        "My vet is Dr Lund. Hm, no, that's the groomer.",
        "I'm 63. No, hold on, 64.",
        "I have one son. No, two, the baby came in May.",
        "I was born in Gouda. Or rather in Delft.",
        "I have four horses. Five, sorry, we got a foal.",
        "I'm a vegan. No, vegetarian.",
        "I was born on 2 June, or, what am I saying, 3 June.",
        "I own a yacht. jk",
        "I own a yacht. Haha, just joking, I get seasick.",
    ],
)
def test_a_value_that_corrects_the_sentence_before_leaves_nothing_of_it(content: str) -> None:
    assert sentences(content) == []
