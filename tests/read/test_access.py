from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID, uuid4

import pytest

from app.db.session import Database
from app.errors import DatabaseUnavailable
from app.ids import digest_of
from app.read.access import AccessTracker
from app.runtime import open_in_background
from tests.read.conftest import NOW, Store


def clock() -> datetime:
    return NOW


async def usage(store: Store, memory: UUID) -> tuple[int, float, list[str]]:
    [row] = await store.sql(
        "SELECT access_count, stability, sessions, last_accessed_at FROM memory_usage WHERE memory_id = $1", memory
    )
    return row["access_count"], row["stability"], row["sessions"]


async def test_what_the_context_showed_counts_as_used_once_it_is_flushed(store: Store) -> None:
    memory = await store.put("fact", {"predicate": "drinks", "object": "tea"})
    before = (await store.ask("tea")).hits[0]
    await store.ask("tea", session_id="s1")
    assert before.memory.access_count == 0
    assert (await usage(store, memory))[0] == 0
    await store.tracker.flush()
    assert (await usage(store, memory))[0] == 2
    assert (await store.ask("tea")).hits[0].memory.access_count == 2


async def test_what_did_not_fit_the_budget_was_not_used(store: Store) -> None:
    await store.put("fact", {"predicate": "drinks", "object": "tea"})
    await store.ask("tea", token_budget=0)
    assert store.tracker.waiting == 0


async def test_stability_grows_with_the_days_between_accesses(store: Store) -> None:
    memory = await store.put("fact", {"predicate": "drinks", "object": "tea"})
    tracker = store.tracker
    for days, expected in ((7, 0.1), (14, 0.2), (100, 0.4), (100, 0.4)):
        tracker.note(store.tenant, [memory], at=NOW + timedelta(days=days))
        await tracker.flush()
        assert (await usage(store, memory))[1] == pytest.approx(expected)


async def test_distinct_sessions_are_kept_up_to_a_bound(store: Store) -> None:
    memory = await store.put("fact", {"predicate": "drinks", "object": "tea"})
    for n in (1, 2, 2, 1, 3):
        store.tracker.note(store.tenant, [memory], at=NOW, session=f"s{n}")
        await store.tracker.flush()
    assert (await usage(store, memory))[2] == [digest_of(store.tenant, one) for one in ("s1", "s2", "s3")]
    for n in range(40):
        store.tracker.note(store.tenant, [memory], at=NOW, session=f"t{n}")
    await store.tracker.flush()
    count, _, sessions = await usage(store, memory)
    assert count == 45
    assert len(sessions) == 16


async def test_a_memory_that_is_gone_is_passed_over(store: Store) -> None:
    memory = await store.put("fact", {"predicate": "drinks", "object": "tea"})
    store.tracker.note(store.tenant, [uuid4(), memory], at=NOW)
    await store.tracker.flush()
    assert (await usage(store, memory))[0] == 1
    assert store.tracker.waiting == 0


class Away:
    """A database that is away, and comes back."""

    def __init__(self, database: Database) -> None:
        self.database, self.away = database, True

    @asynccontextmanager
    async def write(self, tenant: UUID) -> AsyncIterator[Any]:
        if self.away:
            raise DatabaseUnavailable("away")
        async with self.database.write(tenant) as session:
            yield session


async def test_an_outage_loses_nothing_that_fits_the_bound(store: Store) -> None:
    memory = await store.put("fact", {"predicate": "drinks", "object": "tea"})
    lost: list[int] = []
    away = Away(store.database)
    tracker = AccessTracker(database=cast("Database", away), clock=clock, bound=2, dropped=lost.append)
    tracker.note(store.tenant, [memory, uuid4(), uuid4()], at=NOW)
    assert lost == [1]
    await tracker.flush()
    tracker.note(store.tenant, [memory], at=NOW)
    assert tracker.waiting == 2
    away.away = False
    await tracker.aclose()
    assert (await usage(store, memory))[0] == 2
    assert tracker.waiting == 0


async def test_closing_writes_down_what_is_left(store: Store) -> None:
    memory = await store.put("fact", {"predicate": "drinks", "object": "tea"})
    tracker = AccessTracker(database=store.database, clock=clock, interval=600)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(tracker.aclose)
        await open_in_background(stack, tracker.run())
        tracker.note(store.tenant, [memory], at=NOW)
    assert (await usage(store, memory))[0] == 1
