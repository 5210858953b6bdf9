"""Seed 003 over HTTP: the memory unit's fields, importance apart from confidence, topics, and the two ways to write."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.conftest import written

BANDS = [
    (0.9, "User is allergic to peanuts \u2014 stated directly and emphasized"),
    (0.6, "User mentioned they work at a fintech startup"),
    (0.3, "User said they were tired last Tuesday"),
    (0.1, "User said 'sounds good' after receiving a code suggestion"),
]
"""The table of importance: one example a band, from 0.8, 0.5, 0.2 and under."""


async def listed(client: httpx.AsyncClient, **params: Any) -> list[dict[str, Any]]:
    answer = await client.get("/memories", params={"user_id": "u1", **params})
    assert answer.status_code == 200, answer.text
    memories: list[dict[str, Any]] = answer.json()["memories"]
    return memories


async def asked(client: httpx.AsyncClient, query: str, **more: Any) -> list[str]:
    answer = await client.post("/query", json={"query": query, "user_id": "u1", **more})
    assert answer.status_code == 200, answer.text
    return [one["memory"]["id"] for one in answer.json()["memories"]]


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("preference", {"preference_key": "backend.language", "preference_value": "Python"}),
        ("fact", {"predicate": "works-at", "object": "Acme Corp"}),
        ("decision", {"subject": "project-alpha", "decision": "PostgreSQL"}),
        ("procedure", {"content": "Run the linter, then the tests", "steps": ["lint", "test"]}),
    ],
)
async def test_a_unit_has_every_field_of_the_schema(
    client: httpx.AsyncClient, kind: str, fields: dict[str, Any]
) -> None:
    unit = await written(
        client,
        kind,
        **fields,
        user_id="u1",
        scope="user",
        topic="tech",
        importance=0.7,
        session_id="session-6",
    )
    assert unit["type"] == ("procedural" if kind == "procedure" else kind)
    assert unit["content"]
    assert (unit["user_id"], unit["topic"], unit["importance"]) == ("u1", "tech", 0.7)
    assert unit["session_id"] == "session-6", "the session that it came from"
    assert 0 < unit["confidence"] <= 1
    assert (unit["last_accessed_at"], unit["access_count"], unit["superseded_by"]) == (None, 0, None)
    assert (unit["valid_until"], unit["freshness"]) == (None, pytest.approx(1, abs=0.01))
    assert unit["recorded_at"]


async def test_importance_is_stored_sorted_and_filtered_by_the_bands(client: httpx.AsyncClient) -> None:
    for place in (2, 0, 3, 1):
        importance, text = BANDS[place]
        await written(client, "standard", content=text, importance=importance, scope="user", user_id="u1")
    by_importance = [text for _, text in BANDS]
    assert [one["content"] for one in await listed(client, sort="-importance")] == by_importance
    assert [one["content"] for one in await listed(client, sort="importance")] == by_importance[::-1]
    for least, count in ((0.8, 1), (0.5, 2), (0.2, 3), (0, 4)):
        found = await listed(client, min_importance=least, sort="-importance")
        assert [one["content"] for one in found] == by_importance[:count]


async def test_a_band_begins_with_its_lower_end(client: httpx.AsyncClient) -> None:
    memory = await written(client, importance=0.8)
    assert [one["id"] for one in await listed(client, min_importance=0.8)] == [memory["id"]]
    assert await listed(client, min_importance=0.81) == []
    trusted = memory["confidence"]
    assert [one["id"] for one in await listed(client, min_confidence=trusted - 0.01)] == [memory["id"]]
    assert await listed(client, min_confidence=trusted + 0.01) == []


async def test_importance_and_confidence_are_two_things(client: httpx.AsyncClient) -> None:
    considering: dict[str, Any] = {"predicate": "considers", "object": "switching to Rust", "extractor_confidence": 0.5}
    sure = await written(client, predicate="considers", object="a new keyboard", importance=0.2, stateful=False)
    unsure = await written(client, **considering, importance=0.7, stateful=False)
    assert unsure["importance"] > sure["importance"]
    assert unsure["confidence"] < sure["confidence"]


async def test_a_topic_scopes_retrieval(client: httpx.AsyncClient) -> None:
    tech = await written(client, "standard", content="Prefers small releases", topic="tech", scope="user", user_id="u1")
    work = await written(client, "standard", content="Prefers small meetings", topic="work", scope="user", user_id="u1")
    assert set(await asked(client, "what is preferred small?")) == {tech["id"], work["id"]}
    assert await asked(client, "what is preferred small?", topic="tech") == [tech["id"]]
    assert [one["id"] for one in await listed(client, topic="work")] == [work["id"]]
    answer = await client.post("/memories/query", json={"query": "prefers small", "user_id": "u1", "topic": "work"})
    assert [one.get("memory", one)["id"] for one in answer.json()["memories"]] == [work["id"]]


@pytest.mark.parametrize("act", ["hypothetical", "roleplay"])
async def test_what_was_never_claimed_is_kept_unsure_and_out_of_answers(client: httpx.AsyncClient, act: str) -> None:
    doctor = await written(client, predicate="has-profession", object="doctor", speech_act=act, importance=0.8)
    assert doctor["confidence"] <= 0.3
    assert await asked(client, "Is the user a doctor?") == []
    assert await asked(client, "Is the user a doctor?", min_confidence=0.4, mode="default") == []
    assert await asked(client, "Is the user a doctor?", mode="audit") == [doctor["id"]]


async def test_a_direct_store_answers_with_the_memory_and_a_turn_with_a_job(client: httpx.AsyncClient) -> None:
    direct = await client.post("/memories/typed/fact", json={"predicate": "uses", "object": "pytest", "user_id": "u1"})
    assert (direct.status_code, direct.json()["decision"]) == (201, "added")
    queued = await client.post("/turns", json={"content": "I always use dark mode.", "user_id": "u1"})
    assert queued.status_code == 202, queued.text
    assert queued.json()["job_id"].startswith("job_")
    assert [one["object"] for one in await listed(client, type="fact")][:1] == ["pytest"]
