"""The lexical arms: BM25 as a sparse inner product, over candidates that the rarer terms nominate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.lexical.bm25 import index_of
from app.read.retrieve.search import Search, indexed, type_filter

RARE = 0.05
"""Share of the documents up to which terms nominate."""

CANDIDATES = 2_000
"""Documents that terms may always nominate: scoring so few costs little, and where all terms nominate, the
arm is exactly BM25."""


def nominators(terms: Sequence[str], frequencies: Mapping[int, int], documents: int) -> tuple[str, ...]:
    """Return the terms that nominate: the rarest one, and the next ones while together they stay rare enough.

    Terms that no visible document has nominate nothing and are left out; without any the arm is empty.
    """
    counted = sorted((frequencies.get(index_of(term), 0), term) for term in set(terms))
    chosen: list[str] = []
    candidates = 0
    for count, term in counted:
        if count <= 0:
            continue
        candidates += count
        if not chosen or candidates <= max(CANDIDATES, RARE * documents):
            chosen.append(term)
    return tuple(chosen)


def ctes(search: Search, arms: Mapping[str, str]) -> str:
    """Return the CTEs of these arms, by name with the kinds of index rows each looks at: one pass for all.

    One look into the GIN index a scope: it has no use for `= ANY`. `OFFSET 0` keeps the planner from joining
    the scopes afterwards, which would read the tenant's other scopes too.
    """
    of_kinds = " OR ".join(f"i.kind IN {kinds}" for kinds in arms.values())
    scored = f"""
    lexically AS MATERIALIZED (
        SELECT found.* FROM unnest(CAST(:scopes AS uuid[])) AS bucket(scope_id)
        CROSS JOIN LATERAL (
            SELECT i.kind, i.memory_id, -(i.lexical <#> (SELECT weights FROM probe)) AS score
            FROM {indexed(search.filters)}
            WHERE i.scope_id = bucket.scope_id AND {type_filter(search.filters, scoped=False)}
              AND ({of_kinds}) AND i.tsv @@ (SELECT nominated FROM probe)
            OFFSET 0
        ) found
    )"""  # noqa: S608 - composed of constants
    best = (
        f"""
    {arm} AS MATERIALIZED (
        SELECT memory_id, score FROM lexically WHERE kind IN {kinds}
        ORDER BY score DESC, memory_id DESC LIMIT :depth
    )"""  # noqa: S608 - composed of constants
        for arm, kinds in arms.items()
    )
    return ",".join([scored, *best])
