"""Index rows by their words: by the index in scopes that are in it, by reading the rows of the others."""

from __future__ import annotations

SCOPES = """unnest(CAST(:scopes AS uuid[])) AS visible(id)
    CROSS JOIN LATERAL (
        SELECT x.id AS scope_id, x.indexed FROM scopes x WHERE x.tenant_id = :tenant AND x.id = visible.id OFFSET 0
    ) AS bucket"""
"""The asked scopes, as items of a FROM: one look-up each, or a plan reads all that a tenant has."""


def with_words(columns: str, condition: str) -> str:
    """Return the select of columns of the rows `i` of a `bucket` that meet a condition on their words.

    Only one of its halves runs: whether the scope is in the index is a constant to both. `OFFSET 0` keeps the planner
    from joining the scopes afterwards. A LIMIT may follow.
    """
    here = f"SELECT {columns} FROM memory_index i WHERE i.tenant_id = :tenant AND i.scope_id = bucket.scope_id"  # noqa: S608 - our own SQL
    return f"""{here} AND bucket.indexed AND i.indexed AND {condition}
        UNION ALL {here} AND NOT bucket.indexed AND {condition} OFFSET 0"""
