"""Canonical names in sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.naming import need_names, with_canonical_names
from app.model import EntityName, Mention


def written(text: str, *names: tuple[str, str], apart: str | None = None) -> str:
    """Return the sentence with each (name as said, canonical name) in place."""
    mentions = [Mention(role=str(place), name=said) for place, (said, _) in enumerate(names)]
    known = [EntityName(role=str(place), name=canonical, apart=apart) for place, (_, canonical) in enumerate(names)]
    return with_canonical_names(text, mentions, known)


@pytest.mark.parametrize(
    ("text", "said", "canonical", "expected"),
    [
        ("Olu reports to the CTO", "the CTO", "Maren Vik", "Olu reports to Maren Vik (the CTO)"),
        ("the CTO's desk is D4", "the CTO", "Maren Vik", "Maren Vik (the CTO)'s desk is D4"),
        ("maren vik likes tea", "maren vik", "Maren Vik", "maren vik likes tea"),
        ("Dr. Vik likes tea", "Dr. Vik", "Vik", "Dr. Vik likes tea"),
        ("Maren likes tea", "Maren", "Maren Vik", "Maren Vik likes tea"),
        ("M. Vik likes tea", "M. Vik", "Maren Vik", "Maren Vik (M. Vik) likes tea"),
        ("the Atlas team meets", "the Atlas team", "Atlas team", "the Atlas team meets"),
        ("Alan knows Al", "Al", "Albert", "Alan knows Albert (Al)"),
        ("BMW + Co. pays", "BMW + Co.", "Bayerische Motoren Werke", "Bayerische Motoren Werke (BMW + Co.) pays"),
        ("nobody is named", "Al", "Albert", "nobody is named"),
    ],
)
def test_a_name_that_was_said_becomes_the_canonical_one(text: str, said: str, canonical: str, expected: str) -> None:
    assert written(text, (said, canonical)) == expected


def test_two_of_one_name_are_told_apart_each_in_its_place() -> None:
    mentions = [Mention(role="from", name="Ines"), Mention(role="to", name="Ines")]
    names = [
        EntityName(role="to", name="Ines", apart="Tom's aunt"),
        EntityName(role="from", name="Ines", apart="user's cousin"),
    ]
    assert with_canonical_names("Ines works with Ines", mentions, names) == (
        "Ines (cousin) works with Ines (Tom's aunt)"
    )


def test_another_name_and_what_tells_apart_share_the_brackets() -> None:
    assert written("Nessa sings", ("Nessa", "Ines"), apart="user's cousin") == "Ines (Nessa, cousin) sings"


def test_a_description_is_not_told_apart_from_what_it_describes() -> None:
    mentions = [Mention(role="identity", name="Ines", declares=True)]
    names = [EntityName(role="identity", name="Ines", apart="user's cousin")]
    assert with_canonical_names("Ines is a person", mentions, names) == "Ines is a person"


def test_a_sentence_with_all_names_needs_none() -> None:
    names = [EntityName(role="from", name="Olu"), EntityName(role="to", name="Maren Vik")]
    assert not need_names("Olu reports to maren vik", names)
    assert need_names("Olu reports to the CTO", names)
    assert need_names("Olu reports to Maren Vik", [EntityName(role="to", name="Maren Vik", apart="place")])


WORD = st.text(alphabet="abc", min_size=1, max_size=3)
NAME = st.lists(WORD, min_size=1, max_size=3).map(" ".join)


@given(subject=NAME, value=NAME, canonical=NAME)
def test_a_sentence_says_what_was_said_and_the_canonical_name(subject: str, value: str, canonical: str) -> None:
    text = f"{subject} -> {value}"
    mentions = [Mention(role="subject", name=subject)]
    found = with_canonical_names(text, mentions, [EntityName(role="subject", name=canonical)])
    start, _, end = found.partition(" -> ")
    assert end == value
    assert {*canonical.split(), *subject.split()} == set(start.replace("(", "").replace(")", "").split())
