"""Additions to the counts of a scope's memories: in its row, and by term."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from app.db.session import WriteSession, statement
from app.lexical.counts import ScopeCounts

_COLUMNS = {
    "memories": "memory_count",
    "contexts": "context_count",
    "documents": "lexical_documents",
    "length": "lexical_length",
}
"""Columns of a scope's row by the counts that they hold."""


def added(given: str = ":") -> str:
    """Return SQL that adds the numbers of `counters` to a row of `scopes`; `given` precedes their names."""
    return ", ".join(f"{column} = {column} + {given}{name}_added" for name, column in _COLUMNS.items())


def counters(counts: ScopeCounts) -> dict[str, object]:
    """Return the counts that a scope's row has, by their names in `added`."""
    return {f"{name}_added": getattr(counts, name) for name in _COLUMNS}


_ADD = statement(f"UPDATE scopes SET {added()} WHERE tenant_id = :tenant AND id = :scope")  # noqa: S608 - constants

_ADD_TERMS = statement(
    """
    INSERT INTO lexical_terms (tenant_id, scope_id, term, documents)
    SELECT :tenant, g.scope_id, g.term, g.documents
    FROM unnest(CAST(:scopes AS uuid[]), CAST(:terms AS int[]), CAST(:documents AS int[]))
        AS g(scope_id, term, documents)
    ON CONFLICT (tenant_id, scope_id, term) DO UPDATE SET documents = lexical_terms.documents + excluded.documents
    """
)


async def add_counts(session: WriteSession, tenant: UUID, scope: UUID, counts: ScopeCounts) -> None:
    """Add to the counts of a locked scope."""
    await session.fetch(_ADD, {"tenant": tenant, "scope": scope, **counters(counts)})
    await add_terms(session, tenant, {scope: counts})


async def add_terms(session: WriteSession, tenant: UUID, given: Mapping[UUID, ScopeCounts]) -> None:
    """Add to the terms' counts of locked scopes."""
    rows = sorted((scope, term, count) for scope, counts in given.items() for term, count in counts.by_term())
    if rows:
        scopes, terms, documents = map(list, zip(*rows, strict=True))
        await session.fetch(_ADD_TERMS, {"tenant": tenant, "scopes": scopes, "terms": terms, "documents": documents})
