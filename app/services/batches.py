"""A worker's run in batches: each a short transaction that moves the run's checkpoint, so that a kill costs one."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from app.db import worker_runs
from app.db.lifecycle.sweep import Batch, Sweep
from app.db.session import ReadSession, WriteSession
from app.errors import Conflict
from app.services.workers.worker import Counts, Means, Progress, Run

FIRST = UUID(int=0)
"""Before every id."""

TRIES = 5
"""Of a batch that others' locks stood against."""


class Look(Protocol):
    """Says what `Do` would do, in a transaction that can only read."""

    async def __call__(self, session: ReadSession, *, tenant: UUID, now: datetime, after: UUID) -> Batch:
        """Look at the next rows behind an id."""


class Do(Protocol):
    """Does a batch in the transaction that moves the checkpoint. What it did once it finds done."""

    async def __call__(self, session: WriteSession, *, tenant: UUID, now: datetime, after: UUID) -> Batch:
        """Do the next rows behind an id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One pass through rows in the order of their ids."""

    name: str
    look: Look
    do: Do


def sweeping(worker: str, sweep: Sweep) -> Run:
    """Return what a worker does whose one stage is a sweep; it returns how many memories it was true of."""

    async def run(means: Means, tenant: UUID, *, dry_run: bool, progress: Progress) -> Counts:
        stages = (Stage(name=sweep.counted, look=sweep.look, do=sweep),)
        return await walk(means, tenant, worker, stages, dry_run=dry_run, progress=progress)

    return run


class Overtaken(Conflict):
    """Another worker, which took over the run, is past this place already."""


@dataclass(slots=True, kw_only=True)
class Place:
    """How far a run is: the stage, the last id in it, and what it has done so far."""

    means: Means
    tenant: UUID
    worker: str
    progress: Progress
    cursor: Mapping[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    seen: int = 0

    @classmethod
    async def of(cls, means: Means, tenant: UUID, worker: str, progress: Progress) -> Place:
        """Return where the run of a job begins, or goes on."""
        async with means.database.write(tenant) as session:
            found = await worker_runs.begin(session, tenant, worker, progress.run, means.clock())
        return cls(
            means=means,
            tenant=tenant,
            worker=worker,
            progress=progress,
            cursor=dict(found.cursor),
            counts=Counter(found.counts),
        )

    def after(self, stage: str, stages: Sequence[str]) -> UUID | None:
        """Return the id behind which a stage goes on; None when the run is past it."""
        if not self.cursor or stages.index(stage) > stages.index(self.cursor["stage"]):
            return FIRST
        if stage != self.cursor["stage"]:
            return None
        return UUID(self.cursor["after"]) if self.cursor["after"] else None

    async def step(self, stage: str, work: Callable[[WriteSession], Awaitable[Batch]]) -> UUID | None:
        """Do a batch and move on with it, in one transaction; return the id behind which to go on, if any.

        A batch that lost against others' locks is tried again. Raises Overtaken, and whatever `progress` raises.
        """
        for attempt in range(TRIES):
            try:
                batch, cursor, counts = await self._moved(stage, work)
                break
            except Overtaken:
                raise
            except Conflict:
                if attempt == TRIES - 1:
                    raise
                await asyncio.sleep(0.1 * 2**attempt)
        self.cursor, self.counts = cursor, counts
        self.seen += batch.seen
        await self.progress(self.seen)
        return batch.last

    async def _moved(
        self, stage: str, work: Callable[[WriteSession], Awaitable[Batch]]
    ) -> tuple[Batch, Mapping[str, str], Counter[str]]:
        async with self.means.database.write(self.tenant) as session:
            batch = await work(session)
            cursor = {"stage": stage, "after": str(batch.last or "")}
            counts = Counter({**self.counts})
            counts.update(batch.counts)
            if not await worker_runs.advance(
                session,
                self.tenant,
                self.worker,
                self.progress.run,
                before=self.cursor,
                after=cursor,
                counts=counts,
            ):
                raise Overtaken(f"another worker goes on with this run of {self.worker}")
        return batch, cursor, counts


async def walk(
    means: Means, tenant: UUID, worker: str, stages: Sequence[Stage], *, dry_run: bool, progress: Progress
) -> Counts:
    """Do the stages of a run one after another, batch by batch, and return what they came to together.

    A run that was cut off goes on behind its last batch. Where two workers do the same run, because one was
    presumed dead, the slower ends with a Conflict.
    """
    if dry_run:
        return await _foreseen(means, tenant, stages, progress)
    place = await Place.of(means, tenant, worker, progress)
    names = [one.name for one in stages]
    for stage in stages:
        after = place.after(stage.name, names)
        while after is not None:
            after = await place.step(stage.name, _bound(stage, means, tenant, after))
    return place.counts


def _bound(stage: Stage, means: Means, tenant: UUID, after: UUID) -> Callable[[WriteSession], Awaitable[Batch]]:
    async def work(session: WriteSession) -> Batch:
        return await stage.do(session, tenant=tenant, now=means.clock(), after=after)

    return work


async def _foreseen(means: Means, tenant: UUID, stages: Sequence[Stage], progress: Progress) -> Counts:
    counts, seen = Counter[str](), 0
    for stage in stages:
        after: UUID | None = FIRST
        while after is not None:
            async with means.database.read(tenant) as session:
                batch = await stage.look(session, tenant=tenant, now=means.clock(), after=after)
            counts.update(batch.counts)
            seen += batch.seen
            after = batch.last
            await progress(seen)
    return counts
