"""`GET /admin/stats`: the same as counting by hand, large stores by the worker's count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import asyncpg
import httpx
import pytest

from app import ids
from app.features.lifecycle import stats
from app.features.lifecycle.runner import RunProgress, Workers
from app.memory.freshness import Decay, since_last_use
from app.runtime import Runtime
from tests.api.conftest import fact, written
from tests.support.waiting import ended_job


async def told(_done: int, _total: int | None) -> None:
    """Take no notice."""


async def filled(client: httpx.AsyncClient) -> UUID:
    await written(client)
    await written(client, object="Rivian")
    await written(client, predicate="allergic-to", object="peanuts", category="core")
    await written(client, "semantic", content="Berlin has many lakes", entity_id="Berlin")
    await written(client, "episodic", content="hello there, what a day", session_id="s", agent_id="a")
    doubtful = fact(predicate="likes", object="tea", speech_act="hypothetical")
    assert (await client.post("/memories/typed/fact", json=doubtful)).status_code == 201
    memory = await written(client, "event", event_description="Ana moved to Lisbon", user_id="u2")
    assert (await client.patch(f"/memories/{memory['id']}", json={"needs_review": True})).status_code == 200
    for content in ("I work at Volkswagen and I prefer tea.", "thanks", "ok"):
        answer = await client.post("/turns?mode=sync", json={"content": content, "user_id": "u3"})
        assert answer.status_code == 200, answer.text
    keys = (await client.get("/admin/keys")).json()["keys"]
    return ids.parse(ids.KEY, keys[0]["id"])


async def recounted(url: str, key: UUID) -> dict[str, Any]:
    """Count by hand: every row, in Python."""
    connection = await asyncpg.connect(url)
    try:
        tenant = await connection.fetchval("SELECT tenant_id FROM api_keys WHERE id = $1", key)
        memories = await connection.fetch(
            "SELECT m.*, s.kind, u.access_count, u.last_accessed_at FROM memories m"
            " JOIN scopes s ON (s.tenant_id, s.id) = (m.tenant_id, m.scope_id)"
            " JOIN memory_usage u ON (u.tenant_id, u.memory_id) = (m.tenant_id, m.id) WHERE m.tenant_id = $1",
            tenant,
        )
        turns = await connection.fetch("SELECT status, reason FROM turns WHERE tenant_id = $1", tenant)
        entities = await connection.fetch("SELECT entity_type FROM entities WHERE tenant_id = $1", tenant)
    finally:
        await connection.close()
    active = [one for one in memories if one["status"] == "active"]
    return {
        "tenant": tenant,
        "total": len(memories),
        "by_status": Counter(one["status"] for one in memories),
        "by_type": Counter(one["type"] for one in active),
        "by_category": Counter(one["category"] for one in active),
        "by_scope": Counter(one["kind"] for one in active),
        "confidence": [one["confidence"] for one in active],
        "freshness": [fresh(one) for one in active],
        "entities": Counter(one["entity_type"] for one in entities),
        "turns": Counter(one["status"] for one in turns),
        "skipped": Counter(one["reason"] for one in turns if one["status"] == "skipped"),
    }


def fresh(row: Mapping[str, Any]) -> float:
    return since_last_use(
        stated_at=row["stated_at"],
        last_accessed_at=row["last_accessed_at"],
        access_count=row["access_count"],
        decay=Decay(half_life_days=row["half_life_days"], floor=row["floor"]),
        now=datetime.now(UTC),
    )


def in_bands(values: list[float], bands: list[dict[str, Any]]) -> list[int]:
    return [
        sum(one["least"] <= value and (one["under"] is None or value < one["under"]) for value in values)
        for one in bands
    ]


def assert_counted(memories: dict[str, Any], by_hand: dict[str, Any]) -> None:
    for name in ("total", "by_status", "by_type", "by_category", "by_scope", "entities"):
        assert memories[name] == by_hand[name], name
    for name in ("confidence", "freshness"):
        assert [one["count"] for one in memories[name]] == in_bands(by_hand[name], memories[name]), name
    assert sum(one["count"] for one in memories["confidence"]) == by_hand["by_status"]["active"]


async def test_they_are_what_one_would_count(client: httpx.AsyncClient, database_url: str) -> None:
    key = await filled(client)
    answer = await client.get("/admin/stats")
    assert answer.status_code == 200, answer.text
    told = answer.json()
    by_hand = await recounted(database_url, key)
    assert by_hand["by_status"]["superseded"] == 1
    assert_counted(told["memories"], by_hand)
    assert told["turns"]["days"] is None
    assert told["turns"]["by_status"] == by_hand["turns"]
    assert told["turns"]["skipped_by_reason"] == by_hand["skipped"]
    assert told["reviews"] == {
        "total": 1,
        "by_reason": {"asked": {"under a day": 1, "a day to a week": 0, "a week to a month": 0, "over a month": 0}},
    }
    assert told["jobs"]["queued"] + told["jobs"]["running"] >= 0
    assert told["costs"] == "/admin/costs"


async def test_a_large_store_tells_what_the_worker_counted(
    client: httpx.AsyncClient, runtime: Runtime, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stats, "LIVE", 2)
    key = await filled(client)
    before = (await client.get("/admin/stats")).json()
    assert before["memories"] is None
    assert before["turns"]["days"] == 30
    by_hand = await recounted(database_url, key)
    worker = runtime.service(Workers).named("drift")
    await worker.run(
        runtime.service(Workers).context,
        by_hand["tenant"],
        dry_run=False,
        progress=RunProgress(run=ids.new(), report=told),
    )
    after = (await client.get("/admin/stats")).json()
    assert_counted(after["memories"], by_hand)
    assert after["memories"]["computed_at"] is not None
    await written(client, predicate="likes", object="coffee")
    assert_counted((await client.get("/admin/stats")).json()["memories"], by_hand)


async def test_an_empty_store_has_stats(client: httpx.AsyncClient) -> None:
    told = (await client.get("/admin/stats")).json()
    assert told["memories"]["total"] == 0
    assert told["reviews"] == {"total": 0, "by_reason": {}}


@pytest.mark.parametrize("name", ["consolidation", "drift"])
async def test_the_workers_run_when_asked(client: httpx.AsyncClient, name: str) -> None:
    await written(client)
    started = await client.post(f"/admin/workers/{name}/run")
    assert started.status_code == 202, started.text
    told = await ended_job(client, started.json()["job"]["id"])
    assert told["status"] == "succeeded", told
    assert (
        told["result"]["counts"]
        == {
            "consolidation": {"groups": 0, "folded": 0},
            "drift": {"days": 35, "volatile_slots": 0, "marked": 0, "settled": 0},
        }[name]
    )
