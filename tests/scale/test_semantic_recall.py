"""The vector index is true to all vectors, and owes no rows under any filter."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import pytest
from pgvector import HalfVector

from app.db.sql import Model, as_halfvec
from app.model import ReadMode
from app.read.retrieve import Search, SearchFilters, retrieve, semantic
from app.read.values import Arm
from bench.fill import without_vector_indexes
from bench.grammar import NOW
from tests.scale.stores import Store, opened, questions, user_scope
from tests.support.databases import Run, drop_database

pytestmark = pytest.mark.long

POOL = 50
BIG, SMALL = "erin", "frank"
COUNT = 12_000
SMALL_COUNT = 40

CASES: dict[str, dict[str, Any]] = {
    "one type": {"types": ("relation",)},
    "two types": {"types": ("event", "preference")},
    "history too": {"mode": ReadMode.HISTORICAL},
    "every status": {"mode": ReadMode.AUDIT},
    "a rare topic": {"topic": "politics"},
    "a type and a rare topic": {"types": ("preference",), "topic": "politics"},
    "a confidence that few have": {"min_confidence": 0.745},
    "a confidence that none has": {"min_confidence": 0.99},
    "a type that none is of": {"types": ("entity",)},
}


@dataclass(frozen=True, slots=True)
class Crowd:
    """A tenant with a big and a small scope, beside a neighbour whose vectors are in the same index."""

    store: Store
    tenant: UUID


@pytest.fixture(scope="module")
async def crowd(run: Run, server_url: str, template: str) -> AsyncIterator[Crowd]:
    url = run.create(server_url, template)
    async with opened(url) as store:
        tenant, neighbour = await store.new_tenant(), await store.new_tenant()
        async with without_vector_indexes(store.owner):
            await store.fill((tenant, BIG, COUNT), (tenant, SMALL, SMALL_COUNT), (neighbour, BIG, 2_000))
        yield Crowd(store, tenant)
    drop_database(url)


def _filters(tenant: UUID, user: str = BIG) -> SearchFilters:
    return SearchFilters(
        tenant=tenant, scopes=(user_scope(user).id(tenant),), mode=ReadMode.DEFAULT, now=NOW, clock=NOW
    )


async def _nearest(store: Store, filters: SearchFilters, vector: HalfVector, *, exact: bool) -> list[UUID]:
    search = Search(
        arms=frozenset({Arm.SEMANTIC}),
        filters=filters,
        depth=POOL,
        model=Model(id=1, dimensions=store.embedder.dimensions),
        exact=exact,
        vector=vector,
    )
    async with store.database.read(filters.tenant, plan_cache_mode="force_generic_plan") as session:
        found = await retrieve(session, search)
    return [memory for memory, _ in found.arms[Arm.SEMANTIC]]


async def _questions(store: Store, count: int) -> list[HalfVector]:
    return [as_halfvec(one) for one in await store.embedder.embed(questions(BIG, count), purpose="query")]


async def _shares(store: Store, filters: SearchFilters, vectors: Sequence[HalfVector]) -> list[float]:
    """Return what share of the truth each search finds; none may owe a row."""
    shares = []
    for vector in vectors:
        truth = await _nearest(store, filters, vector, exact=True)
        near = await _nearest(store, filters, vector, exact=False)
        assert len(near) == len(truth)
        assert len(set(near)) == len(near)
        shares.append(len(set(truth) & set(near)) / len(truth) if truth else 1.0)
    return shares


async def test_the_vector_index_finds_what_all_vectors_say(crowd: Crowd) -> None:
    shares = await _shares(crowd.store, _filters(crowd.tenant), await _questions(crowd.store, 40))
    assert sum(shares) / len(shares) >= 0.95


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_no_filter_costs_rows(crowd: Crowd, case: dict[str, Any]) -> None:
    filters = replace(_filters(crowd.tenant), **case)
    await _shares(crowd.store, filters, await _questions(crowd.store, 10))


async def test_a_small_scope_among_big_ones_comes_whole(crowd: Crowd) -> None:
    [vector] = await _questions(crowd.store, 1)
    found = await _nearest(crowd.store, _filters(crowd.tenant, SMALL), vector, exact=False)
    active = "tenant_id = $1 AND scope_id = $2 AND status = 'active'"
    there = await crowd.store.count(active, crowd.tenant, user_scope(SMALL).id(crowd.tenant))
    assert len(found) == there < POOL


async def test_answers_by_the_index_are_those_by_all_vectors(crowd: Crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = questions(BIG, 20)
    compared = [await crowd.store.ask(crowd.tenant, BIG, question) for question in asked]
    monkeypatch.setattr(semantic, "EXACT_UP_TO", 0)
    indexed = [await crowd.store.ask(crowd.tenant, BIG, question) for question in asked]
    same = sum(len(set(one) & set(other)) for one, other in zip(compared, indexed, strict=True))
    assert same >= 0.95 * sum(map(len, compared))


async def test_an_approximate_search_reads_the_vector_index(crowd: Crowd) -> None:
    used = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'ix_memory_index_model_1'"
    before = await crowd.store.owner.fetchval(used)
    [vector] = await _questions(crowd.store, 1)
    for _ in range(3):
        await _nearest(crowd.store, _filters(crowd.tenant), vector, exact=False)
    # A connection that ends hands in its counts.
    await crowd.store.database.close()
    assert await crowd.store.owner.fetchval(used) >= before + 3
