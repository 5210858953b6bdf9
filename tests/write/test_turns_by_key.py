"""Turns that end are looked up by their keys, however many turns their tenant has."""

from __future__ import annotations

import json

import pytest

from app.db import turns
from app.db.session import PLANNED_BY_KEY
from app.providers.wordllama import WordllamaEmbedder
from tests.read.conftest import NOW
from tests.support.plans import explained, searches
from tests.support.stores import USER, open_store

TURNS = 3_000


@pytest.mark.one_server
async def test_turns_that_end_are_looked_up_by_key_in_a_store_of_one_tenant(
    fresh_database_url: str, embedder: WordllamaEmbedder
) -> None:
    store = await open_store(fresh_database_url, embedder)
    await store.write_all([store.candidate("fact", subject="user", predicate="lives-in", object="Ghent")])
    rows = await store.sql(
        """
        INSERT INTO turns (tenant_id, id, scope_id, session_id, role, content, timezone, occurred_at, status)
        SELECT $1, gen_random_uuid(), $2, 's', 'user', 'Hello there.', 'UTC', $3, 'processed'
        FROM generate_series(1, $4) RETURNING id
        """,
        store.tenant,
        USER.id(store.tenant),
        NOW,
        TURNS,
    )
    await store.sql("ANALYZE")
    given: list[dict[str, object]] = [{"id": str(rows[0]["id"]), "status": "processed", "reason": None, "report": {}}]
    values = {"tenant": store.tenant, "given": json.dumps(given), "now": NOW.isoformat()}
    async with store.database.write(store.tenant, **PLANNED_BY_KEY) as session:
        [found] = await explained(session, turns._FINISH, values, "FORMAT JSON")
    await store.database.close()
    looked = [by for table, by in searches(found[0]["Plan"]) if table == "turns"]
    assert len(looked) == 2
    assert all("(id = " in by for by in looked), looked
