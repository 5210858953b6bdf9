"""The service and its worker killed again and again while turns come in: nothing acknowledged is lost or doubled."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import httpx
import pytest

from tests.commands.program import ROOT, Output, Served, environment
from tests.support.forked import ForkedProgram
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.long

KEY = "tm_key_of_the_fault_tests_0123456789abcdefghij"
KILLS = 20
TURNS = 1_000
USERS = 7
MOST_PARKED = 5
SETTLED_SECONDS = 180.0

CITIES = ("Berlin", "Lisbon", "Oslo", "Turin", "Ghent", "Porto", "Graz", "Bergen")
TRADES = ("baker", "carpenter", "nurse", "pilot", "teacher", "lawyer", "plumber", "chemist")


@dataclass(slots=True)
class Load:
    """Turns that were sent, and those whose receipt was acknowledged."""

    sent: int = 0
    acknowledged: dict[str, str] = field(default_factory=dict)

    def bodies(self, count: int) -> list[dict[str, Any]]:
        """Return the next turns: each says something of its own that the rules can read."""
        made = []
        for _ in range(count):
            number = self.sent
            self.sent += 1
            city, trade = CITIES[number % len(CITIES)], TRADES[number // len(CITIES) % len(TRADES)]
            made.append({"content": f"My colleague Person{number} works as a {trade} and lives in {city}."})
        return made


@contextmanager
def worker(settings: dict[str, str]) -> Iterator[ForkedProgram]:
    """Run a worker of its own; it is killed at the end if it still runs."""
    process = ForkedProgram(["worker"], folder=ROOT, env=environment(**settings))
    Output(process.stdout, process.stderr)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def post(client: httpx.AsyncClient, url: str, load: Load, size: int, place: int) -> None:
    """Send turns of one user until the service goes away."""
    while load.sent < TURNS:
        bodies = load.bodies(size)
        asked = {"user_id": f"user-{place % USERS}", "session_id": f"s-{place}", "turns": bodies}
        try:
            answer = await client.post(f"{url}/turns", json=asked)
        except httpx.HTTPError:
            return
        if answer.status_code == 202:
            told = answer.json()["turns"]
            load.acknowledged |= {one["id"]: body["content"] for one, body in zip(told, bodies, strict=True)}


async def round_of_load(url: str, load: Load, seconds: float, chance: random.Random) -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    async with httpx.AsyncClient(headers=headers, timeout=10, trust_env=False) as client:
        senders = [asyncio.create_task(post(client, url, load, chance.choice((1, 2, 5)), place)) for place in range(6)]
        await asyncio.sleep(seconds)
        for one in senders:
            one.cancel()
        await asyncio.gather(*senders, return_exceptions=True)


async def settled(connection: asyncpg.Connection[Any]) -> None:
    """Wait until no job is under way."""
    deadline = time.monotonic() + SETTLED_SECONDS
    while True:
        open_jobs = await connection.fetchval("SELECT count(*) FROM jobs WHERE status IN ('queued', 'running')")
        if open_jobs == 0:
            return
        assert time.monotonic() < deadline, f"{open_jobs} jobs are still open"
        await asyncio.sleep(0.25)


@pytest.mark.timeout(600)
async def test_twenty_kills_lose_nothing_and_double_nothing(fresh_database_url: str) -> None:
    chance = random.Random(7)  # noqa: S311
    load = Load()
    settings = {"TM_DATABASE_URL": fresh_database_url, "TM_BOOTSTRAP_KEY": KEY, "TM_WORKER_PATIENCE": "3"}
    for number in range(KILLS):
        with Served(**settings) as served, worker(settings) as process:
            await round_of_load(served.url, load, chance.uniform(0.3, 1.2), chance)
            for victim in (served.process, process) if number % 2 else (process, served.process):
                victim.send_signal(signal.SIGKILL)
                await asyncio.sleep(chance.uniform(0, 0.2))
            served.wait()
    with Served(**settings) as served:
        while load.sent < TURNS:
            await round_of_load(served.url, load, 5.0, chance)
        connection = await asyncpg.connect(fresh_database_url)
        try:
            await settled(connection)
            if await retried(served.url):
                await settled(connection)
            await check(connection, load)
        finally:
            await connection.close()


async def retried(url: str) -> int:
    """Try again, as an operator would, the jobs that lost so many workers that they look like the cause."""
    headers = {"Authorization": f"Bearer {KEY}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, trust_env=False, timeout=PATIENCE) as client:
        failed = (await client.get("/jobs", params={"all": True, "status": "failed", "limit": 200})).json()["jobs"]
        for one in failed:
            assert "its worker died" in one["error"]
            assert (await client.post(f"/jobs/{one['id']}/retry")).status_code == 200
    assert len(failed) <= MOST_PARKED
    return len(failed)


async def check(connection: asyncpg.Connection[Any], load: Load) -> None:
    """Hold the store to what was acknowledged."""
    stored = {f"turn_{row['id'].hex}": row for row in await connection.fetch("SELECT id, content, status FROM turns")}
    assert len(load.acknowledged) > TURNS / 2
    assert load.acknowledged.keys() <= stored.keys()
    failed = await connection.fetch("SELECT error, attempts, interrupted FROM jobs WHERE status <> 'succeeded'")
    assert {row["status"] for row in stored.values()} == {"processed"}, [dict(row) for row in failed]

    said: dict[str, list[str]] = {}
    for row in await connection.fetch(
        "SELECT e.turn_id, m.type FROM evidence e JOIN memories m USING (tenant_id) WHERE m.id = e.memory_id"
    ):
        said.setdefault(f"turn_{row['turn_id'].hex}", []).append(row["type"])
    assert said.keys() == stored.keys(), "every turn left memories, and no memory is of an unknown turn"
    shapes = {tuple(sorted(types)) for types in said.values()}
    assert len(shapes) == 1, f"turns of one shape left memories of different shapes: {shapes}"
    assert next(iter(shapes)).count("episodic") == 1

    for what, query in ORPHANS.items():
        assert await connection.fetchval(query) == 0, what


ORPHANS = {
    "memories without an index row": """
        SELECT count(*) FROM memories m WHERE NOT EXISTS (
            SELECT FROM memory_index i WHERE i.tenant_id = m.tenant_id AND i.memory_id = m.id)""",
    "index rows without a memory": """
        SELECT count(*) FROM memory_index i WHERE NOT EXISTS (
            SELECT FROM memories m WHERE m.tenant_id = i.tenant_id AND m.id = i.memory_id)""",
    "memories without evidence": """
        SELECT count(*) FROM memories m WHERE NOT EXISTS (
            SELECT FROM evidence e WHERE e.tenant_id = m.tenant_id AND e.memory_id = m.id)""",
    "memories that were not recorded as added exactly once": """
        SELECT count(*) FROM (
            SELECT m.id FROM memories m LEFT JOIN audit_events a
                ON a.tenant_id = m.tenant_id AND a.memory_id = m.id AND a.action = 'memory.added'
            GROUP BY m.id HAVING count(a.id) <> 1) odd""",
    "the same statement of a turn twice": """
        SELECT count(*) FROM (
            SELECT 1 FROM evidence WHERE turn_id IS NOT NULL
            GROUP BY turn_id, statement HAVING count(*) > 1) doubled""",
    "memories counted otherwise than they are": """
        SELECT count(*) FROM scopes s WHERE memory_count <> (
            SELECT count(*) FROM memories m WHERE m.tenant_id = s.tenant_id AND m.scope_id = s.id)""",
    "turns counted otherwise than they are": """
        SELECT (SELECT sum(turns) FROM extraction_costs) - (SELECT count(*) FROM turns)""",
}
