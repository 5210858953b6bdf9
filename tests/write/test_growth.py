"""A scope's vectors go into the shared index when it has outgrown exact search, and not before."""

from __future__ import annotations

import pytest

from app.db.apply import scope
from tests.support.stores import USER, Store


async def indexed(store: Store) -> tuple[int, int]:
    [row] = await store.sql(
        "SELECT count(*) FILTER (WHERE ann) AS inside, count(*) AS rows FROM memory_index WHERE tenant_id = $1",
        store.tenant,
    )
    return row["inside"], row["rows"]


async def test_a_small_scope_stays_out_of_the_vector_index(store: Store) -> None:
    await store.write("fact", predicate="likes", object="tea")
    await store.upkeep.settle()
    assert await indexed(store) == (0, 1)


async def test_a_scope_that_grows_is_indexed_and_stays_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope, "LARGE", 5)
    batch = [store.candidate("fact", predicate=f"has trait {place}", object=f"value {place}") for place in range(9)]
    await store.write_all(batch)
    assert (store.tenant, USER.id(store.tenant)) in store.upkeep._crowded
    await store.upkeep.settle()
    assert await indexed(store) == (9, 9)
    await store.write("fact", predicate="likes", object="tea")
    assert await indexed(store) == (10, 10), "a new row goes in as it is written"
    assert not store.upkeep._crowded


async def test_rows_that_a_crash_left_outside_are_noticed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope, "LARGE", 1)
    for thing in ("tea", "coffee", "milk"):
        await store.write("fact", predicate="likes", object=thing, stateful=False)
    await store.upkeep.settle()
    await store.sql("UPDATE memory_index SET ann = false WHERE tenant_id = $1", store.tenant)
    await store.write("fact", predicate="likes", object="water", stateful=False)
    await store.upkeep.settle()
    assert await indexed(store) == (4, 4)
