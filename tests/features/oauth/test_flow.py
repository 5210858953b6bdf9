"""The whole way of a client: the SDK's, over HTTP, with a user in a browser."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.api.conftest import Tenant
from tests.features.oauth.conftest import Browser, Flow, Service, Storage, agent, sdk

FLOW = [
    "POST /mcp 401",
    "GET /.well-known/oauth-protected-resource/mcp 200",
    "GET /.well-known/oauth-authorization-server 200",
    "POST /oauth/register 201",
    "POST /oauth/token 200",
    "POST /mcp 200",
]
"""What the SDK's client asks until it is let in, as recorded; before the token a user agrees in a browser."""


async def test_the_sdks_client_finds_registers_connects_and_uses_the_tools(
    service: Service, tenant: Tenant, flow: Flow
) -> None:
    browser, storage = Browser(credential=await tenant.key("read", "write"), user_id="ana"), Storage()
    record: list[str] = []
    async with agent(service, sdk(service, browser, storage), record) as client:
        tools = (await client.list_tools()).tools
        stored = await client.call_tool("store_memory", {"content": "My favourite editor theme is dark."})
        assert not stored.is_error, stored.content
        found = await client.call_tool("recall", {"query": "Which editor theme?"})
        assert not found.is_error, found.content
        profile = (await client.list_resources()).resources
    assert [one.uri for one in profile] == ["memory://users/ana/profile"]
    assert all("user_id" not in one.input_schema["properties"] for one in tools)
    turn = (await tenant.client.get(f"/turns/{stored.structured_content['turn_id']}")).json()
    assert turn["user_id"] == "ana"
    [asked] = browser.visited
    parameters = {name: value[0] for name, value in parse_qs(urlsplit(asked).query).items()}
    assert parameters["resource"] == service.mcp
    assert parameters["code_challenge_method"] == "S256"
    assert parameters["scope"] == "read write"
    assert browser.back["iss"] == service.url
    assert storage.tokens is not None
    assert storage.tokens.expires_in == 3600
    assert storage.tokens.scope == "read write"
    assert record[: len(FLOW)] == FLOW
    assert {one.rpartition(" ")[0] for one in record[len(FLOW) :]} <= {"POST /mcp", "GET /mcp", "DELETE /mcp"}


async def test_the_sdks_client_renews_its_tokens_and_starts_anew_once_they_are_revoked(
    service: Service, tenant: Tenant
) -> None:
    browser, storage = Browser(credential=await tenant.key("read", "write"), user_id="ana"), Storage()
    auth = sdk(service, browser, storage)
    async with agent(service, auth) as client:
        await client.list_tools()
        first = storage.tokens
        auth.context.token_expiry_time = 1.0
        await client.list_tools()
        renewed = storage.tokens
        assert first is not None
        assert renewed is not None
        assert {renewed.access_token, renewed.refresh_token}.isdisjoint({first.access_token, first.refresh_token})
        assert len(browser.visited) == 1
        [connection] = (await tenant.client.get("/admin/connections")).json()["connections"]
        assert connection["user_id"] == "ana"
        assert connection["client_name"] == "Inspector"
        assert (await tenant.client.delete(f"/admin/connections/{connection['id']}")).status_code == 204
        await client.list_tools()
    assert len(browser.visited) == 2
    listed = (await tenant.client.get("/admin/connections")).json()["connections"]
    assert [one["revoked_at"] is None for one in listed] == [True, False]


async def test_a_client_that_lacks_a_scope_is_told_to_ask_for_it_and_does(service: Service, tenant: Tenant) -> None:
    browser = Browser(credential=await tenant.key("read", "write", "review"), user_id="ana")
    storage = Storage()
    async with agent(service, sdk(service, browser, storage)) as client:
        waiting = await client.call_tool("review_pending", {})
    assert not waiting.is_error, waiting.content
    assert storage.tokens is not None
    assert storage.tokens.scope == "read write review"
    assert len(browser.visited) == 2


@pytest.mark.parametrize("method", ["none", "client_secret_post", None])
async def test_a_client_may_have_a_secret_or_none(flow: Flow, tenant: Tenant, method: str | None) -> None:
    registered = (await flow.register(token_endpoint_auth_method=method)).json()
    code = await flow.code(await tenant.key("read"), scopes=["read"])
    secret = registered.get("client_secret")
    assert (secret is None) == (method == "none")
    if secret is not None:
        for wrong in (None, "f" * 64):
            refused = await flow.exchange(code, client_secret=wrong)
            assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
    assert (await flow.exchange(code, client_secret=secret)).status_code == 200
