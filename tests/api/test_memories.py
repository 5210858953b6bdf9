"""Memories over HTTP."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.api.memories.answers import AnyMemory, BatchResultOut, HistoryOut, MemoryPageOut, WriteResultOut
from app.memory.registry import discover
from tests.api.conftest import fact, written


async def test_a_written_memory_comes_back_as_it_was_decided(client: httpx.AsyncClient) -> None:
    answer = await client.post("/memories/typed/fact", json=fact())
    assert answer.status_code == 201
    body = answer.json()
    assert body["decision"] == "added"
    assert body["reason"]
    memory = body["memory"]
    assert memory["id"].startswith("mem_")
    assert (memory["type"], memory["category"], memory["status"]) == ("fact", "semantic", "active")
    assert (memory["predicate"], memory["object"], memory["subject"]) == ("works-at", "Volkswagen", "user")
    assert (memory["scope"], memory["user_id"], memory["agent_id"]) == ("user", "u1", None)
    got = await client.get(f"/memories/{memory['id']}")
    assert got.status_code == 200
    assert got.json()["content"] == memory["content"]


@pytest.mark.parametrize("name", [spec.name for spec in discover()])
async def test_answers_are_what_openapi_says(client: httpx.AsyncClient, name: str) -> None:
    spec = discover().get(name)
    payload = dict(spec.examples[0].payloads[0])
    answer = await client.post(f"/memories/typed/{name}", json={**payload, "user_id": "u1"})
    assert answer.status_code == 201, answer.text
    WriteResultOut.model_validate_json(answer.content)
    memory = answer.json()["memory"]
    AnyMemory.model_validate((await client.get(f"/memories/{memory['id']}")).json())
    MemoryPageOut.model_validate((await client.get("/memories?all=true")).json())
    HistoryOut.model_validate((await client.get(f"/memories/{memory['id']}/history")).json())
    for field in payload:
        assert field in memory


async def test_a_batch_answers_each_item_in_order(client: httpx.AsyncClient) -> None:
    items = [{"type": "fact", **fact(predicate=f"likes-{n}", object=f"thing {n}")} for n in range(20)]
    answer = await client.post("/memories/batch", json={"memories": items})
    assert answer.status_code == 201, answer.text
    BatchResultOut.model_validate_json(answer.content)
    results = answer.json()["results"]
    assert [one["index"] for one in results] == list(range(20))
    assert [one["memory"]["object"] for one in results] == [f"thing {n}" for n in range(20)]


async def test_one_wrong_item_names_itself_and_nothing_is_written(client: httpx.AsyncClient) -> None:
    wrong = {"type": "relation", "from_entity": "A", "relation_type": "eats", "to_entity": "B", "user_id": "u1"}
    answer = await client.post("/memories/batch", json={"memories": [{"type": "fact", **fact()}, wrong]})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "memories.1.relation_type"
    assert (await client.get("/memories?all=true")).json()["memories"] == []


async def test_an_item_that_would_be_too_long_a_sentence_names_itself(client: httpx.AsyncClient) -> None:
    long = {"type": "decision", "subject": "logs", "decision": "keep them " * 1_700, "rationale": "audits " * 2_400}
    answer = await client.post("/memories/batch", json={"memories": [{"type": "fact", **fact()}, long]})
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert error["field"] == "memories.1.decision"
    assert "32000" in error["message"]
    assert (await client.get("/memories?all=true")).json()["memories"] == []


@pytest.mark.parametrize(
    ("kind", "same", "values"),
    [
        ("decision", ({"subject": "???"}, {"subject": "!!"}), ({"decision": "Rust"}, {"decision": "Zig"})),
        ("feature", ({"feature_key": "-"}, {"feature_key": "--"}), ({"content": "Done"}, {"content": "Begun"})),
    ],
)
async def test_what_is_named_by_signs_alone_accumulates(
    client: httpx.AsyncClient, kind: str, same: Any, values: Any
) -> None:
    for name, value in zip(same, values, strict=True):
        answer = await client.post(f"/memories/typed/{kind}", json={**name, **value, "user_id": "u1"})
        assert answer.status_code == 201, answer.text
        assert answer.json()["decision"] == "added"
    assert len((await client.get("/memories?all=true")).json()["memories"]) == 2


async def test_pages_meet_without_gap_or_overlap(client: httpx.AsyncClient) -> None:
    items = [{"type": "fact", **fact(predicate=f"p-{n}", object=str(n), importance=(n % 3) / 4)} for n in range(23)]
    await client.post("/memories/batch", json={"memories": items})
    for sort in (
        "-recorded_at",
        "recorded_at",
        "-importance",
        "importance",
        "-confidence",
        "occurred_at",
        "-occurred_at",
    ):
        seen: list[str] = []
        cursor = None
        while True:
            query: dict[str, Any] = {"limit": 5, "sort": sort, "user_id": "u1"}
            page = (await client.get("/memories", params=query | ({"cursor": cursor} if cursor else {}))).json()
            seen += [one["id"] for one in page["memories"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert len(seen) == len(set(seen)) == 23, sort


async def test_a_cursor_is_good_for_its_own_listing_alone(
    client: httpx.AsyncClient, other_client: httpx.AsyncClient
) -> None:
    for number in range(3):
        await written(client, predicate=f"p-{number}")
    cursor = (await client.get("/memories", params={"all": True, "limit": 1})).json()["next_cursor"]
    for query in (
        {"cursor": cursor, "user_id": "u1"},
        {"cursor": cursor},
        {"cursor": cursor[:-3]},
        {"cursor": "e30"},
        {"cursor": "ä"},
    ):
        answer = await client.get("/memories", params=query)
        assert answer.status_code == 422, query
        assert answer.json()["type"] == "urn:typed-memory:problem:invalid-cursor"
    assert (await other_client.get("/memories", params={"all": True, "cursor": cursor})).status_code == 422


async def test_a_listing_by_user_sees_what_the_user_would(client: httpx.AsyncClient) -> None:
    await written(client, object="global", user_id=None)
    await written(client, object="mine", user_id="u1")
    await written(client, object="hers", user_id="u2")
    await written(client, object="agent", user_id=None, agent_id="a1", scope="agent")

    async def seen(**query: str) -> set[str]:
        page = (await client.get("/memories", params=query)).json()
        return {one["object"] for one in page["memories"]}

    assert await seen() == {"global"}
    assert await seen(all="true") == {"global", "mine", "hers", "agent"}
    assert await seen(user_id="u1") == {"global", "mine"}
    assert await seen(user_id="u1", scope="user") == {"mine"}
    assert await seen(scope="global") == {"global"}
    assert await seen(agent_id="a1") == {"global", "agent"}


async def test_patch_changes_what_it_names_and_nothing_else(client: httpx.AsyncClient) -> None:
    memory = await written(client, topic="work", metadata={"a": 1})
    path = f"/memories/{memory['id']}"
    changed = await client.patch(path, json={"importance": 0.9, "topic": None})
    assert changed.status_code == 200, changed.text
    assert (changed.json()["importance"], changed.json()["topic"]) == (0.9, None)
    assert changed.json()["metadata"] == {"a": 1}
    for body, field in (
        ({}, ""),
        ({"importance": None}, "importance"),
        ({"importance": 2}, "importance"),
        ({"content": "x"}, "content"),
        ({"valid_until": "1999-01-01T00:00:00Z"}, "valid_until"),
        ({"status": "forgotten"}, "status"),
    ):
        answer = await client.patch(path, json=body)
        assert answer.status_code == 422, body
        [fault] = answer.json()["errors"]
        assert fault["field"] == field
        assert not (field and fault["message"].startswith(field)), "the problem's detail names the field already"


async def test_a_deleted_memory_is_gone(client: httpx.AsyncClient) -> None:
    memory = await written(client)
    path = f"/memories/{memory['id']}"
    deleted = await client.delete(path)
    assert (deleted.status_code, deleted.json()["status"]) == (200, "finished")
    for answer in (
        await client.get(path),
        await client.get(f"{path}/history"),
        await client.delete(path),
        await client.patch(path, json={"importance": 1}),
    ):
        assert answer.status_code == 404
        assert answer.json()["type"] == "urn:typed-memory:problem:not-found"


async def test_history_shows_every_version(client: httpx.AsyncClient) -> None:
    first = await written(client, "preference", preference_key="editor.theme", preference_value="dark", user_id="u1")
    second = await client.post(
        "/memories/typed/preference",
        json={"preference_key": "editor.theme", "preference_value": "light", "user_id": "u1"},
    )
    assert second.json()["decision"] == "superseded"
    assert [one["memory_id"] for one in second.json()["affected"]] == [first["id"]]
    history = (await client.get(f"/memories/{first['id']}/history")).json()
    assert [one["preference_value"] for one in history["versions"]] == ["dark", "light"]
    assert history["versions"][0]["superseded_by"] == second.json()["memory"]["id"]
    assert history["events"]


async def test_times_are_read_in_the_callers_zone(client: httpx.AsyncClient) -> None:
    memory = await written(client, occurred_at="2026-05-09T10:00:00", timezone="Asia/Tokyo")
    assert memory["occurred_at"] == "2026-05-09T01:00:00Z"


async def test_an_event_before_standard_time_is_known_again(client: httpx.AsyncClient) -> None:
    """Amsterdam was 19 minutes and 32 seconds ahead of Greenwich then."""
    opening = {"timezone": "Europe/Amsterdam", "event_description": "The tram line opened", "event_at": "1931-04-18"}
    first, again = [await client.post("/memories/typed/event", json={"user_id": "u1", **opening}) for _ in range(2)]
    assert (first.status_code, again.json().get("decision")) == (201, "merged"), again.text
    WriteResultOut.model_validate_json(again.content)
    assert again.json()["memory"]["content"] == "The tram line opened, on 1931-04-18"


async def test_ttl_counts_from_when_it_begins(client: httpx.AsyncClient) -> None:
    memory = await written(client, valid_from="2026-05-09T00:00:00Z", ttl_seconds=3600)
    assert memory["valid_until"] == "2026-05-09T01:00:00Z"


async def test_a_day_ahead_is_a_clock_and_two_are_a_mistake(client: httpx.AsyncClient) -> None:
    present = datetime.now(UTC)
    await written(client, occurred_at=(present + timedelta(hours=20)).isoformat())
    answer = await client.post("/memories/typed/fact", json=fact(occurred_at=(present + timedelta(days=2)).isoformat()))
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"field": "occurred_at", "message": "must not lie in the future"}]


async def test_ids_that_do_not_name_the_scope_are_kept_as_provenance(client: httpx.AsyncClient) -> None:
    memory = await written(client, agent_id="executor", scope="user")
    assert (memory["scope"], memory["agent_id"]) == ("user", None)
    assert memory["provenance"]["agent_id"] == "executor"


async def test_concurrent_writes_of_one_slot_leave_one_active(client: httpx.AsyncClient, app: FastAPI) -> None:
    async def write(value: int) -> int:
        body = {"preference_key": "editor.theme", "preference_value": f"v{value}", "user_id": "u1"}
        return (await client.post("/memories/typed/preference", json=body)).status_code

    statuses = await asyncio.gather(*(write(n) for n in range(10)))
    assert set(statuses) <= {201, 409}
    page = (await client.get("/memories", params={"user_id": "u1", "status": "active"})).json()
    assert len(page["memories"]) == 1


async def test_semantic_memories_that_say_nearly_the_same_of_one_thing_merge(client: httpx.AsyncClient) -> None:
    said = {"content": "User is a Python developer based in Manchester", "entity_id": "user_123"}
    route = "/memories/typed/semantic"
    first = (await client.post(route, json=said)).json()
    again = (await client.post(route, json={**said, "content": said["content"] + "."})).json()
    other = (await client.post(route, json={**said, "entity_id": "user_124"})).json()
    assert [one["decision"] for one in (first, again, other)] == ["added", "merged", "added"]
    assert (first["memory"]["scope"], first["memory"]["subject"]) == ("global", "user_123")
