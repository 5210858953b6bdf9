"""MCP as agents use it: the SDK's own client, over HTTP and over standard input and output, at a real service."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

from tests.commands.program import ROOT, Served, environment, run
from tests.support.waiting import PATIENCE, eventually

TOOLS = {"store_memory", "recall", "get_job", "forget", "review_pending"}


@pytest.fixture(scope="module")
def served(database_url: str) -> Iterator[Served]:
    with Served(TM_DATABASE_URL=database_url, TM_BOOTSTRAP_KEY=KEY) as service:
        yield service


KEY = "tm_key_of_an_agent_that_speaks_mcp_0123456789"


@asynccontextmanager
async def over_http(served: Served, key: str = KEY, mode: str = "auto") -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http,
        Client(streamable_http_client(f"{served.url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(served: Served, key: str = KEY) -> AsyncIterator[Client]:
    settings = environment(TM_URL=served.url, TM_API_KEY=key, PYTHONPATH=str(ROOT))
    program = StdioServerParameters(command=sys.executable, args=["-m", "app.cli", "mcp"], env=settings)
    async with Client(program) as client:
        yield client


TRANSPORTS = pytest.mark.parametrize("connect", [over_http, over_stdio], ids=["http", "stdio"])


async def call(client: Client, name: str, **arguments: object) -> Any:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    return result.structured_content


def said(result: CallToolResult) -> str:
    return "\n".join(getattr(one, "text", "") for one in result.content)


async def ended(client: Client, job: str) -> Any:
    told: dict[str, Any] = {}

    async def over() -> bool:
        told.update(await call(client, "get_job", job_id=job))
        return told["status"] not in {"queued", "running"}

    await eventually(over)
    return told


@TRANSPORTS
async def test_an_agent_stores_recalls_and_forgets(served: Served, connect: Any) -> None:
    user = f"user of {connect.__name__}"
    async with connect(served) as client:
        listed = (await client.list_tools()).tools
        assert {one.name for one in listed} >= TOOLS
        assert "long-term memory" in (client.instructions or "")

        stored = await call(client, "store_memory", content="I work at Volkswagen. The tram was late.", user_id=user)
        job = await ended(client, stored["job_id"])
        assert job["status"] == "succeeded"
        assert job["result"]["turns"][0]["turn_id"] == stored["turn_id"]
        decided = said(await client.call_tool("get_job", {"job_id": stored["job_id"]}))
        for candidate in job["result"]["turns"][0]["candidates"]:
            assert f"- added: {candidate['type']} {candidate['memory_id']}, {candidate['reason']}" in decided

        recalled = await client.call_tool("recall", {"query": "Where do I work?", "user_id": user, "types": ["fact"]})
        assert "Volkswagen" in said(recalled)
        [memory, *_] = [one for one in recalled.structured_content["memories"] if "Volkswagen" in one["content"]]

        forgotten = await client.call_tool("forget", {"memory_id": memory["id"]})
        assert forgotten.structured_content is not None
        kept = forgotten.structured_content["kept"]
        assert f"{memory['id']} is erased. Kept, and may say the same: {', '.join(kept)}." in said(forgotten)
        assert len(kept) == 1, "the episode of the same turn"
        again = await call(client, "recall", query="Where do I work?", user_id=user, types=["fact"])
        assert "Volkswagen" not in json.dumps(again)


async def test_a_model_is_told_what_it_can_use(served: Served) -> None:
    async with over_http(served) as client:
        for tool in (await client.list_tools()).tools:
            for name, field in tool.input_schema["properties"].items():
                assert field.get("description"), f"{tool.name} does not say what {name} is"
        [recall] = [one for one in (await client.list_tools()).tools if one.name == "recall"]
        assert "medication" in recall.input_schema["properties"]["types"]["description"]

        async with httpx.AsyncClient(
            base_url=served.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=PATIENCE
        ) as http:
            key = {"user_id": "brief", "preference_key": "tea", "preference_value": "green"}
            made = (await http.post("/memories/typed/preference", json=key)).json()["memory"]
        told = await call(client, "recall", query="Which tea does the user prefer?", user_id="brief")
        [memory] = [one for one in told["memories"] if one["id"] == made["id"]]
        assert {"type", "content", "preference_value", "status", "confidence", "score"} <= set(memory)
        assert not {"confidence_parts", "evidence", "links", "slot", "access_count", "valid_until"} & set(memory)
        assert len(json.dumps(memory)) < len(json.dumps(made)) / 2


@TRANSPORTS
async def test_errors_name_the_field_and_the_mend(served: Served, connect: Any) -> None:
    async with connect(served) as client:
        missing = await client.call_tool("recall", {"user_id": "ann"})
        assert missing.is_error
        assert "query: is required" in said(missing)
        renamed = await client.call_tool("recall", {"question": "where?", "limit": 3})
        for fault in ("query: is required", "question: is not a field here", "limit: is not a field here"):
            assert fault in said(renamed)
        unknown = await client.call_tool("recall", {"query": "x", "types": ["opinion"], "user_id": "ann"})
        assert unknown.is_error
        assert "preference" in said(unknown)
        nothing = await client.call_tool("forget", {"memory_id": "mem_" + "0" * 32})
        assert nothing.is_error
        assert "no such memory" in said(nothing)
        for tool, given in (("recall", {"query": "x"}), ("store_memory", {"content": "I like jazz a lot."})):
            nobody = await client.call_tool(tool, given)
            assert nobody.is_error
            assert "user_id: is required" in said(nobody)
        odd = await client.call_tool("recall", {"query": "x", "tenant_id": "other"})
        assert odd.is_error
        assert "tenant_id: is not a field here" in said(odd)
        tool = await client.call_tool("rember", {})
        assert tool.is_error
        assert "store_memory" in said(tool)


async def test_a_client_of_the_older_protocol_is_served_too(served: Served) -> None:
    async with over_http(served, mode="legacy") as client:
        assert {one.name for one in (await client.list_tools()).tools} >= TOOLS


@pytest.mark.long
async def test_the_relay_outlives_the_service(database_url: str) -> None:
    settings = {"TM_DATABASE_URL": database_url, "TM_BOOTSTRAP_KEY": KEY}
    with Served(**settings) as first:
        port = first.url.rpartition(":")[2]
        async with over_stdio(first) as client:
            assert not (await client.call_tool("recall", {"query": "where?", "user_id": "somebody"})).is_error
            first.process.kill()
            first.wait()
            async with asyncio.timeout(60):
                gone = await client.call_tool("recall", {"query": "where?", "user_id": "somebody"})
            assert gone.is_error
            assert f"nothing answers at {first.url}" in said(gone)
            with Served(**settings, TM_PORT=port):
                assert not (await client.call_tool("recall", {"query": "where?", "user_id": "somebody"})).is_error


async def test_the_relay_says_why_it_was_refused(served: Served) -> None:
    async with httpx.AsyncClient(
        base_url=served.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=PATIENCE
    ) as http:
        made = (await http.post("/admin/keys", json={"name": "revoked soon", "roles": ["read"]})).json()
        async with over_stdio(served, made["key"]) as client:
            assert not (await client.call_tool("recall", {"query": "where?", "user_id": "somebody"})).is_error
            assert (await http.delete(f"/admin/keys/{made['id']}")).status_code in {200, 204}
            refused = await client.call_tool("recall", {"query": "where?", "user_id": "somebody"})
            assert refused.is_error
            assert "key" in said(refused)
            assert "error response" not in said(refused)


async def test_a_key_that_only_writes_can_store(served: Served) -> None:
    async with httpx.AsyncClient(
        base_url=served.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=PATIENCE
    ) as http:
        writer = (await http.post("/admin/keys", json={"name": "writer", "roles": ["write"]})).json()["key"]
    async with over_http(served, writer) as client:
        assert {one.name for one in (await client.list_tools()).tools} >= TOOLS
        await call(client, "store_memory", content="I work at Volkswagen these days.", user_id="written")
        refused = await client.call_tool("recall", {"query": "where?", "user_id": "somebody"})
        assert refused.is_error
        assert "role 'read'" in said(refused)


async def test_tools_keep_to_the_key(served: Served) -> None:
    async with httpx.AsyncClient(
        base_url=served.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=PATIENCE
    ) as http:
        made = await http.post("/admin/keys", json={"name": "reader", "roles": ["read"]})
    reader = made.json()["key"]
    async with over_http(served, reader) as client:
        refused = await client.call_tool("store_memory", {"content": "I work at Volkswagen.", "user_id": "somebody"})
        assert refused.is_error
        assert "role 'write'" in said(refused)
        assert not (await client.call_tool("recall", {"query": "where?", "user_id": "somebody"})).is_error
        waiting = await client.call_tool("review_pending", {})
        assert waiting.is_error
        assert "role 'review'" in said(waiting)


@TRANSPORTS
async def test_an_agent_sees_what_waits_for_a_person(served: Served, connect: Any) -> None:
    user = f"reviewed user of {connect.__name__}"
    async with httpx.AsyncClient(
        base_url=served.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=PATIENCE
    ) as http:
        for body in (
            {"type": "constraint", "predicate": "cannot use", "rule": "no external APIs"},
            {"type": "fact", "predicate": "uses", "object": "an external API"},
        ):
            made = await http.post("/memories/batch", json={"memories": [{**body, "user_id": user}]})
            assert made.status_code == 201, made.text
        fact = made.json()["results"][0]["memory"]
    async with connect(served) as client:
        told = await client.call_tool("review_pending", {"user_id": user})
        [item] = told.structured_content["items"]
        assert item["id"] == fact["id"].replace("mem_", "rev_")
        assert (item["reason"], item["suggestion"]["action"]) == ("constraint", "keep_both")
        assert [side["memory"]["rule"] for side in item["sides"]] == ["no external APIs"]
        assert item["age_seconds"] >= 0
        for shown in (item["id"], fact["content"], item["note"], item["suggestion"]["reason"]):
            assert shown in said(told)
        nothing = await client.call_tool("review_pending", {"user_id": user, "reason": ["volatile"]})
        assert nothing.structured_content == {"items": [], "next_cursor": None}
        assert "Nothing waits" in said(nothing)


async def test_a_secret_that_waits_for_a_person_does_not_reach_the_agent(served: Served) -> None:
    async with httpx.AsyncClient(
        base_url=served.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=PATIENCE
    ) as http:
        body = {"user_id": "keeper", "content": "The alarm's password is Otter!Quay7, in case you are asked."}
        assert (await http.post("/turns", params={"mode": "sync"}, json=body)).status_code == 200
    async with over_http(served) as client:
        told = await client.call_tool("review_pending", {"user_id": "keeper"})
    assert "The alarm's password is [secret]" in said(told)
    assert "Quay7" not in told.model_dump_json()


@pytest.mark.parametrize("key", [None, "tm_no_such_key_0123456789012345678901234567"])
def test_without_a_good_key_there_is_no_mcp(served: Served, key: str | None) -> None:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    answer = httpx.post(
        f"{served.url}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=headers, timeout=PATIENCE
    )
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_command_says_what_is_wrong() -> None:
    nobody = run("mcp", "--url", "http://127.0.0.1:9", "--key", KEY)
    assert nobody.returncode == 1
    assert "typed-memory serve" in nobody.stderr
    assert "Traceback" not in nobody.stderr


def test_the_command_says_that_no_key_looks_like_this(served: Served) -> None:
    odd = run("mcp", "--url", served.url, "--key", "tm_schl\u00fcssel")
    assert odd.returncode == 1
    assert "TM_API_KEY" in odd.stderr
    assert "Traceback" not in odd.stderr


def test_the_command_says_that_the_key_is_refused(served: Served) -> None:
    refused = run("mcp", "--url", served.url, "--key", "tm_wrong")
    assert refused.returncode == 1
    assert "refuses the key" in refused.stderr


@TRANSPORTS
async def test_the_profile_of_a_user_is_a_resource(served: Served, connect: Any) -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    user = f"jazz/{connect.__name__}"
    async with httpx.AsyncClient(base_url=served.url, headers=headers, timeout=PATIENCE) as http:
        body = {"user_id": user, "preference_key": "music", "preference_value": "jazz"}
        assert (await http.post("/memories/typed/preference", json=body)).status_code == 201
    async with connect(served) as client:
        [template] = (await client.list_resource_templates()).resource_templates
        assert (await client.list_resources()).resources == []
        uri = template.uri_template.replace("{user_id}", user.replace("/", "%2F"))
        [content] = (await client.read_resource(uri)).contents
        assert "jazz" in content.text
        with pytest.raises(MCPError, match="there is no resource"):
            await client.read_resource("memory://nonsense")
