"""Every filter inside every arm, both clocks, and what is never recalled."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from app.memory.candidate import Candidate
from app.model import ReadMode, Scope, ScopeKind, SpeechAct, Visibility
from app.read.values import Arm, QueryRequest
from tests.read.conftest import NOW, MakeStore, Store

BOTH = Visibility(user_id="u1", agent_id="a1")


async def theme(store: Store, value: str, days_ago: float, **about: Any) -> UUID:
    return await store.put(
        "preference",
        {"preference_key": "editor.theme", "preference_value": value},
        stated_at=NOW - timedelta(days=days_ago),
        **about,
    )


async def set_on_both(store: Store, memory: UUID, assignment: str) -> None:
    await store.sql(f"UPDATE memories SET {assignment} WHERE id = $1", memory)  # noqa: S608
    await store.sql(f"UPDATE memory_index SET {assignment} WHERE memory_id = $1", memory)  # noqa: S608


async def test_a_request_sees_the_global_the_users_and_the_agents_scopes_and_no_others(store: Store) -> None:
    seen: set[UUID] = set()
    unseen: set[UUID] = set()
    for user, agent in (
        (None, None),
        ("u1", None),
        (None, "a1"),
        ("u1", "a1"),
        ("u2", None),
        (None, "a2"),
        ("u2", "a1"),
    ):
        kind = ScopeKind.AGENT if agent else ScopeKind.USER if user else ScopeKind.GLOBAL
        scope = Scope(kind=kind, user_id=user, agent_id=agent)
        memory = await store.put(
            "fact", {"subject": "Priya", "predicate": "likes", "object": f"tea {user} {agent}"}, scope=scope
        )
        (seen if user in {None, "u1"} and agent in {None, "a1"} else unseen).add(memory)
    found = set(await store.found("What tea does Priya like?", visibility=BOTH, top_k=50))
    assert found == seen
    assert not found & unseen


async def test_another_tenant_with_the_same_ids_sees_nothing(store: Store, make_store: MakeStore) -> None:
    await store.put("fact", {"subject": "Priya", "predicate": "likes", "object": "tea"})
    other = await make_store()
    assert await other.found("What tea does Priya like?") == []


async def test_types_topic_and_confidence_filter(store: Store) -> None:
    fact = await store.put("fact", {"subject": "user", "predicate": "drinks", "object": "green tea"}, topic="food")
    taste = await store.put("preference", {"preference_key": "drink.tea", "preference_value": "green tea"})
    unsure = await store.put(
        "fact", {"subject": "user", "predicate": "once-drank", "object": "white tea"}, source_strength=0.2
    )
    assert set(await store.found("green tea")) == {fact, taste}
    assert await store.found("green tea", types=("preference",)) == [taste]
    assert await store.found("green tea", topic="food") == [fact]
    assert unsure in await store.found("white tea", min_confidence=0.3)
    assert unsure in await store.found("white tea", mode=ReadMode.AUDIT)
    assert await store.found("green tea", min_confidence=0.99) == []


def _drinks(what: str) -> dict[str, Any]:
    return {"subject": "user", "predicate": f"drinks-{what}", "object": f"{what} tea"}


async def test_a_filter_by_metadata_means_what_containment_means_in_the_database(store: Store) -> None:
    kept: list[dict[str, Any]] = [
        {},
        {"project": "atlas"},
        {"project": "atlas", "tags": ["work", "urgent"], "size": 1},
        {"project": ["atlas"], "tags": [{"of": "work"}, "work"]},
        {"owner": {"name": "Ana", "team": "blue"}, "tags": []},
        {"size": 1.50, "project": None, "done": True},
    ]
    ids = await store.write(
        *(store.candidate("fact", _drinks(f"kind{n}"), metadata=about) for n, about in enumerate(kept))
    )
    for wanted in (
        *(one for one in kept if one),
        *({"tags": ["work"]}, {"tags": ["urgent", "work"]}, {"tags": []}, {"tags": "work"}, {"tags": [{}]}),
        *({"owner": {}}, {"owner": {"team": "blue"}}, {"owner": {"team": "red"}}, {"size": 1.0}, {"size": "1"}),
        *({"size": 1.5}, {"size": True}, {"project": None}, {"project": ["atlas"]}, {"nothing": "of the kind"}),
    ):
        rows = await store.sql(
            "SELECT id FROM memories WHERE tenant_id = $1 AND metadata @> $2::jsonb", store.tenant, json.dumps(wanted)
        )
        assert set(await store.found("drinks tea", metadata=wanted, min_relevance=0.0)) == {row["id"] for row in rows}
    assert set(await store.found("drinks tea", metadata={}, min_relevance=0.0)) == set(ids)


async def test_every_arm_filters_by_metadata(store: Store) -> None:
    def said(who: str, number: int, **about: Any) -> Candidate:
        told = {"event_description": f"{who} visited the tea house", "event_at": "2026-05-05", "participants": [who]}
        return store.candidate("event", told, context=f"about {who} {number}", **about)

    tagged: dict[str, Any] = {"metadata": {"project": "atlas"}}
    other, wanted, *_ = await store.write(
        said("Priya", 1),
        store.candidate("fact", {"subject": "Priya", "predicate": "likes", "object": "tea"}, **tagged),
        said("Priya Rao", 2, **tagged),
        *(said(f"Ann{number}", number) for number in range(5)),
    )
    request = QueryRequest(
        query="What did Priya say about tea on 5 May 2026?", now=NOW, visibility=Visibility(user_id="u1")
    )
    every = (await store.reads.answer(store.tenant, request)).arms
    found = (await store.reads.answer(store.tenant, replace(request, metadata={"project": "atlas"}))).arms
    assert set(every) >= {Arm.SEMANTIC, Arm.LEXICAL, Arm.GRAPH, Arm.TEMPORAL}
    rows = await store.sql("SELECT id FROM memories WHERE tenant_id = $1 AND metadata <> '{}'", store.tenant)
    for arm, hits in every.items():
        expected = {memory for memory, _ in hits} & {row["id"] for row in rows}
        assert {memory for memory, _ in found.get(arm, ())} == expected, arm
        assert expected < {memory for memory, _ in hits}, arm
    assert {other, wanted} <= {memory for memory, _ in every[Arm.GRAPH]}


async def test_a_filter_by_metadata_goes_by_what_was_known(store: Store) -> None:
    memory = await store.put("fact", _drinks("green"), metadata={"project": "atlas"})
    before = datetime.now(UTC)
    await store.sql("UPDATE memories SET metadata = $2, updated_at = now() WHERE id = $1", memory, '{"project": "b"}')
    found = partial(store.found, "What tea does the user drink?", min_relevance=0.0)
    assert await found(metadata={"project": "b"}) == [memory]
    assert await found(metadata={"project": "atlas"}) == []
    assert await found(metadata={"project": "atlas"}, known_at=before) == [memory]
    assert await found(metadata={"project": "b"}, known_at=before) == []


async def test_labels_go_with_their_memory_and_its_metadata(store: Store) -> None:
    memory = await store.put("fact", _drinks("green"), metadata={"tags": ["work", "urgent"]})
    labels = "SELECT label FROM memory_labels WHERE memory_id = $1"
    assert len(await store.sql(labels, memory)) == 3
    await store.sql("UPDATE memories SET metadata = '{}' WHERE id = $1", memory)
    assert await store.sql(labels, memory) == []


async def test_an_explanation_names_the_filters_and_which_was_relaxed(store: Store) -> None:
    await store.put("fact", _drinks("green"), metadata={"project": "atlas"})
    result = await store.ask("Which events were there?", metadata={"project": "atlas"}, explain=True, min_relevance=0.0)
    assert result.plan is not None
    assert result.plan["filters"] == [
        {"filter": "metadata", "value": {"project": "atlas"}, "inferred": False, "relaxed": False},
        {"filter": "types", "value": ["event"], "inferred": True, "relaxed": True},
    ]


@pytest.mark.parametrize("mode", [ReadMode.DEFAULT, ReadMode.HISTORICAL])
async def test_forgotten_memories_are_for_audits_alone(store: Store, mode: ReadMode) -> None:
    memory = await store.put("fact", {"subject": "user", "predicate": "drinks", "object": "tea"})
    await set_on_both(store, memory, "status = 'forgotten'")
    assert memory not in await store.found("tea", mode=mode)
    assert memory not in await store.found("tea", mode=mode, known_at=datetime.now(UTC))
    assert memory in await store.found("tea", mode=ReadMode.AUDIT)


@pytest.mark.parametrize("mode", list(ReadMode))
async def test_what_waits_for_review_is_never_recalled(store: Store, mode: ReadMode) -> None:
    memory = await store.put("fact", {"subject": "user", "predicate": "drinks", "object": "tea"})
    await store.sql(
        """UPDATE memories SET status = 'pending', review_reason = 'doubtful', review_since = now()
           WHERE tenant_id = $1 AND id = $2""",
        store.tenant,
        memory,
    )
    await store.sql(
        "UPDATE memory_index SET status = 'pending' WHERE tenant_id = $1 AND memory_id = $2", store.tenant, memory
    )
    assert memory not in await store.found("tea", mode=mode)
    assert memory not in await store.found("tea", mode=mode, known_at=datetime.now(UTC))


async def test_what_was_only_supposed_stays_under_the_floor(store: Store) -> None:
    memory = await store.put(
        "fact",
        {"subject": "user", "predicate": "lives-in", "object": "Mars"},
        speech_act=SpeechAct.HYPOTHETICAL,
    )
    assert memory not in await store.found("Where does the user live? Mars")
    assert memory in await store.found("Where does the user live? Mars", mode=ReadMode.AUDIT)


async def test_an_expired_memory_is_seen_in_historical_mode(store: Store) -> None:
    memory = await store.put("fact", {"subject": "user", "predicate": "drinks", "object": "tea"})
    await set_on_both(store, memory, "status = 'expired'")
    assert await store.found("tea") == []
    assert await store.found("tea", mode=ReadMode.HISTORICAL) == [memory]


async def test_a_memory_is_not_recalled_after_its_validity_nor_before(store: Store) -> None:
    over = await store.put(
        "fact",
        {"subject": "user", "predicate": "visits", "object": "Lisbon"},
        valid_from=NOW - timedelta(days=9),
        valid_until=NOW - timedelta(days=1),
    )
    coming = await store.put(
        "fact",
        {"subject": "user", "predicate": "moves-to", "object": "Lisbon"},
        valid_from=datetime.now(UTC) + timedelta(days=30),
    )
    assert await store.found("Lisbon") == []
    assert await store.found("Lisbon", as_of=NOW - timedelta(days=2)) == [over]
    assert await store.found("Lisbon", as_of=datetime.now(UTC) + timedelta(days=31)) == [coming]


async def test_a_memory_without_a_date_is_seen_by_a_caller_whose_now_lies_before_it(store: Store) -> None:
    memory = await store.put(
        "fact", {"subject": "user", "predicate": "drinks", "object": "tea"}, stated_at=datetime.now(UTC)
    )
    assert await store.found("tea", now=NOW - timedelta(days=900)) == [memory]


async def test_as_of_answers_what_was_true_then(store: Store) -> None:
    dark, light, sepia = [
        await theme(store, value, days) for value, days in (("dark", 60), ("light", 30), ("sepia", 5))
    ]
    question = "Which editor theme?"
    assert await store.found(question) == [sepia]
    assert await store.found(question, as_of=NOW - timedelta(days=40)) == [dark]
    assert await store.found(question, as_of=NOW - timedelta(days=10)) == [light]
    assert await store.found(question, as_of=NOW - timedelta(days=70)) == []
    assert set(await store.found(question, mode=ReadMode.HISTORICAL)) == {dark, light, sepia}


async def test_known_at_answers_what_was_believed_then(store: Store) -> None:
    dark = await theme(store, "dark", 60)
    between = datetime.now(UTC)
    light = await theme(store, "light", 30)
    after = datetime.now(UTC)
    question = "Which editor theme?"
    assert await store.found(question, known_at=between) == [dark]
    assert await store.found(question, known_at=after) == [light]
    assert await store.found(question, known_at=between - timedelta(days=1)) == []
    # The succession was not known then, so dark was believed to hold on; now it is known to have ended.
    then = NOW - timedelta(days=10)
    assert await store.found(question, as_of=then, known_at=between) == [dark]
    assert await store.found(question, as_of=then, known_at=after) == [light]
    assert await store.found(question, as_of=NOW - timedelta(days=40), known_at=after) == [dark]


async def test_a_statement_that_arrives_late_was_true_in_its_time(store: Store) -> None:
    light = await theme(store, "light", 30)
    dark = await theme(store, "dark", 60)
    question = "Which editor theme?"
    assert await store.found(question) == [light]
    assert await store.found(question, as_of=NOW - timedelta(days=40)) == [dark]
    assert await store.found(question, as_of=NOW - timedelta(days=40), known_at=datetime.now(UTC)) == [dark]


async def test_whom_the_question_excludes_is_left_out(store: Store) -> None:
    sarah = await store.put("relation", {"from_entity": "Sarah", "relation_type": "reports-to", "to_entity": "Priya"})
    tom = await store.put("relation", {"from_entity": "Tom", "relation_type": "reports-to", "to_entity": "Priya"})
    assert {sarah, tom} <= set(await store.found("Who reports to Priya?"))
    found = await store.found("Who reports to Priya, other than Sarah?")
    assert tom in found
    assert sarah not in found


async def test_a_value_that_the_question_excludes_is_left_out(store: Store) -> None:
    pizza = await store.put("fact", {"predicate": "likes-food", "object": "pizza", "stateful": False})
    pasta = await store.put("fact", {"predicate": "likes-food", "object": "pasta", "stateful": False})
    found = await store.found("Which food does the user like other than pizza?")
    assert pasta in found
    assert pizza not in found


async def test_an_inferred_filter_gives_way_when_nothing_passes_it(store: Store) -> None:
    turn = await store.put(
        "episodic",
        {"content": "We moved to the new office", "session_id": "s", "sequence_number": 1},
        stated_at=NOW - timedelta(days=9),
    )
    result = await store.ask("What happened last Tuesday?")
    assert [hit.memory.id for hit in result.hits] == [turn]
    assert result.understood["relaxed"] is True
    assert await store.found("What happened last Tuesday?", types=("event",)) == []


async def test_windows_prefer_what_happened_and_then_what_was_said_in_them(store: Store) -> None:
    inside = await store.put("event", {"event_description": "painted the old barn", "event_at": "2026-03-10"})
    outside = await store.put("event", {"event_description": "painted the old barn", "event_at": "2025-06-10"})
    assert await store.found("When did I paint the barn in March 2026?", min_relevance=0.0) == [inside, outside]
    assert await store.found("Which barn did I paint before 2026?", min_relevance=0.0) == [outside, inside]
