"""Terms of the lexical index that are one letter apart from terms that no visible memory has."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from app.db.session import ReadSession, statement
from app.lexical.bm25 import as_tsquery
from app.lexical.edits import one_edit_apart

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
