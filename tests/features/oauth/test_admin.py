"""Connections and invitations for admins."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.api.conftest import KEY, MakeClient, Tenant, connected, running, settings_for
from tests.features.oauth.conftest import Flow, Service, invited
from tests.support import owner


async def test_an_invited_user_connects_one_client_with_the_link(flow: Flow, service: Service, tenant: Tenant) -> None:
    made = (await invited(tenant, user_id="ana", scopes=["read", "review"], days=1)).json()
    base, _, secret = made["link"].partition("#")
    assert base == "http://127.0.0.1/oauth/invitation"
    page = await flow.http.get("/oauth/invitation")
    assert service.mcp in page.text
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    listed = (await tenant.client.get("/admin/invitations")).json()["invitations"]
    assert [one["user_id"] for one in listed] == ["ana"]
    assert secret not in str(listed)
    await flow.register()
    refused = await flow.consent(made["link"], "bob", scope="read review", scopes=["read"])
    assert refused.status_code == 422
    refused = await flow.consent(made["link"], "", scopes=["read", "write"])
    assert "can&#x27;t allow write" in refused.text
    code = await flow.code(made["link"], "", scope="read write review", scopes=["read", "review"])
    tokens = (await flow.exchange(code)).json()
    assert tokens["scope"] == "read review"
    assert (await flow.call(tokens["access_token"], "review_pending")).json()["result"]["isError"] is False
    again = await flow.consent(made["link"], "", scopes=["read"])
    assert again.status_code == 401
    assert "unknown, used or expired" in again.text
    assert (await tenant.client.get("/admin/invitations")).json()["invitations"] == []
    [connection] = (await tenant.client.get("/admin/connections")).json()["connections"]
    assert connection["user_id"] == "ana"
    assert connection["approved_by"].startswith("invitation of ")


async def test_an_invitation_ends(flow: Flow, tenant: Tenant, other_tenant: Tenant, database_url: str) -> None:
    await flow.register()
    withdrawn = (await invited(tenant, user_id="ana")).json()
    assert (await other_tenant.client.delete(f"/admin/invitations/{withdrawn['id']}")).status_code == 404
    assert (await tenant.client.delete(f"/admin/invitations/{withdrawn['id']}")).status_code == 204
    expired = (await invited(tenant, user_id="ana")).json()
    await owner.ask(database_url, "UPDATE oauth_invitations SET expires_at = now() - interval '1 second'")
    for one in (withdrawn, expired):
        assert (await flow.consent(one["link"], "", scopes=["read"])).status_code == 401


async def test_connections_are_listed_by_pages_with_their_last_use(flow: Flow, tenant: Tenant) -> None:
    key = await tenant.key("read", "write")
    for user in ("ana", "bob", "cy"):
        await flow.connect(key, user)
    await flow.code(key, "never connected")
    first = (await tenant.client.get("/admin/connections?limit=2")).json()
    rest = (await tenant.client.get("/admin/connections", params={"limit": 2, "cursor": first["next_cursor"]})).json()
    assert [one["user_id"] for one in (*first["connections"], *rest["connections"])] == ["cy", "bob", "ana"]
    assert rest["next_cursor"] is None
    events = (await tenant.client.get("/admin/audit?limit=50")).json()["events"]
    assert "connection.granted" in {one["action"] for one in events}


async def test_only_admins_see_and_end_connections(tenant: Tenant) -> None:
    async with connected(tenant.app, await tenant.key("read", "write", "review")) as client:
        for method, path in (
            ("GET", "/admin/connections"),
            ("GET", "/admin/invitations"),
            ("DELETE", "/admin/connections/grt_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"),
            ("DELETE", "/admin/invitations/inv_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"),
        ):
            assert (await client.request(method, path)).status_code == 403


PROTOCOL = (
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-authorization-server",
    "/oauth/authorize",
    "/oauth/invitation",
)


async def test_nothing_of_it_is_there_unless_it_is_asked_for(make_client: MakeClient) -> None:
    async with make_client() as client:
        for path in PROTOCOL:
            assert (await client.get(path)).status_code == 404
        answer = await client.post("/mcp", json={}, headers={"Authorization": "Bearer tma_x"})
        assert answer.headers["www-authenticate"] == 'Bearer realm="typed-memory"'
        refused = await client.post("/admin/invitations", json={"user_id": "ana"})
        assert refused.status_code == 501
        assert "TM_OAUTH" in refused.json()["detail"]


@pytest.fixture
def make_client(database_url: str) -> MakeClient:
    @asynccontextmanager
    async def make(key: str | None = KEY, **overrides: Any) -> AsyncIterator[httpx.AsyncClient]:
        async with running(settings_for(database_url, **overrides)) as app, connected(app, key) as found:
            yield found

    return make


@pytest.mark.parametrize("host", ["service", "evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "["])
async def test_the_issuer_is_not_taken_from_a_name_that_anybody_could_send(make_client: MakeClient, host: str) -> None:
    async with make_client(oauth=True) as client:
        for path in PROTOCOL:
            answer = await client.get(path, headers={"Host": host})
            assert answer.status_code == 404
            assert "TM_PUBLIC_URL" in answer.json()["detail"]
        answer = await client.post("/mcp", headers={"Host": host, "Authorization": ""})
        assert answer.status_code == 401
        assert "resource_metadata" not in answer.headers["www-authenticate"]


async def test_the_configured_address_is_told_whatever_the_request_says(make_client: MakeClient) -> None:
    async with make_client(None, oauth=True, public_url="https://memory.example/tm/") as client:
        answer = await client.post("/mcp")
        assert (
            'resource_metadata="https://memory.example/tm/.well-known/oauth-protected-resource/mcp"'
            in answer.headers["www-authenticate"]
        )
        assert 'scope="read write"' in answer.headers["www-authenticate"]
        for path in ("", "/mcp", "/tm/mcp"):
            found = (await client.get(f"/.well-known/oauth-protected-resource{path}")).json()
            assert found["resource"] == "https://memory.example/tm/mcp"
            assert found["authorization_servers"] == ["https://memory.example/tm"]
        assert (await client.get("/.well-known/oauth-protected-resource/other")).status_code == 404
        for path in ("oauth-authorization-server", "oauth-authorization-server/tm", "openid-configuration"):
            server = (await client.get(f"/.well-known/{path}", headers={"Origin": "http://localhost:6274"})).json()
            assert server["issuer"] == "https://memory.example/tm"
            assert server["token_endpoint"] == "https://memory.example/tm/oauth/token"
            assert server["code_challenge_methods_supported"] == ["S256"]


async def test_pages_in_a_browser_may_call_what_takes_no_page(make_client: MakeClient) -> None:
    origin = {"Origin": "http://localhost:6274"}
    asking = {**origin, "Host": "localhost", "Access-Control-Request-Method": "POST"}
    async with make_client(None, oauth=True) as client:
        for path in ("/oauth/token", "/oauth/register", "/oauth/revoke"):
            allowed = await client.options(path, headers={**asking, "Access-Control-Request-Headers": "content-type"})
            assert allowed.status_code == 200
            assert allowed.headers["access-control-allow-origin"] == "*"
        page = await client.get("/oauth/authorize", headers={**origin, "Host": "localhost"})
        assert "access-control-allow-origin" not in page.headers


@pytest.mark.parametrize("url", ["http://memory.example", "memory.example", "https://u@memory.example", "https://m/?a"])
def test_an_address_that_is_not_safe_is_refused_at_start(url: str) -> None:
    with pytest.raises(ValueError, match="https address"):
        settings_for("postgresql://x@127.0.0.1/x", public_url=url)


async def test_keys_open_the_tools_as_before(flow: Flow, tenant: Tenant) -> None:
    answer: httpx.Response = await flow.call(await tenant.key("read"), "recall", query="?", user_id="ana")
    assert answer.json()["result"]["isError"] is False
