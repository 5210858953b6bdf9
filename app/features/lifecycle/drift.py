"""Daily worker that marks slots that change too often, and counts what a store is made of and what happened."""

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
from app.features.lifecycle.sql.drift import Slot, StoreCount, VolatileSlot
from app.memory.audit import AuditAction
from app.memory.drift import DEMOTION, FLIP_DAYS, FLIPS

DAYS = 35
"""Past days that are counted, each once."""

KEPT_DAYS = 100
"""Days for which daily counts are kept."""

BATCH = 500
"""Memories that are marked in one transaction."""

ACTOR = "worker:drift"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Detects drift of a tenant's store, by one pass through its memories in short transactions without locks."""

    database: Database
    clock: Callable[[], datetime]

    async def run(self, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
        """Mark volatile slots, unmark stable ones, store the counts, and return those of the run.

        A day is counted once, after its end; a repeated run on the same day renews only the present counts.
        """
        now, done = self.clock(), 0
        days = await self._uncounted(tenant, now.date())
        counted, flips, marked = Counter[tuple[str, str]](), Counter[Slot](), list[VolatileSlot]()
        async for page in listing.pages(self.database, tenant):
            async with self.database.read(tenant) as session:
                for one in await drift.page(session, tenant, page, now=now):
                    counted[one.kind, one.name] += one.count
                flips.update(await drift.flips(session, tenant, page, since=now - timedelta(days=FLIP_DAYS), now=now))
                marked.extend(await drift.read_marked(session, tenant, page))
            done += 1
            await progress(done)
        volatile = {slot: count for slot, count in flips.items() if count >= FLIPS}
        if dry_run:
            return {"days": len(days), "volatile_slots": len(volatile)}
        calm = [one.id for one in marked if not one.holds or one.slot not in volatile]
        newly = await self._mark(tenant, volatile, now)
        settled = await self._settle(tenant, calm, now)
        async with self.database.write(tenant) as session:
            found = [StoreCount(day=None, kind=kind, name=name, count=count) for (kind, name), count in counted.items()]
            found += await drift.entities(session, tenant)
            if days:
                found += [one for one in await drift.count_days(session, tenant, days[0], days[-1]) if one.day in days]
            kept = now.date() - timedelta(days=KEPT_DAYS)
            await drift.store_counts(session, tenant, found, days=days, kept=kept, now=now)
        return {"days": len(days), "volatile_slots": len(volatile), "marked": newly, "settled": settled}

    async def _uncounted(self, tenant: UUID, today: date) -> list[date]:
        """Return the past days that were not counted."""
        every = [today - timedelta(days=back) for back in range(DAYS, 0, -1)]
        async with self.database.read(tenant) as session:
            _, counts = await drift.read_counts(session, tenant, every[0])
        done = {one.day for one in counts if one.kind == drift.DONE}
        return [day for day in every if day not in done]

    async def _mark(self, tenant: UUID, volatile: Mapping[Slot, int], now: datetime) -> int:
        done, left = 0, iter(sorted(volatile.items()))
        while batch := dict(islice(left, BATCH)):
            async with self.database.write(tenant) as session:
                marked = await drift.mark(session, tenant, batch, days=FLIP_DAYS, now=now)
                told = [
                    (memory, scope, {"flips": flips, "days": FLIP_DAYS, "factor": DEMOTION})
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


async def run(context: WorkerContext, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
    """Run the detection and return the numbers of counted days, volatile slots, new marks, and settled ones."""
    return await Drift(database=context.database, clock=context.clock).run(tenant, dry_run=dry_run, progress=progress)
