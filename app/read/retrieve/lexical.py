"""The lexical arms: BM25 as a sparse inner product, over candidates that the rarer terms nominate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.lexical.bm25 import index_of
from app.read.retrieve.search import Search, in_each_scope

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
    """Return the CTEs of these arms, by name with the kinds of index rows each looks at: one pass for all."""
    of_kinds = " OR ".join(f"i.kind IN {kinds}" for kinds in arms.values())
    columns = "i.kind, i.memory_id, -(i.lexical <#> (SELECT weights FROM probe)) AS score"
    nominated = f"({of_kinds}) AND i.tsv @@ (SELECT nominated FROM probe)"  # noqa: S608 - composed of constants
    scored = f"""
    lexically AS MATERIALIZED ({in_each_scope(columns, search.filters, nominated)}
    )"""
    best = (
        f"""
    {arm} AS MATERIALIZED (
        SELECT memory_id, score FROM lexically WHERE kind IN {kinds}
        ORDER BY score DESC, memory_id DESC LIMIT :depth
    )"""  # noqa: S608 - composed of constants
        for arm, kinds in arms.items()
    )
    return ",".join([scored, *best])
