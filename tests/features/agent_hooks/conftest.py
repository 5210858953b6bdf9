"""A service that hooks reach over a socket, and the hosts whose events they are given."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.api.conftest import Tenant, app, database_url, operator, owner_connection, tenant
from tests.commands.test_connections import listening
from tests.features.agent_hooks.hosts import Served

__all__ = ["app", "database_url", "operator", "owner_connection", "tenant"]


@pytest.fixture
async def served(tenant: Tenant, tmp_path: Path) -> AsyncIterator[Served]:
    """The service with a tenant's key, and a folder for what hooks leave between events."""
    key = await tenant.key("read", "write")
    async with listening(tenant.app) as port:
        yield Served(client=tenant.client, url=f"http://127.0.0.1:{port}", key=key, folder=str(tmp_path / "hooks"))
