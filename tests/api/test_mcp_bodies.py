"""`/mcp` without the SDK's client: its bodies, the roles of its tools, and what they make of their arguments."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from app.features.mcp.tools import RESOURCE_ROLE, TOOLS
from app.main import create_app
from app.settings import Settings
from tests.api.conftest import MakeClient, Tenant, connected, written
from tests.api.routes import mounted

ACCEPT = {"Accept": "application/json, text/event-stream"}


ROUTES = {
    "store_memory": "POST /turns",
    "recall": "POST /query",
    "get_job": "GET /jobs/{job_id}",
    "forget": "DELETE /memories/{memory_id}",
    "review_pending": "GET /admin/review",
}
"""The route that does the same as a tool."""


def test_a_tool_takes_the_role_of_the_route_that_does_the_same() -> None:
    roles = {str(one): one.role for one in mounted(create_app(Settings()))}
    assert {one.name: one.role for one in TOOLS} == {tool: roles[route] for tool, route in ROUTES.items()}
    assert roles["GET /users/{user_id:path}/profile"] == RESOURCE_ROLE


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_there_is_no_stream_to_wait_on(client: httpx.AsyncClient, method: str) -> None:
    answer = await client.request(method, "/mcp", headers=ACCEPT)
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "POST"


@pytest.mark.parametrize(
    ("content", "kind", "status"), [(b" " * 9_000_000, "application/json", 413), (b"{}", "text/plain", 415)]
)
async def test_a_wrong_body_is_a_problem_like_any_other(
    client: httpx.AsyncClient, content: bytes, kind: str, status: int
) -> None:
    answer = await client.post("/mcp", content=content, headers={**ACCEPT, "Content-Type": kind})
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/problem+json"


async def test_what_is_asked_of_the_tools_is_counted_as_theirs(client: httpx.AsyncClient) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = await client.post("/mcp", json=body, headers=ACCEPT)
    assert answer.status_code == 200, answer.text
    assert 'route="/mcp"' in (await client.get("/metrics")).text


async def call(client: httpx.AsyncClient, tool: str, **arguments: object) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    answer = await client.post("/mcp", json=body, headers=ACCEPT)
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


async def test_calls_that_name_nobody_are_of_the_configured_user(make_client: MakeClient) -> None:
    async with make_client(mcp_default_user="desk owner") as client:
        for given, user, agent in (
            ({}, "desk owner", None),
            ({"user_id": "zoe"}, "zoe", None),
            ({"agent_id": "planner"}, "desk owner", None),
        ):
            stored = await call(client, "store_memory", content="I play the bassoon in an orchestra.", **given)
            turn = (await client.get(f"/turns/{stored['structuredContent']['turn_id']}")).json()
            assert (turn["user_id"], turn["agent_id"]) == (user, agent)


async def test_calls_that_name_nobody_are_refused_without_one(client: httpx.AsyncClient) -> None:
    for tool, arguments in (("store_memory", {"content": "I play the oboe."}), ("recall", {"query": "Do I play?"})):
        answer = await call(client, tool, **arguments)
        assert answer["isError"]
        assert "user_id: is required" in answer["content"][0]["text"]
    assert (await client.get("/turns?all=true")).json()["turns"] == []


async def test_a_key_of_an_agent_has_no_default_user(make_client: MakeClient) -> None:
    async with make_client(mcp_default_user="desk owner") as client:
        await written(client, user_id="desk owner", object="Porsche")
        made = await client.post("/admin/keys", json={"name": "k", "roles": ["read", "write"], "agent_id": "planner"})
        client.headers["Authorization"] = f"Bearer {made.json()['key']}"
        found = await call(client, "recall", query="Porsche")
        assert found["structuredContent"]["memories"] == []
        stored = await call(client, "store_memory", content="Deploys are frozen on Fridays.")
        turn = (await client.get(f"/turns/{stored['structuredContent']['turn_id']}")).json()
        assert (turn["user_id"], turn["agent_id"]) == (None, "planner")


async def test_the_profile_of_another_user_is_closed_to_a_bound_key(tenant: Tenant) -> None:
    await written(tenant.client, user_id="ana", object="Porsche")
    async with connected(tenant.app, await tenant.key("read", user_id="ana")) as own:
        params = {"uri": "memory://users/ana/profile"}
        body = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params}
        shown = (await own.post("/mcp", json=body, headers=ACCEPT)).json()
        assert "Porsche" in shown["result"]["contents"][0]["text"]
        body["params"] = {"uri": "memory://users/ben/profile"}
        refused = (await own.post("/mcp", json=body, headers=ACCEPT)).json()
        assert "bound" in refused["error"]["message"]


async def test_recall_filters_by_metadata_and_tags(client: httpx.AsyncClient) -> None:
    await written(client, object="Porsche", metadata={"project": "atlas", "tags": ["work"]})
    for filters, found in (({"tags": ["work"]}, 1), ({"metadata": {"project": "zeus"}}, 0), ({}, 1)):
        answer = await call(client, "recall", query="Porsche", user_id="u1", **filters)
        assert len(answer["structuredContent"]["memories"]) == found


async def test_tags_given_twice_are_refused_by_recall(client: httpx.AsyncClient) -> None:
    answer = await call(client, "recall", query="Porsche", user_id="u1", tags=["work"], metadata={"tags": ["home"]})
    assert answer["isError"]
    assert "tags" in answer["content"][0]["text"]
    assert "went wrong" not in answer["content"][0]["text"]
