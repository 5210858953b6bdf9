"""Drift: slots that change too often are marked, and what a tenant's store is made of is kept for each day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice
from uuid import UUID

from app.db import store_days, survey, volatility
from app.db.audit import Ledger, append
from app.db.session import Database, WriteSession
from app.db.store_days import Counted, Heard
from app.db.volatility import Marked, Slot
from app.memory import drift
from app.memory.actions import Action
from app.memory.drift import BEFORE_DAYS, FLIP_DAYS, FLIPS, RECENT_DAYS, DayRow
from app.memory.extraction import TurnStatus
from app.services.workers.worker import Counts, Progress

KEPT_DAYS = 100
"""Days whose rows are kept."""

MOST_REASONS = 20
"""Reasons of a kind that are told apart on a day; the rarer ones are `other`."""

BATCH = 500
"""Memories that are marked in one transaction."""

ACTOR = "worker:drift"
OTHER = "other"

_LOOKED_BACK = RECENT_DAYS + BEFORE_DAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class _Surveyed:
    """What one pass through the memories found."""

    counts: Counter[tuple[date | None, str, str]]
    flips: Counter[Slot]
    marked: list[Marked]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Watches a tenant's store: one pass through its memories, some short transactions, no locks."""

    database: Database
    clock: Callable[[], datetime]

    async def run(self, tenant: UUID, *, dry_run: bool, progress: Progress) -> Counts:
        """Mark and settle slots, keep the rows of the days that are over, and return what was found.

        A day is counted once, when it is over; doing this again the same day renews only what there is now.
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
            await store_days.keep(session, tenant, rows, days=days, oldest=oldest, now=now)
        return {**counts, "shifts": len(await self.shifts(tenant, now))}

    async def shifts(self, tenant: UUID, now: datetime) -> list[drift.Shift]:
        """Return what has shifted, by the rows that are kept."""
        async with self.database.read(tenant) as session:
            rows = await store_days.kept(session, tenant, now.date() - timedelta(days=_LOOKED_BACK))
        return drift.shifts((row for row, _ in rows), now.date())

    async def _uncounted(self, tenant: UUID, now: datetime) -> list[date]:
        """Return the days that are over and were not counted, as far back as is compared."""
        first = now.date() - timedelta(days=_LOOKED_BACK)
        async with self.database.read(tenant) as session:
            done = await store_days.counted(session, tenant, first)
        every = (first + timedelta(days=place) for place in range(_LOOKED_BACK))
        return [day for day in every if day not in done]

    async def _survey(self, tenant: UUID, days: Sequence[date], now: datetime, progress: Progress) -> _Surveyed:
        found = _Surveyed(counts=Counter(), flips=Counter(), marked=[])
        since, done = now - timedelta(days=FLIP_DAYS), 0
        async for page in survey.pages(self.database, tenant):
            async with self.database.read(tenant) as session:
                for one in await store_days.page(session, tenant, page, days=days, now=now):
                    found.counts[one.day, one.kind, one.name] += one.count
                found.flips.update(await volatility.flips(session, tenant, page, since=since, now=now))
                found.marked.extend(await volatility.marked(session, tenant, page))
            done += 1
            await progress(done)
        return found

    async def _rows(self, tenant: UUID, surveyed: _Surveyed, days: Sequence[date], now: datetime) -> list[DayRow]:
        heard: list[Heard] = []
        decided: list[Heard] = []
        async with self.database.read(tenant) as session:
            for entity in await store_days.entities(session, tenant):
                surveyed.counts[None, entity.kind, entity.name] += entity.count
            if days:
                since, until = store_days.midnight(days[0]), store_days.midnight(days[-1] + timedelta(days=1))
                heard = await store_days.turns(session, tenant, since, until)
                decided = await store_days.decisions(session, tenant, since, until)
        counted = [Counted(day=day, kind=kind, name=name, count=n) for (day, kind, name), n in surveyed.counts.items()]
        return [
            *stock(counted, now.date()),
            *recorded(counted),
            *of_turns([one for one in heard if one.day in set(days)]),
            *of_writes([one for one in decided if one.day in set(days)]),
            *(DayRow(day=day, kind=store_days.DONE, name="", count=0, total=0) for day in days),
        ]

    async def _mark(self, tenant: UUID, volatile: Mapping[Slot, int], now: datetime) -> int:
        done, left = 0, iter(sorted(volatile.items()))
        while batch := dict(islice(left, BATCH)):
            async with self.database.write(tenant) as session:
                marked = await volatility.mark(session, tenant, batch, days=FLIP_DAYS, now=now)
                told = [
                    (memory, scope, {"flips": flips, "days": FLIP_DAYS, "factor": drift.DEMOTION})
                    for memory, scope, flips in marked
                ]
                await _record(session, tenant, Action.MEMORY_VOLATILE, told, now)
            done += len(marked)
        return done

    async def _settle(self, tenant: UUID, calm: Sequence[UUID], now: datetime) -> int:
        done, left = 0, iter(calm)
        while batch := list(islice(left, BATCH)):
            async with self.database.write(tenant) as session:
                settled = await volatility.settle(session, tenant, batch, now=now)
                told = [(memory, scope, {"days": FLIP_DAYS}) for memory, scope in settled]
                await _record(session, tenant, Action.MEMORY_SETTLED, told, now)
            done += len(settled)
        return done


async def _record(
    session: WriteSession,
    tenant: UUID,
    action: Action,
    told: Iterable[tuple[UUID, UUID, Mapping[str, object]]],
    now: datetime,
) -> None:
    events = [
        Ledger(tenant=tenant, actor=ACTOR, at=now, scope=scope).event(action, detail, memory=memory)
        for memory, scope, detail in told
    ]
    await append(session, events)


def stock(counted: Iterable[Counted], today: date) -> list[DayRow]:
    """Return the rows of what there is now."""
    found = [one for one in counted if one.day is None]
    totals = Counter[str]()
    for one in found:
        totals[one.kind] += one.count
    return [DayRow(day=today, kind=one.kind, name=one.name, count=one.count, total=totals[one.kind]) for one in found]


def recorded(counted: Iterable[Counted]) -> list[DayRow]:
    """Return the rows of what was recorded each day: types, and the sums that means of confidence are made of."""
    found = [(one.day, one) for one in counted if one.day is not None]
    totals = Counter[date]()
    for day, one in found:
        if one.kind == "type":
            totals[day] += one.count
    return [DayRow(day=day, kind=one.kind, name=one.name, count=one.count, total=totals[day]) for day, one in found]


def of_turns(heard: Iterable[Heard]) -> list[DayRow]:
    """Return the rows of turns each day: by how they ended, and those skipped by the reason."""
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


def of_writes(decided: Iterable[Heard]) -> list[DayRow]:
    """Return the rows of writes each day: by what they came to, and those rejected by the reason."""
    decided = list(decided)
    totals = _totals(one for one in decided if one.status != "contradicted")
    reasons = ((one.day, one.reason or OTHER, one.count) for one in decided if one.status == "rejected")
    return [
        *_rows("decision", _added((one.day, one.status, one.count) for one in decided), totals),
        *_rows("rejected", _rarest_together(reasons), totals),
    ]


Named = Counter[tuple[date, str]]


def _totals(heard: Iterable[Heard]) -> Counter[date]:
    totals = Counter[date]()
    for one in heard:
        totals[one.day] += one.count
    return totals


def _added(counted: Iterable[tuple[date, str, int]]) -> Named:
    found: Named = Counter()
    for day, name, count in counted:
        found[day, name] += count
    return found


def _rarest_together(counted: Iterable[tuple[date, str, int]]) -> Named:
    """Return the counts with the names that are rarest over all days as one."""
    found = _added(counted)
    names = Counter[str]()
    for (_, name), count in found.items():
        names[name] += count
    common = {name for name, _ in sorted(names.items(), key=lambda one: (-one[1], one[0]))[:MOST_REASONS]}
    return _added((day, name if name in common else OTHER, count) for (day, name), count in found.items())


def _rows(kind: str, counts: Named, totals: Mapping[date, int]) -> list[DayRow]:
    """Return the rows of a kind. Each day has a total, so that a day without any counts as one."""
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
