"""A database that takes no writes: callers are told when to come back, balancers that it is not ready for them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import httpx
import pytest

from app.db import checks
from app.db.session import RUNTIME_ROLE, statement
from tests.api.conftest import KEY, connected, fact, running, settings_for
from tests.support import owner

FULL = statement("DO $$ BEGIN RAISE disk_full; END $$")

REFUSE_INSERTS = """
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE disk_full; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON memories FOR EACH ROW EXECUTE FUNCTION refuse();
"""

Pair = tuple[httpx.AsyncClient, asyncpg.Connection]


@pytest.fixture
async def pair(fresh_database_url: str) -> AsyncIterator[Pair]:
    """A client of a service on a database of its own, and that database's owner."""
    settings = settings_for(fresh_database_url, worker="off")
    async with (
        owner.connected(fresh_database_url) as connection,
        running(settings) as app,
        connected(app, KEY) as client,
    ):
        assert (await client.post("/memories/typed/fact", json=fact())).status_code == 201
        yield client, connection


async def refused(client: httpx.AsyncClient, status: int, code: str) -> None:
    answer = await client.post("/memories/typed/fact", json=fact(object="Siemens"))
    assert answer.status_code == status, answer.text
    assert answer.json()["type"] == f"urn:typed-memory:problem:{code}"
    assert int(answer.headers["Retry-After"]) >= 1
    assert (await client.post("/query", json={"query": "employer", "user_id": "u1"})).status_code == 200


async def ready(client: httpx.AsyncClient) -> dict[str, str]:
    answer = await client.get("/readyz")
    assert answer.status_code == (503 if answer.json()["reasons"] else 200)
    reasons: dict[str, str] = answer.json()["reasons"]
    return reasons


async def test_a_full_disk(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    client, connection = pair
    assert await ready(client) == {}
    await connection.execute(REFUSE_INSERTS)
    await refused(client, 507, "storage-full")
    with monkeypatch.context() as patched:
        patched.setattr(checks, "_PROBE", FULL)
        assert "disk is full" in (await ready(client))["writes"]
    await connection.execute("DROP TRIGGER refuse ON memories")
    assert await ready(client) == {}
    assert (await client.post("/memories/typed/fact", json=fact(object="Siemens"))).status_code == 201


async def test_revoked_rights(pair: Pair) -> None:
    client, connection = pair
    await connection.execute(f"REVOKE INSERT ON memories FROM {RUNTIME_ROLE}")
    await refused(client, 503, "writes-refused")
    assert "grants were revoked" in (await ready(client))["writes"]
    await connection.execute(f"GRANT INSERT ON memories TO {RUNTIME_ROLE}")
    assert await ready(client) == {}


async def test_a_server_that_is_read_only(pair: Pair) -> None:
    client, connection = pair
    await connection.execute(
        "DO $$ BEGIN EXECUTE format("
        "'ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$"
    )
    await connection.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name LIKE 'typed-memory%'"
    )
    await refused(client, 503, "writes-refused")
    assert "read-only" in (await ready(client))["writes"]
