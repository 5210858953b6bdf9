"""The drift worker on a synthetic history whose answer is known."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest

from app import ids
from app.db.memories import listing
from app.db.session import Database, WriteSession
from app.db.sql import insert_all
from app.features.lifecycle.drift import Drift
from app.features.lifecycle.runner import RunProgress
from app.model import ReviewReason, Visibility
from app.read.values import QueryRequest
from tests.support.stores import USER, Store, reads_in

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


async def told(_done: int, _total: int | None) -> None:
    """Take no notice."""


PROGRESS = RunProgress(run=uuid4(), report=told)


async def watch(store: Store, now: datetime = NOW, *, dry_run: bool = False, database: Database | None = None) -> Any:
    worker = Drift(database=database or store.database, clock=lambda: now)
    return await worker.run(store.tenant, dry_run=dry_run, progress=PROGRESS)


def fixed(moment: datetime) -> datetime:
    """The moment."""
    return moment


async def themes(store: Store, *days_ago: float, now: datetime = NOW, key: str = "editor.theme") -> None:
    """State a value of a slot on each of these days, another one each time."""
    for place, back in enumerate(days_ago):
        stated = now - back * DAY
        pipeline = replace(store.pipeline, clock=partial(fixed, stated))
        then = replace(store, pipeline=pipeline)
        await then.write(
            "preference", about={"stated_at": stated}, preference_key=key, preference_value=f"theme {place}"
        )


async def holder(store: Store, key: str = "editor.theme") -> Any:
    [row] = await store.sql(
        "SELECT * FROM memories WHERE tenant_id = $1 AND status = 'active' AND payload->>'preference_key' = $2",
        store.tenant,
        key,
    )
    return row


async def test_a_slot_that_changed_four_times_in_a_month_is_marked(store: Store) -> None:
    await themes(store, 20, 15, 10, 5, 1)
    await themes(store, 15, 10, 5, 1, key="editor.font")
    counts = await watch(store)
    assert (counts["volatile_slots"], counts["marked"]) == (1, 1)
    held = await holder(store)
    assert held["volatile"]
    assert held["review_reason"] == ReviewReason.VOLATILE
    assert held["review_note"] == "the value of its slot was replaced 4 times in 30 days"
    assert (held["review_since"], held["updated_at"]) == (NOW, NOW)
    assert not (await holder(store, "editor.font"))["volatile"]
    [event] = await store.sql(
        "SELECT detail FROM audit_events WHERE tenant_id = $1 AND action = 'memory.volatile'", store.tenant
    )
    assert '"flips": 4' in event["detail"]


async def test_changes_of_long_ago_that_arrive_now_are_no_flips(store: Store) -> None:
    for place in range(6):
        stated = NOW - timedelta(days=400 - 30 * place)
        await store.write(
            "preference", about={"stated_at": stated}, preference_key="editor.theme", preference_value=f"theme {place}"
        )
    assert (await watch(store))["volatile_slots"] == 0


async def test_it_is_marked_once_and_settles_when_it_calms_down(store: Store) -> None:
    await themes(store, 20, 15, 10, 5, 1)
    await watch(store)
    assert (await watch(store))["marked"] == 0
    assert (await watch(store, NOW + 10 * DAY))["settled"] == 0
    counts = await watch(store, NOW + 20 * DAY)
    assert (counts["volatile_slots"], counts["settled"]) == (0, 1)
    held = await holder(store)
    assert (held["volatile"], held["review_reason"], held["review_since"]) == (False, None, None)
    actions = await store.sql(
        "SELECT action FROM audit_events WHERE memory_id = $1 AND actor = 'worker:drift' ORDER BY id", held["id"]
    )
    assert [row["action"] for row in actions] == ["memory.volatile", "memory.settled"]


async def test_a_decided_question_is_not_asked_again(store: Store) -> None:
    await themes(store, 20, 15, 10, 5, 1)
    await watch(store)
    await store.sql(
        "UPDATE memories SET review_reason = NULL, review_note = NULL, review_since = NULL WHERE tenant_id = $1",
        store.tenant,
    )
    assert (await watch(store, NOW + DAY))["marked"] == 0
    assert (await holder(store))["review_reason"] is None


async def test_another_question_stays(store: Store) -> None:
    await themes(store, 20, 15, 10, 5, 1)
    await store.sql(
        "UPDATE memories SET review_reason = 'asked', review_note = 'why?', review_since = $2"
        " WHERE tenant_id = $1 AND status = 'active'",
        store.tenant,
        NOW - DAY,
    )
    await watch(store)
    held = await holder(store)
    assert (held["volatile"], held["review_reason"], held["review_note"]) == (True, "asked", "why?")
    await watch(store, NOW + 60 * DAY)
    held = await holder(store)
    assert (held["volatile"], held["review_reason"], held["review_note"]) == (False, "asked", "why?")


async def test_the_mark_moves_on_to_the_next_holder(store: Store) -> None:
    await themes(store, 20, 15, 10, 5, 1)
    await watch(store)
    first = (await holder(store))["id"]
    await themes(store, -1)
    later = NOW + 2 * DAY
    counts = await watch(store, later)
    assert (counts["marked"], counts["settled"]) == (1, 1)
    [old] = await store.sql("SELECT volatile, review_reason FROM memories WHERE id = $1", first)
    assert tuple(old) == (False, None)
    assert (await holder(store))["volatile"]


async def test_a_volatile_value_is_demoted_until_somebody_has_looked(store: Store) -> None:
    await themes(store, 20, 15, 10, 5, 1)
    fair = await score(store)
    await watch(store)
    assert await score(store) == pytest.approx(0.8 * fair)
    assert "its slot changes too often: x0.80" in await notes(store)
    await store.sql(
        "UPDATE memories SET review_reason = NULL, review_note = NULL, review_since = NULL WHERE tenant_id = $1",
        store.tenant,
    )
    assert await score(store) == pytest.approx(fair)


async def asked(store: Store) -> Any:
    pipeline = reads_in(store.database, store.pipeline.embedder, lambda: NOW, store.types)
    request = QueryRequest(query="Which editor theme?", visibility=Visibility(user_id="u1"), now=NOW)
    [hit] = (await pipeline.answer(store.tenant, request)).result.hits
    return hit


async def score(store: Store) -> float:
    return float((await asked(store)).score)


async def notes(store: Store) -> Any:
    return (await asked(store)).notes


async def test_a_dry_run_changes_nothing(store: Store) -> None:
    await themes(store, 20, 15, 10, 5, 1)
    assert await watch(store, dry_run=True) == {"days": 35, "volatile_slots": 1}
    assert not (await holder(store))["volatile"]
    assert await store.sql("SELECT 1 FROM store_days WHERE tenant_id = $1", store.tenant) == []


async def history(store: Store) -> None:
    """28 days of 10 facts and 10 events each, then 7 of 18 facts and 2 events; turns and rejections likewise."""
    await store.write("fact", predicate="likes-tea", object="x")
    [model] = await store.sql("SELECT * FROM memories WHERE tenant_id = $1", store.tenant)
    async with store.database.write(store.tenant) as session:
        for back in range(1, 36):
            day = NOW - back * DAY
            recent = back <= 7
            kinds = ["fact"] * (18 if recent else 10) + ["event"] * (2 if recent else 10)
            await insert_all(
                session,
                {
                    "memories": [memory(model, kind, day, 0.5 if recent else 0.8) for kind in kinds],
                    "turns": [turn(store, day, one, recent=recent) for one in range(20)],
                    "audit_events": [event(store, day, one, recent=recent) for one in range(20)],
                },
            )


def memory(model: Any, kind: str, day: datetime, confidence: float) -> dict[str, object]:
    left = {"needs_review", "id", "type", "slot", "recorded_at", "confidence", "identity", "payload", "provenance",
            "metadata", "slot_value"}  # fmt: skip
    own = {name: value for name, value in dict(model).items() if name not in left}
    given = {"id": ids.new(), "type": kind, "recorded_at": day, "confidence": confidence, "identity": b"x"}
    return {**own, **given, "payload": {}, "provenance": {}, "metadata": {}}


def made_at(day: datetime) -> UUID:
    return UUID(int=(int(day.timestamp() * 1000) << 80) + (uuid4().int & (2**72 - 1)))


def turn(store: Store, day: datetime, place: int, *, recent: bool) -> dict[str, object]:
    skipped = place < (12 if recent else 4)
    return {
        "tenant_id": store.tenant,
        "id": made_at(day),
        "scope_id": scope_of(store),
        "role": "user",
        "content": "x",
        "timezone": "UTC",
        "occurred_at": day,
        "recorded_at": day,
        "status": "skipped" if skipped else "processed",
        "reason": f"it has {place % 4 + 1} words and states nothing; 5 are needed" if skipped else None,
        "metadata": {},
    }


def event(store: Store, day: datetime, place: int, *, recent: bool) -> dict[str, object]:
    rejected = place < (10 if recent else 1)
    reason = f"confidence 0.{place + 10} is under the write floor 0.30"
    return {
        "tenant_id": store.tenant,
        "id": made_at(day),
        "occurred_at": day,
        "actor": "tester",
        "action": "memory.rejected" if rejected else "memory.added",
        "detail": {"reason": reason if rejected else "new"},
    }


def scope_of(store: Store) -> UUID:
    return USER.id(store.tenant)


async def rows(store: Store, day: date) -> dict[tuple[str, str], int]:
    found = await store.sql(
        "SELECT kind, name, count FROM store_days WHERE tenant_id = $1 AND day = $2", store.tenant, day
    )
    return {(row["kind"], row["name"]): row["count"] for row in found}


async def test_each_day_is_counted_from_what_is_there(store: Store) -> None:
    await history(store)
    assert (await watch(store))["days"] == 35
    words = "it has N words and states nothing; N are needed"
    assert await rows(store, (NOW - 3 * DAY).date()) == {
        ("turn", "processed"): 8,
        ("turn", "skipped"): 12,
        ("skipped", words): 12,
        ("decision", "added"): 10,
        ("decision", "rejected"): 10,
        ("done", ""): 0,
    }


async def test_a_day_is_counted_once_and_what_went_since_stays_counted(store: Store) -> None:
    await history(store)
    await watch(store)
    before = await rows(store, (NOW - 3 * DAY).date())
    await store.sql("DELETE FROM turns WHERE tenant_id = $1", store.tenant)
    assert (await watch(store))["days"] == 0
    assert (await watch(store, NOW + DAY))["days"] == 1
    assert await rows(store, (NOW - 3 * DAY).date()) == before


class Cut(Exception):
    """The process ends here."""


class Breaking(Database):
    """A database whose process ends instead of committing its n-th transaction of writing."""

    def __init__(self, url: str, survives: int) -> None:
        super().__init__(url, pool_size=2)
        self.left = survives

    @asynccontextmanager
    async def write(self, tenant: UUID | None, **local: str) -> AsyncIterator[WriteSession]:
        async with super().write(tenant, **local) as session:
            yield session
            if self.left == 0:
                raise Cut
        self.left -= 1


@pytest.mark.parametrize("survives", [0, 1])
async def test_a_run_that_was_cut_off_is_made_up_for(store: Store, survives: int) -> None:
    await themes(store, 20, 15, 10, 5, 1)
    breaking = Breaking(store.url, survives)
    with pytest.raises(Cut):
        await watch(store, database=breaking)
    await breaking.close()
    counts = await watch(store)
    assert (counts["days"], counts["marked"]) == (35, 1 - survives)
    events = await store.sql(
        "SELECT 1 FROM audit_events WHERE tenant_id = $1 AND action = 'memory.volatile'", store.tenant
    )
    assert len(events) == 1


async def test_pages_cover_the_store_exactly(store: Store) -> None:
    await history(store)
    everyone = {row["id"] for row in await store.sql("SELECT id FROM memories WHERE tenant_id = $1", store.tenant)}
    seen: list[UUID] = []
    async for page in listing.pages(store.database, store.tenant, size=100):
        bounds = page.values()
        found = await store.sql(
            "SELECT id FROM memories WHERE tenant_id = $1 AND (scope_id, id) > ($2, $3) AND (scope_id, id) <= ($4, $5)",
            store.tenant,
            *(bounds[name] for name in ("after_scope", "after_id", "scope", "id")),
        )
        assert len(found) <= 100
        seen += [row["id"] for row in found]
    assert len(seen) == len(everyone)
    assert set(seen) == everyone
