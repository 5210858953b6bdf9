"""What a backfill comes to, in numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any

from app.db import backfill_items
from app.db.backfills import Backfill
from app.db.session import ReadSession
from app.memory.backfill import Effect, ItemState
from app.model import Status


async def planned(session: ReadSession, one: Backfill) -> dict[str, Any]:
    """Return how many memories a preview flags, by reason and by what they are now, and what else it comes to."""
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    left: Counter[str] = Counter()
    for row in await backfill_items.counted(session, one.tenant_id, one.id):
        number, own = row["number"], row["effect"] == Effect.RECLASSIFIED
        if row["state"] == ItemState.LEFT:
            left[row["why"]] += number
            continue
        counts["changed"] += number
        counts["links"] += row["links"] or 0
        counts["reviewed"] += number * bool(row["reviewed"])
        counts["superseded"] += number * (row["becomes"] == Status.SUPERSEDED)
        counts["contradicting"] += number * bool(row["contradicts"])
        counts["conflicting"] += number * bool(row["conflicts"])
        if own:
            counts["flagged"] += number
            counts["collisions"] += number * bool(row["collides"] or row["becomes"] is not None)
            reasons[row["reason"]] += number
            sources[row["source"]] += number
        else:
            counts["others_changed"] += number
    return {**{name: counts[name] for name in NAMES}, "by_reason": reasons, "by_source": sources, "left": left}


NAMES = (
    "flagged",
    "changed",
    "others_changed",
    "collisions",
    "superseded",
    "contradicting",
    "conflicting",
    "reviewed",
    "links",
)
