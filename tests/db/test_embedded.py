"""The embedded Postgres with real processes: nothing here is faked, killed things are killed."""

from __future__ import annotations

import asyncio
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from app.db.embedded.folder import FileLock
from app.db.embedded.server import default_data_dir, start_embedded
from tests.db.embedded_service import (
    Service,
    data_folder,
    execute,
    is_running,
    kill_server,
    link_binaries,
    postmaster_pid,
    value,
    wait_until_gone,
)
from tests.support.folders import open_folder
from tests.support.waiting import wait_until

pytestmark = pytest.mark.long

NOBODY = 65534


@pytest.fixture(scope="module")
def unpacked() -> Iterator[Path]:
    with data_folder() as path:
        start_embedded(path).release()
        yield path


@pytest.fixture
def new_dir() -> Iterator[Path]:
    """A data directory yet to be made."""
    with data_folder() as path:
        yield path


@pytest.fixture
def data_dir(unpacked: Path, new_dir: Path) -> Path:
    """A data directory with the binaries, yet to get its cluster."""
    link_binaries(unpacked, new_dir)
    return new_dir


async def test_the_first_start_makes_a_durable_database_with_the_extensions(new_dir: Path) -> None:
    server = start_embedded(new_dir)
    try:
        assert server.started
        assert server.url.startswith("postgresql://")
        assert server.url.endswith("/typed_memory")
        for name in ("fsync", "full_page_writes", "synchronous_commit"):
            assert await value(server.url, f"SHOW {name}") == "on"
        assert await value(server.url, "SHOW shared_buffers") == "256MB"
        assert await value(server.url, "SHOW max_connections") == "100"
        assert await value(server.url, "SHOW server_encoding") == "UTF8"
        assert await value(server.url, "SHOW listen_addresses") == "127.0.0.1"
        extensions = [f"CREATE EXTENSION {name}" for name in ("vector", "pg_trgm", "btree_gin")]
        await execute(server.url, *extensions, "CREATE TABLE probe (v halfvec(3))")
    finally:
        server.release()


async def test_only_the_password_opens_it_and_only_the_owner_reads_that(new_dir: Path) -> None:
    server = start_embedded(new_dir)
    try:
        password = (new_dir / "password").read_text()
        assert stat.S_IMODE((new_dir / "password").stat().st_mode) == 0o600
        assert stat.S_IMODE((new_dir / "cluster").stat().st_mode) == 0o700
        assert password not in repr(server)
        with pytest.raises(asyncpg.InvalidPasswordError):
            await asyncpg.connect(server.url.replace(password, "guess"))
    finally:
        server.release()


async def test_durability_stands_above_what_anyone_configures(data_dir: Path) -> None:
    first = start_embedded(data_dir)
    await execute(first.url, "ALTER SYSTEM SET fsync = off", "ALTER SYSTEM SET work_mem = '5MB'")
    first.release()
    second = start_embedded(data_dir)
    try:
        assert await value(second.url, "SHOW fsync") == "on"
        assert await value(second.url, "SHOW work_mem") == "5MB"
    finally:
        second.release()


async def test_a_restart_keeps_the_data_and_the_url(data_dir: Path) -> None:
    first = start_embedded(data_dir)
    await execute(first.url, "CREATE TABLE kept (n int)", "INSERT INTO kept VALUES (42)")
    first.release()
    assert postmaster_pid(data_dir) is None

    second = start_embedded(data_dir)
    try:
        assert second.started
        assert second.url == first.url
        assert await value(second.url, "SELECT n FROM kept") == 42
    finally:
        second.release()


async def test_the_last_user_stops_it_and_no_earlier_one(data_dir: Path) -> None:
    first = start_embedded(data_dir)
    with Service(data_dir) as other:
        other.wait_until_up()
        assert not other.started
        assert other.url == first.url

        first.release()
        first.release()  # doing it again takes nobody else's share
        assert await value(other.url, "SELECT 1") == 1
    assert postmaster_pid(data_dir) is None


def test_a_released_share_is_free_although_a_forked_process_still_has_its_descriptor(tmp_path: Path) -> None:
    share, other = FileLock(tmp_path / "users.lock"), FileLock(tmp_path / "users.lock")
    assert share.try_lock(exclusive=False)
    reader, writer = os.pipe()
    forked = os.fork()
    if forked == 0:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
    try:
        share.close()
        assert other.try_lock(exclusive=True)
    finally:
        os.close(writer)
        os.waitpid(forked, 0)
        os.close(reader)
        other.close()


async def test_a_server_that_outlived_its_killed_service_is_adopted(data_dir: Path) -> None:
    service = Service(data_dir).wait_until_up()
    await execute(service.url, "CREATE TABLE kept (n int)", "INSERT INTO kept VALUES (42)")
    pid = postmaster_pid(data_dir)
    assert pid is not None
    service.kill()
    assert is_running(pid)

    adopted = start_embedded(data_dir)
    assert not adopted.started
    assert postmaster_pid(data_dir) == pid
    assert await value(adopted.url, "SELECT n FROM kept") == 42
    adopted.release()
    wait_until_gone(pid)


async def test_a_killed_server_is_started_again_and_recovers(data_dir: Path) -> None:
    first = start_embedded(data_dir)
    await execute(first.url, "CREATE TABLE kept (n int)", "INSERT INTO kept VALUES (42)")
    pid = kill_server(data_dir)

    second = start_embedded(data_dir)
    try:
        assert second.started
        assert second.url == first.url
        assert postmaster_pid(data_dir) != pid
        assert await value(second.url, "SELECT n FROM kept") == 42
    finally:
        second.release()
        first.release()
    assert postmaster_pid(data_dir) is None


def test_a_stale_pid_that_another_program_got_is_no_obstacle(data_dir: Path) -> None:
    first = start_embedded(data_dir)
    # Postgres takes any live process of its own user for the server that the file names.
    with data_folder() as elsewhere:
        bystander = start_embedded(elsewhere)
        pid = kill_server(data_dir)
        pid_file = data_dir / "cluster" / "postmaster.pid"
        pid_file.write_text(pid_file.read_text().replace(str(pid), str(postmaster_pid(elsewhere)), 1))

        second = start_embedded(data_dir)
        assert second.started
        second.release()
        bystander.release()
        first.release()


def test_processes_that_start_at_once_share_one_server(new_dir: Path) -> None:
    with Service(new_dir) as one, Service(new_dir) as two, Service(new_dir) as three:
        services = [one.wait_until_up(), two.wait_until_up(), three.wait_until_up()]
        assert len({service.url for service in services}) == 1
        assert sorted(service.started for service in services) == [False, False, True]
    assert postmaster_pid(new_dir) is None


def test_services_killed_while_starting_leave_nothing_in_the_way(new_dir: Path) -> None:
    for delay in (0.3, 0.6, 0.9, 1.2, 1.5, 2.0):
        service = Service(new_dir)
        time.sleep(delay)
        service.kill()
    server = start_embedded(new_dir)
    assert asyncio.run(value(server.url, "SELECT 1")) == 1
    server.release()

    # A killed service's initdb may run on for a moment; its folder goes at a start after it ended.
    def swept() -> bool:
        start_embedded(new_dir).release()
        return not list(new_dir.glob("unfinished-*"))

    wait_until(swept)


async def test_a_path_with_spaces_and_other_scripts_works() -> None:
    with open_folder() as folder:
        server = start_embedded(folder / "Données à moi: 記憶 'x'")
        assert await value(server.url, "SELECT 1") == 1
        server.release()


@pytest.mark.skipif(os.geteuid() != 0, reason="changes user")
def test_an_ordinary_user_gets_a_server_of_its_own(new_dir: Path) -> None:
    new_dir.mkdir()
    os.chown(new_dir, NOBODY, NOBODY)
    with Service(new_dir, user=str(NOBODY)) as service:
        service.wait_until_up()
        assert (new_dir / "cluster").stat().st_uid == NOBODY
        # Root joins it, and runs it as its owner from then on.
        server = start_embedded(new_dir)
        assert not server.started
        assert server.url == service.url
        server.release()
    server = start_embedded(new_dir)
    assert server.started
    assert asyncio.run(value(server.url, "SELECT 1")) == 1
    server.release()


def test_the_default_folder_follows_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert default_data_dir() == Path("/var/lib/typed-memory")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere/data")
    assert default_data_dir() == Path("/somewhere/data/typed-memory")
    monkeypatch.setenv("XDG_DATA_HOME", "not/absolute")
    monkeypatch.setenv("HOME", "/home/someone")
    assert default_data_dir() == Path("/home/someone/.local/share/typed-memory")
