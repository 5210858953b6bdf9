"""A worker of the store killed in the middle of its batches: it goes on where it was, and nothing is done twice."""

from __future__ import annotations

import asyncio
import signal
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from app.db import jobs
from app.db.session import Database
from tests.faults.test_killed_under_load import worker
from tests.support.forked import ForkedProgram

pytestmark = pytest.mark.long

DUE = 12_000
OTHERS = 3_000
KILLS = 4
"""One more and the job would be parked, as the likely cause."""

WAIT_SECONDS = 120.0

FILL = """
WITH made AS (
    SELECT gen_random_uuid() AS id, number <= $3::int AS due FROM generate_series(1, $3::int + $4::int) number
), stored AS (
    INSERT INTO memories (tenant_id, id, scope_id, type, category, status, content, identity, source_strength,
        extractor_confidence, prior, confidence, importance, half_life_days, stated_at, valid_from, recorded_at,
        updated_at)
    SELECT $1, id, $2, 'event', 'episodic', 'active', 'says ' || id, decode(md5(id::text), 'hex'), .5, .5, .1, .5, .5,
        CASE WHEN due THEN 30 END, now() - interval '200 days', now() - interval '200 days', now(), now()
    FROM made RETURNING id
)
INSERT INTO memory_index (tenant_id, memory_id, part, kind, scope_id, type, status, confidence, valid_from,
    recorded_at, stated_at, words, asks, model_id, embedding)
SELECT $1, id, 0, 'both', $2, 'event', 'active', .5, now(), now(), now(), 2, false, 1, '[1,0,0]' FROM made
"""

IN_A_BATCH = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'
    AND query ~ 'UPDATE memor(ies m|y_index) SET'
"""


async def until(connection: asyncpg.Connection[Any], query: str, *arguments: object) -> None:
    """Wait until a query counts something."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not await connection.fetchval(query, *arguments):  # noqa: ASYNC110 - it is in a database
            await asyncio.sleep(0.005)


async def started(connection: asyncpg.Connection[Any], url: str) -> tuple[UUID, UUID]:
    """Fill a tenant with memories and queue the run; return the tenant and the job."""
    await until(connection, "SELECT count(*) FROM embedding_models")
    await until(connection, "SELECT count(*) FROM tenants")
    tenant = await connection.fetchval("SELECT id FROM tenants")
    scope = await connection.fetchval(
        "INSERT INTO scopes (tenant_id, id, kind) VALUES ($1, gen_random_uuid(), 'global') RETURNING id", tenant
    )
    await connection.execute(FILL, tenant, scope, DUE, OTHERS)
    database = Database(url)
    async with database.write(tenant) as session:
        job, _ = await jobs.enqueue_only_one(
            session,
            tenant=tenant,
            kind="worker",
            key="worker:freshness",
            payload={"worker": "freshness", "dry_run": False},
            now=datetime.now(UTC),
        )
    await database.close()
    return tenant, job.id


@pytest.mark.timeout(400)
async def test_killed_in_its_batches_it_skips_none_and_repeats_none(fresh_database_url: str) -> None:
    settings = {"TM_DATABASE_URL": fresh_database_url, "TM_WORKER_PATIENCE": "2"}
    connection = await asyncpg.connect(fresh_database_url)
    try:
        with worker(settings) as process:
            tenant, job = await started(connection, fresh_database_url)
            await killed(connection, process)
        done = [await connection.fetchval("SELECT count(*) FROM memories WHERE status = 'expired'")]
        for _ in range(KILLS - 1):
            with worker(settings) as process:
                await killed(connection, process)
            done.append(await connection.fetchval("SELECT count(*) FROM memories WHERE status = 'expired'"))
        assert done == sorted(done)
        assert done[-1] < DUE, "it was cut off before its end"
        with worker(settings):
            await until(connection, "SELECT count(*) FROM jobs WHERE id = $1 AND finished_at IS NOT NULL", job)
        await check(connection, tenant, job)
    finally:
        await connection.close()


async def killed(connection: asyncpg.Connection[Any], process: ForkedProgram) -> None:
    """Kill a worker while it changes memories."""
    before = await connection.fetchval("SELECT count(*) FROM memories WHERE status = 'expired'")
    await until(connection, "SELECT count(*) > $1 + 500 FROM memories WHERE status = 'expired'", before)
    await until(connection, IN_A_BATCH)
    process.send_signal(signal.SIGKILL)
    process.wait()


async def check(connection: asyncpg.Connection[Any], tenant: UUID, job: UUID) -> None:
    found = await connection.fetchrow("SELECT * FROM jobs WHERE id = $1", job)
    assert (found["status"], found["interrupted"]) == ("succeeded", KILLS)
    run = await connection.fetchrow("SELECT counts, ended_at FROM worker_runs WHERE tenant_id = $1", tenant)
    assert run["counts"] == f'{{"expired": {DUE}}}', "what was counted before a kill is counted once"
    for what, query, expected in (
        ("expired", "SELECT count(*) FROM memories WHERE status = 'expired' AND half_life_days = 30", DUE),
        ("left alone", "SELECT count(*) FROM memories WHERE status = 'active' AND half_life_days IS NULL", OTHERS),
        ("told", "SELECT count(*) FROM audit_events WHERE action = 'memory.expired'", DUE),
        ("told of", "SELECT count(DISTINCT memory_id) FROM audit_events WHERE action = 'memory.expired'", DUE),
        (
            "out of step",
            "SELECT count(*) FROM memories m JOIN memory_index i ON i.memory_id = m.id WHERE i.status <> m.status",
            0,
        ),
    ):
        assert await connection.fetchval(query) == expected, what
