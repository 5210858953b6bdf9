"""Memories that were stored under keys of earlier releases come into the slots of today's."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from app.features.lifecycle.sql import rekeying
from app.memory.candidate import WriteOutcome
from tests.lifecycle.aging import START, Aging

OLD = """
    UPDATE memories SET slot = replace(slot, $2, $3), slot_value = $4,
        payload = payload || jsonb_build_object('predicate', CAST($3 AS text), 'stateful', slot IS NOT NULL)
    WHERE id = $1
"""
UNNAMED = "DELETE FROM memory_entities WHERE memory_id = $1 AND role = 'object'"
STATE = """
    SELECT slot, slot_value, status, contested, superseded_by, review_reason, payload ->> 'predicate' AS predicate
    FROM memories WHERE id = $1"""
EVERY = "SELECT id, slot, slot_value, status, contested, review_reason, payload, updated_at FROM memories ORDER BY id"


async def before(old: Aging, key: str, today: str, value: str, subject: str = "user") -> UUID:
    """Store a fact of a slot as it was stored when its key was no synonym yet."""
    fact = await old.added("fact", subject=subject, predicate=f"of-{key}", object=value, stateful=True)
    await old.store.sql(OLD, fact, f"of-{key}", key, value.lower())
    await old.store.sql(UNNAMED, fact)
    [row] = await old.store.sql(STATE, fact)
    assert (row["predicate"], row["slot"].partition("|")[2]) == (key, key), today
    return fact


async def stated(old: Aging, **payload: object) -> WriteOutcome:
    old.pass_(1)
    return await old.write("fact", {"stated_at": old.clock.now}, **payload)


@pytest.mark.parametrize(
    ("key", "today", "first", "then"),
    [
        ("husband", "married-to", "Osman", "Selim"),
        ("employer", "works-at", "Fraport", "Lufthansa"),
        ("based-in", "lives-in", "Mainz", "Trier"),
        ("dob", "born-on", "3 May 1990", "4 May 1990"),
    ],
)
async def test_a_statement_of_today_meets_what_was_stored_under_the_old_key(
    old: Aging, key: str, today: str, first: str, then: str
) -> None:
    fact = await before(old, key, today, first)
    assert await old.run("slots", dry_run=True) == {"moved": 1}
    assert await old.run("slots") == {"moved": 1}
    [row] = await old.store.sql(STATE, fact)
    assert (row["predicate"], row["slot"].partition("|")[2], row["contested"]) == (today, today, False)
    again = await stated(old, predicate=today, object=first)
    assert again.memory is not None
    assert again.memory.id == fact, "it is said again, not a second time"
    moved = await stated(old, predicate=key, object=then)
    assert moved.memory is not None
    assert moved.memory.supersedes == fact


async def test_what_differs_waits_for_review_and_nothing_is_superseded(old: Aging) -> None:
    fact = await before(old, "wife", "married-to", "Ilse")
    now = await stated(old, predicate="married-to", object="Greta")
    assert now.memory is not None
    assert await old.run("slots") == {"moved": 1}
    [came], [holds] = [await old.store.sql(STATE, one) for one in (fact, now.memory.id)]
    assert (came["status"], came["contested"], came["review_reason"]) == ("active", True, "contradiction")
    assert (holds["status"], holds["contested"], holds["review_reason"]) == ("active", False, None)
    assert came["superseded_by"] is None
    told = [one["action"] for one in await old.events(fact)]
    assert told == ["memory.changed", "memory.contradicted"]


async def test_a_name_that_is_known_by_now_is_no_other_value(old: Aging) -> None:
    fact = await before(old, "husband", "married-to", "Osman")
    now = await stated(old, predicate="married-to", object="Osman")
    assert now.memory is not None
    assert now.memory.id != fact
    assert await old.run("slots") == {"moved": 1}
    [came] = await old.store.sql(STATE, fact)
    assert (came["status"], came["contested"], came["review_reason"]) == ("active", True, None)


async def test_values_of_a_key_that_holds_several_stand_side_by_side(old: Aging) -> None:
    fact = await before(old, "allergy", "allergic-to", "latex")
    other = await stated(old, predicate="allergic-to", object="wasps")
    assert other.memory is not None
    assert await old.run("slots") == {"moved": 1}
    for one in (fact, other.memory.id):
        [row] = await old.store.sql(STATE, one)
        assert (row["status"], row["slot"], row["review_reason"]) == ("active", None, None)
        assert row["predicate"] == "allergic-to"


async def test_preferences_of_one_topic_come_together(old: Aging) -> None:
    first = await old.added("preference", preference_key="coffee.style", preference_value="black")
    await old.store.sql("UPDATE memories SET slot = split_part(slot, '|', 1) || '|coffee.style' WHERE id = $1", first)
    assert await old.run("slots") == {"moved": 1}
    old.pass_(1)
    then = await old.write(
        "preference", {"stated_at": old.clock.now}, preference_key="drinks.coffee", preference_value="with oat milk"
    )
    assert then.memory is not None
    assert then.memory.supersedes == first


async def test_it_goes_by_batches_and_repeating_it_changes_nothing(old: Aging, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rekeying, "MOVED", 2)
    monkeypatch.setattr(rekeying, "SCANNED", 3)
    people = [f"Person {number}" for number in range(7)]
    for one in people:
        await before(old, "spouse", "married-to", f"Mate of {one}", subject=one)
    await stated(old, predicate="works-at", object="Fraport")
    await old.added("event", event_description="deployed the API", event_at=START - timedelta(days=2))
    assert await old.run("slots") == {"moved": 7}
    then = await old.store.sql(EVERY)
    assert await old.run("slots", dry_run=True) == {"moved": 0}
    assert await old.run("slots") == {"moved": 0}
    assert await old.store.sql(EVERY) == then
