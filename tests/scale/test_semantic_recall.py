"""The vector index is true to all vectors, and owes no rows under any filter."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from app.model import Mode
from app.read.pipeline import as_halfvec
from app.read.retrieve import Filters, Model, Search, retrieve, semantic
from app.read.values import Arm
from bench.fill import without_vector_index
from bench.grammar import NOW
from tests.scale.stores import Store, questions, user_scope

POOL = 50
BIG, SMALL = "erin", "frank"
COUNT = 12_000
SMALL_COUNT = 40

CASES: dict[str, dict[str, object]] = {
    "nothing": {},
    "one type": {"types": ("relation",)},
    "two types": {"types": ("event", "preference")},
    "history too": {"mode": Mode.HISTORICAL},
    "every status": {"mode": Mode.AUDIT},
    "a rare topic": {"topic": "politics"},
    "a type and a rare topic": {"types": ("preference",), "topic": "politics"},
    "a confidence that few have": {"min_confidence": 0.745},
    "a confidence that none has": {"min_confidence": 0.99},
    "a type that none is of": {"types": ("entity",)},
}


async def _filled(store: Store) -> tuple[UUID, UUID]:
    """Return two tenants: one with a big and a small scope, and a neighbour."""
    tenant, neighbour = await store.new_tenant(), await store.new_tenant()
    async with without_vector_index(store.owner, store.embedder.dimensions):
        await store.fill(tenant, {BIG: COUNT, SMALL: SMALL_COUNT})
        await store.fill(neighbour, {BIG: 3_000})
    return tenant, neighbour


def _filters(tenant: UUID, user: str = BIG) -> Filters:
    return Filters(tenant=tenant, scopes=(user_scope(user).id(tenant),), mode=Mode.DEFAULT, now=NOW, clock=NOW)


async def _nearest(store: Store, filters: Filters, vector: str, *, exact: bool) -> list[UUID]:
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


async def test_the_vector_index_finds_what_all_vectors_say(big: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    tenant, _ = await _filled(big)
    vectors = [as_halfvec(one) for one in await big.embedder.embed(questions(BIG, 40), purpose="query")]

    recalled: dict[str, float] = {}
    for name, case in {**CASES, "a small scope": {"scopes": (user_scope(SMALL).id(tenant),)}}.items():
        filters = replace(_filters(tenant), **case)  # type: ignore[arg-type]
        shares = []
        for vector in vectors if name == "nothing" else vectors[:12]:
            truth = await _nearest(big, filters, vector, exact=True)
            near = await _nearest(big, filters, vector, exact=False)
            assert len(near) == len(truth), f"short under the filter: {name}"
            assert len(set(near)) == len(near)
            shares.append(len(set(truth) & set(near)) / len(truth) if truth else 1.0)
        recalled[name] = sum(shares) / len(shares)
    assert recalled["nothing"] >= 0.95, recalled

    # A small scope is all there is to find, and comes whole.
    small = await _nearest(big, _filters(tenant, SMALL), vectors[0], exact=False)
    active = "tenant_id = $1 AND scope_id = $2 AND status = 'active'"
    assert len(small) == await big.count(active, tenant, user_scope(SMALL).id(tenant)) < POOL

    # The whole pipeline, made to go by the index, agrees with itself comparing all vectors.
    asked = questions(BIG, 20)
    compared = [await big.ask(tenant, BIG, question) for question in asked]
    monkeypatch.setattr(semantic, "EXACT_UP_TO", 0)
    indexed = [await big.ask(tenant, BIG, question) for question in asked]
    same = sum(len(set(one) & set(other)) for one, other in zip(compared, indexed, strict=True))
    assert same >= 0.95 * sum(map(len, compared))


async def test_the_index_is_what_an_approximate_search_reads(big: Store) -> None:
    tenant, _ = await _filled(big)
    await big.owner.execute("SELECT pg_stat_reset()")
    [vector] = [as_halfvec(one) for one in await big.embedder.embed(["a question"], purpose="query")]
    await _nearest(big, _filters(tenant), vector, exact=False)
    await big.database.close()
    used = await big.owner.fetchval(
        "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'ix_memory_index_model_1'"
    )
    assert used > 0
