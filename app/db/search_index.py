"""Upkeep of a scope's search index: its lexical weights, and its part of the vector index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from pgvector import SparseVector

from app.db.apply.memories import REREAD
from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedText:
    """The text of one index row."""

    memory_id: UUID
    part: int
    kind: str
    content: str
    context: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalWeights:
    """The lexical weights of one index row."""

    memory_id: UUID
    part: int
    lexical: SparseVector


_UPDATE_AVERAGE = statement(
    f"""
    UPDATE scopes SET lexical_average = lexical_length::float8 / lexical_documents, {REREAD}
    WHERE tenant_id = :tenant AND id = :scope AND lexical_documents > 0 RETURNING lexical_average
    """  # noqa: S608 - composed of constants
)

_TEXTS = statement(
    """
    SELECT i.memory_id, i.part, i.kind, m.content, m.context FROM memory_index i
    JOIN memories m ON m.tenant_id = :tenant AND m.id = i.memory_id
    WHERE i.tenant_id = :tenant AND i.scope_id = :scope AND i.tsv IS NOT NULL
      AND (i.memory_id, i.part) > (:memory, :part)
    ORDER BY i.memory_id, i.part LIMIT :limit
    """
)

_STORE_WEIGHTS = statement(
    """
    UPDATE memory_index i SET lexical = g.lexical
    FROM unnest(CAST(:memories AS uuid[]), CAST(:parts AS smallint[]), CAST(:weights AS sparsevec[]))
        AS g(memory_id, part, lexical)
    WHERE i.tenant_id = :tenant AND i.memory_id = g.memory_id AND i.part = g.part AND i.scope_id = :scope
    """
)

_MARK_WEIGHED = statement("UPDATE scopes SET lexical_settled = :settled WHERE tenant_id = :tenant AND id = :scope")

_USE_VECTOR_INDEX = statement(f"UPDATE scopes SET ann = true, {REREAD} WHERE tenant_id = :tenant AND id = :scope")  # noqa: S608 - constants

_INDEX_MEMORIES = statement(
    """
    WITH outside AS (
        SELECT i.memory_id, i.part FROM memory_index i
        WHERE i.tenant_id = :tenant AND i.scope_id = :scope AND NOT i.ann LIMIT :limit
    )
    UPDATE memory_index i SET ann = true FROM outside o
    WHERE i.tenant_id = :tenant AND i.memory_id = o.memory_id AND i.part = o.part
    """
)

_INDEX_QUESTIONS = statement(
    """
    WITH outside AS (
        SELECT q.memory_id, q.ordinal FROM hypothetical_embeddings q
        WHERE q.tenant_id = :tenant AND q.scope_id = :scope AND NOT q.ann LIMIT :limit
    )
    UPDATE hypothetical_embeddings q SET ann = true FROM outside o
    WHERE q.tenant_id = :tenant AND q.memory_id = o.memory_id AND q.ordinal = o.ordinal
    """
)


async def use_vector_index(session: WriteSession, tenant: UUID, scope: UUID) -> None:
    """Have new rows of the scope go into the vector indexes from now on."""
    await session.change(_USE_VECTOR_INDEX, {"tenant": tenant, "scope": scope})


async def add_to_vector_index(session: WriteSession, tenant: UUID, scope: UUID, *, limit: int) -> int:
    """Put up to `limit` rows of the scope into each vector index; return how many; fewer: there are no more."""
    here = {"tenant": tenant, "scope": scope, "limit": limit}
    return await session.change(_INDEX_MEMORIES, here) + await session.change(_INDEX_QUESTIONS, here)


async def update_average_length(session: WriteSession, tenant: UUID, scope: UUID) -> float | None:
    """Make the scope's true average length the one its rows go by, and return it; None when it has no rows.

    Until `mark_weighed`, the scope is marked as unsettled, so that a crash in between is noticed.
    """
    rows = await session.fetch(_UPDATE_AVERAGE, {"tenant": tenant, "scope": scope})
    await session.change(_MARK_WEIGHED, {"tenant": tenant, "scope": scope, "settled": False})
    return rows[0]["lexical_average"] if rows else None


async def read_texts(
    session: ReadSession, tenant: UUID, scope: UUID, *, after: tuple[UUID, int], limit: int
) -> list[IndexedText]:
    """Return the next lexical rows of a scope with the texts they index, in key order."""
    memory, part = after
    values = {"tenant": tenant, "scope": scope, "memory": memory, "part": part, "limit": limit}
    return [as_record(IndexedText, row) for row in await session.fetch(_TEXTS, values)]


async def store_weights(session: WriteSession, tenant: UUID, scope: UUID, rows: Sequence[LexicalWeights]) -> None:
    """Store new weights."""
    given = {
        "memories": [one.memory_id for one in rows],
        "parts": [one.part for one in rows],
        "weights": [one.lexical for one in rows],
    }
    await session.fetch(_STORE_WEIGHTS, {"tenant": tenant, "scope": scope, **given})


async def mark_weighed(session: WriteSession, tenant: UUID, scope: UUID) -> None:
    """Mark the scope's rows as weighed by its average."""
    await session.change(_MARK_WEIGHED, {"tenant": tenant, "scope": scope, "settled": True})
