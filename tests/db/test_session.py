"""Statements past SQLAlchemy, and transactions that end by themselves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import asyncpg
import pytest

from app.db.job_queue import ReconnectingDriver
from app.db.session import PLANNED_BY_KEY, RUNTIME_ROLE, Database, statement
from app.errors import DatabaseUnavailable
from app.pauses import pausing
from tests.support import owner

SLEEP = statement("SELECT pg_sleep(:seconds)")
WRONG = statement("SELECT 1 / CAST(:zero AS integer)")
TENANT = statement("SELECT current_setting('app.tenant_id', true) AS tenant, :given AS given")


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    found = Database(database_url, pool_size=1, statement_timeout=0.2)
    yield found
    await found.close()


def test_a_name_is_one_parameter_wherever_it_stands() -> None:
    made = statement("SELECT :a::text, CAST(:b AS uuid[]) WHERE x = :a AND y @> :c")
    assert made.sql == "SELECT $1::text, CAST($2 AS uuid[]) WHERE x = $1 AND y @> $3"
    assert made.arguments({"c": 3, "b": 2, "a": 1, "more": 0}) == [1, 2, 3]


async def test_a_statement_runs_as_the_tenant_of_its_transaction(database: Database) -> None:
    for tenant in (uuid4(), uuid4()):
        async with database.read(tenant) as session:
            [row] = await session.fetch(TENANT, {"given": "one"})
        assert (row["tenant"], row["given"]) == (str(tenant), "one")
    async with database.read(None) as session:
        [row] = await session.fetch(TENANT, {"given": "none"})
    assert row["tenant"] in {None, ""}


async def test_a_statement_stays_prepared_however_long_it_is(database: Database) -> None:
    long = statement(f"SELECT length('{'x' * 40_000}')")
    kept = statement("SELECT count(*) FROM pg_prepared_statements WHERE length(statement) > 40000")
    for _ in range(2):
        async with database.read(uuid4()) as session:
            await session.fetch(long, {})
    async with database.read(uuid4()) as session:
        [row] = await session.fetch(kept, {})
    assert row[0] == 1


async def test_the_queue_is_asked_by_plans_that_are_kept(database: Database) -> None:
    async with ReconnectingDriver.open(database) as driver:
        settings = {name: await driver.fetch(f"SHOW {name}") for name in PLANNED_BY_KEY}
    assert settings == {name: [{name: value}] for name, value in PLANNED_BY_KEY.items()}
    async with database.dedicated() as connection:
        assert await connection.fetchval("SHOW enable_seqscan") == "on"


async def test_a_statement_that_takes_too_long_says_so_and_leaves_the_connection_well(database: Database) -> None:
    with pytest.raises(DatabaseUnavailable, match="too long"):
        async with database.read(uuid4()) as session:
            await session.fetch(SLEEP, {"seconds": 2.0})
    async with database.write(uuid4()) as session:
        assert await session.fetch(TENANT, {"given": "x"})


async def test_reads_pause_between_statements_and_writes_only_before_their_transaction(database: Database) -> None:
    seen: list[str] = []

    async def pause() -> None:
        seen.append("pause")

    with pausing(pause):
        async with database.read(uuid4()) as session:
            seen.append("read")
            await session.fetch(TENANT, {"given": "x"})
        async with database.write(uuid4()) as writing:
            seen.append("write")
            await writing.fetch(TENANT, {"given": "x"})
    async with database.read(uuid4()) as session:
        await session.fetch(TENANT, {"given": "x"})
    assert seen == ["pause", "read", "pause", "pause", "write"]


async def test_other_errors_of_the_database_come_out_as_they_are(database: Database) -> None:
    with pytest.raises(asyncpg.DivisionByZeroError):
        async with database.read(uuid4()) as session:
            await session.fetch(WRONG, {"zero": 0})
    async with database.read(uuid4()) as session:
        assert await session.fetch(TENANT, {"given": "x"})


async def test_a_result_that_the_schema_has_changed_is_asked_for_again(database: Database, database_url: str) -> None:
    async with owner.connected(database_url) as connection:
        await connection.execute(f"CREATE TABLE widened (a int); GRANT SELECT ON widened TO {RUNTIME_ROLE}")
        everything = statement("SELECT * FROM widened WHERE a = :a")
        try:
            async with database.read(uuid4()) as session:
                await session.fetch(everything, {"a": 1})
            await connection.execute("ALTER TABLE widened ADD COLUMN b int")
            with pytest.raises(DatabaseUnavailable, match="schema has just changed"):
                async with database.read(uuid4()) as session:
                    await session.fetch(everything, {"a": 1})
            async with database.read(uuid4()) as session:
                assert await session.fetch(everything, {"a": 1}) == []
        finally:
            await connection.execute("DROP TABLE widened")


async def test_a_read_that_is_given_up_gives_its_connection_back(database: Database) -> None:
    async def slow() -> None:
        async with database.read(uuid4()) as session:
            await session.fetch(SLEEP, {"seconds": 2.0})

    for _ in range(3):
        task = asyncio.create_task(slow())
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    async with database.read(uuid4()) as session:
        assert await session.fetch(TENANT, {"given": "x"})


async def test_closing_waits_for_reads_that_are_ending(database: Database) -> None:
    async with database.read(uuid4()) as session:
        await session.fetch(TENANT, {"given": "x"})
    await database.close()
    assert database.pool_in_use() == 0


async def lose(database: Database, connection: asyncpg.Connection) -> None:
    async with database.read(uuid4()) as session:
        [row] = await session.fetch(statement("SELECT pg_backend_pid()"), {})
        await connection.execute("SELECT pg_terminate_backend(CAST($1 AS int), CAST(5000 AS bigint))", row[0])
        await session.fetch(TENANT, {"given": "x"})


async def test_a_connection_that_is_lost_in_a_read_is_replaced(database: Database, database_url: str) -> None:
    async with owner.connected(database_url) as connection:
        with pytest.raises(DatabaseUnavailable, match="cannot be reached"):
            await lose(database, connection)
    async with database.read(uuid4()) as session:
        assert await session.fetch(TENANT, {"given": "x"})
