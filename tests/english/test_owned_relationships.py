"""Whom only people have: no pet has a boyfriend, no company a wife."""

from __future__ import annotations

import pytest

from app.write.coreference import Unresolved
from tests.write.test_references import event, fact, meant, mention, payload_of, relation, said


@pytest.mark.parametrize(
    ("before", "reference", "sentence"),
    [
        ("I have a cat named Momo", "her boyfriend", "Her boyfriend is Swiss"),
        ("I have a cat named Momo", "her wife", "Her wife is Swiss"),
        ("I have a dog called Rex", "his boss", "His boss is Swiss"),
        ("I have a dog called Rex", "his sister", "His sister is Swiss"),
        ("I have a dog called Rex", "his colleague", "His colleague is Swiss"),
        ("I joined Acme Corp", "its wife", "Its wife is Swiss"),
        ("I joined Acme Corp", "their mother", "Their mother is Swiss"),
    ],
)
def test_pets_and_things_have_nobody_whom_only_people_have(before: str, reference: str, sentence: str) -> None:
    """In the same turn, in one before, and in what is remembered."""
    whose = fact(reference, "has-nationality", "Swiss", sentence)
    assert isinstance(meant(f"{before}. {sentence}", whose), Unresolved)
    assert isinstance(meant(sentence, whose, context=(said(f"{before}."),)), Unresolved)
    name, kind = ("Acme Corp", "organization") if "Acme" in before else (before.rpartition(" ")[2], "pet")
    assert isinstance(meant(sentence, whose, mention(name, kind)), Unresolved)


@pytest.mark.parametrize("predicate", ["has-partner", "married-to", "reports-to", "works-at", "has-boss", "works-with"])
def test_no_pet_is_said_to_have_what_only_people_have(predicate: str) -> None:
    momo = said("I have a cat named Momo.")
    assert isinstance(meant("She has Tom", fact("she", predicate, "Tom", "She has Tom"), context=(momo,)), Unresolved)
    assert isinstance(
        meant("She has Tom", relation("she", predicate, "Tom", "She has Tom"), context=(momo,)), Unresolved
    )


def test_a_sentence_is_not_about_a_pets_husband() -> None:
    momo = said("I have a cat named Momo.")
    for sentence in ("Her ex-husband is Swiss", "Her boss's wife is Swiss"):
        assert (
            payload_of(meant(sentence, event(sentence, quote=sentence), context=(momo,)))["event_description"]
            == sentence
        )


def test_nobody_is_their_own_husband() -> None:
    turn = "I have a cat named Momo. Her ex-husband is Swiss"
    answer = meant(turn, fact("Her ex-husband", "is", "Swiss", "Her ex-husband is Swiss"))
    assert payload_of(answer)["subject"] == "Her ex-husband"


def test_pets_and_companies_have_what_is_theirs() -> None:
    momo, acme = said("I have a cat named Momo."), said("I joined Acme Corp.")
    tail = meant("Her tail is long", event("Her tail is long", quote="Her tail is long"), context=(momo,))
    assert payload_of(tail)["event_description"] == "Momo's tail is long"
    fish = meant("She likes fish", fact("she", "likes", "fish", "She likes fish"), context=(momo,))
    assert payload_of(fish)["subject"] == "Momo"
    boss = meant("Its manager is Swiss", fact("its manager", "is", "Swiss", "Its manager is Swiss"), context=(acme,))
    assert payload_of(boss)["subject"] == "Acme Corp's manager"


def test_the_woman_before_the_cat_is_who_has_a_boyfriend() -> None:
    turn = "Clara came. I have a cat named Momo. Her boyfriend is Swiss"
    answer = meant(turn, fact("her boyfriend", "is", "Swiss", "Her boyfriend is Swiss"))
    assert payload_of(answer)["subject"] == "Clara's boyfriend"
