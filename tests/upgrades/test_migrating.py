"""Migrations among running transactions: they wait without holding anybody up, and can be tried again."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from app.db import migrate
from app.db.migrate import LOCK_TIMEOUT_SECONDS, downgrade, upgrade
from app.errors import ConfigurationError
from tests.support import owner
from tests.support.waiting import PATIENCE
from tests.upgrades.scratch import after_the_newest

pytestmark = pytest.mark.long

COLUMN = 'op.execute("ALTER TABLE memories ADD COLUMN scratch integer NOT NULL DEFAULT 7")'
TWO_TABLES = (
    'op.execute("ALTER TABLE tenants ADD COLUMN scratch integer"); op.execute("SELECT pg_sleep(0.3)"); ' + COLUMN
)
INDEX = 'live.create_indexes({"ix_memories_type_scratch": "memories (tenant_id, topic)"})'
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'"
HELD = "SELECT count(*) FROM pg_locks WHERE granted AND mode = 'AccessExclusiveLock' AND relation = 'tenants'::regclass"
THERE = "SELECT count(*) FROM pg_attribute WHERE attrelid = 'memories'::regclass AND attname = 'scratch'"
VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'ix_memories_type_scratch'::regclass"


@asynccontextmanager
async def reading(url: str) -> AsyncIterator[asyncpg.Connection]:
    """A connection whose transaction has read memories, and is open until it is ended, or to the end of the block."""
    async with owner.connected(url) as connection:
        await connection.execute("BEGIN")
        await connection.fetchval("SELECT count(*) FROM memories")
        yield connection


async def test_a_migration_behind_a_long_reader_lets_others_pass(
    fresh_database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    after_the_newest(monkeypatch, tmp_path, COLUMN)
    async with reading(fresh_database_url) as reader, owner.connected(fresh_database_url) as other:
        migrating = asyncio.create_task(asyncio.to_thread(upgrade, fresh_database_url))
        async with asyncio.timeout(PATIENCE):
            while not await other.fetchval(WAITING):  # noqa: ASYNC110 - it is in a database
                await asyncio.sleep(0.01)
        await other.execute(f"SET lock_timeout = '{5 * LOCK_TIMEOUT_SECONDS}s'")
        assert await other.fetchval("SELECT count(*) FROM memories") == 0, "it got past the migration"
        assert not migrating.done()
        assert await other.fetchval(THERE) == 0
        await reader.execute("ROLLBACK")
        await migrating
        assert await other.fetchval(THERE) == 1


@pytest.mark.parametrize("owned_by", ["a superuser", "another"])
async def test_of_a_migration_and_a_request_that_wait_for_one_another_the_migration_steps_back(
    owned_by: str, fresh_database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if owned_by == "another":
        monkeypatch.setattr(migrate, "GIVE_WAY", "SELECT 1")
    after_the_newest(monkeypatch, tmp_path, TWO_TABLES)
    async with reading(fresh_database_url) as reader, owner.connected(fresh_database_url) as other:
        migrating = asyncio.create_task(asyncio.to_thread(upgrade, fresh_database_url))
        async with asyncio.timeout(PATIENCE):
            while not await other.fetchval(HELD):  # noqa: ASYNC110 - it is in a database
                await asyncio.sleep(0.01)
        assert await reader.fetchval("SELECT count(*) FROM tenants") == 0, "it waited, and then had it"
        await reader.execute("ROLLBACK")
        await migrating
        assert await other.fetchval(THERE) == 1


async def test_a_migration_that_never_gets_its_lock_says_what_to_do(
    fresh_database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    after_the_newest(monkeypatch, tmp_path, COLUMN)
    async with reading(fresh_database_url) as reader:
        with pytest.raises(ConfigurationError, match=r"ALTER TABLE memories ADD COLUMN scratch.*end it"):
            await asyncio.to_thread(upgrade, fresh_database_url, tries=1)
        await reader.execute("ROLLBACK")
    await asyncio.to_thread(upgrade, fresh_database_url)


async def test_an_index_is_built_while_others_wait_for_their_turn(
    fresh_database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    copy = after_the_newest(monkeypatch, tmp_path, INDEX)
    script = (
        "import sys; from pathlib import Path; from app.db import migrate; "
        "migrate.MIGRATIONS = Path(sys.argv[2]); migrate.upgrade(sys.argv[1])"
    )
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", script, fresh_database_url, str(copy))
        for _ in range(3)
    ]
    assert await asyncio.gather(*(process.wait() for process in processes)) == [0, 0, 0]
    async with owner.connected(fresh_database_url) as connection:
        assert await connection.fetchval(VALID)


async def test_an_index_that_was_left_unfinished_is_built_anew(
    fresh_database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    after_the_newest(monkeypatch, tmp_path, INDEX, 'live.drop_indexes({"ix_memories_type_scratch": ""})')
    async with owner.connected(fresh_database_url) as connection:
        await connection.execute("CREATE INDEX ix_memories_type_scratch ON memories (topic)")
        await connection.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'ix_memories_type_scratch'::regclass"
        )
        await asyncio.to_thread(upgrade, fresh_database_url)
        assert await connection.fetchval(VALID)
        await asyncio.to_thread(downgrade, fresh_database_url, "-1")
        assert await connection.fetchval("SELECT to_regclass('ix_memories_type_scratch')") is None
