"""What `/mcp` answers before it speaks MCP: a problem like any other route's, and no stream that never ends."""

from __future__ import annotations

import httpx
import pytest

ACCEPT = {"Accept": "application/json, text/event-stream"}


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
