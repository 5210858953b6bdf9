"""The plain calls of the Aegis Memory SDK, with the bodies that it sends and the fields that it reads."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import httpx
import pytest

READ = ("id", "content", "namespace", "created_at", "scope")
"""Fields that the SDK reads of a memory and does without none of."""


async def added(client: httpx.AsyncClient, content: str, **more: Any) -> dict[str, Any]:
    body = {"content": content, "namespace": "default", **more}
    answer = await client.post("/aegis/memories/add", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def read(memory: dict[str, Any]) -> dict[str, Any]:
    assert all(memory[name] is not None for name in READ)
    assert datetime.fromisoformat(memory["created_at"]).tzinfo is not None
    return memory


async def test_a_memory_is_added_found_read_changed_and_deleted(client: httpx.AsyncClient) -> None:
    made = await added(client, "The staging server is rebuilt every night.", user_id="u1", metadata={"n": 1})
    path = f"/aegis/memories/{made['id']}"
    query = {"query": "When is the staging server rebuilt?", "user_id": "u1", "namespace": "default"}
    body = {**query, "top_k": 10, "min_score": 0.0, "apply_decay": False}
    found = (await client.post("/aegis/memories/query", json=body)).json()
    assert [read(one)["id"] for one in found["memories"]] == [made["id"]]
    assert found["memories"][0]["score"] > 0
    none = (await client.post("/aegis/memories/query", json={**body, "min_score": 1e9})).json()
    assert none["memories"] == []
    assert read((await client.get(path)).json())["metadata"] == {"n": 1}
    assert (await client.patch(path, json={"metadata": {"n": 2}})).json()["metadata"] == {"n": 2}
    assert (await client.delete(path)).status_code == 204
    assert (await client.get(path)).status_code == 404


async def test_a_repetition_is_told_and_scopes_are_kept(client: httpx.AsyncClient) -> None:
    first = await added(client, "Deploys are frozen on Fridays.", agent_id="ops", scope="agent-private")
    again = await added(client, "Deploys are frozen on Fridays.", agent_id="ops", scope="agent-private")
    assert (again["id"], again["deduped_from"], first["deduped_from"]) == (first["id"], first["id"], None)
    assert first["inferred_scope"] == "agent-private"
    assert (await added(client, "The wiki moved.", scope="global"))["inferred_scope"] == "global"


async def test_a_batch_has_a_result_each(client: httpx.AsyncClient) -> None:
    items = [{"content": f"Note number {place}.", "user_id": "u1"} for place in range(3)]
    answer = await client.post("/aegis/memories/add_batch", json={"items": items})
    assert len({one["id"] for one in answer.json()["results"]}) == 3


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("POST", "add", {"content": "x", "namespace": "other"}, "namespace"),
        ("POST", "add", {"content": "x", "shared_with_agents": ["a"]}, "shared_with_agents"),
        ("PATCH", "mem_" + "0" * 32, {"content": "something else"}, "content"),
    ],
)
async def test_what_has_no_counterpart_is_refused_by_field(
    client: httpx.AsyncClient, method: str, path: str, body: dict[str, Any], field: str
) -> None:
    answer = await client.request(method, f"/aegis/memories/{path}", json=body)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)


async def test_another_tenants_memory_is_not_there(client: httpx.AsyncClient, other_client: httpx.AsyncClient) -> None:
    made = await added(client, "The staging server is rebuilt every night.", user_id="u1")
    for method in ("GET", "DELETE"):
        assert (await other_client.request(method, f"/aegis/memories/{made['id']}")).status_code == 404
