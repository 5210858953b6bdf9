"""The three scenarios of seed 000, at the level of the services."""

from __future__ import annotations

from datetime import timedelta

from app.model import MemoryStatus, ReadMode
from tests.read.conftest import NOW, Store


async def test_a_new_preference_is_the_only_one_and_history_shows_both(store: Store) -> None:
    dark = await store.put(
        "preference",
        {"preference_key": "editor.theme", "preference_value": "dark mode"},
        stated_at=NOW - timedelta(days=60),
    )
    light = await store.put("preference", {"preference_key": "editor.theme", "preference_value": "light mode"})

    result = await store.ask("what display mode does the user prefer?")
    assert [hit.memory.id for hit in result.hits] == [light]
    assert await store.found("what do I prefer?") == [light]

    history = await store.ask("what display mode does the user prefer?", mode=ReadMode.HISTORICAL)
    assert {hit.memory.id for hit in history.hits} == {dark, light}
    before = await store.ask("What did I prefer before?")
    assert before.understood["mode"] == "historical"
    assert before.hits[0].memory.status is MemoryStatus.SUPERSEDED


async def test_what_happened_last_tuesday_returns_the_events_of_that_tuesday_alone(store: Store) -> None:
    facts = [
        store.candidate(
            "fact",
            {"subject": f"colleague {n}", "predicate": "works-on", "object": f"the Tuesday project {n}"},
            stated_at=NOW - timedelta(days=9),
        )
        for n in range(200)
    ]
    await store.write(*facts)
    that_day = await store.put("event", {"event_description": "joined the platform team", "event_at": "2026-05-05"})
    that_hour = await store.put("event", {"event_description": "deployed the API", "event_at": "2026-05-05T14:00:00Z"})
    that_week = await store.put(
        "event",
        {
            "event_description": "visited the Berlin office",
            "event_at": "2026-05-07",
            "event_at_precision": "week",
        },
    )
    await store.put("event", {"event_description": "reported a billing issue", "event_at": "2026-05-06"})
    await store.put("event", {"event_description": "moved house on a Tuesday", "event_at": "2026-04-28"})
    await store.put("event", {"event_description": "once met Priya"})

    result = await store.ask("What happened last Tuesday?")
    assert {hit.memory.id for hit in result.hits} == {that_day, that_hour, that_week}
    assert result.hits[-1].memory.id == that_week
    assert [group.name for group in result.context.groups] == ["Events"]


async def test_priya_is_one_entity_and_two_hops_away_her_role_is_found(store: Store) -> None:
    await store.put(
        "entity",
        {"canonical_name": "Priya", "entity_type": "person", "aliases": ["P. Sharma", "the EM"]},
    )
    role = await store.put("fact", {"subject": "Priya", "predicate": "has-role", "object": "engineering manager"})
    edge = await store.put("relation", {"from_entity": "Sarah", "relation_type": "works for", "to_entity": "P. Sharma"})
    project = await store.put(
        "relation", {"from_entity": "the EM", "relation_type": "manages", "to_entity": "the Atlas project"}
    )
    for n in range(30):
        await store.put("fact", {"subject": f"Tom {n}", "predicate": "has-role", "object": f"tester {n}"})

    result = await store.ask("Who does Sarah work for, and what is their role?")
    ids = [hit.memory.id for hit in result.hits]
    assert ids[0] == edge
    assert role in ids[:3]
    [role_hit] = [hit for hit in result.hits if hit.memory.id == role]
    assert "graph" in {arm.arm for arm in role_hit.arms}
    assert project in await store.found("What does Priya manage?")
    assert role in await store.found("What is P. Sharma's role?")


async def test_entities_that_were_two_before_an_alias_made_them_one_are_followed_as_one(store: Store) -> None:
    edge = await store.put(
        "relation", {"from_entity": "Sarah", "relation_type": "reports-to", "to_entity": "P. Sharma"}
    )
    role = await store.put("fact", {"subject": "Priya", "predicate": "has-role", "object": "boss of testing"})
    await store.put("entity", {"canonical_name": "Priya", "entity_type": "person", "aliases": ["P. Sharma"]})
    ids = await store.found("Who does Sarah report to?", min_relevance=0.0)
    assert ids[0] == edge
    assert role in ids


async def test_what_was_said_on_three_days_in_the_same_words_is_one_line_of_the_context(store: Store) -> None:
    for days in (61, 30, 2):
        await store.put(
            "episodic",
            {"content": "The lift in the west wing is stuck again.", "session_id": f"day {days}", "sequence_number": 0},
            stated_at=NOW - timedelta(days=days),
        )
    result = await store.ask("What is wrong with the lift?")
    assert result.context.groups[0].lines == (
        "- (2026-05-12, said 3 times since 2026-03-14) The lift in the west wing is stuck again.",
    )


async def test_a_question_in_the_past_tense_finds_what_is_over_where_nothing_holds(store: Store) -> None:
    began, ended = NOW - timedelta(days=700), NOW - timedelta(days=300)
    porto = {"subject": "user", "predicate": "lives-in", "object": "Porto"}
    lived = await store.put("fact", porto, stated_at=began, valid_until=ended)
    for text in ("Where did I live?", "Was I ever in Porto?"):
        result = await store.ask(text)
        assert [hit.memory.id for hit in result.hits] == [lived]
        assert result.understood["mode"] == "historical"
    assert await store.found("Where do I live?") == []
    assert await store.found("Where did I live?", mode=ReadMode.DEFAULT) == []
    lives = await store.put("fact", {"subject": "user", "predicate": "lives-in", "object": "Faro"})
    assert (await store.ask("Where did I live?")).understood["mode"] == "default"
    assert await store.found("Where did I live?") == [lives]
