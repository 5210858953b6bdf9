"""A worker's run in batches: each a short transaction that moves the run's checkpoint, so that a kill costs one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from app.db import worker_runs
from app.db.session import ReadSession, WriteSession
from app.errors import Conflict
from app.services.workers.worker import Counts, Means, Progress

FIRST = UUID(int=0)
"""Before every id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What a batch came to: how many rows it looked at, what it did, and the last id; None: there are no more."""

    seen: int
    counts: Mapping[str, int]
    last: UUID | None


class Look(Protocol):
    """Says what `Do` would do, in a transaction that can only read."""

    async def __call__(self, session: ReadSession, *, tenant: UUID, now: datetime, after: UUID) -> Batch:
        """Look at the next rows behind an id."""


class Do(Protocol):
    """Does a batch in a transaction of its own. What it did once it finds done."""

    async def __call__(self, session: WriteSession, *, tenant: UUID, now: datetime, after: UUID) -> Batch:
        """Do the next rows behind an id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One pass through the rows, in the order of their ids."""

    name: str
    look: Look
    do: Do


async def walk(
    means: Means, tenant: UUID, worker: str, stages: Sequence[Stage], *, dry_run: bool, progress: Progress
) -> Counts:
    """Do the stages of a run one after another, batch by batch, and return what they came to together.

    A run that was cut off goes on behind its last batch, by the same instant that it began with: a batch and its
    checkpoint are one transaction. Where two workers do the same run, one of them ends with a Conflict.
    """
    if dry_run:
        return await _foreseen(means, tenant, stages, progress)
    async with means.database.write(tenant) as session:
        place = await worker_runs.begin(session, tenant, worker, progress.run, means.clock())
    counts, cursor = Counter(place.counts), dict(place.cursor)
    names = [one.name for one in stages]
    for number in range(names.index(cursor["stage"]) if cursor else 0, len(stages)):
        stage = stages[number]
        after: UUID | None = UUID(cursor["after"]) if cursor.get("stage") == stage.name else FIRST
        while after is not None:
            async with means.database.write(tenant) as session:
                batch = await stage.do(session, tenant=tenant, now=place.at, after=after)
                counts.update(batch.counts)
                counts["seen"] += batch.seen
                onwards = _behind(names, number, batch.last)
                if not await worker_runs.advance(
                    session, tenant, worker, progress.run, before=cursor, after=onwards, counts=counts
                ):
                    raise Conflict(f"another worker goes on with this run of {worker}")
            cursor, after = onwards, batch.last
            await progress(counts["seen"])
    return counts


def _behind(names: Sequence[str], number: int, last: UUID | None) -> dict[str, str]:
    """Return the place behind a batch; the last stage ends behind every id."""
    if last is not None:
        return {"stage": names[number], "after": str(last)}
    if number + 1 < len(names):
        return {"stage": names[number + 1], "after": str(FIRST)}
    return {"stage": names[number], "after": str(UUID(int=2**128 - 1))}


async def _foreseen(means: Means, tenant: UUID, stages: Sequence[Stage], progress: Progress) -> Counts:
    counts, now = Counter[str](), means.clock()
    for stage in stages:
        after: UUID | None = FIRST
        while after is not None:
            async with means.database.read(tenant) as session:
                batch = await stage.look(session, tenant=tenant, now=now, after=after)
            counts.update(batch.counts)
            counts["seen"] += batch.seen
            after = batch.last
            await progress(counts["seen"])
    return counts
