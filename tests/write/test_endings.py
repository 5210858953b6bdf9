"""Endings of beliefs: what is no longer so, under the guards of supersession."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from app.memory.candidate import Ending, WriteDecision, WriteOutcome
from app.model import Evidence, MemoryStatus, SpeechAct
from tests.support.stores import Store

NOW = datetime(2026, 5, 9, 12, tzinfo=UTC)
DAY = timedelta(days=1)


async def said(
    store: Store, days: int, predicate: str = "works-at", value: str = "Volkswagen", **about: Any
) -> WriteOutcome:
    payload = {"predicate": predicate, "object": value} | about.pop("payload", {})
    return await store.write("fact", about={"stated_at": NOW + days * DAY, **about}, **payload)


async def ended(store: Store, days: int, value: str | None = "Volkswagen", **about: Any) -> WriteOutcome:
    ending = about.pop("ending", Ending(named=value is not None))
    return await said(store, days, value=value or "anything", ending=ending, **about)


async def standing(store: Store) -> list[tuple[str, str]]:
    rows = await store.sql(
        "SELECT slot_value, payload, status FROM memories WHERE tenant_id = $1 ORDER BY id", store.tenant
    )
    return [(json.loads(row["payload"])["object"], row["status"]) for row in rows]


async def test_what_has_ended_is_expired_with_the_time_it_ended(store: Store) -> None:
    held = await said(store, 0)
    over = await ended(store, 10, ending=Ending(at=NOW + 8 * DAY))
    assert held.memory is not None
    assert over.memory is not None
    assert (over.decision, over.memory.id) == (WriteDecision.ENDED, held.memory.id)
    assert [(one.id, one.change) for one in over.affected] == [(held.memory.id, "ended")]
    assert (over.memory.status, over.memory.valid_until) == (MemoryStatus.EXPIRED, NOW + 8 * DAY)
    [index] = await store.sql(
        "SELECT status, ended_at, retired_at FROM memory_index WHERE tenant_id = $1", store.tenant
    )
    assert (index["status"], index["ended_at"]) == ("expired", NOW + 8 * DAY)
    assert index["retired_at"] is not None
    told = await store.memories.history(store.actor, held.memory.id)
    [event] = [one for one in told.events if one.action == "memory.ended"]
    assert event.detail["status"] == ["active", "expired"]
    assert event.detail["confidence"] == held.memory.confidence
    assert event.detail["by_confidence"] == pytest.approx(held.memory.confidence)
    assert "Volkswagen" not in str(event.detail)


async def test_without_a_value_whichever_is_held_ends(store: Store) -> None:
    await said(store, 0)
    assert (await ended(store, 1, None)).decision is WriteDecision.ENDED
    assert await standing(store) == [("Volkswagen", "expired")]


async def test_what_is_sold_ends_however_it_is_held(store: Store) -> None:
    await said(store, 0, "drives", "a Skoda Fabia")
    over = await ended(store, 1, "Skoda", payload={"predicate": "owns"})
    assert over.decision is WriteDecision.ENDED
    assert await standing(store) == [("a Skoda Fabia", "expired")]


async def test_what_is_given_up_ends_with_its_routine(store: Store) -> None:
    for value in ("karate", "karate every Monday", "chess"):
        await said(store, 0, "plays", value, payload={"stateful": False})
    await ended(store, 1, "karate", payload={"predicate": "does"})
    assert await standing(store) == [("karate", "expired"), ("karate every Monday", "expired"), ("chess", "active")]


async def test_one_of_several_things_of_a_kind_is_not_guessed(store: Store) -> None:
    for value in ("a red bike", "a blue bike"):
        await said(store, 0, "owns", value, payload={"stateful": False})
    assert (await ended(store, 1, "bike", payload={"predicate": "owns"})).decision is WriteDecision.REJECTED


async def test_giving_up_a_food_ends_no_allergy(store: Store) -> None:
    await said(store, 0, "allergic-to", "peanuts")
    assert (await ended(store, 1, "peanuts", payload={"predicate": "does"})).decision is WriteDecision.REJECTED


async def test_a_value_that_is_not_held_ends_nothing(store: Store) -> None:
    await said(store, 0, value="Rivian")
    over = await ended(store, 1)
    assert (over.decision, over.memory) == (WriteDecision.REJECTED, None)
    assert await standing(store) == [("Rivian", "active")]


async def test_working_there_again_is_a_new_belief(store: Store) -> None:
    first = await said(store, 0)
    await ended(store, 10)
    again = await said(store, 20)
    assert first.memory is not None
    assert again.memory is not None
    assert again.decision is WriteDecision.ADDED
    assert again.memory.id != first.memory.id
    assert await standing(store) == [("Volkswagen", "expired"), ("Volkswagen", "active")]


async def test_an_ending_stated_before_the_statement_ends_nothing(store: Store) -> None:
    await said(store, 10)
    assert (await ended(store, 5)).decision is WriteDecision.REJECTED
    assert await standing(store) == [("Volkswagen", "active")]


async def test_a_late_statement_from_before_the_end_stays_in_the_past(store: Store) -> None:
    await said(store, 0)
    await ended(store, 10)
    same = await said(store, 5)
    assert same.decision is WriteDecision.MERGED
    other = await said(store, 4, value="Rivian")
    assert other.memory is not None
    assert other.memory.status is MemoryStatus.SUPERSEDED
    assert await standing(store) == [("Volkswagen", "expired"), ("Rivian", "superseded")]


@pytest.mark.parametrize("act", [SpeechAct.HYPOTHETICAL, SpeechAct.ROLEPLAY, SpeechAct.QUOTATION, SpeechAct.NEGATION])
async def test_only_an_assertion_ends(store: Store, act: SpeechAct) -> None:
    await said(store, 0)
    assert (await ended(store, 1, speech_act=act)).decision is WriteDecision.REJECTED
    assert await standing(store) == [("Volkswagen", "active")]


async def test_who_is_trusted_less_ends_nothing_and_a_person_is_asked(store: Store) -> None:
    held = await said(store, 0)
    over = await ended(store, 1, source_strength=0.4, extractor_confidence=0.9)
    assert over.decision is WriteDecision.REVIEW
    assert over.memory is not None
    assert held.memory is not None
    assert (over.memory.id, over.memory.status, over.memory.review) == (
        held.memory.id,
        MemoryStatus.ACTIVE,
        "contradiction",
    )


async def test_a_suspicious_ending_waits_for_a_person(store: Store) -> None:
    await said(store, 0)
    over = await ended(store, 1, review="it orders the assistant to ignore its instructions")
    assert over.decision is WriteDecision.REVIEW
    assert over.memory is not None
    assert (over.memory.status, over.memory.review) == (MemoryStatus.ACTIVE, "doubtful")
    assert "orders the assistant" in (over.memory.review_note or "")


async def test_of_several_that_may_hold_at_once_only_the_named_one_ends(store: Store) -> None:
    loose = {"payload": {"stateful": False}}
    for value in ("metformin 500 mg", "insulin"):
        await said(store, 0, "takes", value, **loose)
    assert (await ended(store, 1, None, predicate="takes", **loose)).decision is WriteDecision.REJECTED
    assert (await ended(store, 1, "metformin", predicate="takes", **loose)).decision is WriteDecision.ENDED
    assert await standing(store) == [("metformin 500 mg", "expired"), ("insulin", "active")]
    late = await said(store, 0, "takes", "metformin 500 mg", **loose)
    assert late.decision is WriteDecision.MERGED


async def test_a_name_within_a_name_is_another_name(store: Store) -> None:
    await said(store, 0, "lives-in", "New York")
    assert (await ended(store, 1, "York", predicate="lives-in")).decision is WriteDecision.REJECTED


async def test_the_beginning_of_a_name_ends_what_is_held_by_all_of_it(store: Store) -> None:
    await said(store, 0, value="Hamburger Hafen AG")
    assert (await ended(store, 1, "Hamb")).decision is WriteDecision.REJECTED
    assert (await ended(store, 2, "Hamburger Hafen")).decision is WriteDecision.ENDED


async def test_the_beginning_of_two_names_ends_neither_and_a_whole_name_its_own(store: Store) -> None:
    loose: dict[str, Any] = {"payload": {"stateful": False}}
    for value in ("Nordwind Energie", "Nordwind Logistik", "Nordwind Logistik Nord"):
        await said(store, 0, value=value, **loose)
    assert (await ended(store, 1, "Nordwind", **loose)).decision is WriteDecision.REJECTED
    assert (await ended(store, 2, "Nordwind Logistik", **loose)).decision is WriteDecision.ENDED
    assert [value for value, status in await standing(store) if status == "expired"] == ["Nordwind Logistik"]


async def test_a_statement_and_its_ending_in_one_write_go_in_their_order(store: Store) -> None:
    held = store.candidate("fact", about={"stated_at": NOW}, predicate="takes", object="insulin", stateful=False)
    over = store.candidate(
        "fact", about={"stated_at": NOW, "ending": Ending()}, predicate="takes", object="insulin", stateful=False
    )
    outcomes = await store.write_all([held, over])
    assert [one.decision for one in outcomes] == [WriteDecision.ADDED, WriteDecision.ENDED]


async def test_one_turn_ends_once_however_often_it_is_processed(store: Store) -> None:
    await said(store, 0)
    turn, scope = uuid4(), await store.sql("SELECT scope_id FROM memories WHERE tenant_id = $1", store.tenant)
    await store.sql(
        """INSERT INTO turns (tenant_id, id, scope_id, role, content, occurred_at)
           VALUES ($1, $2, $3, 'user', 'I no longer work at Volkswagen', $4)""",
        store.tenant, turn, scope[0]["scope_id"], NOW,
    )  # fmt: skip
    evidence = (Evidence(stated_at=NOW + DAY, turn_id=turn, quote="I no longer work at Volkswagen"),)
    first = await ended(store, 1, evidence=evidence)
    back = await said(store, 2)
    again = await ended(store, 1, evidence=evidence)
    assert first.memory is not None
    assert again.memory is not None
    assert back.memory is not None
    assert (again.decision, again.memory.id) == (WriteDecision.MERGED, first.memory.id)
    assert [one.quote for one in first.memory.evidence] == ["I no longer work at Volkswagen"]
    assert back.memory.status is MemoryStatus.ACTIVE


async def test_an_end_and_a_new_value_at_once_leave_one_order_or_the_other(store: Store) -> None:
    await said(store, 0)
    await asyncio.gather(ended(store, 1), said(store, 2, value="Rivian"))
    found = dict(await standing(store))
    assert found["Rivian"] == "active"
    assert found["Volkswagen"] in {"expired", "superseded"}


async def test_the_database_keeps_what_has_ended_from_being_active(store: Store) -> None:
    await said(store, 0)
    await ended(store, 1)
    with pytest.raises(asyncpg.CheckViolationError, match="ck_memories_ended"):
        await store.sql("UPDATE memories SET status = 'active' WHERE tenant_id = $1", store.tenant)


async def test_a_relation_and_a_preference_end_too(store: Store) -> None:
    await store.write("relation", from_entity="user", relation_type="reports-to", to_entity="Priya")
    await store.write("preference", preference_key="editor.theme", preference_value="dark")
    about: dict[str, Any] = {"ending": Ending()}
    boss = await store.write(
        "relation", about=about, from_entity="user", relation_type="has manager", to_entity="Priya"
    )
    theme = await store.write("preference", about=about, preference_key="editor.theme", preference_value="dark")
    assert [boss.decision, theme.decision] == [WriteDecision.ENDED, WriteDecision.ENDED]


async def test_two_spellings_of_a_subject_that_end_in_one_write_do_not_clash(store: Store) -> None:
    candidates = [
        store.candidate("fact", about={"stated_at": NOW}, subject="Anna", predicate="works-at", object="Acme"),
        store.candidate(
            "fact",
            about={"stated_at": NOW + DAY, "ending": Ending()},
            subject="anna",
            predicate="works-at",
            object="Acme",
        ),
        store.candidate(
            "fact", about={"stated_at": NOW + 2 * DAY}, subject="Anna", predicate="works-at", object="Rivian"
        ),
    ]
    assert [one.decision for one in await store.write_all(candidates)] == [
        WriteDecision.ADDED,
        WriteDecision.ENDED,
        WriteDecision.ADDED,
    ]
