"""The lexical arms, and the words of a question that may be misspelt.

BM25 as a sparse inner product, over candidates that the rarer terms nominate. A term that no visible memory has may
stand for one that is one letter apart.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from app.db.session import ReadSession, statement
from app.lexical.bm25 import as_tsquery, index_of
from app.lexical.tokens import one_edit_apart
from app.read.retrieve.search import Shape, in_each_scope

RARE = 0.05
"""Share of the documents up to which terms nominate."""

CANDIDATES = 2_000
"""Documents that terms may always nominate: scoring so few costs little, and where all terms nominate, the
arm is exactly BM25."""

MOST_CANDIDATES = 20_000
"""Documents that more than one term may nominate, for each is read: of a million, these yield the same ten best."""

SHORTEST: Final = 5
"""Fewest letters of a term that may be a misspelling: of shorter ones too many words are one letter apart."""

AGREEING: Final = 2
"""First letters that must agree; people seldom mistype these, and other words differ in them."""

MOST_ROWS: Final = 2_000
"""Rows of the index that are looked at for each term and scope."""

_NEAR = statement(
    f"""
    SELECT asked.term, said.lexeme, count(DISTINCT i.memory_id) AS documents
    FROM unnest(CAST(:terms AS text[]), CAST(:prefixes AS text[]), CAST(:queries AS text[]))
        AS asked(term, prefix, query)
    CROSS JOIN unnest(CAST(:scopes AS uuid[])) AS bucket(scope_id)
    CROSS JOIN LATERAL (
        SELECT x.memory_id, x.tsv FROM memory_index x
        WHERE x.tenant_id = :tenant AND x.scope_id = bucket.scope_id AND x.kind <> 'context'
          AND (CAST(:known_at AS timestamptz) IS NULL OR x.recorded_at <= :known_at)
          AND x.tsv @@ CAST(asked.query AS tsquery) LIMIT {MOST_ROWS}
    ) i
    CROSS JOIN LATERAL unnest(i.tsv) AS said(lexeme)
    WHERE starts_with(said.lexeme, asked.prefix) AND abs(length(said.lexeme) - length(asked.term)) <= 1
    GROUP BY asked.term, said.lexeme
    """  # noqa: S608 - composed of constants
)


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
        if not chosen or candidates <= min(MOST_CANDIDATES, max(CANDIDATES, RARE * documents)):
            chosen.append(term)
    return tuple(chosen)


def ctes(shape: Shape, arms: Mapping[str, str]) -> str:
    """Return the CTEs of these arms, by name with the kinds of index rows each looks at: one pass for all."""
    of_kinds = " OR ".join(f"i.kind IN {kinds}" for kinds in arms.values())
    columns = "i.kind, i.memory_id, -(i.lexical <#> (SELECT weights FROM probe)) AS score"
    nominated = f"({of_kinds}) AND i.tsv @@ (SELECT nominated FROM probe)"  # noqa: S608 - composed of constants
    scored = f"""
    lexically AS MATERIALIZED ({in_each_scope(columns, shape, nominated)}
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


async def read_near_terms(
    session: ReadSession,
    tenant: UUID,
    scopes: Sequence[UUID],
    terms: Collection[str],
    *,
    known_at: datetime | None = None,
) -> dict[str, dict[str, int]]:
    """Return for each of the terms those of the scopes' memories that may be meant by it, with their frequencies.

    As for all words, memories of every status count; with `known_at`, those that were known then.
    """
    asked = [one for one in terms if len(one) >= SHORTEST and one.isalpha()]
    if not asked:
        return {}
    prefixes = [one[:AGREEING] for one in asked]
    rows = await session.fetch(
        _NEAR,
        {
            "tenant": tenant,
            "scopes": list(scopes),
            "terms": asked,
            "prefixes": prefixes,
            "queries": [f"{as_tsquery([one])}:*" for one in prefixes],
            "known_at": known_at,
        },
    )
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        if one_edit_apart(row["term"], row["lexeme"]):
            found.setdefault(row["term"], {})[row["lexeme"]] = row["documents"]
    return found
