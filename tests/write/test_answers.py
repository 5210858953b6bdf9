"""A write answers from what it has written: the same as reading the memory back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.memory.candidate import WriteDecision
from app.model import Evidence
from tests.support.stores import Store

NOW = datetime(2026, 5, 9, 12, 30, 1, 123_456, tzinfo=UTC)

FULL: dict[str, Any] = {
    "topic": "work",
    "session_id": "s1",
    "sequence_number": 3,
    "importance": 0.4,
    "context": "What do you do?",
    "valid_until": NOW + timedelta(days=900),
    "metadata": {"zeta": 1, "a": [1e22, -0.0, 0.1, 1e-9, None, {"deep": 'ümlaut \\ " \n'}], "long key": True},
    "provenance": {"agent_id": "bot"},
    "evidence": tuple(Evidence(stated_at=NOW, quote=f"quote {place}", role="user", session_id="s1") for place in "cab"),
}

Told = tuple[WriteDecision, int, float, str]
"""What a theme is decided to be, the day it is stated on, the trust in its source, and its name."""

THEMES: tuple[Told, ...] = (
    (WriteDecision.ADDED, 0, 0.9, "dark"),
    (WriteDecision.MERGED, 1, 0.9, "dark"),
    (WriteDecision.SUPERSEDED, 30, 0.9, "light"),
    (WriteDecision.ADDED, 20, 0.9, "grey"),
    (WriteDecision.ADDED, 10, 0.9, "blue"),
    (WriteDecision.CONTRADICTED, 40, 0.3, "red"),
    (WriteDecision.SUPERSEDED, 50, 1.0, "green"),
)


async def test_what_every_decision_answers_is_what_is_read_back(store: Store) -> None:
    for expected, day, trust, value in THEMES:
        about = {**FULL, "stated_at": NOW + timedelta(days=day), "source_strength": trust}
        outcome = await store.write("preference", about=about, preference_key="a.theme", preference_value=value)
        assert outcome.decision is expected
        assert outcome.memory is not None
        assert outcome.memory == await store.memories.get(store.actor, outcome.memory.id)


@pytest.mark.parametrize(
    ("type_name", "payload"),
    [
        ("fact", {"subject": "Priya", "predicate": "works-at", "object": "Volkswagen"}),
        ("event", {"event_description": "met Tom", "event_at": "2026-05-02T10:00:00Z", "participants": ["Tom"]}),
        (
            "entity",
            {"canonical_name": "Volkswagen", "entity_type": "organization", "attributes": {"seat": "Wolfsburg"}},
        ),
        ("relation", {"from_entity": "me", "relation_type": "reports-to", "to_entity": "Priya"}),
        ("episodic", {"content": "We talked about the weather", "session_id": "s1"}),
    ],
)
async def test_memories_of_every_type_are_answered_as_they_are_read_back(
    store: Store, type_name: str, payload: dict[str, Any]
) -> None:
    about = {**FULL, "stated_at": NOW}
    outcome = await store.write(type_name, about=about, **payload)
    assert outcome.memory is not None
    assert outcome.memory == await store.memories.get(store.actor, outcome.memory.id)


async def test_a_batch_answers_each_of_its_memories(store: Store) -> None:
    batch = [
        store.candidate("fact", predicate=f"has trait {place}", object=str(place), about={**FULL, "stated_at": NOW})
        for place in range(20)
    ]
    for outcome in await store.write_all(batch + batch[:2]):
        assert outcome.memory is not None
        if outcome.decision is WriteDecision.ADDED:
            read = await store.memories.get(store.actor, outcome.memory.id)
            assert (read.evidence[:3], read.content) == (outcome.memory.evidence, outcome.memory.content)
