"""Serving by several processes: one is killed under load, the parent ends, the parent is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from app.operations.commands.web_server import HANG_SECONDS
from tests.commands.program import Served
from tests.db.embedded_service import data_folder, is_running, postmaster_pid, wait_until_gone
from tests.support import owner
from tests.support.databases import Run, drop_database
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.long

CLIENTS, WRITES = 8, 40


@pytest.fixture
def data_dir() -> Iterator[Path]:
    with data_folder() as path:
        yield path


@pytest.fixture(scope="module")
def served(run: Run, server_url: str, template: str) -> Iterator[Served]:
    url = run.create(server_url, template)
    with Served(TM_DATABASE_URL=url, TM_WEB_WORKERS="2", TM_DATABASE_POOL_SIZE="12") as one:
        yield one
    drop_database(url)


def children(pid: int) -> set[int]:
    """Return the processes that serve HTTP for this parent."""
    serving = set()
    for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with suppress(FileNotFoundError):  # it has ended meanwhile
            if "spawn_main" in Path(f"/proc/{one}/cmdline").read_text():
                serving.add(int(one))
    return serving


@contextmanager
def refused_logins(server_url: str, database: str) -> Iterator[None]:
    """Let a database take no new connection; those that are open stay."""

    def allow(allowed: str) -> None:
        asyncio.run(owner.ask(server_url, f'ALTER DATABASE "{database}" ALLOW_CONNECTIONS {allowed}'))

    allow("false")
    try:
        yield
    finally:
        allow("true")


def total(url: str, name: str) -> float:
    """Return the sum of a metric's samples over all labels."""
    families = text_string_to_metric_families(httpx.get(f"{url}/metrics", timeout=30).text)
    return sum(sample.value for family in families for sample in family.samples if sample.name == name)


async def acknowledged_writes(served: Served, victim: int) -> set[str]:
    """Write by several clients, kill a process in the middle, and return the ids of the acknowledged memories."""
    done: set[str] = set()
    killed = asyncio.Event()

    async def write(client: int) -> None:
        headers = {"Authorization": f"Bearer {served.key}"}
        async with httpx.AsyncClient(base_url=served.url, headers=headers, timeout=30) as http:
            for number in range(WRITES):
                body = {"user_id": f"user-{client}", "preference_key": f"key-{number}", "preference_value": "on"}
                try:
                    answer = await http.post("/memories/typed/preference", json=body)
                except httpx.TransportError:
                    continue  # not acknowledged
                assert answer.status_code in {201, 503}, answer.text
                if answer.status_code == 201:
                    done.add(answer.json()["memory"]["id"])
                if len(done) > CLIENTS * WRITES / 3 and not killed.is_set():
                    killed.set()
                    os.kill(victim, signal.SIGKILL)

    async with asyncio.TaskGroup() as tasks:
        for client in range(CLIENTS):
            tasks.create_task(write(client))
    assert killed.is_set()
    return done


def test_a_killed_process_loses_no_acknowledged_write_and_is_replaced(served: Served) -> None:
    before = children(served.process.pid)
    assert len(before) == 2
    done = asyncio.run(acknowledged_writes(served, min(before)))
    # The dead process' figures count. It may have been killed between a decision and its answer.
    assert len(done) <= total(served.url, "tm_write_decisions_total") <= CLIENTS * WRITES
    wait_until(lambda: len(children(served.process.pid) - {min(before)}) == 2)
    wait_until(lambda: total(served.url, "tm_database_pool_size") == 12)
    assert total(served.url, "tm_build_info") == 1
    assert total(served.url, "process_resident_memory_bytes") > 100_000_000

    headers = {"Authorization": f"Bearer {served.key}"}
    for client in range(CLIENTS):
        listed = httpx.get(
            f"{served.url}/memories?user_id=user-{client}&limit=200", headers=headers, timeout=PATIENCE
        ).json()
        done -= {one["id"] for one in listed["memories"]}
    assert not done


def test_a_process_that_dies_while_it_starts_is_replaced_at_once(served: Served) -> None:
    before = children(served.process.pid)
    os.kill(min(before), signal.SIGKILL)
    wait_until(lambda: bool(children(served.process.pid) - before))
    [young] = children(served.process.pid) - before
    os.kill(young, signal.SIGKILL)
    killed = time.monotonic()
    wait_until(lambda: len(children(served.process.pid) - {young, min(before)}) == 2)
    assert time.monotonic() - killed < HANG_SECONDS / 2
    wait_until(lambda: total(served.url, "tm_database_pool_size") == 12)


def test_a_process_that_cannot_start_is_started_again(served: Served, server_url: str) -> None:
    before = children(served.process.pid)
    with refused_logins(server_url, served.settings["TM_DATABASE_URL"].rpartition("/")[2]):
        os.kill(min(before), signal.SIGKILL)
        wait_until(lambda: served.logged.count("a process could not start") >= 2 or served.process.poll() is not None)
        assert httpx.get(f"{served.url}/healthz", timeout=30).status_code == 200
    wait_until(lambda: len(children(served.process.pid) - {min(before)}) == 2)
    wait_until(lambda: total(served.url, "tm_database_pool_size") == 12)


def test_a_hangup_replaces_the_processes_while_they_serve(served: Served) -> None:
    before = children(served.process.pid)
    served.process.send_signal(signal.SIGHUP)

    def replaced() -> bool:
        assert httpx.get(f"{served.url}/healthz", timeout=30).status_code == 200
        return len(children(served.process.pid) - before) == 2 and not children(served.process.pid) & before

    wait_until(replaced)
    wait_until(lambda: total(served.url, "tm_database_pool_size") == 12)


def test_the_parent_starts_one_embedded_server_drains_and_ends_it(data_dir: Path) -> None:
    with Served(TM_DATA_DIR=str(data_dir), TM_WEB_WORKERS="2", TM_PRE_STOP_DELAY="5") as served:
        server = postmaster_pid(data_dir)
        assert server is not None
        assert served.key.startswith("tm_")
        assert served.said.count("Typed Memory is ready.") == 1
        assert served.logged.count("worker started") == 1

        served.process.send_signal(signal.SIGTERM)
        wait_until(lambda: httpx.get(f"{served.url}/readyz", timeout=30).status_code == 503)
        assert httpx.get(f"{served.url}/healthz", timeout=30).status_code == 200
        assert served.wait() == 0
        assert "Traceback" not in served.logged
    assert not is_running(server)


def test_a_signal_to_stop_ends_a_restart_of_the_processes(data_dir: Path) -> None:
    with Served(TM_DATA_DIR=str(data_dir), TM_WEB_WORKERS="3") as served:
        before = children(served.process.pid)
        served.process.send_signal(signal.SIGHUP)
        wait_until(lambda: bool(children(served.process.pid) - before))
        served.process.send_signal(signal.SIGTERM)
        assert served.wait() == 0
        assert served.logged.count("worker started") <= 2


def test_processes_of_a_killed_parent_end_by_themselves(data_dir: Path) -> None:
    with Served(TM_DATA_DIR=str(data_dir), TM_WEB_WORKERS="2") as served:
        orphans = children(served.process.pid)
        assert served.stop(signal.SIGKILL) == -signal.SIGKILL
    for orphan in orphans:
        wait_until_gone(orphan)
