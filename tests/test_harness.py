"""What the other tests stand on: databases of their own, and no network."""

from __future__ import annotations

import socket

import asyncpg
import httpx
import pytest

from app.db.embedded.server import start_embedded
from app.db.migrate import head
from tests.db.embedded_service import postmaster_pid, value, wait_until_gone
from tests.support.databases import Run


async def test_a_clone_is_migrated(database_url: str) -> None:
    assert await value(database_url, "SELECT version_num FROM alembic_version") == head()


async def test_a_fresh_database_is_apart_from_the_shared_one(database_url: str, fresh_database_url: str) -> None:
    assert database_url != fresh_database_url
    connection = await asyncpg.connect(fresh_database_url)
    await connection.execute("CREATE TABLE only_here ()")
    await connection.close()
    assert await value(database_url, "SELECT to_regclass('only_here')") is None


async def test_an_empty_database_has_no_tables(empty_database_url: str) -> None:
    query = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
    assert await value(empty_database_url, query) == 0


async def test_a_commit_outlives_a_kill_of_the_tests_server(database_url: str) -> None:
    assert await value(database_url, "SHOW synchronous_commit") == "on"


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("2001:db8::1", 80, 0, 0), ("db.example.org", 80)])
def test_reaching_out_fails_the_test(address: tuple[str, int]) -> None:
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with (
        socket.socket(family) as reaching,
        pytest.raises(pytest.fail.Exception, match=f"tried to reach {address[0]}"),
    ):
        reaching.connect(address)


async def test_code_that_catches_network_errors_does_not_hide_it() -> None:
    async with httpx.AsyncClient() as client:
        for url in ("http://192.0.2.1/", "http://db.example.org/"):
            with pytest.raises((pytest.fail.Exception, BaseExceptionGroup)):
                await client.get(url)


@pytest.mark.long
def test_a_killed_run_is_swept_up_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TM_TEST_DATABASE_URL", raising=False)
    killed, lock = Run.begin()
    start_embedded(killed.folder / "data")
    pid = postmaster_pid(killed.folder / "data")
    assert pid is not None
    lock.close()  # what the kernel does when a process is killed

    following, its_lock = Run.begin()
    assert not killed.folder.exists()
    wait_until_gone(pid)
    assert following.folder.exists()
    following.end()
    its_lock.close()
