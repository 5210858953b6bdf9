"""A scope's lexical weights go by one average length, which follows the length of its texts from afar."""

from __future__ import annotations

import pytest

from app.lexical.bm25 import document_weights, searched_terms, to_sparsevec
from tests.support.stores import USER, Store

SHORT = [f"has trait {place}" for place in range(5)]
LONG = [f"has told on a long evening by the fire about the voyage number {place}" for place in range(5)]


def is_marked(store: Store) -> bool:
    return (store.tenant, USER.id(store.tenant)) in store.upkeep._marked


async def average(store: Store) -> float:
    [row] = await store.sql("SELECT lexical_average FROM scopes WHERE tenant_id = $1", store.tenant)
    return float(row["lexical_average"])


async def write(store: Store, predicates: list[str], *, context: str | None = None) -> None:
    await store.write_all(
        [store.candidate("fact", predicate=one, object="x", about={"context": context}) for one in predicates]
    )


@pytest.mark.long
async def test_what_was_said_before_a_memory_counts_for_nothing(store: Store) -> None:
    await write(store, SHORT, context="They had talked for hours about boats, harbours, storms, cargo and old friends.")
    assert await average(store) < 8
    await write(store, [f"{one} now" for one in SHORT], context="They had talked about boats, harbours and storms.")
    assert not is_marked(store)


@pytest.mark.long
async def test_weights_follow_when_texts_have_become_longer(store: Store) -> None:
    await write(store, SHORT)
    before = await average(store)
    assert not is_marked(store)
    await write(store, LONG)
    assert is_marked(store)
    assert await average(store) == before
    await store.upkeep.settle()
    rows = await store.sql(
        "SELECT m.content, i.lexical::text AS lexical FROM memory_index i JOIN memories m "
        "ON m.tenant_id = $1 AND m.id = i.memory_id WHERE i.tenant_id = $1",
        store.tenant,
    )
    terms = [searched_terms(row["content"], "english") for row in rows]
    after = sum(map(len, terms)) / len(terms)
    assert await average(store) == pytest.approx(after)
    for row, found in zip(rows, terms, strict=True):
        weights = to_sparsevec(document_weights(found, average_length=after))
        told = dict(pair.split(":") for pair in row["lexical"].partition("/")[0].strip("{}").split(","))
        assert [int(place) for place in told] == [place + 1 for place in weights.indices()]
        assert [float(value) for value in told.values()] == pytest.approx(weights.values(), rel=1e-6)
    assert not is_marked(store)
