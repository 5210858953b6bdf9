"""Statistics of a tenant's store: memories by type and age, turns, open work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from app.db.memories import listing
from app.db.session import Database, ReadSession
from app.features.lifecycle.sql import drift, runs
from app.features.lifecycle.sql.drift import NOW, StoreCount
from app.features.review import sql as review
from app.memory.extraction import TurnStatus
from app.model import MemoryStatus

LIVE = 20_000
"""Most memories, or turns, that a request counts; beyond it, the last count of the `drift` worker is returned."""

TURN_DAYS = 30
"""Days of turns that are counted where there are too many to count them all."""

BANDS = 10
FRESHNESS_BANDS = {"0": (0.0, 0.1), "0.1": (0.1, 0.2), "0.2": (0.2, 0.5), "0.5": (0.5, 1.0), "1": (1.0, None)}
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """The number of memories whose value is at least `least` and under `under`; the last band has no upper end."""

    least: float
    under: float | None
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """Counts of memories; all but `by_status` count active ones only."""

    by_status: Mapping[str, int]
    by_type: Mapping[str, int]
    by_category: Mapping[str, int]
    by_scope: Mapping[str, int]
    confidence: Sequence[Band]
    freshness: Sequence[Band]
    entities: Mapping[str, int]
    volatile: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStats:
    """Counts of turns by outcome and reason, over `days` days, None for all turns."""

    days: int | None
    waiting: int
    by_status: Mapping[str, int]
    skipped_by_reason: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStats:
    """All statistics of a store; `computed_at` is when the memories were counted, None if never."""

    computed_at: datetime | None
    stock: Stock | None
    turns: TurnStats
    reviews: Mapping[str, Mapping[str, int]]
    jobs: Mapping[str, int]
    jobs_ended: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Reads statistics in a few statements whose cost has a bound, whatever the size of the store."""

    database: Database
    clock: Callable[[], datetime]

    async def get(self, tenant: UUID) -> StoreStats:
        """Return the tenant's statistics, counted now, or as of the last count where the store is large."""
        now = self.clock()
        async with self.database.read(tenant) as session:
            counted_at, counts = await drift.read_counts(session, tenant, now.date() - timedelta(days=TURN_DAYS))
            if await listing.count_up_to(session, tenant, LIVE + 1) <= LIVE:
                counted_at, found = now, await drift.page(session, tenant, listing.WHOLE, now=now)
                found += await drift.entities(session, tenant)
            else:
                found = counts
            return StoreStats(
                computed_at=counted_at,
                stock=None if counted_at is None else stats_answer(found),
                turns=await _turns(session, tenant, counts),
                reviews={
                    one.reason: {age.replace("_", " "): count for age, count in one.ages.items()}
                    for one in await review.summary(session, tenant, now=now)
                },
                jobs=await runs.waiting_jobs(session, tenant),
                jobs_ended=await runs.ended_jobs(session, tenant, now - _DAY),
            )


async def _turns(session: ReadSession, tenant: UUID, counts: Sequence[StoreCount]) -> TurnStats:
    waiting = await runs.received_turns(session, tenant)
    by_status, reasons = Counter[str](), Counter[str]()
    if await runs.count_turns(session, tenant, LIVE + 1) <= LIVE:
        for status, reason, count in await runs.turns(session, tenant):
            by_status[status] += count
            if status == TurnStatus.SKIPPED:
                reasons[reason or "other"] += count
        return TurnStats(days=None, waiting=waiting, by_status=by_status, skipped_by_reason=reasons)
    for one in counts:
        if one.kind in {"turn", "skipped"}:
            (by_status if one.kind == "turn" else reasons)[one.name] += one.count
    return TurnStats(days=TURN_DAYS, waiting=waiting, by_status=by_status, skipped_by_reason=reasons)


def stats_answer(counts: Iterable[StoreCount]) -> Stock:
    """Return counts of memories summed up by each dimension."""
    by_kind: dict[str, dict[str, int]] = {}
    for one in counts:
        by_kind.setdefault(one.kind.removeprefix(NOW), {})[one.name] = one.count
    by_status, by_type, by_category, by_scope = (Counter[str]() for _ in range(4))
    for name, count in by_kind.get("memories", {}).items():
        status, kind, category, scope = name.split("|")
        by_status[status] += count
        if status == MemoryStatus.ACTIVE:
            by_type[kind] += count
            by_category[category] += count
            by_scope[scope] += count
    confidences, freshnesses = by_kind.get("confidence", {}), by_kind.get("freshness", {})
    return Stock(
        by_status=by_status,
        by_type=by_type,
        by_category=by_category,
        by_scope=by_scope,
        confidence=[
            Band(
                least=place / BANDS,
                under=None if place == BANDS - 1 else (place + 1) / BANDS,
                count=confidences.get(str(place), 0),
            )
            for place in range(BANDS)
        ],
        freshness=[
            Band(least=least, under=under, count=freshnesses.get(name, 0))
            for name, (least, under) in FRESHNESS_BANDS.items()
        ],
        entities=by_kind.get("entities", {}),
        volatile=by_kind.get("volatile", {}).get("slots", 0),
    )
