"""The service over HTTP, in this process, on a real database, with the embedded embedder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.bootstrap import now
from app.features.lifecycle.workers import WORKERS
from app.main import create_app
from app.runtime import Runtime
from app.settings import Settings
from tests.support import owner
from tests.support.databases import Run
from tests.support.openapi import document

KEY = "tm_first_tenant_key_of_the_tests_0123456789abc"
OPERATOR_KEY = "operator_key_of_the_tests_0123456789"

LEAP_DAY = "0 0 29 2 *"
"""When workers run by the clock: at the minutes of every day and hour they would change what a test looks at."""

MakeApp = Callable[..., AbstractAsyncContextManager[FastAPI]]
MakeClient = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@dataclass(frozen=True, slots=True)
class Tenant:
    """A tenant made for a test: a client with its admin key, and a way to get more keys."""

    client: httpx.AsyncClient
    app: FastAPI

    async def key(self, *roles: str, **more: Any) -> str:
        answer = await self.client.post("/admin/keys", json={"name": "test", "roles": roles, **more})
        assert answer.status_code == 201, answer.text
        secret: str = answer.json()["key"]
        return secret


def settings_for(database_url: str, **overrides: Any) -> Settings:
    defaults: dict[str, Any] = {
        "database_url": database_url,
        "bootstrap_key": KEY,
        "operator_key": OPERATOR_KEY,
        "log_format": "console",
        "database_pool_size": 8,
        "worker_schedules": dict.fromkeys(WORKERS, LEAP_DAY),
    }
    return Settings(**{**defaults, **overrides})


@asynccontextmanager
async def running(settings: Settings, wall: Callable[[], datetime] = now) -> AsyncIterator[FastAPI]:
    """The application, started and stopped; `wall` is its machine's clock."""
    app = create_app(settings, wall)
    app.openapi_schema = document()
    async with app.router.lifespan_context(app):
        yield app


@asynccontextmanager
async def connected(app: FastAPI, key: str | None = KEY) -> AsyncIterator[httpx.AsyncClient]:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://service", headers=headers
    ) as client:
        yield client


@pytest.fixture(scope="session")
def database_url(run: Run, server_url: str, template: str) -> Iterator[str]:
    """The login to the service's database: it runs the jobs of all tenants, so that stores have another."""
    with run.database(server_url, template) as url:
        yield url


@pytest.fixture(scope="session")
async def owner_connection(database_url: str) -> AsyncIterator[None]:
    """A connection that stays open for statements of that database's owner."""
    async with owner.kept_open(database_url):
        yield


@pytest.fixture(scope="session")
async def app(database_url: str, owner_connection: None) -> AsyncIterator[FastAPI]:
    async with running(settings_for(database_url)) as started:
        yield started


@pytest.fixture
def runtime(app: FastAPI) -> Runtime:
    found: Runtime = app.state.runtime
    return found


@pytest.fixture
async def anonymous(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with connected(app, None) as found:
        yield found


@pytest.fixture
async def operator(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with connected(app, OPERATOR_KEY) as found:
        yield found


@pytest.fixture
async def tenant(app: FastAPI, operator: httpx.AsyncClient, request: pytest.FixtureRequest) -> AsyncIterator[Tenant]:
    async with new_tenant(app, operator, request.node.nodeid) as found:
        yield found


@pytest.fixture
async def other_tenant(
    app: FastAPI, operator: httpx.AsyncClient, request: pytest.FixtureRequest
) -> AsyncIterator[Tenant]:
    async with new_tenant(app, operator, f"other of {request.node.nodeid}") as found:
        yield found


@pytest.fixture
def client(tenant: Tenant) -> httpx.AsyncClient:
    """A client of a tenant of the test's own, with every role."""
    return tenant.client


@pytest.fixture
def other_client(other_tenant: Tenant) -> httpx.AsyncClient:
    """A client of another tenant."""
    return other_tenant.client


@pytest.fixture
def make_client(database_url: str) -> MakeClient:
    """Start a service of one's own on the shared database: `async with make_client(max_body_bytes=10)`."""

    @asynccontextmanager
    async def make(key: str | None = KEY, **overrides: Any) -> AsyncIterator[httpx.AsyncClient]:
        async with running(settings_for(database_url, **overrides)) as app, connected(app, key) as found:
            yield found

    return make


@asynccontextmanager
async def new_tenant(app: FastAPI, operator: httpx.AsyncClient, name: str) -> AsyncIterator[Tenant]:
    made = await operator.post("/admin/tenants", json={"name": name[-200:]})
    assert made.status_code == 201, made.text
    async with connected(app, made.json()["key"]["key"]) as client:
        yield Tenant(client=client, app=app)


def fact(**fields: Any) -> dict[str, Any]:
    return {"predicate": "works-at", "object": "Volkswagen", "user_id": "u1", **fields}


async def served(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> httpx.Response:
    """Post until it is not turned away: on a cluster new connections take seconds, and others wait for them."""
    while (answer := await client.post(path, json=body)).status_code == HTTPStatus.SERVICE_UNAVAILABLE:  # noqa: ASYNC110
        await asyncio.sleep(float(answer.headers["Retry-After"]))
    return answer


async def written(client: httpx.AsyncClient, kind: str = "fact", **fields: Any) -> dict[str, Any]:
    """Write a memory, by default a fact, and return it."""
    body = fact(**fields) if kind == "fact" else fields
    answer = await client.post(f"/memories/typed/{kind}", json=body)
    assert answer.status_code == 201, answer.text
    memory: dict[str, Any] = answer.json()["memory"]
    return memory
