"""People of one name are told apart by what they are to whom, in turns and in typed writes."""

from __future__ import annotations

from typing import Any

import pytest

from app.english.name_identity import ANOTHER, TieMatch, compare_ties, ties_in
from tests.support.stores import Store


@pytest.mark.parametrize(
    ("first", "second", "match"),
    [
        ("user's sister", "user's cousin", TieMatch.OTHER),
        ("user's sister", "user's little sister", TieMatch.SAME),
        ("user's sister", "user's brother", TieMatch.OTHER),
        ("user's sister", "user's sibling", TieMatch.SAME),
        ("user's mom", "user's mother", TieMatch.SAME),
        ("user's grandma", "user's grandmother", TieMatch.SAME),
        ("user's wife", "user's daughter", TieMatch.OTHER),
        ("user's girlfriend", "user's wife", TieMatch.SAME),
        ("user's friend", "user's girlfriend", TieMatch.SAME),
        ("user's colleague", "user's boss", TieMatch.SAME),
        ("user's dog", "user's cat", TieMatch.OTHER),
        ("user's dog", "user's son", TieMatch.OTHER),
        ("user's boss", "user's sister", TieMatch.UNSURE),
        ("user's sister", "Bob's cousin", TieMatch.SAME),
        ("user's sister", ANOTHER, TieMatch.OTHER),
        (None, "user's sister", TieMatch.SAME),
    ],
)
def test_two_ties_are_of_one_person_or_not(first: str | None, second: str, match: TieMatch) -> None:
    assert compare_ties(first, second) is match
    assert compare_ties(second, first) is match


@pytest.mark.parametrize(
    ("text", "ties"),
    [
        ("My sister Ida called, and my old friend Ben.", {"Ida": "user's sister", "Ben": "user's friend"}),
        ("There is another Ida in my class.", {"Ida": ANOTHER}),
        ("I met Ida.", {}),
    ],
)
def test_a_text_says_what_names_are_to_its_speaker(text: str, ties: dict[str, str]) -> None:
    assert dict(ties_in(text, "user")) == ties


async def people(store: Store, name: str) -> dict[str | None, set[str]]:
    """Return what is believed of those of a name, by their tie."""
    rows = await store.sql(
        """SELECT e.attributes ->> 'relationship' AS tie, m.content FROM entities e
           LEFT JOIN memory_entities k ON k.tenant_id = e.tenant_id AND k.entity_id = e.id
           LEFT JOIN memories m
             ON m.tenant_id = e.tenant_id AND m.id = k.memory_id AND m.type = 'fact' AND m.status = 'active'
           WHERE e.tenant_id = $1 AND e.canonical_name = $2""",
        store.tenant,
        name,
    )
    found: dict[str | None, set[str]] = {}
    for row in rows:
        found.setdefault(row["tie"], set()).update({row["content"]} - {None})
    return found


def declared(store: Store, tie: str) -> Any:
    attributes = {"relationship": tie}
    return store.candidate("entity", canonical_name="Ida", entity_type="person", attributes=attributes)


async def test_a_typed_entity_of_another_tie_is_another_one(store: Store) -> None:
    outcomes = await store.write_all([declared(store, one) for one in ("user's sister", "user's cousin")])
    assert [one.decision for one in outcomes] == ["added", "added"]
    assert set(await people(store, "Ida")) == {"user's sister", "user's cousin"}
    again = await store.memories.write(store.actor, declared(store, "user's cousin"))
    assert again.decision == "merged"


async def test_a_tie_that_may_go_with_another_is_proposed(store: Store) -> None:
    await store.memories.write(store.actor, declared(store, "user's sister"))
    outcome = await store.memories.write(store.actor, declared(store, "user's boss"))
    assert outcome.decision == "added"
    assert "Ida may be the same as Ida" in outcome.reason


async def test_a_name_that_two_have_is_nobodys_without_a_tie(store: Store) -> None:
    await store.write_all([declared(store, one) for one in ("user's sister", "user's cousin")])
    outcome = await store.write("fact", subject="Ida", predicate="lives-in", object="Porto")
    assert "Ida may be the same as Ida" in outcome.reason
    assert len(await people(store, "Ida")) == 3
    await store.write("fact", subject="Ida", predicate="has-role", object="nurse")
    assert len(await people(store, "Ida")) == 3, "the one of whom no tie is known is meant again"
