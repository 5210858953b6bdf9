"""Too much at once: what is turned away says when to come back, and what takes too long is given up whole."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

import httpx
import pytest
from fastapi import FastAPI

from app.api.plumbing.admission import Admission
from app.settings import Settings
from tests.api.conftest import KEY, MakeClient, connected, fact, running, settings_for
from tests.support import owner
from tests.support.waiting import PATIENCE, eventually


@pytest.fixture
def admission(database_url: str) -> Admission:
    return Admission.of(Settings(request_concurrency=1, tenant_request_concurrency=1, tenant_request_queue=1))


async def held(stack: AsyncExitStack, app: FastAPI, places: int) -> None:
    """Take places as another tenant would; who waits for one waits as long as it takes."""
    queue = app.state.admission.quick
    queue.limits = replace(queue.limits, patience=PATIENCE)
    for _ in range(places):
        await stack.enter_async_context(app.state.admission.quick.admitted("somebody else"))


async def test_what_is_turned_away_says_so_and_when_to_come_back(database_url: str) -> None:
    settings = settings_for(database_url, request_concurrency=2, tenant_request_queue=1, worker="off")
    async with running(settings) as app, connected(app, KEY) as client, AsyncExitStack() as stack:
        assert (await client.get("/memories?all=true")).status_code == 200
        await held(stack, app, 2)
        waiting = asyncio.create_task(client.post("/memories/typed/fact", json=fact(user_id="waits")))

        async def queued() -> bool:
            return bool(app.state.admission.waiting() == 1)

        await eventually(queued)
        away = await client.post("/memories/typed/fact", json=fact(user_id="waits"))
        assert away.status_code == 503
        assert away.json()["type"] == "urn:typed-memory:problem:overloaded"
        assert away.headers["Content-Type"] == "application/problem+json"
        assert int(away.headers["Retry-After"]) >= 1
        assert away.headers["X-Request-Id"] == away.json()["request_id"]
        for path in ("/healthz", "/readyz", "/metrics"):
            assert (await client.get(path)).status_code == 200
        told = (await client.get("/metrics")).text
        assert "tm_http_requests_waiting 1.0" in told
        assert 'tm_http_requests_turned_away_total{reason="full"} 1.0' in told
        await stack.aclose()
        assert (await waiting).status_code == 201


async def test_a_request_that_takes_too_long_is_given_up_and_writes_nothing(
    make_client: MakeClient, database_url: str
) -> None:
    async with make_client(request_deadline=3.0, worker="off") as client:
        assert (await client.get("/memories?all=true")).status_code == 200
        async with owner.connected(database_url) as connection, connection.transaction():
            await connection.execute("LOCK TABLE memories IN ACCESS EXCLUSIVE MODE")
            late = await client.post("/memories/typed/fact", json=fact(user_id="late"))
        assert late.status_code == 503
        assert late.json()["type"] == "urn:typed-memory:problem:deadline-exceeded"
        assert late.headers["Retry-After"]
        await asyncio.sleep(0.2)
        found = await client.get("/memories?user_id=late")
        assert found.json()["memories"] == []


async def test_requests_of_one_tenants_keys_share_one_queue(database_url: str) -> None:
    async with running(settings_for(database_url, worker="off")) as app, connected(app, KEY) as client:
        made = await client.post("/admin/keys", json={"name": "second", "roles": ["read"]})
        async with connected(app, made.json()["key"]) as second:
            for one in (client, second):
                assert (await one.get("/memories?user_id=u1")).status_code == 200
        keys = app.state.admission.keys
        tenants = {keys.tenant(f"Bearer {key}".encode()) for key in (KEY, made.json()["key"])}
        assert len(tenants) == 1
        assert None not in tenants
        assert keys.tenant(b"Bearer nobody's") is None


async def test_a_wrong_key_is_a_strangers(make_client: MakeClient) -> None:
    async with make_client(key="tm_this_key_is_nobody_s") as client:
        assert (await client.get("/memories?all=true")).status_code == 401
        transport = client._transport
        assert isinstance(transport, httpx.ASGITransport)
        assert transport.app.state.admission.keys.tenant(b"Bearer tm_this_key_is_nobody_s") is None  # type: ignore[attr-defined]


async def test_only_a_request_that_would_find_a_full_queue_is_refused_unread(admission: Admission) -> None:
    seen: list[str] = []
    admission.observe = seen.append
    async with admission.quick.admitted(None):
        assert not admission.refuses("/query", b"")
        waiting = asyncio.create_task(_through(admission))
        await asyncio.sleep(0)
        assert admission.refuses("/query", b"")
        assert not admission.refuses("/healthz", b"")
        assert not admission.refuses("/turns", b"")
    await waiting
    assert seen == ["full"]


async def _through(admission: Admission) -> None:
    async with admission.quick.admitted(None):
        pass
