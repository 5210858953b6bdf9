"""Freshness as Postgres computes it: the formula of `app.memory.freshness`, over `memories m`, `memory_usage u`."""

from __future__ import annotations

from asyncpg import Record

from app.memory.freshness import EXPIRY, MAX_BOOST, SECONDS_PER_DAY
from app.memory.lifecycle import Fade

DAYS = f"""greatest(0, CAST(extract(epoch FROM
    CAST(:now AS timestamptz) - coalesce(u.last_accessed_at, m.stated_at)) AS float8) / {SECONDS_PER_DAY})"""

BOOST = f"least({MAX_BOOST}, power(1.2::float8, least(coalesce(u.access_count, 0), 64)))"

FRESHNESS = f"""greatest(m.floor, {BOOST} * CASE WHEN m.half_life_days IS NULL THEN 1
    ELSE power(2::float8, -least({DAYS} / m.half_life_days, 1000)) END)"""
"""The exponent is bounded, because Postgres fails where a power is too small for it."""

FADED = f"m.half_life_days IS NOT NULL AND {FRESHNESS} < {EXPIRY}"
"""As `lifecycle.expires`."""

NUMBERS = f"""{FRESHNESS} AS freshness, {DAYS} AS days, m.half_life_days, m.floor, {BOOST} AS boost,
    coalesce(u.access_count, 0) AS access_count, m.confidence"""
"""What `fade_of` reads."""


def fade_of(row: Record) -> Fade:
    """Return the numbers of a row."""
    return Fade(
        freshness=row["freshness"],
        days=row["days"],
        half_life_days=row["half_life_days"],
        floor=row["floor"],
        boost=row["boost"],
        access_count=row["access_count"],
        confidence=row["confidence"],
    )
