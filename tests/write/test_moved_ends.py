"""A repetition that says until when, says it of the belief it goes into."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.memory.audit_text import describe
from app.memory.candidate import WriteDecision
from tests.support.stores import Store

STATED = datetime.now(UTC) - timedelta(days=1)
SOON, LATER = STATED + timedelta(days=20), STATED + timedelta(days=400)

KINDS: dict[str, dict[str, Any]] = {
    "transient_state": {"state": "tired"},
    "plan": {"plan": "visit Tokyo"},
    "fact": {"predicate": "lives-in", "object": "Lisbon"},
    "entity": {"canonical_name": "Acme", "entity_type": "organization"},
}


async def said(
    store: Store, kind: str, until: datetime | None, *, after: timedelta = timedelta(0), **about: Any
) -> datetime | None:
    """State it and return until when it is believed; it is one memory throughout."""
    about |= {"stated_at": STATED + after, "valid_until": until}
    outcome = await store.write(kind, about=about, **KINDS[kind])
    assert outcome.decision in {WriteDecision.ADDED, WriteDecision.MERGED}
    [row] = await store.sql(
        """SELECT m.valid_until, array_agg(DISTINCT i.valid_until) AS indexed, count(DISTINCT m.id) AS memories
           FROM memories m JOIN memory_index i ON i.tenant_id = m.tenant_id AND i.memory_id = m.id
           WHERE m.tenant_id = $1 GROUP BY m.valid_until""",
        store.tenant,
    )
    assert (row["memories"], row["indexed"]) == (1, [row["valid_until"]])
    found: datetime | None = row["valid_until"]
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("first", "again"), [(SOON, LATER), (LATER, SOON), (None, SOON)])
async def test_a_repetition_moves_the_end(
    store: Store, kind: str, first: datetime | None, again: datetime | None
) -> None:
    assert await said(store, kind, first) == first
    assert await said(store, kind, again, after=timedelta(hours=1)) == again


async def test_words_that_are_gained_go_with_the_new_end(store: Store) -> None:
    about: dict[str, Any] = {"stated_at": STATED, "valid_until": SOON}
    await store.write("entity", about=about, **KINDS["entity"])
    await store.write("entity", about={**about, "valid_until": LATER}, **KINDS["entity"], aliases=["Acme Ltd"])
    rows = await store.sql("SELECT DISTINCT valid_until FROM memory_index WHERE tenant_id = $1", store.tenant)
    assert [row["valid_until"] for row in rows] == [LATER]


async def test_a_repetition_without_an_end_leaves_the_one_there_is(store: Store) -> None:
    await said(store, "plan", SOON)
    assert await said(store, "plan", None, after=timedelta(hours=1)) == SOON


async def test_a_late_repetition_leaves_the_end_that_was_stated_after_it(store: Store) -> None:
    await said(store, "plan", SOON)
    assert await said(store, "plan", LATER, after=timedelta(hours=-1)) == SOON


async def test_a_repetition_of_a_time_long_over_ends_nothing(store: Store) -> None:
    await said(store, "plan", None)
    begun = STATED - timedelta(days=9)
    over = STATED - timedelta(days=8)
    assert await said(store, "plan", over, after=timedelta(hours=1), valid_from=begun) is None


async def test_a_repetition_that_is_hardly_trusted_moves_no_end(store: Store) -> None:
    await said(store, "plan", LATER)
    assert await said(store, "plan", SOON, after=timedelta(hours=1), source_strength=0.4) == LATER


async def test_an_end_is_moved_however_often_the_belief_was_stated_before(store: Store) -> None:
    for hour in range(6):
        await said(store, "plan", SOON, after=timedelta(hours=hour))
    assert await said(store, "plan", LATER, after=timedelta(hours=7)) == LATER


async def test_the_past_and_the_audit_log_know_the_end_that_was_moved(store: Store) -> None:
    await said(store, "plan", SOON)
    await said(store, "plan", LATER, after=timedelta(hours=1))
    past = await store.sql("SELECT valid_until FROM memory_past WHERE tenant_id = $1", store.tenant)
    assert [row["valid_until"] for row in past] == [SOON]
    [memory] = await store.sql("SELECT id FROM memories WHERE tenant_id = $1", store.tenant)
    told = await store.memories.history(store.actor, memory["id"])
    merged = next(one for one in told.events if one.action == "memory.merged")
    assert merged.detail["valid_until"] == [SOON.isoformat(), LATER.isoformat()]
    assert f"it ends {LATER.isoformat()}" in describe(merged.action, merged.at, merged.actor, merged.detail)
