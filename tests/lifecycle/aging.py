"""A store whose clock can be set, its workers, and short ways to let its memories grow old."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from app.db.memories import usage
from app.db.memories.usage import Revival, Use, revive
from app.features.lifecycle.runner import Counts, RunProgress, WorkerContext
from app.features.lifecycle.workers import WORKERS
from app.memory.candidate import WriteOutcome
from app.model import Memory
from tests.support.stores import Store

START = datetime(2026, 1, 5, 12, tzinfo=UTC)


@dataclass(slots=True)
class Clock:
    """What the store takes for the present."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now


@dataclass(slots=True, kw_only=True)
class Aging:
    """A store, its clock, and what its workers work with."""

    store: Store
    clock: Clock
    context: WorkerContext

    def pass_(self, days: float) -> datetime:
        self.clock.now += timedelta(days=days)
        return self.clock.now

    async def write(self, type_name: str, about: dict[str, Any] | None = None, **payload: Any) -> WriteOutcome:
        return await self.store.write(type_name, about=about, **payload)

    async def added(self, type_name: str, about: dict[str, Any] | None = None, **payload: Any) -> UUID:
        outcome = await self.write(type_name, about, **payload)
        assert outcome.memory is not None
        return outcome.memory.id

    async def memory(self, memory: UUID) -> Memory:
        return await self.store.memories.get(self.store.actor, memory)

    async def status(self, memory: UUID) -> str:
        [row] = await self.store.sql("SELECT status FROM memories WHERE id = $1", memory)
        [index] = await self.store.sql(
            "SELECT array_agg(DISTINCT status) FROM memory_index WHERE memory_id = $1", memory
        )
        assert index[0] == [row["status"]], "the index says the same"
        return str(row["status"])

    async def run(self, worker: str, *, dry_run: bool = False, job: UUID | None = None) -> Counts:
        async def told(_done: int, _total: int | None) -> None:
            return None

        progress = RunProgress(run=job or uuid4(), report=told)
        return await WORKERS[worker].run(self.context, self.store.tenant, dry_run=dry_run, progress=progress)

    async def use(self, memory: UUID, *, count: int = 1, session: str | None = None) -> None:
        use = Use(
            memory=memory,
            count=count,
            last=self.clock.now,
            sessions=() if session is None else (session,),
        )
        async with self.store.database.write(self.store.tenant) as opened:
            await usage.record(opened, tenant=self.store.tenant, uses=[use])

    async def revive(self, *memories: UUID) -> list[Revival]:
        async with self.store.database.write(self.store.tenant) as session:
            return await revive(
                session, self.store.tenant, memories, now=self.clock.now, actor="tester", reason="accessed"
            )

    async def events(
        self, memory: UUID | None = None, *, but: tuple[str, ...] = ("memory.added", "memory.standing")
    ) -> list[asyncpg.Record]:
        return await self.store.sql(
            """SELECT action, memory_id, scope_id, actor, occurred_at, detail FROM audit_events
               WHERE tenant_id = $1 AND ($2::uuid IS NULL OR memory_id = $2) AND action <> ALL($3) ORDER BY id""",
            self.store.tenant,
            memory,
            list(but),
        )


def aging(store: Store) -> Aging:
    """Return the store with a clock of its own."""
    clock = Clock()
    pipeline = replace(store.pipeline, clock=clock)
    store = replace(store, pipeline=pipeline)
    context = WorkerContext(
        database=store.database,
        clock=clock,
        embedder=pipeline.embedder,
        model_id=1,
        language="english",
        types=store.types,
        writing=store.pipeline,
    )
    return Aging(store=store, clock=clock, context=context)
