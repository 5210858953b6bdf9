"""Requests that must fail: codes, tokens and addresses that are not what was granted."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.api.conftest import Tenant, written
from tests.features.oauth.conftest import CALLBACK, Fields, Flow, Service, invited
from tests.support import owner


def error_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


async def test_a_code_is_exchanged_once_and_its_replay_ends_the_connection(flow: Flow, tenant: Tenant) -> None:
    await flow.register()
    code = await flow.code(await tenant.key("read", "write"))
    tokens = (await flow.exchange(code)).json()
    assert (await flow.call(tokens["access_token"], "recall", query="?")).status_code == 200
    assert error_of(await flow.exchange(code)) == (400, "invalid_grant")
    assert (await flow.call(tokens["access_token"], "recall", query="?")).status_code == 401
    assert error_of(await flow.refresh(tokens["refresh_token"])) == (400, "invalid_grant")


async def test_of_two_exchanges_at_once_at_most_one_succeeds(flow: Flow, tenant: Tenant) -> None:
    await flow.register()
    code = await flow.code(await tenant.key("read", "write"))
    answers = await asyncio.gather(*(flow.exchange(code) for _ in range(4)))
    assert sum(one.status_code == 200 for one in answers) <= 1
    assert {one.json()["error"] for one in answers if one.status_code != 200} == {"invalid_grant"}


async def test_a_refresh_token_that_is_used_twice_ends_the_connection(flow: Flow, tenant: Tenant) -> None:
    first = await flow.connect(await tenant.key("read", "write"))
    second = (await flow.refresh(first["refresh_token"])).json()
    assert (await flow.call(second["access_token"], "recall", query="?")).status_code == 200
    assert error_of(await flow.refresh(first["refresh_token"])) == (400, "invalid_grant")
    assert (await flow.call(second["access_token"], "recall", query="?")).status_code == 401
    assert error_of(await flow.refresh(second["refresh_token"])) == (400, "invalid_grant")
    [connection] = (await tenant.client.get("/admin/connections")).json()["connections"]
    assert connection["revoked_because"] == "a code or refresh token was used twice"


@pytest.mark.parametrize("kind", ["code", "access", "refresh"])
async def test_what_has_expired_is_refused(flow: Flow, tenant: Tenant, database_url: str, kind: str) -> None:
    await flow.register()
    code = await flow.code(await tenant.key("read", "write"))
    tokens = {} if kind == "code" else (await flow.exchange(code)).json()
    changed = "UPDATE oauth_tokens SET expires_at = now() - interval '1 second' WHERE kind = $1"
    await owner.ask(database_url, changed, kind)
    if kind == "code":
        assert error_of(await flow.exchange(code)) == (400, "invalid_grant")
    elif kind == "refresh":
        assert error_of(await flow.refresh(tokens["refresh_token"])) == (400, "invalid_grant")
    else:
        answer = await flow.call(tokens["access_token"], "recall", query="?")
        assert answer.status_code == 401
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize("verifier", ["w" * 64, "", None])
async def test_a_code_without_its_verifier_is_worth_nothing(flow: Flow, tenant: Tenant, verifier: str | None) -> None:
    await flow.register()
    code = await flow.code(await tenant.key("read"), scopes=["read"])
    assert (await flow.exchange(code, code_verifier=verifier)).status_code == 400
    assert (await flow.exchange(code)).status_code == 200, "and is not lost by that"


@pytest.mark.parametrize(
    "given",
    [
        {"code_challenge_method": "plain"},
        {"code_challenge": None},
        {"code_challenge": "short"},
        {"response_type": "token"},
        {"scope": "admin"},
        {"resource": "https://elsewhere.example/mcp"},
        {"resource": "http://127.0.0.1/mcp"},
    ],
    ids=str,
)
async def test_a_request_that_is_not_as_asked_is_not_put_to_the_user(flow: Flow, given: dict[str, str | None]) -> None:
    await flow.register()
    answer = await flow.page(**given)
    assert answer.status_code == 400
    assert "location" not in answer.headers
    assert "credential" not in answer.text
    assert "error=" in answer.text, "which the client is told by the link"


REGISTERED = "https://app.example/back"


@pytest.mark.parametrize(
    "uri",
    [
        "https://evil.example/back",
        "https://app.example/back/more",
        "https://app.example/backdoor",
        "https://app.example/",
        "https://app.example.evil.example/back",
        "https://app.example@evil.example/back",
        "https://app.example:8443/back",
        "http://app.example/back",
        "https://app.example/back?next=https://evil.example",
        "https://app.example/back#fragment",
        "https://app.example\\@evil.example/back",
        "//evil.example/back",
        "/back",
        "javascript:alert(1)",
    ],
)
async def test_nobody_is_sent_to_an_address_that_was_not_registered(flow: Flow, tenant: Tenant, uri: str) -> None:
    await flow.register(redirect_uris=[REGISTERED])
    asked = await flow.page(redirect_uri=uri)
    allowed = await flow.consent(await tenant.key("read", "write"), redirect_uri=uri)
    for answer in (asked, allowed):
        assert answer.status_code == 400
        assert "location" not in answer.headers
        assert "href=" not in answer.text.partition("<main>")[2]


@pytest.mark.parametrize(
    "uri",
    [
        "http://app.example/back",
        "http://192.168.0.7/back",
        "http://localhost.evil.example/back",
        "https://app.example/back#here",
        "https://user@app.example/back",
        "https://user:secret@app.example/back",
        "javascript:alert(1)",
        "javascript://app.example/%0aalert(1)",
        "data:text/html,hello",
        "file:///etc/passwd",
        "https://*.example/back",
        "https://app.example;form-action/back",
    ],
)
async def test_no_client_registers_an_address_that_is_not_safe(flow: Flow, uri: str) -> None:
    answer = await flow.register(redirect_uris=[CALLBACK, uri])
    assert answer.status_code == 400
    assert answer.json()["error"] in {"invalid_redirect_uri", "invalid_client_metadata"}


@pytest.mark.parametrize(
    ("registered", "asked"),
    [
        ("http://127.0.0.1/callback", "http://127.0.0.1:49152/callback"),
        ("http://localhost:3000/callback", "http://localhost:49152/callback"),
        ("http://[::1]:3000/callback", "http://[::1]:49152/callback"),
        ("cursor://anysphere.cursor-mcp/oauth/callback", "cursor://anysphere.cursor-mcp/oauth/callback"),
        ("com.example.app:/back", "com.example.app:/back"),
    ],
)
async def test_programs_on_a_computer_take_any_port_of_it_or_their_own_scheme(
    flow: Flow, tenant: Tenant, registered: str, asked: str
) -> None:
    assert (await flow.register(redirect_uris=[registered])).status_code == 201
    answer = await flow.consent(await tenant.key("read", "write"), redirect_uri=asked)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith(f"{asked}?code=tmc_")


async def test_a_code_goes_to_the_address_it_was_asked_for(flow: Flow, tenant: Tenant) -> None:
    await flow.register(redirect_uris=[CALLBACK, REGISTERED])
    code = await flow.code(await tenant.key("read", "write"))
    assert (await flow.exchange(code, redirect_uri=REGISTERED)).status_code == 400
    assert (await flow.exchange(code, redirect_uri=None)).status_code == 400
    assert (await flow.exchange(code)).status_code == 200


async def test_a_client_with_one_address_need_not_name_it(flow: Flow, tenant: Tenant) -> None:
    await flow.register()
    code = await flow.code(await tenant.key("read", "write"), redirect_uri=None)
    assert (await flow.exchange(code, redirect_uri=None)).status_code == 200


async def test_another_client_can_use_neither_code_nor_token(flow: Flow, service: Service, tenant: Tenant) -> None:
    tokens = await flow.connect(await tenant.key("read", "write"))
    code = await flow.code(await tenant.key("read", "write"))
    other = Flow(service=service, http=flow.http, verifier=flow.verifier)
    await other.register()
    assert error_of(await other.exchange(code)) == (400, "invalid_grant")
    assert error_of(await other.refresh(tokens["refresh_token"])) == (400, "invalid_grant")
    data = {"client_id": other.client_id, "token": tokens["refresh_token"]}
    assert (await flow.http.post("/oauth/revoke", data=data)).status_code == 200
    assert (await flow.refresh(tokens["refresh_token"])).status_code == 200, "it was not another's to revoke"


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
async def test_a_client_gives_its_connection_up(flow: Flow, tenant: Tenant, kind: str) -> None:
    tokens = await flow.connect(await tenant.key("read", "write"))
    data = {"client_id": flow.client_id, "token": tokens[kind], "token_type_hint": kind}
    for _ in range(2):
        assert (await flow.http.post("/oauth/revoke", data=data)).status_code == 200
    assert (await flow.call(tokens["access_token"], "recall", query="?")).status_code == 401
    assert error_of(await flow.refresh(tokens["refresh_token"])) == (400, "invalid_grant")
    assert (await flow.http.post("/oauth/revoke", data={**data, "client_id": "unknown"})).status_code == 401
    assert (await flow.http.post("/oauth/revoke", data={"client_id": flow.client_id})).status_code == 400


async def test_a_token_is_for_one_resource(flow: Flow, service: Service, tenant: Tenant) -> None:
    await flow.register()
    code = await flow.code(await tenant.key("read", "write"))
    assert error_of(await flow.exchange(code, resource="https://elsewhere.example/mcp")) == (400, "invalid_target")
    tokens = (await flow.exchange(code, resource=service.mcp)).json()
    refused = await flow.refresh(tokens["refresh_token"], resource="https://elsewhere.example/mcp")
    assert error_of(refused) == (400, "invalid_target")
    elsewhere = service.url.replace("127.0.0.1", "localhost")
    async with httpx.AsyncClient(base_url=elsewhere) as http:
        other = Flow(service=service, http=http, client_id=flow.client_id, verifier=flow.verifier)
        assert (await other.call(tokens["access_token"], "recall", query="?")).status_code == 401
        assert error_of(await other.refresh(tokens["refresh_token"])) == (400, "invalid_grant")
    assert (await flow.call(tokens["access_token"], "recall", query="?")).status_code == 200


async def test_tokens_open_nothing_but_the_tools(flow: Flow, tenant: Tenant) -> None:
    tokens = await flow.connect(await tenant.key("read", "write"))
    for token in (tokens["access_token"], tokens["refresh_token"]):
        answer = await flow.http.get("/memories?user_id=ana", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401
    assert (await flow.call(tokens["refresh_token"], "recall", query="?")).status_code == 401


async def test_a_scope_that_is_missing_is_named_with_the_answer(flow: Flow, tenant: Tenant) -> None:
    tokens = await flow.connect(await tenant.key("read", "write"), scopes=["read"])
    assert tokens["scope"] == "read"
    answer = await flow.call(tokens["access_token"], "store_memory", content="I moved to Oslo.")
    assert answer.status_code == 403
    challenge = answer.headers["www-authenticate"]
    assert 'error="insufficient_scope"' in challenge
    assert 'scope="read write"' in challenge
    assert "/.well-known/oauth-protected-resource/mcp" in challenge
    narrower = await flow.refresh(tokens["refresh_token"], scope="read write")
    assert error_of(narrower) == (400, "invalid_scope")


async def test_fewer_scopes_may_be_asked_for_with_a_refresh_token(flow: Flow, tenant: Tenant) -> None:
    tokens = await flow.connect(await tenant.key("read", "write"))
    less = (await flow.refresh(tokens["refresh_token"], scope="read")).json()
    assert less["scope"] == "read"
    assert (await flow.call(less["access_token"], "store_memory", content="I moved.")).status_code == 403
    assert (await flow.refresh(less["refresh_token"])).json()["scope"] == "read write"


async def test_a_token_is_for_one_user(flow: Flow, tenant: Tenant) -> None:
    await written(tenant.client, user_id="bob", object="Porsche")
    mine = await written(tenant.client, user_id="bob", object="Opel", predicate="drives")
    tokens = await flow.connect(await tenant.key("read", "write"), "ana")
    token = tokens["access_token"]
    for tool, arguments in (
        ("recall", {"query": "Porsche", "user_id": "bob"}),
        ("recall", {"query": "Porsche", "agent_id": "planner"}),
        ("store_memory", {"content": "I drive a Saab.", "user_id": "bob"}),
        ("forget", {"memory_id": mine["id"]}),
    ):
        found = (await flow.call(token, tool, **arguments)).json()["result"]
        assert found["isError"] or found["structuredContent"]["memories"] == [], tool
    own = (await flow.call(token, "recall", query="Porsche Opel")).json()["result"]
    assert own["structuredContent"]["memories"] == []
    reading = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "memory://users/bob/profile"}}
    assert "error" in (await flow.rpc(token, reading)).json()
    assert (await tenant.client.get(f"/memories/{mine['id']}")).status_code == 200


async def test_two_tenants_have_nothing_of_one_another(flow: Flow, tenant: Tenant, other_tenant: Tenant) -> None:
    await written(other_tenant.client, user_id="ana", object="Porsche")
    tokens = await flow.connect(await tenant.key("read", "write"), "ana")
    theirs = await flow.connect(await other_tenant.key("read", "write"), "ana")
    seen = [
        (await flow.call(one["access_token"], "recall", query="Porsche")).json()["result"]["structuredContent"]
        for one in (tokens, theirs)
    ]
    assert [len(one["memories"]) for one in seen] == [0, 1]
    [mine] = (await tenant.client.get("/admin/connections")).json()["connections"]
    assert (await other_tenant.client.delete(f"/admin/connections/{mine['id']}")).status_code == 404
    assert (await flow.call(tokens["access_token"], "recall", query="?")).status_code == 200
    # The part of a secret that names the tenant is of no use with the rest of another's.
    mixed = theirs["access_token"][:26] + tokens["access_token"][26:]
    assert (await flow.call(mixed, "recall", query="?")).status_code == 401


async def test_the_page_can_be_neither_framed_nor_scripted_nor_kept(flow: Flow, service: Service) -> None:
    await flow.register(client_name='<script>alert(1)</script>"', redirect_uris=["https://app.example/back"])
    page = await flow.page(redirect_uri="https://app.example/back", state='"><script>alert(2)</script>')
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'none'" in policy
    assert "form-action 'self' https://app.example;" in policy
    assert "unsafe" not in policy
    assert "script-src" not in policy
    assert page.headers["x-frame-options"] == "DENY"
    assert page.headers["cache-control"] == "no-store"
    fields = Fields(page.text)
    assert fields.scripts == 0
    assert fields.hidden["state"] == '"><script>alert(2)</script>'
    style = await flow.http.get("/oauth/style.css")
    assert style.headers["content-type"].startswith("text/css")


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}],
    ids=str,
)
async def test_a_form_of_another_site_is_refused(flow: Flow, tenant: Tenant, headers: dict[str, str]) -> None:
    await flow.register()
    answer = await flow.consent(await tenant.key("read", "write"), headers=headers)
    assert answer.status_code == 403
    assert "location" not in answer.headers


async def test_a_user_who_refuses_is_sent_back_with_that(flow: Flow, tenant: Tenant) -> None:
    await flow.register()
    answer = await flow.consent("", decision="refuse")
    told = {name: value[0] for name, value in parse_qs(urlsplit(answer.headers["location"]).query).items()}
    assert (told["error"], told["state"], told["iss"]) == ("access_denied", "xyz", flow.service.url)
    assert (await tenant.client.get("/admin/connections")).json()["connections"] == []


async def test_what_the_user_enters_wrongly_is_said_and_the_key_is_not_sent_back(flow: Flow, tenant: Tenant) -> None:
    await flow.register()
    key, bound = await tenant.key("read"), await tenant.key("read", "write", user_id="bob")
    of_agent = await tenant.key("read", "write", agent_id="planner")
    for credential, user, scopes, said in (
        ("tm_unknown_key_of_nobody", "ana", ["read"], "not valid"),
        ("", "ana", ["read"], "not valid"),
        (key, "ana", ["read", "write"], "can&#x27;t allow write"),
        (key, "", ["read"], "whose memory"),
        (key, "ana", [], "at least one"),
        (key, "a\x00b", ["read"], "can&#x27;t be the id"),
        (bound, "ana", ["read"], "the memory of &#x27;bob&#x27;"),
        (of_agent, "ana", ["read"], "for an agent alone"),
        ("tmi_made_up", "ana", ["read"], "not valid"),
    ):
        answer = await flow.consent(credential, user, scopes=scopes)
        assert answer.status_code in {400, 401, 422}, said
        assert said in answer.text
        assert not credential or credential not in answer.text
    assert (await flow.consent(bound, "", scopes=["read"])).status_code == 303


async def test_parameters_may_not_be_repeated(flow: Flow, tenant: Tenant) -> None:
    await flow.register()
    query = [*flow.parameters().items(), ("redirect_uri", "https://evil.example/")]
    assert (await flow.http.get("/oauth/authorize", params=query)).status_code == 400
    code = await flow.code(await tenant.key("read", "write"))
    form = {
        "grant_type": "authorization_code",
        "code": [code, code],
        "client_id": flow.client_id,
        "code_verifier": flow.verifier,
    }
    assert error_of(await flow.http.post("/oauth/token", data=form)) == (400, "invalid_request")


@pytest.mark.parametrize("client_id", ["unknown", "tmd_", "tmd_W10", "tmd_" + "A" * 5000, "https://app.example"])
async def test_an_id_that_says_nothing_is_refused(flow: Flow, client_id: str) -> None:
    flow.client_id = client_id
    answer = await flow.page()
    assert answer.status_code == 400
    assert "location" not in answer.headers
    assert error_of(await flow.exchange("tmc_x")) == (401, "invalid_client")


async def test_a_connection_ends_with_the_key_it_was_approved_with_but_not_by_its_rotation(
    flow: Flow, tenant: Tenant
) -> None:
    made = (await tenant.client.post("/admin/keys", json={"name": "ana", "roles": ["read", "write"]})).json()
    tokens = await flow.connect(made["key"])
    rotated = await tenant.client.post(f"/admin/keys/{made['id']}/rotate", json={"grace_seconds": 0})
    assert rotated.status_code == 201
    tokens = (await flow.refresh(tokens["refresh_token"])).json()
    assert (await flow.call(tokens["access_token"], "recall", query="?")).status_code == 200
    assert (await tenant.client.delete(f"/admin/keys/{made['id']}")).status_code == 204
    assert error_of(await flow.refresh(tokens["refresh_token"])) == (400, "invalid_grant")


async def test_an_erased_user_has_no_connections_left(flow: Flow, tenant: Tenant, database_url: str) -> None:
    await flow.connect(await tenant.key("read", "write"), "erased one")
    assert (await invited(tenant, user_id="erased one")).status_code == 201
    erased = await tenant.client.delete("/users/erased%20one?mode=sync")
    assert erased.status_code in {200, 202}, erased.text
    for _ in range(100):
        [row] = await owner.ask(
            database_url,
            "SELECT (SELECT count(*) FROM oauth_grants WHERE user_id = $1) "
            "+ (SELECT count(*) FROM oauth_invitations WHERE user_id = $1) AS left",
            "erased one",
        )
        if not row["left"]:
            break
        await asyncio.sleep(0.1)
    assert row["left"] == 0


async def test_no_secret_is_stored_or_logged(
    flow: Flow, tenant: Tenant, database_url: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level("DEBUG")
    key = await tenant.key("read", "write")
    registered = (await flow.register(token_endpoint_auth_method="client_secret_post")).json()
    code = await flow.code(key)
    tokens = (await flow.exchange(code, client_secret=registered["client_secret"])).json()
    await flow.call(tokens["access_token"], "recall", query="?")
    renewed = await flow.refresh(tokens["refresh_token"], client_secret=registered["client_secret"])
    await flow.refresh(tokens["refresh_token"], client_secret=registered["client_secret"])
    secrets = [key, code, registered["client_secret"], *tokens.values(), *renewed.json().values()]
    secrets = [one for one in secrets if isinstance(one, str) and len(one) > 20]
    assert len(secrets) == 7
    printed = capsys.readouterr()
    ours = "\n".join(str(one.getMessage()) for one in caplog.records if not one.name.startswith(("httpx", "httpcore")))
    rows = await owner.ask(
        database_url,
        "SELECT (SELECT json_agg(g)::text FROM oauth_grants g) AS a,"
        " (SELECT json_agg(t)::text FROM oauth_tokens t) AS b,"
        " (SELECT json_agg(e.detail)::text FROM audit_events e) AS c",
    )
    kept = "\n".join(str(value) for value in rows[0].values())
    for secret in secrets:
        assert secret not in ours + printed.out + printed.err + kept
