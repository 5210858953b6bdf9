"""People and animals without a name: nouns that speak of somebody, and the names that go with them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from app.english.descriptions import descriptions_in
from app.memory.extraction import Proposal, Role, Turn
from app.memory.registry import discover
from app.write.coreference import Unresolved
from tests.write.test_references import NOON, fact, refer, said

TYPES = discover()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("My boss called me.", ["My boss"]),
        ("There is a new intern.", ["a new intern"]),
        ("Priya is the engineering manager.", []),
        ("I am a doctor and my wife's a nurse.", ["my wife"]),
        ("I worked as a nurse.", []),
        ("She's the CEO of Acme.", []),
        ("My boss's wife called.", ["boss's wife"]),
        ("I called the customer service.", []),
        ("Our neighbour's dog barks at children.", ["neighbour's dog", "children"]),
        ("Mom is ill, I like my boss.", ["Mom", "my boss"]),
        ("Boss level reached.", []),
        ("Granny's unwell. How's Mummy?", ["Granny", "Mummy"]),
        ("My sister's name is Clara.", ["My sister"]),
        ("The ophthalmologist was late.", ["The ophthalmologist"]),
        ("", []),
    ],
)
def test_nouns_that_speak_of_somebody(text: str, found: list[str]) -> None:
    assert [one.words for one in descriptions_in(text) if not one.tells] == found


def subject(turn: str, pronoun: str, *, context: tuple[Turn, ...] = ()) -> Any:
    """Return whom a pronoun of the turn's last sentence means, None for nobody."""
    sentence = turn.rpartition(". ")[2]
    [answer] = refer([fact(pronoun, "lives-in", "Rome", sentence)], said(turn), (), context, TYPES)
    return None if isinstance(answer, Unresolved) else answer.payload["subject"]


@pytest.mark.parametrize(
    ("turn", "pronoun", "name"),
    [
        ("My boss Zorblax called Anna. He lives in Rome", "he", "Zorblax"),
        ("I like my colleague, Kim. She lives in Rome", "she", "Kim"),
        ("Clara told my brother. She lives in Rome", "she", "Clara"),
        ("Clara told my brother. He lives in Rome", "he", "user's brother"),
        ("Daddy's poorly. He lives in Rome", "he", "user's daddy"),
        ("How's that? She lives in Rome", "she", None),
        ("At St Olaf's, he rested. He lives in Rome", "he", None),
        ("The plumber came. She's kind, and she lives in Rome", "she", None),
        ("Sarah's wife came. She lives in Rome", "she", None),
        ("Clara told her boss. She lives in Rome", "she", None),
        ("Tom came. She called her doctor. She lives in Rome", "she", None),
        ("Anna came. She called her doctor. She lives in Rome", "she", "Anna"),
        ("Clara has a cat called Miau. She lives in Rome", "she", None),
        ("Clara feeds a cat called Miau. It lives in Rome", "it", "Miau"),
        ("Our dog is old. It lives in Rome", "it", "user's dog"),
        ("Sarah visited my parents. They live in Rome", "they", None),
        ("Sarah met a friend. It lives in Rome", "it", None),
        ("Paul likes it here. Zorblax scored. He lives in Rome", "he", "Zorblax"),
        ("Paul likes it here. We saw Zorblax. He lives in Rome", "he", "Paul"),
        ("Paul came. A man called. The man lives in Rome", "the man", None),
    ],
)
def test_who_is_meant_beside_somebody_without_a_name(turn: str, pronoun: str, name: str | None) -> None:
    assert subject(turn, pronoun) == name


def test_the_company_is_no_person_without_a_name() -> None:
    assert subject("I joined Volkswagen. My boss is nice. The company lives in Rome", "the company") == "Volkswagen"


def test_a_name_of_which_nothing_is_known_stands_before_earlier_turns() -> None:
    before = (said("Paul came."),)
    assert subject("Zorblax scored. He lives in Rome", "he", context=before) == "Zorblax"
    assert subject("I met Zorblax. He lives in Rome", "he", context=before) == "Zorblax"
    assert subject("We saw Zorblax. He lives in Rome", "he", context=before) is None


def test_whose_boss_is_meant_depends_on_who_speaks() -> None:
    other = Turn(
        id=uuid4(), scope=said("x").scope, role=said("x").role, content="My boss came.", occurred_at=NOON, speaker="Ana"
    )
    assert subject("He lives in Rome", "he", context=(other,)) == "Ana's boss"


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", ["my ", "my boss ", "boss's ", "my new ", "the dog, ", "a-", "'s "])
def test_hostile_lengths_come_to_an_end(piece: str) -> None:
    text = (piece * 32_000)[:32_000]
    answers = refer(
        [fact("she", "is", "late", text[:9_000])], said(text), (), tuple(said(text) for _ in range(10)), TYPES
    )
    assert isinstance(answers[0], Unresolved | Proposal)


def test_a_noun_for_ones_own_kin_is_no_part_of_another_name() -> None:
    for text, own in (("Mama Leone's shut.", []), ("We met Nana Akua there.", []), ("I told Dad I moved.", ["Dad"])):
        assert [one.words for one in descriptions_in(text) if one.named] == own, text


@pytest.mark.parametrize(
    ("reaction", "name"),
    [
        ("Haha!", "Zorblax"),
        ("Fair enough.", "Zorblax"),
        ("Splendid!", "Zorblax"),
        ("Cosy flat.", "Zorblax"),
        ("Kim called.", "Kim"),
        ("Zorblax rocks.", "Zorblax"),
    ],
)
def test_what_opens_a_reaction_of_an_assistant_is_nobody(reaction: str, name: str) -> None:
    context = (said("Zorblax scored."), replace(said(reaction), role=Role.ASSISTANT))
    assert subject("He lives in Rome", "he", context=context) == name


@pytest.mark.parametrize("reaction", ["Haha!", "Baking him a cake.", "Glazed the pot.", "Lately it rains."])
def test_what_opens_a_sentence_without_a_subject_is_nobody(reaction: str) -> None:
    assert subject(f"Zorblax scored. {reaction} He lives in Rome", "he") == "Zorblax"
