"""A store that is distributed over the nodes of a cluster: how it gets there, and what a lost node does to it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import httpx
import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection, text

from app.db import distribution, migrate
from app.db.embedded.folder import server_account
from app.db.session import owner_transaction
from migrations import live
from tests.api.conftest import connected, running, settings_for
from tests.cluster.servers import Server
from tests.support.databases import Run, drop_database, form_cluster, nodes

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(not nodes(), reason="TM_TEST_DATABASE_NODES names no nodes: run `make cluster`"),
]

PATIENCE = 30.0
SHARDS = 4
WRITTEN = 12
READING_SECONDS = 120.0


@pytest.fixture
def undistributed(run: Run, server_url: str) -> Iterator[str]:
    """A migrated database of a cluster that is not distributed yet."""
    url = run.create(server_url)
    form_cluster(url)
    migrate.upgrade(url)
    yield url
    drop_database(url)


def fact(number: int) -> dict[str, Any]:
    return {
        "content": f"Anna has been to city number {number}.",
        "payload": {"subject": "Anna", "predicate": "visited", "object": f"city number {number}"},
        "user_id": "anna",
    }


@asynccontextmanager
async def service(url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with running(settings_for(url)) as app, connected(app) as client:
        yield client


async def stored(client: httpx.AsyncClient) -> set[str]:
    answer = await client.get("/memories", params={"user_id": "anna", "limit": 200})
    assert answer.status_code == 200, answer.text
    return {one["content"] for one in answer.json()["memories"]}


async def write(client: httpx.AsyncClient, number: int) -> httpx.Response:
    return await client.post("/memories/typed/semantic", json={"content": fact(number)["content"], "user_id": "anna"})


async def test_a_filled_store_is_distributed_while_reads_go_on(undistributed: str) -> None:
    async with service(undistributed) as client:
        for number in range(WRITTEN):
            assert (await write(client, number)).status_code == 201
        before = await stored(client)
        moving = asyncio.create_task(distribution.distribute(undistributed, patience=PATIENCE, shards=SHARDS))
        reads = 0
        async with asyncio.timeout(READING_SECONDS):
            while not moving.done():
                assert await stored(client) == before
                reads += 1
                await asyncio.sleep(0.1)
        await moving
        assert reads > 1
        assert await stored(client) == before
        assert (await write(client, WRITTEN)).status_code == 201
        assert len(await stored(client)) == len(before) + 1
    async with service(undistributed) as client:
        found = await client.post("/query", json={"query": "Which city has Anna been to?", "user_id": "anna"})
        assert found.json()["memories"]


async def test_a_run_that_was_stopped_is_finished_by_the_next(undistributed: str) -> None:
    stopped_after: Callable[[distribution.Stage], None] = _stop_at("distribute the tables")
    with pytest.raises(InterruptedError):
        await distribution.distribute(undistributed, patience=PATIENCE, shards=SHARDS, report=stopped_after)
    await distribution.distribute(undistributed, patience=PATIENCE, shards=SHARDS)
    left = await distribution.plan(undistributed, patience=PATIENCE)
    assert not [stage.title for stage in left if stage.together]
    async with service(undistributed) as client:
        assert (await write(client, 1)).status_code == 201


def _stop_at(title: str) -> Callable[[distribution.Stage], None]:
    def stop(stage: distribution.Stage) -> None:
        if stage.title.startswith(title):
            raise InterruptedError

    return stop


async def test_a_later_migration_adds_a_table_to_a_distributed_store(fresh_database_url: str) -> None:
    def add(connection: Connection) -> None:
        with Operations.context(MigrationContext.configure(connection)):
            live.create_table(
                "later",
                "tenant_id uuid NOT NULL, memory_id uuid NOT NULL, PRIMARY KEY (tenant_id, memory_id)",
                {
                    "fk_later_tenant_id": "(tenant_id) REFERENCES tenants (id)",
                    "fk_later_memory_id": "(tenant_id, memory_id) REFERENCES memories (tenant_id, id)",
                },
            )
            live.grant(["SELECT ON later"])
            live.isolate(["later"])

    async with owner_transaction(fresh_database_url) as connection:
        await connection.run_sync(add)
        method = text("SELECT partmethod FROM pg_dist_partition WHERE logicalrelid = 'later'::regclass")
        assert await connection.scalar(method) == b"h"


async def test_a_node_that_is_killed_makes_errors_of_503_and_loses_nothing(fresh_database_url: str) -> None:
    async with service(fresh_database_url) as client:
        acknowledged: set[str] = set()
        assert (await write(client, 0)).status_code == 201
        acknowledged |= await stored(client)
        victim = await _node_of_the_first_memory(fresh_database_url)
        load = asyncio.create_task(_load(client, acknowledged))
        await asyncio.sleep(1)
        os.kill(int((victim.data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
        await asyncio.sleep(3)
        _start_again(victim)
        statuses = await load
        assert statuses <= {201, 409, 503}
        assert 503 in statuses
        assert acknowledged <= await stored(client)


async def _load(client: httpx.AsyncClient, acknowledged: set[str]) -> set[int]:
    """Write until the node answers again after it was away; return every status."""
    statuses: set[int] = set()
    for number in range(1, 400):
        answer = await write(client, number)
        statuses.add(answer.status_code)
        if answer.status_code == 201:
            acknowledged.add(fact(number)["content"])
            if 503 in statuses:
                break
        else:
            await asyncio.sleep(0.2)
    return statuses


async def _node_of_the_first_memory(url: str) -> Server:
    connection = await asyncpg.connect(url)
    port = await connection.fetchval(
        """SELECT s.nodeport FROM citus_shards s WHERE s.shardid = (
            SELECT get_shard_id_for_distribution_column('memories', (SELECT tenant_id FROM memories LIMIT 1)))"""
    )
    await connection.close()
    [node] = [one for one in nodes() if urlsplit(one).port == port]
    connection = await asyncpg.connect(node)
    data = Path(await connection.fetchval("SHOW data_directory"))
    await connection.close()
    return Server(programs=Path(os.environ["TM_TEST_CITUS"]), data=data, account=server_account(data), port=port)


def _start_again(server: Server) -> None:
    server.start()
