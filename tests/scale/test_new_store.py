"""A store that is asked as soon as it is filled, before Postgres has statistics of its tables."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from app.model import Visibility
from app.read.values import Hit, QueryRequest
from bench.grammar import NOW, Grammar
from tests.scale.stores import Store, actor_of, questions, rows_read, user_scope

pytestmark = pytest.mark.long

USER, MEMORIES = "alice", 600
ROUNDS = 5
TIMES = 15
"""How often a question may read each row: the exact arms and the counts of its words read all that is visible. Joins
planned without statistics read all rows for each that was found: 112 times before rows were looked up one by one."""

BATCHES, BATCH = 6, 100
ROWS = 600
"""How many memories a new one may read. While an index of the whole tenant served every look-up it was 1,700."""


@pytest.fixture
async def tenant(big: Store) -> UUID:
    mine = await big.new_tenant()
    await big.fill((mine, USER, MEMORIES))
    await big.owner.execute("DELETE FROM pg_statistic")
    return mine


@pytest.mark.parametrize("asked", [{}, {"known_at": NOW}], ids=["now", "known at"])
async def test_a_question_reads_no_row_for_each_other(
    big: Store, tenant: UUID, fresh_database_url: str, asked: dict[str, Any]
) -> None:
    found: list[Hit] = []

    async def ask(fresh: Store) -> None:
        for question in questions(USER, ROUNDS):
            request = QueryRequest(query=question, now=NOW, visibility=Visibility(user_id=USER), **asked)
            found.extend((await fresh.reads.answer(tenant, request)).result.hits)

    assert await rows_read(fresh_database_url, big, ask) < ROUNDS * TIMES * MEMORIES
    assert found


async def test_a_first_import_does_not_read_all_memories_for_each(big: Store, fresh_database_url: str) -> None:
    """Its statements are planned while the tables are empty, and the plans stay while they fill."""
    mine = await big.new_tenant()
    drafts = list(Grammar("what is new").drafts(BATCHES * BATCH))

    async def write(fresh: Store) -> None:
        for start in range(0, len(drafts), BATCH):
            batch = drafts[start : start + BATCH]
            candidates = [one for draft in batch for one in fresh.filler.candidates(draft, user_scope(USER))]
            await fresh.writes.write(actor_of(mine), candidates)

    read = await rows_read(fresh_database_url, big, write, table="memories")
    written = await big.count("tenant_id = $1", mine)
    assert written > BATCHES * BATCH / 2
    assert read < written * ROWS
