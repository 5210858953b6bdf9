"""What claims another slot is another memory, whatever its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from app.memory import normalise
from app.memory.candidate import WriteDecision
from app.memory.registry import discover
from app.memory.spec import Payload
from tests.support.stores import Store

SENTENCE = "It is half done"

TWO_SLOTS: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "fact": ({"predicate": "owns", "object": "it"}, {"predicate": "wants", "object": "it"}),
    "preference": (
        {"preference_key": "editor.theme", "preference_value": "dark"},
        {"preference_key": "terminal.theme", "preference_value": "dark"},
    ),
    "entity": (
        {"canonical_name": "Springfield", "entity_type": "place"},
        {"canonical_name": "Springfield", "entity_type": "band"},
    ),
    "relation": (
        {"from_entity": "Sarah", "relation_type": "reports-to", "to_entity": "Priya"},
        {"from_entity": "Tom", "relation_type": "reports-to", "to_entity": "Priya"},
    ),
    "medication": ({"medication_name": "metformin"}, {"medication_name": "ramipril"}),
    "constraint": (
        {"predicate": "may-not-use", "rule": "external APIs"},
        {"predicate": "may-not-use", "rule": "the old cluster"},
    ),
    "decision": ({"subject": "database", "decision": "ours"}, {"subject": "queue", "decision": "ours"}),
    "transient_state": ({"state": "tired", "kind": "mood"}, {"state": "tired", "kind": "body"}),
    "procedural": (
        {"content": SENTENCE, "trigger_conditions": ["on Monday"]},
        {"content": SENTENCE, "trigger_conditions": ["on Friday"]},
    ),
    "progress": ({"content": SENTENCE, "session_id": "run-7"}, {"content": SENTENCE, "session_id": "run-8"}),
    "feature": (
        {"content": SENTENCE, "feature_key": "passkeys", "feature_status": "complete"},
        {"content": SENTENCE, "feature_key": "password", "feature_status": "complete"},
    ),
}
"""Of each type with slots two payloads that claim two."""

OPTIONAL = ("procedural", "progress", "feature")
"""Those whose slot may be left out."""


def test_every_type_with_a_slot_is_tried() -> None:
    assert {one.name for one in discover() if one.payload.slot is not Payload.slot} == set(TWO_SLOTS)


@pytest.mark.parametrize("kind", TWO_SLOTS)
@pytest.mark.parametrize("how", ["one by one", "in a batch"])
async def test_the_same_sentence_in_another_slot_is_another_memory(store: Store, kind: str, how: str) -> None:
    batch = [store.candidate(kind, about={"content": SENTENCE}, **fields) for fields in TWO_SLOTS[kind]]
    if how == "in a batch":
        outcomes = await store.write_all(batch)
    else:
        outcomes = [(await store.write_all([one]))[0] for one in batch]
    assert [one.decision for one in outcomes] == [WriteDecision.ADDED, WriteDecision.ADDED]
    again = await store.write_all(batch)
    assert [one.decision for one in again] == [WriteDecision.MERGED, WriteDecision.MERGED]
    assert [one.memory and one.memory.id for one in again] == [one.memory and one.memory.id for one in outcomes]


@pytest.mark.parametrize("kind", OPTIONAL)
@pytest.mark.parametrize("first", ["with", "without"])
async def test_the_same_sentence_without_a_slot_is_another_memory(store: Store, kind: str, first: str) -> None:
    bare, slotted = {"content": SENTENCE}, TWO_SLOTS[kind][0]
    order = (bare, slotted) if first == "without" else (slotted, bare)
    outcomes = [await store.write(kind, **fields) for fields in order]
    assert [one.decision for one in outcomes] == [WriteDecision.ADDED, WriteDecision.ADDED]


async def test_two_states_of_features_without_a_key_are_two(store: Store) -> None:
    outcomes = [
        await store.write("feature", content=SENTENCE, feature_status=state)
        for state in ("complete", "failed", "complete")
    ]
    assert [one.decision for one in outcomes] == [
        WriteDecision.ADDED,
        WriteDecision.ADDED,
        WriteDecision.MERGED,
    ]


async def test_what_was_stored_when_words_alone_told_memories_apart_is_still_restated(store: Store) -> None:
    fields: dict[str, Any] = {"content": SENTENCE, "session_id": "run-7"}
    first = await store.write("progress", **fields)
    old = normalise.digest("progress", "assertion", normalise.sentence(SENTENCE))
    await store.sql("UPDATE memories SET identity = $2 WHERE tenant_id = $1", store.tenant, old)
    other = await store.write("progress", content=SENTENCE, session_id="run-8")
    bare = await store.write("progress", content=SENTENCE)
    again = await store.write("progress", **fields)
    assert [one.decision for one in (other, bare, again)] == [
        WriteDecision.ADDED,
        WriteDecision.ADDED,
        WriteDecision.MERGED,
    ]
    assert first.memory is not None
    assert again.memory is not None
    assert again.memory.id == first.memory.id


async def test_a_fact_is_one_whether_or_not_it_is_said_to_hold_one_value(store: Store) -> None:
    outcomes = [await store.write("fact", predicate="plays", object="chess", stateful=one) for one in (True, False)]
    assert [one.decision for one in outcomes] == [WriteDecision.ADDED, WriteDecision.MERGED]
