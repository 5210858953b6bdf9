"""The temporal arm: what happened in the named windows, and, less, what was said in them."""

from __future__ import annotations

from app.read.retrieve.search import Shape, indexed, type_filter

STATED = 0.6
"""Weight of a memory that was stated in the window; one that happened in it weighs 1."""

TOLD_LATER = "1 day"
"""How long after a window what happened in it is still told."""

FIT = 0.5
"""Share of an event's score that any overlap gives; the rest is the share of the event inside the window."""

MEANING = 0.2
"""Share of a score that closeness in meaning gives, so that a wide window's many events have an order."""


def cte(shape: Shape) -> str:
    """Return the arm's CTE.

    An event is found by overlap of ranges: a week it is only known to lie in counts for a day of it, but
    less than an event of that day. Events of unknown time have no range and are left to the other arms.
    """
    return f"""
    temporal AS MATERIALIZED (
        SELECT timed.memory_id, max(timed.score) AS score FROM (
            SELECT happened.* FROM {_ranges()} CROSS JOIN LATERAL (
                SELECT i.memory_id, {_fit()} * {_meaning(shape)} AS score
                FROM {indexed(shape)}
                WHERE i.scope_id = bucket.scope_id AND i.event_range && tstzrange(named.lower, named.upper)
                  AND {type_filter(shape, scoped=False)} AND i.part = 0
                ORDER BY score DESC, i.memory_id DESC LIMIT :depth
            ) happened
            UNION ALL
            SELECT stated.* FROM {_ranges()} CROSS JOIN LATERAL (
                SELECT i.memory_id, {STATED} * {_meaning(shape)} AS score
                FROM {indexed(shape)}
                WHERE named.told AND i.scope_id = bucket.scope_id AND i.event_range IS NULL
                  AND i.stated_at >= coalesce(named.lower, '-infinity')
                  AND i.stated_at < coalesce(named.upper + interval '{TOLD_LATER}', 'infinity')
                  AND {type_filter(shape, scoped=False)} AND i.part = 0
                ORDER BY score DESC, i.memory_id DESC LIMIT :depth
            ) stated
        ) timed
        GROUP BY timed.memory_id ORDER BY score DESC, timed.memory_id DESC LIMIT :depth
    )"""  # noqa: S608 - composed of constants


def _ranges() -> str:
    return """unnest(CAST(:window_lower AS timestamptz[]), CAST(:window_upper AS timestamptz[]),
                CAST(:window_told AS boolean[])) AS named(lower, upper, told)
            CROSS JOIN unnest(CAST(:scopes AS uuid[])) AS bucket(scope_id)"""


def _fit() -> str:
    inside = "(i.event_range * tstzrange(named.lower, named.upper))"
    return f"""({FIT} + {1 - FIT} * coalesce(
                extract(epoch FROM upper{inside} - lower{inside})
                / nullif(extract(epoch FROM upper(i.event_range) - lower(i.event_range)), 0), 1))"""


def _meaning(shape: Shape) -> str:
    if not shape.vector:
        return "1.0"
    # Vectors of another model have another length, which would be an error.
    own, vector = shape.model.condition("i"), shape.model.vector("i")
    near = f"CASE WHEN {own} THEN {vector} <=> (SELECT vector FROM probe) ELSE 1 END"  # noqa: S608 - composed of constants
    return f"({1 - MEANING} + {MEANING} * greatest(0, 1 - ({near})))"
