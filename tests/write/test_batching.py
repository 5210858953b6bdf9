"""A batch means what its items mean one after another, in fewer transactions."""

from __future__ import annotations

import pytest

from app.db.apply import scope
from app.memory.candidate import Candidate, WriteDecision, WriteOutcome
from app.write.batching import split_batch
from app.write.embed import prepare
from tests.support.stores import Store


async def sizes(store: Store, batch: list[Candidate], *, judged: bool = False) -> list[int]:
    prepared = await prepare(batch, embedder=store.pipeline.embedder, now=store.pipeline.clock(), language="english")
    return [len(wave) for wave in split_batch(list(enumerate(prepared)), judged=judged)]


async def test_facts_about_one_subject_share_a_wave(store: Store) -> None:
    batch = [store.candidate("fact", predicate=f"has trait {place}", object=f"value {place}") for place in range(300)]
    assert await sizes(store, batch) == [300]
    assert {one.decision for one in await store.write_all(batch)} == {WriteDecision.ADDED}


async def test_long_texts_take_turns(store: Store) -> None:
    texts = [f"{place} {'rope and tar ' * 2_400}"[:30_000] for place in range(20)]
    batch = [store.candidate("episodic", content=text, session_id=f"s{place}") for place, text in enumerate(texts)]
    found = await sizes(store, batch)
    assert sum(found) == 20
    assert found == [16, 4]


async def test_statements_that_differ_share_a_wave_and_like_ones_do_not(store: Store) -> None:
    different = [
        store.candidate("semantic", content=what)
        for what in ("the platform team meets daily", "user broke a leg skiing", "the house stands in Lisbon")
    ]
    alike = [
        store.candidate("semantic", content=what)
        for what in ("user lives near the station", "the user lives near the station!")
    ]
    assert await sizes(store, different) == [3]
    assert await sizes(store, alike) == [1, 1]
    assert [one.decision for one in await store.write_all(alike)] == [WriteDecision.ADDED, WriteDecision.MERGED]


async def test_like_events_take_turns_only_where_a_judge_is_asked(store: Store) -> None:
    batch = [
        store.candidate("event", event_description=what, event_at="2026-05-09")
        for what in ("user repaired the old wooden boat", "user has repaired the old wooden boat")
    ]
    assert await sizes(store, batch) == [2]
    assert await sizes(store, batch, judged=True) == [1, 1]
    assert {one.decision for one in await store.write_all(batch)} == {WriteDecision.ADDED}


async def test_values_of_one_slot_take_turns(store: Store) -> None:
    batch = [
        store.candidate("preference", preference_key=key, preference_value=value)
        for key, value in (("a.a", "1"), ("b.b", "1"), ("a.a", "2"), ("b.b", "2"))
    ]
    assert await sizes(store, batch) == [2, 2]
    assert [one.decision for one in await store.write_all(batch)] == [
        WriteDecision.ADDED,
        WriteDecision.ADDED,
        WriteDecision.SUPERSEDED,
        WriteDecision.SUPERSEDED,
    ]


async def test_a_name_is_declared_before_it_is_used(store: Store) -> None:
    batch = [
        store.candidate("entity", canonical_name="Priya", entity_type="person", aliases=["the EM"]),
        store.candidate("fact", subject="the EM", predicate="has-role", object="engineering manager"),
    ]
    assert await sizes(store, batch) == [1, 1]


async def test_slots_that_turn_out_to_be_one_are_split(store: Store) -> None:
    await store.write("entity", canonical_name="Priya", entity_type="person", aliases=["P. Sharma"])
    batch = [
        store.candidate("fact", subject="Priya", predicate="lives-in", object="Berlin"),
        store.candidate("fact", subject="Tom", predicate="lives-in", object="Rome"),
        store.candidate("fact", subject="P. Sharma", predicate="lives-in", object="Lisbon"),
    ]
    assert await sizes(store, batch) == [3], "their names alone do not tell"
    assert [one.decision for one in await store.write_all(batch)] == [
        WriteDecision.ADDED,
        WriteDecision.ADDED,
        WriteDecision.SUPERSEDED,
    ]


async def test_a_wave_that_fails_leaves_the_earlier_ones_and_says_so(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = [store.candidate("preference", preference_key="a.a", preference_value=value) for value in ("1", "2", "3")]
    once = scope._CLAIM.replace("AND version = ", "AND version < 1 AND version = ")
    monkeypatch.setattr(scope, "_CLAIM", once)
    first, *rest = await store.memories.write_all(store.actor, batch)
    assert isinstance(first, WriteOutcome)
    assert [type(one) for one in rest] == [scope.ScopeKeptMoving] * 2
    rows = await store.sql("SELECT slot_value FROM memories WHERE tenant_id = $1", store.tenant)
    assert [row["slot_value"] for row in rows] == ["1"]
