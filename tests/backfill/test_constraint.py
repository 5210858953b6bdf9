"""Rules that were stored as facts become constraints, which are never superseded."""

from __future__ import annotations

from typing import Any

from app.model import MemoryStatus, ReviewReason
from tests.backfill.clinic import Clinic


async def test_a_rule_becomes_a_constraint_and_fades_no_more(clinic: Clinic) -> None:
    rule = await clinic.says("cannot-use", "external APIs due to compliance requirements", stateful=True)
    plain = await clinic.says("cannot-swim", "well", stateful=True)
    one = await clinic.preview("constraint")
    await clinic.commit(one)
    memory = await clinic.memory(rule)
    assert (memory.type, memory.category, memory.half_life_days) == ("constraint", "control", None)
    assert memory.importance == 0.9
    assert memory.payload["predicate"] == "may-not-use"
    assert memory.content == "user cannot use external APIs due to compliance requirements"
    assert (await clinic.memory(plain)).type == "fact"


async def test_what_was_said_against_it_stays_as_it_is(clinic: Clinic) -> None:
    await clinic.says("cannot-use", "external APIs, by company policy", day=2, stateful=True)
    later = await clinic.says("uses", "the Google Maps API", day=3, stateful=True)
    before = await clinic.checksums()
    one = await clinic.preview("constraint")
    assert (one.counts["flagged"], one.counts["others_changed"]) == (1, 0)
    await clinic.commit(one)
    assert (await clinic.checksums())[later] == before[later]


async def test_two_prohibitions_both_stand_and_one_said_twice_is_one(clinic: Clinic) -> None:
    first = await clinic.says("must-not-use", "external APIs", day=1)
    second = await clinic.says("must-not-use", "personal laptops", day=2)
    again = await clinic.says("may-not-use", "external APIs", day=3)
    before = await clinic.snapshot(whole=False)
    one = await clinic.preview("constraint")
    await clinic.commit(one)
    stands = {memory: await clinic.memory(memory) for memory in (first, second, again)}
    assert [stands[each].status for each in (first, second, again)] == [
        MemoryStatus.ACTIVE,
        MemoryStatus.ACTIVE,
        MemoryStatus.SUPERSEDED,
    ]
    assert stands[again].superseded_by == first
    assert [each.review for each in stands.values()] == [None] * 3
    await clinic.undo(one)
    assert await clinic.snapshot(whole=False) == before


async def test_a_new_fact_meets_the_rule_as_any_other(clinic: Clinic) -> None:
    rule = await clinic.says("cannot-use", "external APIs due to compliance requirements", stateful=True)
    one = await clinic.preview("constraint")
    await clinic.commit(one)
    told = await clinic.store.write("fact", subject="user", predicate="uses", object="the Google Maps API")
    assert told.memory is not None
    assert told.memory.review is ReviewReason.CONSTRAINT
    assert (await clinic.memory(rule)).status is MemoryStatus.ACTIVE


async def test_contested_facts_stay_for_a_person(clinic: Clinic) -> None:
    strong: dict[str, Any] = {"source_strength": 1.0, "extractor_confidence": 1.0}
    await clinic.says("must-not-use", "external APIs", day=1, stateful=True, **strong)
    await clinic.says("must-not-use", "laptops", day=2, stateful=True, source_strength=0.5, extractor_confidence=0.5)
    one = await clinic.preview("constraint")
    assert one.counts["flagged"] == 0
    assert sum(one.counts["left"].values()) == 2
