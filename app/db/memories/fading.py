"""SQL of how memories fade: their use, their freshness, and the last instant that they speak of.

The formula is that of `app.memory.freshness`; workers compute it in SQL, for sets of memories.
"""

from __future__ import annotations

from asyncpg import Record

from app.db.sql import as_record
from app.memory.freshness import BOOST_PER_ACCESS, EXPIRY, MAX_BOOST, MOST_POWERS, SECONDS_PER_DAY
from app.memory.lifecycle import FadeState

FOLDED = "folded"
"""Key in the provenance of a memory that folding made: a summary. Members may also be folded into a known memory."""

USE = """LEFT JOIN LATERAL (
    SELECT * FROM memory_usage x WHERE x.tenant_id = :tenant AND x.memory_id = m.id OFFSET 0) u ON true"""
"""The use of each memory `m`, looked up one by one: a plan that joins reads that of all memories each time."""

_DAYS = f"""greatest(0, CAST(extract(epoch FROM
    CAST(:now AS timestamptz) - coalesce(u.last_accessed_at, m.stated_at)) AS float8) / {SECONDS_PER_DAY})"""

_BOOST = f"""least({MAX_BOOST},
    power({BOOST_PER_ACCESS}::float8, least(coalesce(u.access_count, 0), {MOST_POWERS})))"""

FRESHNESS = f"""greatest(m.floor, {_BOOST} * CASE WHEN m.half_life_days IS NULL THEN 1
    ELSE power(2::float8, -least({_DAYS} / m.half_life_days, 1000)) END)"""
"""The freshness at `:now` of a memory `m` with its use `u`.

The exponent is bounded, because Postgres fails where a power is too small for it.
"""

DATED = """(SELECT greatest(m.valid_from, m.valid_until, max(upper(i.event_range))) FROM memory_index i
    WHERE i.tenant_id = :tenant AND i.memory_id = m.id AND i.part = 0)"""
"""The last instant that a memory speaks of: the end of its event or of its validity."""

FADED_SINCE_DATE = f"""power(2::float8, -greatest(-1000, least(1000, CAST(extract(epoch FROM
    CAST(:now AS timestamptz) - {DATED}) AS float8) / {SECONDS_PER_DAY} / m.half_life_days))) < {EXPIRY}"""
"""Whether a memory has also faded since that instant: one about the future does not fade before it, nor right after."""

FADE_COLUMNS = f"""{FRESHNESS} AS freshness, {_DAYS} AS days, m.half_life_days, m.floor, {_BOOST} AS boost,
    coalesce(u.access_count, 0) AS access_count, m.confidence"""
"""The columns that `fade_of` reads."""


def fade_of(row: Record) -> FadeState:
    """Return the numbers of a row."""
    return as_record(FadeState, row)
