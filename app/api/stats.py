"""Administration: what the tenant's store is made of, and what is open in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from app.api.plumbing import fields
from app.api.plumbing.fields import Out
from app.api.plumbing.guard import ADMIN, ActorDep, GuardedRoute, RuntimeDep, add_reads
from app.memory.drift import BEFORE_DAYS, RECENT_DAYS, Sample, Shift
from app.services.stats import Band, Stock, StoreStats

COSTS = "/admin/costs"


class BandOut(Out):
    """A band of a histogram: from `least` up to, not including, `under`; null: no end."""

    least: float
    under: float | None
    count: int


class MemoryStatsOut(Out):
    """The memories there are, as of `computed_at`. All but `by_status` speak of active memories."""

    computed_at: datetime
    total: int
    by_status: dict[str, int]
    by_type: dict[str, int]
    by_category: dict[str, int]
    by_scope: dict[str, int] = Field(description="By the kind of scope: global, user, agent.")
    confidence: list[BandOut]
    freshness: list[BandOut] = Field(description="Use can lift freshness above 1, up to 3.")
    entities: dict[str, int] = Field(description="Entities by type; those merged into others left out.")
    volatile: int = Field(description="Slots whose value changes too often.")


class TurnStatsOut(Out):
    """How turns ended. `days`: of how many days before today; null: of all there ever were."""

    days: int | None
    waiting: int
    by_status: dict[str, int]
    skipped_by_reason: dict[str, int] = Field(description="Numbers in reasons may read N.")


class ReviewStatsOut(Out):
    """What waits for a person, by reason, and by how long it has."""

    total: int
    by_reason: dict[str, dict[str, int]]


class JobStatsOut(Out):
    """Jobs that wait and run now, and those that ended in the last 24 hours."""

    queued: int
    running: int
    ended_last_day: dict[str, int]


class SampleOut(Out):
    """A share, or a mean, of so many."""

    value: float
    of: int


class ShiftOut(Out):
    """A share or mean that has changed, more than chance explains. `z` is in standard errors; positive: it rose."""

    kind: str = Field(
        description="`type` (of memories recorded), `confidence` (their mean), `decision` and `rejected` (of writes), "
        "`turn` and `skipped` (of turns)."
    )
    name: str
    recent: SampleOut
    before: SampleOut
    z: float
    says: str


class DriftOut(Out):
    """What has shifted: the last `recent_days` whole days against the `before_days` before them."""

    recent_days: int
    before_days: int
    until: datetime
    shifts: list[ShiftOut]


class StatsOut(Out):
    """The tenant's store. `memories` is null where there are too many to count now and the worker `drift` has not run.

    What extraction has cost is told by the route that `costs` names.
    """

    memories: MemoryStatsOut | None
    turns: TurnStatsOut
    reviews: ReviewStatsOut
    jobs: JobStatsOut
    drift: DriftOut
    costs: str


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["admin"], route_class=GuardedRoute)
    add_reads(found, ADMIN, ("/admin/stats", get_stats, "Get what the store is made of", StatsOut))
    return found


async def get_stats(runtime: RuntimeDep, actor: ActorDep) -> Response:
    """Get memories by status, type, category, scope, confidence and freshness; turns, reviews, jobs, and drift.

    Up to 20,000 memories are counted as you ask; of more, the numbers are those of the worker `drift`, which counts
    daily (`POST /admin/workers/drift/run` counts now). Likewise turns: of more than 20,000, those of 30 days are told.
    """
    return fields.json_answer(_stats(await runtime.stats.get(actor.tenant_id)))


def _stats(one: StoreStats) -> dict[str, object]:
    return {
        "memories": None if one.stock is None else {"computed_at": one.computed_at, **_memories(one.stock)},
        "turns": {
            "days": one.turns.days,
            "waiting": one.turns.waiting,
            "by_status": one.turns.by_status,
            "skipped_by_reason": one.turns.skipped_by_reason,
        },
        "reviews": {
            "total": sum(count for ages in one.reviews.values() for count in ages.values()),
            "by_reason": one.reviews,
        },
        "jobs": {
            "queued": one.jobs.get("queued", 0),
            "running": one.jobs.get("running", 0),
            "ended_last_day": one.jobs_ended,
        },
        "drift": {
            "recent_days": RECENT_DAYS,
            "before_days": BEFORE_DAYS,
            "until": one.compared_until,
            "shifts": [_shift(shift) for shift in one.shifts],
        },
        "costs": COSTS,
    }


def _memories(one: Stock) -> Mapping[str, object]:
    return {
        "total": sum(one.by_status.values()),
        "by_status": one.by_status,
        "by_type": one.by_type,
        "by_category": one.by_category,
        "by_scope": one.by_scope,
        "confidence": _bands(one.confidence),
        "freshness": _bands(one.freshness),
        "entities": one.entities,
        "volatile": one.volatile,
    }


def _bands(bands: Sequence[Band]) -> list[dict[str, object]]:
    return [{"least": one.least, "under": one.under, "count": one.count} for one in bands]


def _shift(one: Shift) -> dict[str, object]:
    return {
        "kind": one.kind,
        "name": one.name,
        "recent": _sample(one.recent),
        "before": _sample(one.before),
        "z": round(one.z, 2),
        "says": _said(one),
    }


def _sample(one: Sample) -> dict[str, object]:
    return {"value": round(one.value, 4), "of": one.of}


def _said(one: Shift) -> str:
    """Return the shift as a sentence with its numbers."""
    way = "rose" if one.recent.value > one.before.value else "fell"
    if one.kind == "confidence":
        change = f"mean confidence {way} from {one.before.value:.2f} to {one.recent.value:.2f}"
    else:
        change = f"the share of {one.kind} {one.name} {way} from {one.before.value:.0%} to {one.recent.value:.0%}"
    return f"{change} in {RECENT_DAYS} days (of {one.recent.of}, before of {one.before.of})"
