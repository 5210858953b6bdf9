"""`typed-memory worker` as a process, and the worker inside `serve`."""

from __future__ import annotations

import re
import signal
import socket
from typing import Self
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest

from app.bootstrap import now
from app.db import jobs
from app.db.session import Database
from bench.ports import free_port
from tests.commands.program import ROOT, WAIT_SECONDS, Output, Served, environment, run
from tests.support.forked import ForkedProgram
from tests.support.waiting import PATIENCE, wait_until


class Working:
    """`typed-memory worker`; ends with the `with` block."""

    def __init__(self, **settings: str) -> None:
        self.process = ForkedProgram(["worker"], folder=ROOT, env=environment(**settings))
        self._output = Output(self.process.stdout, self.process.stderr)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(WAIT_SECONDS)
        self._output.end()

    def until(self, text: str) -> None:
        wait_until(lambda: text in self.said or self.process.poll() is not None)
        assert text in self.said, self.said

    @property
    def said(self) -> str:
        return "".join(self._output.so_far())


async def queued(url: str) -> UUID:
    """Queue a job that no worker knows: taking its ticket is all one can do with it."""
    tenant = uuid4()
    connection = await asyncpg.connect(url)
    await connection.execute("INSERT INTO tenants (id, name) VALUES ($1, 'theirs')", tenant)
    await connection.close()
    database = Database(url)
    async with database.write(tenant) as session:
        job = await jobs.enqueue(session, tenant=tenant, kind="unheard-of", payload={}, now=now())
    await database.close()
    return job


async def test_it_works_tells_its_metrics_and_stops_when_told(fresh_database_url: str) -> None:
    port = free_port()
    with Working(TM_DATABASE_URL=fresh_database_url, TM_WORKER_METRICS_PORT=str(port), TM_LOG_FORMAT="json") as worker:
        worker.until("The worker is ready.")
        await queued(fresh_database_url)
        worker.until("this worker is too old for a job")
        async with httpx.AsyncClient(timeout=PATIENCE) as client:
            assert "tm_jobs_running 0.0" in (await client.get(f"http://127.0.0.1:{port}/metrics")).text
        worker.process.send_signal(signal.SIGTERM)
        assert worker.process.wait(WAIT_SECONDS) == 0
    assert "worker stopped" in worker.said
    assert "Traceback" not in worker.said
    assert re.search(r"the API key is tm_\S+\.", worker.said)


def test_a_taken_metrics_port_is_said_in_a_line(fresh_database_url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run("worker", TM_DATABASE_URL=fresh_database_url, TM_WORKER_METRICS_PORT=port, TM_LOG_LEVEL="ERROR")
    assert done.returncode == 1
    assert "TM_WORKER_METRICS_PORT" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_database_that_is_not_there_is_said_in_a_line() -> None:
    done = run("worker", TM_DATABASE_URL="postgresql://nobody@127.0.0.1:9/nothing", TM_DATABASE_START_TIMEOUT="0.2")
    assert done.returncode == 1
    assert "TM_DATABASE_URL" in done.stderr
    assert "Traceback" not in done.stderr


def test_it_explains_itself() -> None:
    done = run("worker", "--help")
    assert done.returncode == 0
    assert "TM_WORKER_GRACE" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize(("setting", "works"), [("embedded", True), ("off", False)])
async def test_serve_does_jobs_unless_they_are_left_to_others(
    fresh_database_url: str, setting: str, *, works: bool
) -> None:
    with Served(TM_DATABASE_URL=fresh_database_url, TM_WORKER=setting, TM_LOG_FORMAT="json") as served:
        await queued(fresh_database_url)
        if works:
            wait_until(lambda: "this worker is too old for a job" in served.logged)
        assert served.stop() == 0
    assert ("worker stopped" in served.logged) is works
    assert "Traceback" not in served.logged


def test_one_of_the_stores_workers_is_run_now(fresh_database_url: str) -> None:
    done = run("worker", "run", "freshness", "--dry-run", TM_DATABASE_URL=fresh_database_url)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "default: expired 0 (a dry run: nothing was changed)\n"
    done = run("worker", "run", "gc", "--tenant", "default", TM_DATABASE_URL=fresh_database_url)
    assert done.stdout == "default: purged 0, forgotten 0\n"


def test_an_unknown_one_is_told_with_the_known_ones(fresh_database_url: str) -> None:
    done = run("worker", "run", "entropy", TM_DATABASE_URL=fresh_database_url)
    assert done.returncode == 1
    assert "no such worker: 'entropy'; there are consolidation, drift, freshness" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_wrong_time_keeps_it_from_starting(fresh_database_url: str) -> None:
    done = run("worker", TM_DATABASE_URL=fresh_database_url, TM_WORKER_SCHEDULES='{"gc": "sometimes"}')
    assert done.returncode == 1
    assert "TM_WORKER_SCHEDULES: gc: 'sometimes' is neither a cron expression" in " ".join(done.stderr.split())
