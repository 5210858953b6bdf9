"""The migration that keeps words, times and labels of large scopes alone, on memories from before, and taken back."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx

from app.db.migrate import downgrade, upgrade
from tests.api.conftest import connected, running, settings_for, written
from tests.support import owner

ROWS = """
    SELECT s.user_id, s.indexed AS large, bool_and(i.indexed) AS inside, count(*) AS rows,
        (SELECT count(*) FROM memory_labels l WHERE l.scope_id = s.id) AS labels
    FROM scopes s JOIN memory_index i ON i.scope_id = s.id GROUP BY s.id, s.user_id, s.indexed ORDER BY s.user_id
"""

LABELS = "SELECT count(*) FROM memory_labels"


async def say(client: httpx.AsyncClient, user: str, value: str) -> None:
    stated: dict[str, Any] = {"predicate": "plays", "object": value, "stateful": False}
    await written(client, **stated, user_id=user, metadata={"project": "atlas"})


async def found(client: httpx.AsyncClient, user: str) -> list[str]:
    body = {"query": "What does the user play?", "user_id": user, "metadata": {"project": "atlas"}}
    answer = await client.post("/query", json=body)
    assert answer.status_code == 200, answer.text
    return sorted(hit["memory"]["content"].rstrip(".").split()[-1] for hit in answer.json()["memories"])


async def test_what_was_there_stays_indexed_and_new_scopes_begin_small(fresh_database_url: str) -> None:
    settings = settings_for(fresh_database_url)
    async with running(settings) as app, connected(app) as client:
        await say(client, "ana", "cello")
    [row] = await owner.ask(fresh_database_url, ROWS)
    assert (row["large"], row["inside"], row["labels"]) == (False, False, 0)
    await asyncio.to_thread(downgrade, fresh_database_url, "0026")
    assert [tuple(one) for one in await owner.ask(fresh_database_url, LABELS)] == [(1,)]
    await asyncio.to_thread(upgrade, fresh_database_url)
    async with running(settings) as app, connected(app) as client:
        assert await found(client, "ana") == ["cello"]
        await say(client, "ana", "flute")
        await say(client, "ben", "harp")
        assert await found(client, "ana") == ["cello", "flute"]
        assert await found(client, "ben") == ["harp"]
    rows = [tuple(one) for one in await owner.ask(fresh_database_url, ROWS)]
    assert rows == [("ana", True, True, 2, 2), ("ben", False, False, 1, 0)]
