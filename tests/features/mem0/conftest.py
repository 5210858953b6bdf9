"""The service over HTTP, as the tests of the API have it, and a client that sends its key as mem0's does."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.api.conftest import (
    Tenant,
    anonymous,
    app,
    client,
    connected,
    database_url,
    operator,
    other_tenant,
    owner_connection,
    tenant,
)

__all__ = ["anonymous", "app", "client", "database_url", "operator", "other_tenant", "owner_connection", "tenant"]


@pytest.fixture
async def mem0(tenant: Tenant) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the test's tenant whose key goes as `Token`."""
    async with connected(tenant.app, None) as found:
        found.headers["Authorization"] = f"Token {await tenant.key('admin')}"
        yield found


@pytest.fixture
async def others_mem0(other_tenant: Tenant) -> AsyncIterator[httpx.AsyncClient]:
    """The same for another tenant."""
    async with connected(other_tenant.app, None) as found:
        found.headers["Authorization"] = f"Token {await other_tenant.key('admin')}"
        yield found
