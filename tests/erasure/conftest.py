"""A service on a database of its own, whose whole content a test may look through."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI

from tests.api.conftest import OPERATOR_KEY, Tenant, connected, new_tenant, running, settings_for
from tests.provider_server.fixtures import StandIn, provider, provider_process

__all__ = ["provider", "provider_process"]


@pytest.fixture
def url(fresh_database_url: str) -> str:
    return fresh_database_url


@pytest.fixture
async def app(url: str) -> AsyncIterator[FastAPI]:
    async with running(settings_for(url, access_flush_seconds=0.05, job_retry_seconds=0.1)) as started:
        yield started


@pytest.fixture
async def modelled(url: str, provider: StandIn) -> AsyncIterator[FastAPI]:
    """The same with a language model."""
    settings = settings_for(url, **provider.settings(job_attempts=1, worker="off"))
    async with running(settings) as started:
        yield started


@pytest.fixture
async def operator(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with connected(app, OPERATOR_KEY) as found:
        yield found


@pytest.fixture
async def tenant(app: FastAPI, operator: httpx.AsyncClient) -> AsyncIterator[Tenant]:
    async with new_tenant(app, operator, "first") as found:
        yield found


@pytest.fixture
async def other_tenant(app: FastAPI, operator: httpx.AsyncClient) -> AsyncIterator[Tenant]:
    async with new_tenant(app, operator, "other") as found:
        yield found


@pytest.fixture
def client(tenant: Tenant) -> httpx.AsyncClient:
    return tenant.client


@pytest.fixture
def other_client(other_tenant: Tenant) -> httpx.AsyncClient:
    return other_tenant.client
