"""Who gets in, and with which role."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from fastapi import FastAPI
from starlette.routing import Route

from app.api import console
from app.runtime import Runtime
from tests.api.conftest import KEY, OPERATOR_KEY, Tenant, connected, fact
from tests.api.routes import mounted

PUBLIC = {
    "GET /",
    "GET /docs",
    "GET /docs/favicon.png",
    "GET /docs/start.js",
    "GET /docs/swagger-ui-bundle.js",
    "GET /docs/swagger-ui.css",
    "GET /healthz",
    "GET /metrics",
    "GET /openapi.json",
    "GET /readyz",
}
SOME_ID = "0" * 32


def example_path(path: str) -> str:
    return (
        path.replace("{memory_id}", f"mem_{SOME_ID}")
        .replace("{key_id}", f"key_{SOME_ID}")
        .replace("{tenant_id}", f"ten_{SOME_ID}")
        .replace("{type}", "nothing")
    )


async def test_every_route_takes_a_key_unless_it_is_listed(app: FastAPI, anonymous: httpx.AsyncClient) -> None:
    opened = set()
    for route in mounted(app):
        answer = await anonymous.request(route.method, example_path(route.path), json={})
        if answer.status_code != 401:
            opened.add(str(route))
    assert opened == PUBLIC | {f"GET {route.path}" for route in console.routes() if isinstance(route, Route)}


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Basic dTpw", "Bearer nope", f"Bearer {KEY}x", "Bearer ä", KEY, "Bearer " + "x" * 9000],
)
async def test_a_bad_key_is_told_so_and_nothing_more(anonymous: httpx.AsyncClient, header: str) -> None:
    answer = await anonymous.get("/memories", headers=[(b"authorization", header.encode("latin-1"))])
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="typed-memory"'
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["type"] == "urn:typed-memory:problem:unauthenticated"
    assert KEY not in answer.text


async def test_a_missing_key_comes_before_a_broken_body(anonymous: httpx.AsyncClient) -> None:
    assert (await anonymous.post("/memories/typed/fact", content=b"{")).status_code == 401


async def test_the_bootstrap_key_opens_the_first_tenant(app: FastAPI) -> None:
    async with connected(app, KEY) as client:
        assert (await client.get("/memories")).status_code == 200


async def test_roles_decide(app: FastAPI, tenant: Tenant) -> None:
    allowed = {
        "read": {"GET"},
        "write": {"POST"},
        "review": {"REVIEW"},
        "admin": {"GET", "POST", "REVIEW", "ADMIN"},
    }
    for role, can in allowed.items():
        async with connected(app, await tenant.key(role)) as client:
            got = {
                "GET": (await client.get("/memories")).status_code,
                "POST": (await client.post("/memories/typed/fact", json=fact())).status_code,
                "REVIEW": (await client.get("/admin/review")).status_code,
                "ADMIN": (await client.get("/admin/keys")).status_code,
            }
        assert {name for name, status in got.items() if status < 300} == can, role
        assert {status for name, status in got.items() if name not in can} <= {403}


async def test_a_role_is_asked_for_before_the_body_is_read(app: FastAPI, tenant: Tenant) -> None:
    async with connected(app, await tenant.key("read")) as client:
        answer = await client.post("/memories/typed/fact", content=b"{")
    assert answer.status_code == 403
    assert answer.json()["type"] == "urn:typed-memory:problem:forbidden"


async def test_a_revoked_key_is_out_at_once(app: FastAPI, tenant: Tenant) -> None:
    made = (await tenant.client.post("/admin/keys", json={"name": "k", "roles": ["read"]})).json()
    async with connected(app, made["key"]) as client:
        assert (await client.get("/memories")).status_code == 200
        for _ in range(2):
            assert (await tenant.client.delete(f"/admin/keys/{made['id']}")).status_code == 204
        assert (await client.get("/memories")).status_code == 401
    listed = {one["id"]: one for one in (await tenant.client.get("/admin/keys")).json()["keys"]}
    assert listed[made["id"]]["revoked_at"] is not None


@pytest.mark.long
async def test_a_key_ends_when_it_expires(app: FastAPI, tenant: Tenant) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=6)
    key = await tenant.key("read", expires_at=soon.isoformat())
    async with connected(app, key) as client:
        assert (await client.get("/memories")).status_code == 200
        await asyncio.sleep((soon - datetime.now(UTC)).total_seconds() + 0.1)
        assert (await client.get("/memories")).status_code == 401


async def test_rotation_leaves_the_old_key_its_grace(app: FastAPI, tenant: Tenant) -> None:
    made = (await tenant.client.post("/admin/keys", json={"name": "k", "roles": ["read"]})).json()
    path = f"/admin/keys/{made['id']}/rotate"
    kept = await tenant.client.post(path)
    assert kept.status_code == 201
    assert kept.headers["Cache-Control"] == "no-store"
    for key in (made["key"], kept.json()["key"]):
        async with connected(app, key) as client:
            assert (await client.get("/memories")).status_code == 200
    ended = await tenant.client.post(path, json={"grace_seconds": 0})
    assert ended.status_code == 201
    async with connected(app, made["key"]) as client:
        assert (await client.get("/memories")).status_code == 401
    assert (await tenant.client.post(path, json={"grace_seconds": 0})).status_code == 409


@pytest.mark.parametrize("expires", [None, "2099-01-01T00:00:00Z"])
async def test_every_successor_of_a_key_expires_as_the_key_would_have(tenant: Tenant, expires: str | None) -> None:
    asked = {"name": "k", "roles": ["read"], "expires_at": expires}
    made = (await tenant.client.post("/admin/keys", json=asked)).json()
    successors = [(await tenant.client.post(f"/admin/keys/{made['id']}/rotate")).json() for _ in range(2)]
    assert [one["expires_at"] for one in successors] == [expires, expires]
    listed = {one["id"]: one for one in (await tenant.client.get("/admin/keys")).json()["keys"]}
    assert datetime.fromisoformat(listed[made["id"]]["expires_at"]) < datetime.now(UTC) + timedelta(days=1)


async def test_a_secret_is_shown_once(tenant: Tenant) -> None:
    key = await tenant.key("read", "write")
    assert len(key) == 46
    assert key.startswith("tm_")
    listed = await tenant.client.get("/admin/keys")
    assert key not in listed.text
    assert key[:10] in {one["prefix"] for one in listed.json()["keys"]}


async def test_a_keys_last_use_is_recorded_off_the_request(app: FastAPI, tenant: Tenant) -> None:
    made = (await tenant.client.post("/admin/keys", json={"name": "k", "roles": ["read"]})).json()
    async with connected(app, made["key"]) as client:
        await client.get("/memories")
    await app.state.runtime.keys.aclose()
    listed = {one["id"]: one for one in (await tenant.client.get("/admin/keys")).json()["keys"]}
    assert listed[made["id"]]["last_used_at"] is not None


async def test_a_known_key_costs_no_look_up(runtime: Runtime, app: FastAPI, tenant: Tenant) -> None:
    key = await tenant.key("read")
    await runtime.keys.authenticate(key)
    await runtime.keys.aclose()
    before = runtime.database
    try:
        object.__setattr__(runtime.keys, "database", None)
        assert (await runtime.keys.authenticate(key)).tenant_id
    finally:
        object.__setattr__(runtime.keys, "database", before)


async def test_the_operator_key_manages_tenants_only(operator: httpx.AsyncClient, client: httpx.AsyncClient) -> None:
    assert (await operator.get("/memories")).status_code == 403
    assert (await operator.get("/admin/keys")).status_code == 403
    assert (await client.get("/admin/tenants")).status_code == 403
    assert (await client.post("/admin/tenants", json={"name": "x"})).status_code == 403
    tenants = (await operator.get("/admin/tenants")).json()["tenants"]
    assert "default" in {one["name"] for one in tenants}
    assert (await operator.post("/admin/tenants", json={"name": "default"})).status_code == 409
    made = await operator.post(f"/admin/tenants/{tenants[0]['id']}/keys", json={"name": "from outside"})
    assert made.status_code == 201
    missing = await operator.post(f"/admin/tenants/ten_{SOME_ID}/keys", json={"name": "x"})
    assert missing.status_code == 404


async def test_without_an_operator_key_nobody_is_the_operator(make_client: object) -> None:
    assert callable(make_client)
    async with make_client(OPERATOR_KEY, operator_key=None) as client:
        assert (await client.get("/admin/tenants")).status_code == 401
    async with make_client(KEY, operator_key=None) as client:
        assert (await client.get("/admin/tenants")).status_code == 403


async def test_starting_again_makes_no_second_bootstrap_key(make_client: object) -> None:
    assert callable(make_client)
    for _ in range(2):
        async with make_client() as client:
            keys = (await client.get("/admin/keys")).json()["keys"]
            assert [one["name"] for one in keys].count("bootstrap") == 1
