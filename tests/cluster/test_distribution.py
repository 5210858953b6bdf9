"""A store that is distributed over the nodes of a cluster: how it gets there, and how a later migration changes it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection, text

from app import ids
from app.db import distribution, migrate
from app.db.session import owner_transaction
from app.errors import ConfigurationError
from app.operations.backup import Backups
from migrations import live
from tests.api.conftest import connected, running, settings_for
from tests.support import owner
from tests.support.databases import Run, drop_database, form_cluster, nodes

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(not nodes(), reason="TM_TEST_DATABASE_NODES names no nodes: run `make cluster`"),
]

SHARDS = 4
WRITTEN = 12
WRITERS = 4
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
        moving = asyncio.create_task(distribution.distribute(owner.login(undistributed), shards=SHARDS))
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


async def test_it_gets_its_locks_beside_writers_and_loses_nothing_that_they_were_told_is_stored(
    undistributed: str,
) -> None:
    async with service(undistributed) as client:
        moving = asyncio.create_task(distribution.distribute(owner.login(undistributed), shards=SHARDS))
        numbers = iter(range(100_000))
        acknowledged: set[str] = set()

        async def keep_writing() -> None:
            while not moving.done():
                number = next(numbers)
                answer = await write(client, number)
                assert answer.status_code in {201, 503}, answer.text
                if answer.status_code == 201:
                    acknowledged.add(fact(number)["content"])

        await asyncio.gather(*(keep_writing() for _ in range(WRITERS)))
        await moving
        assert acknowledged
        found = await owner.ask(undistributed, "SELECT content FROM memories")
        assert acknowledged <= {row["content"] for row in found}
        assert (await write(client, next(numbers))).status_code == 201


async def test_what_is_erased_while_keys_are_missing_leaves_no_rows(undistributed: str) -> None:
    async with service(undistributed) as client:
        gone, stays = [(await write(client, number)).json()["memory"]["id"] for number in range(2)]
        with pytest.raises(InterruptedError):
            await distribution.distribute(
                owner.login(undistributed), shards=SHARDS, report=_stop_at("distribute the tables")
            )
        answer = await client.delete(f"/memories/{gone}")
        assert answer.status_code == 200, answer.text
    await distribution.distribute(owner.login(undistributed), shards=SHARDS)
    rows = "SELECT FROM memory_index WHERE memory_id = $1"
    assert await owner.ask(undistributed, rows, ids.parse(ids.MEMORY, gone)) == []
    assert await owner.ask(undistributed, rows, ids.parse(ids.MEMORY, stays))


async def test_what_a_migration_left_to_do_is_told(
    fresh_database_url: str, undistributed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await distribution.unfinished(owner.login(undistributed)) == []
    assert await distribution.unfinished(owner.login(fresh_database_url)) == []
    later = "CREATE FUNCTION of_later() RETURNS int LANGUAGE sql SET plan_cache_mode = force_generic_plan AS 'SELECT 1'"
    await owner.ask(fresh_database_url, later)
    assert await distribution.unfinished(owner.login(fresh_database_url))
    monkeypatch.setattr(migrate, "head", lambda: "of older code")
    assert await distribution.unfinished(owner.login(fresh_database_url)) == []


async def test_what_looks_at_the_coordinator_alone_is_refused(fresh_database_url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="base backup of each node"):
        await Backups(owner=owner.login(fresh_database_url)).save(tmp_path / "dump")
    with pytest.raises(ConfigurationError, match="unset TM_REPLICA_DATABASE_URL"):
        async with running(settings_for(fresh_database_url, replica_database_url=fresh_database_url)):
            pass


async def test_a_run_that_was_stopped_is_finished_by_the_next(undistributed: str) -> None:
    stopped_after: Callable[[distribution.Stage], None] = _stop_at("distribute the tables")
    with pytest.raises(InterruptedError):
        await distribution.distribute(owner.login(undistributed), shards=SHARDS, report=stopped_after)
    await distribution.distribute(owner.login(undistributed), shards=SHARDS)
    left = await distribution.plan(owner.login(undistributed))
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
