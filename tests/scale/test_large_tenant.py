"""A large tenant among many small ones: what is read for one of its users does not grow with the tenant."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast
from uuid import UUID

import pytest

from app.model import Visibility
from app.read.values import Hit, QueryRequest
from bench.grammar import NOW, Grammar
from tests.scale.stores import Store, actor_of, questions, rows_read, user_scope

pytestmark = pytest.mark.long

USERS, EACH = 80, 50
SMALL, FEW = 250, 4
"""Most tenants are small, so that a plan for an average one expects a handful of rows."""

MINE = "alice"
ROUNDS = 8
"""Questions and writes that are counted, each as much as a connection's first."""

ROWS = 500
"""The most rows that one may read: an eighth of what the tenant has."""

WAYS: dict[str, dict[str, Any]] = {
    "now": {},
    "of types": {"types": ("fact", "preference", "event")},
    "as of": {"as_of": NOW - timedelta(days=90)},
    "known at": {"known_at": NOW},
    "with metadata": {"metadata": {"project": "any"}},
}


@pytest.fixture
async def crowded(big: Store) -> Store:
    mine = await big.new_tenant()
    small = [(await big.new_tenant(), "u", FEW) for _ in range(SMALL)]
    await big.fill((mine, MINE, EACH), *((mine, f"user {n}", EACH) for n in range(USERS)), *small)
    return big


async def tenant_of(store: Store) -> UUID:
    return cast("UUID", await store.owner.fetchval("SELECT tenant_id FROM scopes WHERE user_id = $1", MINE))


async def test_a_question_reads_as_much_as_its_user_has(crowded: Store, fresh_database_url: str) -> None:
    tenant = await tenant_of(crowded)
    for way, asked in WAYS.items():
        found: list[Hit] = []

        async def ask(fresh: Store, asked: dict[str, Any] = asked, found: list[Hit] = found) -> None:
            for question in questions(MINE, ROUNDS):
                request = QueryRequest(query=question, now=NOW, visibility=Visibility(user_id=MINE), **asked)
                found.extend((await fresh.reads.answer(tenant, request)).result.hits)

        assert await rows_read(fresh_database_url, crowded, ask) < ROUNDS * ROWS, way
        assert bool(found) == (way != "with metadata"), way


async def test_a_write_reads_as_much_as_its_user_has(crowded: Store, fresh_database_url: str) -> None:
    tenant = await tenant_of(crowded)
    drafts = list(Grammar("what is new").drafts(ROUNDS))

    async def write(fresh: Store) -> None:
        for draft in drafts:
            candidates = list(fresh.filler.candidates(draft, user_scope(MINE)))
            await fresh.writes.write(actor_of(tenant), candidates)

    assert await rows_read(fresh_database_url, crowded, write) < ROUNDS * ROWS


async def test_it_would_notice_a_walk_through_the_tenant(crowded: Store, fresh_database_url: str) -> None:
    tenant = await tenant_of(crowded)

    async def walk(fresh: Store) -> None:
        for _ in range(ROUNDS):
            await fresh.owner.fetch("SELECT sum(words) FROM memory_index WHERE tenant_id = $1", tenant)

    assert await rows_read(fresh_database_url, crowded, walk) > 2 * ROUNDS * ROWS
