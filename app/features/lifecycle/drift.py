"""Daily worker that marks slots that change too often, and compares the store's mix with the month before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice
from uuid import UUID

from app.db.audit import AuditWriter, append
from app.db.memories import listing
from app.db.session import Database, WriteSession
from app.features.lifecycle.runner import Counts, RunProgress, WorkerContext
from app.features.lifecycle.sql import drift
from app.features.lifecycle.sql.drift import DailyCounts, Slot, TurnCounts, VolatileSlot
from app.memory import drift as memory_drift
from app.memory.audit import AuditAction
from app.memory.drift import BEFORE_DAYS, FLIP_DAYS, FLIPS, RECENT_DAYS, DayRow
from app.memory.extraction import TurnStatus

KEPT_DAYS = 100
"""Days for which daily rows are kept."""

MOST_REASONS = 20
"""Most reasons of a kind that are counted separately on a day; the rarer ones are `other`."""

BATCH = 500
"""Memories that are marked in one transaction."""

ACTOR = "worker:drift"

OTHER = "other"

_LOOKED_BACK = RECENT_DAYS + BEFORE_DAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class _Surveyed:
    """The result of one pass through the memories."""

    counts: Counter[tuple[date | None, str, str]]
    flips: Counter[Slot]
    marked: list[VolatileSlot]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Detects drift of a tenant's store, by one pass through its memories in short transactions without locks."""

    database: Database
    clock: Callable[[], datetime]

    async def run(self, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
        """Mark volatile slots, unmark stable ones, store the counts of past days, and return the counts of the run.

        A day is counted once, after its end; a repeated run on the same day renews only the present counts.
        """
        now = self.clock()
        days = await self._uncounted(tenant, now)
        surveyed = await self._survey(tenant, days, now, progress)
        volatile = {slot: count for slot, count in surveyed.flips.items() if count >= FLIPS}
        calm = [one.id for one in surveyed.marked if not one.holds or one.slot not in volatile]
        rows = await self._rows(tenant, surveyed, days, now)
        counts: dict[str, int] = {"days": len(days), "volatile_slots": len(volatile)}
        if dry_run:
            return counts
        counts["marked"] = await self._mark(tenant, volatile, now)
        counts["settled"] = await self._settle(tenant, calm, now)
        oldest = now.date() - timedelta(days=KEPT_DAYS)
        async with self.database.write(tenant) as session:
            await drift.store_day(session, tenant, rows, days=days, oldest=oldest, now=now)
        return {**counts, "shifts": len(await self.shifts(tenant, now))}

    async def shifts(self, tenant: UUID, now: datetime) -> list[memory_drift.Shift]:
        """Return the shifts, from the stored daily rows."""
        async with self.database.read(tenant) as session:
            rows = await drift.read_days(session, tenant, now.date() - timedelta(days=_LOOKED_BACK))
        return memory_drift.shifts((row for row, _ in rows), now.date())

    async def _uncounted(self, tenant: UUID, now: datetime) -> list[date]:
        """Return the past days that were not counted, within the period of comparison."""
        first = now.date() - timedelta(days=_LOOKED_BACK)
        async with self.database.read(tenant) as session:
            done = await drift.read_counted_days(session, tenant, first)
        every = (first + timedelta(days=place) for place in range(_LOOKED_BACK))
        return [day for day in every if day not in done]

    async def _survey(self, tenant: UUID, days: Sequence[date], now: datetime, progress: RunProgress) -> _Surveyed:
        found = _Surveyed(counts=Counter(), flips=Counter(), marked=[])
        since, done = now - timedelta(days=FLIP_DAYS), 0
        async for page in listing.pages(self.database, tenant):
            async with self.database.read(tenant) as session:
                for one in await drift.page(session, tenant, page, days=days, now=now):
                    found.counts[one.day, one.kind, one.name] += one.count
                found.flips.update(await drift.flips(session, tenant, page, since=since, now=now))
                found.marked.extend(await drift.read_marked(session, tenant, page))
            done += 1
            await progress(done)
        return found

    async def _rows(self, tenant: UUID, surveyed: _Surveyed, days: Sequence[date], now: datetime) -> list[DayRow]:
        heard: list[TurnCounts] = []
        decided: list[TurnCounts] = []
        async with self.database.read(tenant) as session:
            for entity in await drift.entities(session, tenant):
                surveyed.counts[None, entity.kind, entity.name] += entity.count
            if days:
                since, until = drift.midnight(days[0]), drift.midnight(days[-1] + timedelta(days=1))
                heard = await drift.turns(session, tenant, since, until)
                decided = await drift.decisions(session, tenant, since, until)
        counted = [
            DailyCounts(day=day, kind=kind, name=name, count=n) for (day, kind, name), n in surveyed.counts.items()
        ]
        return [
            *stock(counted, now.date()),
            *recorded(counted),
            *of_turns([one for one in heard if one.day in set(days)]),
            *of_writes([one for one in decided if one.day in set(days)]),
            *(DayRow(day=day, kind=drift.DONE, name="", count=0, total=0) for day in days),
        ]

    async def _mark(self, tenant: UUID, volatile: Mapping[Slot, int], now: datetime) -> int:
        done, left = 0, iter(sorted(volatile.items()))
        while batch := dict(islice(left, BATCH)):
            async with self.database.write(tenant) as session:
                marked = await drift.mark(session, tenant, batch, days=FLIP_DAYS, now=now)
                told = [
                    (memory, scope, {"flips": flips, "days": FLIP_DAYS, "factor": memory_drift.DEMOTION})
                    for memory, scope, flips in marked
                ]
                await _record(session, tenant, AuditAction.MEMORY_VOLATILE, told, now)
            done += len(marked)
        return done

    async def _settle(self, tenant: UUID, calm: Sequence[UUID], now: datetime) -> int:
        done, left = 0, iter(calm)
        while batch := list(islice(left, BATCH)):
            async with self.database.write(tenant) as session:
                settled = await drift.clear_mark(session, tenant, batch, now=now)
                told = [(memory, scope, {"days": FLIP_DAYS}) for memory, scope in settled]
                await _record(session, tenant, AuditAction.MEMORY_SETTLED, told, now)
            done += len(settled)
        return done


async def _record(
    session: WriteSession,
    tenant: UUID,
    action: AuditAction,
    told: Iterable[tuple[UUID, UUID, Mapping[str, object]]],
    now: datetime,
) -> None:
    events = [
        AuditWriter(tenant=tenant, actor=ACTOR, at=now, scope=scope).event(action, detail, memory=memory)
        for memory, scope, detail in told
    ]
    await append(session, events)


def stock(counted: Iterable[DailyCounts], today: date) -> list[DayRow]:
    """Return the daily rows of the present memories."""
    found = [one for one in counted if one.day is None]
    totals = Counter[str]()
    for one in found:
        totals[one.kind] += one.count
    return [DayRow(day=today, kind=one.kind, name=one.name, count=one.count, total=totals[one.kind]) for one in found]


def recorded(counted: Iterable[DailyCounts]) -> list[DayRow]:
    """Return the daily rows of recorded memories: types, and sums for means of confidence."""
    found = [(one.day, one) for one in counted if one.day is not None]
    totals = Counter[date]()
    for day, one in found:
        if one.kind == "type":
            totals[day] += one.count
    return [DayRow(day=day, kind=one.kind, name=one.name, count=one.count, total=totals[day]) for day, one in found]


def of_turns(heard: Iterable[TurnCounts]) -> list[DayRow]:
    """Return the daily rows of turns: by status, and skipped ones by reason."""
    heard = list(heard)
    totals = _totals(heard)
    return [
        *_rows("turn", _added((one.day, one.status, one.count) for one in heard), totals),
        *_rows(
            "skipped",
            _rarest_together(
                (one.day, one.reason or OTHER, one.count) for one in heard if one.status == TurnStatus.SKIPPED
            ),
            totals,
        ),
    ]


def of_writes(decided: Iterable[TurnCounts]) -> list[DayRow]:
    """Return the daily rows of writes: by decision, and rejected ones by reason."""
    decided = list(decided)
    totals = _totals(one for one in decided if one.status != "contradicted")
    reasons = ((one.day, one.reason or OTHER, one.count) for one in decided if one.status == "rejected")
    return [
        *_rows("decision", _added((one.day, one.status, one.count) for one in decided), totals),
        *_rows("rejected", _rarest_together(reasons), totals),
    ]


FieldShare = Counter[tuple[date, str]]


def _totals(heard: Iterable[TurnCounts]) -> Counter[date]:
    totals = Counter[date]()
    for one in heard:
        totals[one.day] += one.count
    return totals


def _added(counted: Iterable[tuple[date, str, int]]) -> FieldShare:
    found: FieldShare = Counter()
    for day, name, count in counted:
        found[day, name] += count
    return found


def _rarest_together(counted: Iterable[tuple[date, str, int]]) -> FieldShare:
    """Return the counts with the rarest names summed up as `other`."""
    found = _added(counted)
    names = Counter[str]()
    for (_, name), count in found.items():
        names[name] += count
    common = {name for name, _ in sorted(names.items(), key=lambda one: (-one[1], one[0]))[:MOST_REASONS]}
    return _added((day, name if name in common else OTHER, count) for (day, name), count in found.items())


def _rows(kind: str, counts: FieldShare, totals: Mapping[date, int]) -> list[DayRow]:
    """Return the rows of a kind. Each day has a total, so that days without a name count as zero."""
    rows = [
        DayRow(day=day, kind=kind, name=name, count=count, total=totals[day])
        for (day, name), count in sorted(counts.items())
    ]
    named = {row.day for row in rows}
    return rows + [
        DayRow(day=day, kind=kind, name=OTHER, count=0, total=total)
        for day, total in totals.items()
        if day not in named
    ]


async def run(context: WorkerContext, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
    """Run the detection and return the numbers of counted days, volatile slots, and shifts."""
    return await Drift(database=context.database, clock=context.clock).run(tenant, dry_run=dry_run, progress=progress)
