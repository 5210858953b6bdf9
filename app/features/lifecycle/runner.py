"""Lifecycle workers: their interface, their runs in batches with checkpoints, and requests for runs.

Each batch is a short transaction that also moves the run's checkpoint, so a kill loses one batch at most.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from croniter import croniter

from app.db import jobs
from app.db.jobs import Job
from app.db.recounts import BatchResult
from app.db.session import Database, ReadSession, WriteSession
from app.errors import ConfigurationError, Conflict, NotFound
from app.features.lifecycle.sql import runs
from app.features.lifecycle.sql.runs import LatestRun
from app.features.lifecycle.sql.sweeps import Sweep
from app.memory.registry import Types
from app.providers.embeddings import Embedder
from app.providers.model_tasks import Summariser
from app.write.pipeline import WritePipeline

Counts = Mapping[str, int]
"""The result of a run: counts under plain names such as `expired`."""

ReportProgress = Callable[[int, int | None], Awaitable[None]]

KIND = "worker"
"""The kind of the jobs that run workers."""

OFF = "off"
"""Stands in place of a cron expression: the worker runs only on request."""

_CRON_FIELDS = 5

Observe = Callable[[str, str, Counts, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerContext:
    """The dependencies of workers. Every decision uses `clock`; `forgotten_days` is the wait before a purge.

    `summariser` is None without a language model.
    """

    database: Database
    clock: Callable[[], datetime]
    embedder: Embedder
    model_id: int
    language: str
    types: Types
    writing: WritePipeline
    forgotten_days: float = 30.0
    summariser: Summariser | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """Reports the progress of a run; each report is also a checkpoint at which the run can be stopped.

    `run` is the id of the job, the same in every attempt: checkpoints are stored under it.
    """

    run: UUID
    report: ReportProgress

    async def __call__(self, done: int, total: int | None = None) -> None:
        """Report progress. It may raise to end the run here; callers let that pass."""
        await self.report(done, total)


class Run(Protocol):
    """The function of a worker."""

    async def __call__(self, context: WorkerContext, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
        """Run the worker for one tenant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A task on each tenant's memories, run at the times of a cron expression (five fields, UTC).

    `run(context, tenant, dry_run=, progress=)` works in short transactions and returns its counts. It may run more than
    once, so repeating it must change nothing. With `dry_run` it changes nothing at all and returns the counts that a
    run would return. `summary` is a sentence for people.
    """

    name: str
    cron: str
    summary: str
    run: Run


FIRST = UUID(int=0)
"""The id before every id."""

TRIES = 5
"""Attempts at a batch that other transactions' locks block."""


class SelectBatch(Protocol):
    """Counts the rows that `ApplyBatch` would change, in a read-only transaction."""

    async def __call__(self, session: ReadSession, *, tenant: UUID, now: datetime, after: UUID) -> BatchResult:
        """Return the result of the next batch after an id."""


class ApplyBatch(Protocol):
    """Changes a batch in the transaction that moves the checkpoint; repeating it changes nothing."""

    async def __call__(self, session: WriteSession, *, tenant: UUID, now: datetime, after: UUID) -> BatchResult:
        """Change the next batch after an id and return its result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStage:
    """One pass through rows in the order of their ids."""

    name: str
    look: SelectBatch
    do: ApplyBatch


def sweeping(worker: str, sweep: Sweep) -> Run:
    """Return the function of a worker whose one stage is the sweep; it returns how many memories changed."""

    async def run(context: WorkerContext, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
        stages = (WorkerStage(name=sweep.counted, look=sweep.look, do=sweep),)
        return await run_stages(context, tenant, worker, stages, dry_run=dry_run, progress=progress)

    return run


class StaleWorkerRun(Conflict):
    """Another worker has taken over the run and is past this batch already."""


@dataclass(slots=True, kw_only=True)
class Place:
    """The position of a run: the stage, the last id in it, and the counts so far."""

    context: WorkerContext
    tenant: UUID
    worker: str
    progress: RunProgress
    cursor: Mapping[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    seen: int = 0

    @classmethod
    async def of(cls, context: WorkerContext, tenant: UUID, worker: str, progress: RunProgress) -> Place:
        """Return the position where the run of a job begins or continues."""
        async with context.database.write(tenant) as session:
            found = await runs.begin(session, tenant, worker, progress.run, context.clock())
        return cls(
            context=context,
            tenant=tenant,
            worker=worker,
            progress=progress,
            cursor=dict(found.cursor),
            counts=Counter(found.counts),
        )

    def after(self, stage: str, stages: Sequence[str]) -> UUID | None:
        """Return the id after which a stage continues; None when the run is past it."""
        if not self.cursor or stages.index(stage) > stages.index(self.cursor["stage"]):
            return FIRST
        if stage != self.cursor["stage"]:
            return None
        return UUID(self.cursor["after"]) if self.cursor["after"] else None

    async def step(self, stage: str, work: Callable[[WriteSession], Awaitable[BatchResult]]) -> UUID | None:
        """Apply a batch and move the checkpoint, in one transaction; return the id to continue after, None at the end.

        A batch that other locks blocked is retried. Raises StaleWorkerRun, and whatever `progress` raises.
        """
        for attempt in range(TRIES):
            try:
                batch, cursor, counts = await self._move(stage, work)
                break
            except StaleWorkerRun:
                raise
            except Conflict:
                if attempt == TRIES - 1:
                    raise
                await asyncio.sleep(0.1 * 2**attempt)
        self.cursor, self.counts = cursor, counts
        self.seen += batch.seen
        await self.progress(self.seen)
        return batch.last

    async def _move(
        self, stage: str, work: Callable[[WriteSession], Awaitable[BatchResult]]
    ) -> tuple[BatchResult, Mapping[str, str], Counter[str]]:
        async with self.context.database.write(self.tenant) as session:
            batch = await work(session)
            cursor = {"stage": stage, "after": str(batch.last or "")}
            counts = Counter({**self.counts})
            counts.update(batch.counts)
            if not await runs.advance(
                session,
                self.tenant,
                self.worker,
                self.progress.run,
                before=self.cursor,
                after=cursor,
                counts=counts,
            ):
                raise StaleWorkerRun(f"another worker goes on with this run of {self.worker}")
        return batch, cursor, counts


async def run_stages(
    context: WorkerContext,
    tenant: UUID,
    worker: str,
    stages: Sequence[WorkerStage],
    *,
    dry_run: bool,
    progress: RunProgress,
) -> Counts:
    """Run stages one after another, batch by batch, and return their counts added up.

    A run that was interrupted continues after its last batch. Where two workers do the same run, because one was
    presumed dead, the slower one ends with a Conflict.
    """
    if dry_run:
        return await _dry_run(context, tenant, stages, progress)
    place = await Place.of(context, tenant, worker, progress)
    names = [one.name for one in stages]
    for stage in stages:
        after = place.after(stage.name, names)
        while after is not None:
            after = await place.step(stage.name, _bind_worker(stage, context, tenant, after))
    return place.counts


def _bind_worker(
    stage: WorkerStage, context: WorkerContext, tenant: UUID, after: UUID
) -> Callable[[WriteSession], Awaitable[BatchResult]]:
    async def work(session: WriteSession) -> BatchResult:
        return await stage.do(session, tenant=tenant, now=context.clock(), after=after)

    return work


async def _dry_run(
    context: WorkerContext, tenant: UUID, stages: Sequence[WorkerStage], progress: RunProgress
) -> Counts:
    counts, seen = Counter[str](), 0
    for stage in stages:
        after: UUID | None = FIRST
        while after is not None:
            async with context.database.read(tenant) as session:
                batch = await stage.look(session, tenant=tenant, now=context.clock(), after=after)
            counts.update(batch.counts)
            seen += batch.seen
            after = batch.last
            await progress(seen)
    return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStatus:
    """A worker, its schedule for all tenants (None: on request only), and its latest run for this tenant."""

    worker: Worker
    cron: str | None
    latest: LatestRun | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """The workers by name. `crons` override their own schedules; `observe` is called after every run."""

    database: Database
    clock: Callable[[], datetime]
    context: WorkerContext
    known: Mapping[str, Worker]
    crons: Mapping[str, str]
    observe: Observe = lambda _worker, _outcome, _counts, _seconds: None

    def named(self, name: str) -> Worker:
        """Return a worker, or raise NotFound."""
        if name not in self.known:
            raise NotFound(f"no such worker: {name[:80]!r}; there are {', '.join(sorted(self.known))}")
        return self.known[name]

    def cron(self, name: str) -> str | None:
        """Return the schedule of a worker as a cron expression; None when it runs on request only."""
        given = self.crons.get(name, self.known[name].cron)
        return None if given == OFF else given

    async def list(self, tenant: UUID) -> list[WorkerStatus]:
        """Return all workers in the order of their names, each with its latest run for the tenant."""
        async with self.database.read(tenant) as session:
            latest = {one.worker: one for one in await runs.latest(session, tenant)}
        return [
            WorkerStatus(worker=one, cron=self.cron(name), latest=latest.get(name))
            for name, one in sorted(self.known.items())
        ]

    async def start(self, tenant: UUID, name: str, *, dry_run: bool) -> tuple[Job, bool]:
        """Queue a run for the tenant; return its job, and whether it is new (else one is queued or running already).

        A dry run changes nothing, so it may be queued or run beside a real one.
        """
        self.named(name)
        key = f"{KIND}:{name}:dry" if dry_run else f"{KIND}:{name}"
        async with self.database.write(tenant) as session:
            return await jobs.enqueue_only_one(
                session,
                tenant=tenant,
                kind=KIND,
                key=key,
                payload={"worker": name, "dry_run": dry_run},
                now=self.clock(),
            )

    async def start_scheduled(self, tenant: UUID, name: str) -> None:
        """Queue a run for the tenant, unless the tenant has never written anything."""
        async with self.database.read(tenant) as session:
            empty = not await runs.has_written(session, tenant)
        if not empty:
            await self.start(tenant, name, dry_run=False)

    async def perform(self, tenant: UUID, job: UUID, payload: Mapping[str, object], report: ReportProgress) -> Counts:
        """Perform a run for the tenant, from the checkpoint of an interrupted attempt, and return its counts."""
        worker, dry_run = self.named(str(payload["worker"])), payload["dry_run"] is True
        began = time.monotonic()
        outcome, counts = "unfinished", dict[str, int]()
        try:
            if not dry_run:
                async with self.database.write(tenant) as session:
                    found = await runs.begin(session, tenant, worker.name, job, self.clock())
                if found.ended:  # its worker died before the job could say so
                    return found.counts
            progress = RunProgress(run=job, report=report)
            counts = dict(await worker.run(self.context, tenant, dry_run=dry_run, progress=progress))
            if not dry_run:
                async with self.database.write(tenant) as session:
                    await runs.end(session, tenant, worker.name, job, counts, self.clock())
            outcome = "dry_run" if dry_run else "done"
        finally:
            self.observe(worker.name, outcome, counts, time.monotonic() - began)
        return counts


def checked_crons(given: Mapping[str, str], known: Mapping[str, Worker]) -> Mapping[str, str]:
    """Return the schedules that were set for workers; raise ConfigurationError for a bad time or an unknown worker."""
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ConfigurationError(
            f"TM_WORKER_SCHEDULES: no such worker: {', '.join(unknown)}; there are {', '.join(sorted(known))}"
        )
    for name, cron in given.items():
        if cron != OFF and (len(cron.split()) != _CRON_FIELDS or not croniter.is_valid(cron)):
            raise ConfigurationError(
                f"TM_WORKER_SCHEDULES: {name}: {cron!r} is neither a cron expression of five fields, such as "
                f"'0 3 * * 0', nor {OFF!r}"
            )
    return given
