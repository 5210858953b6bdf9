"""What the store's workers cost: memories a second, the longest transaction, and what a question feels of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import cast
from uuid import UUID, uuid4

from app.db.session import Database, ReadSession, WriteSession
from app.features.lifecycle.runner import RunProgress, Worker, WorkerContext
from app.features.lifecycle.workers import WORKERS
from app.write.pipeline import WritePipeline
from bench.asking import post, questions
from bench.client import load
from bench.figures import Book, Spread
from bench.fill import LANGUAGE, MODEL
from bench.stage import Stage, seed_of
from bench.world import key_of, tenant_id

SCOPE = 5_000
"""Memories of each scope: a user's; all vectors of such a one are compared, none is in the index."""

_AGED = """
    UPDATE memories SET half_life_days = 30, floor = 0, stated_at = now() - CASE WHEN part < 10
            THEN interval '200 days' ELSE interval '1 hour' END,
        valid_until = CASE WHEN part BETWEEN 10 AND 11 THEN now() - interval '1 minute' END,
        valid_from = now() - interval '300 days',
        confidence = CASE WHEN part BETWEEN 12 AND 13 THEN .3 ELSE confidence END,
        status = CASE WHEN part BETWEEN 12 AND 13 THEN 'expired' ELSE 'active' END,
        slot = NULL, contested = false, superseded_by = NULL, supersedes = NULL, ended_at = NULL, retired_at = NULL,
        updated_at = now() - interval '100 days',
        status_since = CASE WHEN part BETWEEN 12 AND 13 THEN now() - interval '100 days' END
    FROM (SELECT id AS aged, row_number() OVER (ORDER BY id) % 100 AS part FROM memories) given WHERE id = aged
"""
"""Of a hundred: ten have faded, two have ended, two are to be forgotten."""

_IN_STEP = """
    UPDATE memory_index i SET status = m.status, confidence = m.confidence, valid_until = m.valid_until,
        valid_from = m.valid_from, stated_at = m.stated_at, ended_at = m.ended_at, retired_at = m.retired_at
    FROM memories m WHERE m.tenant_id = i.tenant_id AND m.id = i.memory_id
"""


@dataclass(slots=True)
class Timed:
    """A database that remembers how long its longest transaction took, in seconds."""

    database: Database
    longest: float = 0.0

    def read(self, tenant: UUID | None, **local: str) -> AbstractAsyncContextManager[ReadSession]:
        """Open a read-only transaction."""
        return self.database.read(tenant, **local)

    @asynccontextmanager
    async def write(self, tenant: UUID | None, **local: str) -> AsyncIterator[WriteSession]:
        """Open a transaction, and time it to its end."""
        began = perf_counter()
        async with self.database.write(tenant, **local) as session:
            yield session
        self.longest = max(self.longest, perf_counter() - began)


async def workers(stage: Stage, book: Book) -> None:
    """Measure freshness beside questions, then validity and gc alone."""
    users = [f"aging-{number}" for number in range(max(1, stage.sizes.aging // SCOPE))]
    await stage.have_tenants((0,))
    await stage.have_users(dict.fromkeys(users, SCOPE))
    memories = await _aged(stage)
    known, database = WORKERS, Database(stage.world.url, pool_size=2)
    try:
        alone = await question_times(stage, users[0])
        rows, beside = [], list[Spread]()
        running = asyncio.create_task(_ran(stage, known["freshness"], database, memories))
        while not running.done():
            beside.append(await question_times(stage, users[0]))
        rows.append(await running)
        rows += [await _ran(stage, known[name], database, memories) for name in ("validity", "gc")]
    finally:
        await database.close()
    felt = Spread.joined(beside)
    note = f"{memories:,} memories in scopes of {SCOPE:,}. Freshness ran beside questions, the others alone."
    columns = ("worker", "changed", "seconds", "memories a second", "changed a second", "longest transaction ms")
    book.table("Workers", columns, rows, note)
    asked = [("without", "1", *alone.cells()), ("beside the freshness worker", "1", *felt.cells())]
    book.table("POST /query beside a worker", ("what", "clients", "p50 ms", "p95 ms", "p99 ms", "a second"), asked)
    book.check("/query p95 beside a running worker over without", felt.p95 / alone.p95, "<=", 2.5)


async def _aged(stage: Stage) -> int:
    """Make the memories old, past the guard of their status; return how many there are."""
    owner = stage.world.owner
    stage.progress("let the memories grow old", 0, 0)
    async with owner.transaction():
        await owner.execute("SET LOCAL session_replication_role = replica")
        await owner.execute(_AGED)
        await owner.execute(_IN_STEP)
    await owner.execute("VACUUM (ANALYZE)")
    return int(await owner.fetchval("SELECT count(*) FROM memories"))


async def question_times(stage: Stage, user: str) -> Spread:
    """Return the times of questions to a user of the main tenant, by one client."""
    asked = questions(seed_of(0, user), SCOPE, stage.sizes.questions)
    posts = [post(one, user, key_of(0)) for one in asked]
    return await load(stage.service.port, posts, clients=1, count=stage.sizes.requests, seconds=stage.sizes.seconds)


async def _ran(stage: Stage, worker: Worker, database: Database, memories: int) -> tuple[str, ...]:
    timed = Timed(database)
    context = WorkerContext(
        database=cast("Database", timed),
        clock=lambda: datetime.now(UTC),
        embedder=stage.world.embedder,
        model_id=MODEL,
        language=LANGUAGE,
        types=stage.filler.types,
        writing=cast("WritePipeline", None),
    )

    async def told(done: int, _total: int | None) -> None:
        stage.progress(f"worker {worker.name}", min(done, memories), memories)

    began = perf_counter()
    counts = await worker.run(context, tenant_id(0), dry_run=False, progress=RunProgress(run=uuid4(), report=told))
    seconds, changed = perf_counter() - began, sum(counts.values())
    return (
        worker.name,
        f"{changed:,}",
        f"{seconds:.2f}",
        f"{memories / seconds:,.0f}",
        f"{changed / seconds:,.0f}",
        f"{timed.longest * 1000:.0f}",
    )
