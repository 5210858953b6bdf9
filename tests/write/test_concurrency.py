"""What holds when writers meet: one active value a slot, nothing half-written, no write lost in silence."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from app.db.apply import scope
from app.errors import Conflict
from tests.support.stores import Store

WRITERS = 50


async def write_until_done(store: Store, value: str) -> None:
    """Write as the documentation tells callers to: on 409, wait a moment and retry."""
    for _ in range(100):
        try:
            await store.write("preference", preference_key="editor.theme", preference_value=value)
        except Conflict:
            await asyncio.sleep(0.01)
        else:
            return
    raise AssertionError("a write never got through")


async def assert_one_active_and_a_linear_chain(store: Store, versions: int) -> None:
    rows = await store.sql(
        "SELECT id, status, superseded_by FROM memories WHERE tenant_id = $1 AND type = 'preference'", store.tenant
    )
    by_id = {row["id"]: row for row in rows}
    assert len(rows) == versions
    [active] = [row for row in rows if row["status"] == "active"]
    followers = [row["superseded_by"] for row in rows if row["superseded_by"] is not None]
    assert len(followers) == len(set(followers)) == versions - 1
    for row in rows:
        steps, at = 0, row
        while at["superseded_by"] is not None and steps <= versions:
            at, steps = by_id[at["superseded_by"]], steps + 1
        assert at["id"] == active["id"]


async def assert_nothing_half_written(store: Store) -> None:
    [orphans] = await store.sql(
        """SELECT (SELECT count(*) FROM memories m WHERE tenant_id = $1 AND NOT EXISTS (
                       SELECT 1 FROM memory_index i WHERE i.tenant_id = $1 AND i.memory_id = m.id
                         AND i.status = m.status AND i.part = 0)) AS unindexed,
                  (SELECT memory_count FROM scopes WHERE tenant_id = $1) AS counted,
                  (SELECT count(*) FROM memories WHERE tenant_id = $1) AS stored""",
        store.tenant,
    )
    assert orphans["unindexed"] == 0
    assert orphans["counted"] == orphans["stored"]


async def test_fifty_writers_of_one_process(store: Store) -> None:
    await asyncio.gather(*(write_until_done(store, f"value {place}") for place in range(WRITERS)))
    await assert_one_active_and_a_linear_chain(store, WRITERS)
    await assert_nothing_half_written(store)


async def test_fifty_writers_of_five_replicas(store: Store, make_store: Callable[[], Awaitable[Store]]) -> None:
    replicas = [(await make_store()).as_tenant(store.tenant) for _ in range(5)]
    await asyncio.gather(*(write_until_done(replicas[place % 5], f"value {place}") for place in range(WRITERS)))
    await assert_one_active_and_a_linear_chain(store, WRITERS)
    await assert_nothing_half_written(store)


async def test_writers_of_five_replicas_all_get_through_at_once(
    store: Store, make_store: Callable[[], Awaitable[Store]]
) -> None:
    """Nobody is told to retry: a write that lost once holds the scope."""
    replicas = [(await make_store()).as_tenant(store.tenant) for _ in range(5)]

    async def write(place: int) -> None:
        for number in range(6):
            value = f"value {place} {number}"
            await replicas[place].write("preference", preference_key="editor.theme", preference_value=value)

    await asyncio.gather(*(write(place) for place in range(5)))
    await assert_one_active_and_a_linear_chain(store, 30)
    await assert_nothing_half_written(store)


async def test_the_unique_index_alone_keeps_one_active(
    store: Store, make_store: Callable[[], Awaitable[Store]], monkeypatch: pytest.MonkeyPatch
) -> None:
    unguarded = scope._CLAIM.replace("AND version = ", "AND version >= 0 * ")
    monkeypatch.setattr(scope, "_CLAIM", unguarded)
    replicas = [(await make_store()).as_tenant(store.tenant) for _ in range(5)]
    await asyncio.gather(*(write_until_done(replicas[place % 5], f"value {place}") for place in range(WRITERS)))
    rows = await store.sql(
        "SELECT status, count(*) AS n FROM memories WHERE tenant_id = $1 GROUP BY status", store.tenant
    )
    assert {row["status"]: row["n"] for row in rows} == {"active": 1, "superseded": WRITERS - 1}


async def test_writers_that_disagree_on_when_leave_the_latest_statement(store: Store) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)

    async def write(day: int) -> None:
        await store.write(
            "preference",
            about={"stated_at": start + timedelta(days=day)},
            preference_key="editor.theme",
            preference_value=f"of day {day}",
        )

    days = [(place * 37) % WRITERS for place in range(WRITERS)]
    await asyncio.gather(*(write(day) for day in days))
    await assert_one_active_and_a_linear_chain(store, WRITERS)
    rows = await store.sql(
        "SELECT slot_value, status FROM memories WHERE tenant_id = $1 ORDER BY stated_at", store.tenant
    )
    assert [row["slot_value"] for row in rows] == [f"of day {day}" for day in range(WRITERS)]
    assert [row["status"] for row in rows] == ["superseded"] * (WRITERS - 1) + ["active"]


async def test_a_scope_that_keeps_moving_asks_the_caller_to_retry(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = scope._CLAIM.replace("AND version = ", "AND version = -1 + ")
    monkeypatch.setattr(scope, "_CLAIM", stuck)
    with pytest.raises(Conflict, match="retry") as caught:
        await store.write("preference", preference_key="editor.theme", preference_value="dark")
    assert caught.value.retry_after is not None
    monkeypatch.undo()
    assert await store.sql("SELECT 1 FROM memories WHERE tenant_id = $1", store.tenant) == []
