"""The sweeps there are: fading, the end of validity, forgetting, promotion to core."""

from __future__ import annotations

from collections.abc import Mapping

from asyncpg import Record

from app.db.lifecycle import fading
from app.db.lifecycle.sweep import Sweep
from app.memory.actions import Action
from app.memory.freshness import CATEGORY_DECAY, EXPIRY, SECONDS_PER_DAY
from app.memory.lifecycle import CORE_ACCESSES, CORE_SESSIONS, CORE_STABILITY, GC_CONFIDENCE, GC_DAYS
from app.model import Category, Status

SINCE = "coalesce(m.status_since, m.recorded_at)"
"""Since when a memory has its status; one that never changed has it since it was recorded."""

_CORE = CATEGORY_DECAY[Category.CORE]


_EXPIRED = {"status": [Status.ACTIVE, Status.EXPIRED]}


def _faded(row: Record) -> Mapping[str, object]:
    return {"reason": "freshness", **_EXPIRED, **fading.fade_of(row).detail()}


def _over(row: Record) -> Mapping[str, object]:
    until = row["valid_until"].isoformat()
    return {"reason": "validity", **_EXPIRED, "valid_until": until, "confidence": row["confidence"]}


def _forgotten(row: Record) -> Mapping[str, object]:
    return {
        "reason": "expired long ago and never confirmed",
        "status": [Status.EXPIRED, Status.FORGOTTEN],
        "expired_since": row["since"].isoformat(),
        "expired_days": row["days"],
        "confidence": row["confidence"],
        "after_days": GC_DAYS,
        "up_to_confidence": GC_CONFIDENCE,
    }


def _promoted(row: Record) -> Mapping[str, object]:
    return {
        "from": row["category"],
        "to": Category.CORE,
        "access_count": row["access_count"],
        "stability": row["stability"],
        "sessions": row["sessions"],
        "half_life_days": [row["half_life_days"], _CORE.half_life_days],
        "floor": [row["floor"], _CORE.floor],
    }


FRESHNESS = Sweep(
    counted="expired",
    action=Action.MEMORY_EXPIRED,
    actor="worker:freshness",
    among=f"m.status = 'active' AND m.half_life_days IS NOT NULL AND m.floor < {EXPIRY}",
    when=fading.FADED,
    sets="status = 'expired'",
    status=Status.EXPIRED,
    numbers=fading.NUMBERS,
    detail=_faded,
)
"""Active memories that have faded under the threshold expire (weekly)."""

VALIDITY = Sweep(
    counted="ended",
    action=Action.MEMORY_ENDED,
    actor="worker:validity",
    among="m.status = 'active' AND m.valid_until <= :now",
    when="true",
    sets="status = 'expired'",
    status=Status.EXPIRED,
    numbers="m.valid_until, m.confidence",
    detail=_over,
)
"""Active memories whose validity has ended expire (hourly); when they were true stays as it is."""

FORGETTING = Sweep(
    counted="forgotten",
    action=Action.MEMORY_FORGOTTEN,
    actor="worker:gc",
    among="m.status = 'expired'",
    when=f"m.confidence <= {GC_CONFIDENCE} AND {SINCE} <= CAST(:now AS timestamptz) - interval '{GC_DAYS} days'",
    sets="status = 'forgotten'",
    status=Status.FORGOTTEN,
    numbers=f"""{SINCE} AS since, m.confidence,
        CAST(extract(epoch FROM CAST(:now AS timestamptz) - {SINCE}) AS float8) / {SECONDS_PER_DAY} AS days""",
    detail=_forgotten,
)
"""Memories that are expired for long and that nothing ever confirmed are forgotten (monthly)."""

PROMOTION = Sweep(
    counted="promoted",
    action=Action.MEMORY_PROMOTED,
    actor="worker:promotion",
    among="m.status = 'active' AND m.category <> 'core' AND m.half_life_days IS NOT NULL",
    when=f"""u.access_count >= {CORE_ACCESSES} AND u.stability >= {CORE_STABILITY}
        AND cardinality(u.sessions) >= {CORE_SESSIONS}""",
    sets=f"category = 'core', half_life_days = {_CORE.half_life_days}, floor = {_CORE.floor}",
    numbers="""m.category, m.half_life_days, m.floor, u.access_count, u.stability,
        cardinality(u.sessions) AS sessions""",
    detail=_promoted,
)
"""Memories that are used often, steadily and in several conversations become core (daily)."""
