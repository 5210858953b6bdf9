"""Deletion of memories, and of what scopes count of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from app.db.session import WriteSession, statement

_DELETE = statement("DELETE FROM memories WHERE tenant_id = :tenant AND id = ANY(:ids) RETURNING id")

_UNLINK = statement(
    """
    UPDATE memories SET superseded_by = NULL
    WHERE tenant_id = :tenant AND superseded_by = ANY(:ids) AND id <> ALL(:ids)
    """
)

_COUNT_OFF = statement(
    """
    UPDATE scopes SET memory_count = greatest(0, memory_count - :memories), context_count = context_count - :contexts,
        lexical_documents = lexical_documents - :memories, lexical_length = lexical_length - :length
    WHERE tenant_id = :tenant AND id = :scope
    """
)

_FORGET_TERMS = statement(
    """
    UPDATE lexical_terms t SET documents = t.documents - g.documents
    FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS g(term int, documents int)
    WHERE t.tenant_id = :tenant AND t.scope_id = :scope AND t.term = g.term
    """
)

_CLEAR_CONTEXT = statement(
    """
    WITH quoting AS (
        UPDATE memories m SET context = NULL
        WHERE m.tenant_id = :tenant AND m.scope_id = :scope AND m.context IS NOT NULL
          AND (cardinality(CAST(:sessions AS text[])) = 0 OR m.session_id = ANY(:sessions))
          AND EXISTS (SELECT FROM unnest(CAST(:needles AS text[])) AS n(needle) WHERE strpos(m.context, n.needle) > 0)
        RETURNING m.id
    ), dropped AS (
        DELETE FROM memory_index i USING quoting q
        WHERE i.tenant_id = :tenant AND i.memory_id = q.id AND i.kind = 'context'
        RETURNING i.memory_id
    ), alone AS (
        UPDATE memory_index i SET kind = 'both' FROM quoting q
        WHERE i.tenant_id = :tenant AND i.memory_id = q.id AND i.kind = 'content'
    ), counted AS (
        UPDATE scopes SET context_count = greatest(0, context_count - (SELECT count(DISTINCT memory_id) FROM dropped))
        WHERE tenant_id = :tenant AND id = :scope
    )
    SELECT count(*) FROM quoting
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedDocuments:
    """Counts of deleted memories of a scope: those with a context, those that hold each term, and all terms."""

    contexts: int = 0
    terms: Mapping[int, int] = field(default_factory=dict)
    length: int = 0

    @staticmethod
    def of(words: Collection[Sequence[int]], *, contexts: int) -> RemovedDocuments:
        """Count documents, each given as the places of its terms, repeated as they are."""
        documents = Counter[int]()
        for one in words:
            documents.update(set(one))
        return RemovedDocuments(contexts=contexts, terms=documents, length=sum(len(one) for one in words))


async def delete_memories(
    session: WriteSession, tenant: UUID, scope: UUID, memories: Collection[UUID], documents: RemovedDocuments
) -> None:
    """Delete memories of a scope that is held, everything made of them, and what the scope counts of them.

    Their neighbours in chains are the caller's to link to one another, by the slot engine.
    """
    gone = await session.fetch(_DELETE, {"tenant": tenant, "ids": list(memories)})
    here = {"tenant": tenant, "scope": scope}
    counts = {"memories": len(gone), "contexts": documents.contexts, "length": documents.length}
    await session.fetch(_COUNT_OFF, {**here, **counts})
    given = [{"term": term, "documents": count} for term, count in sorted(documents.terms.items())]
    await session.fetch(_FORGET_TERMS, {**here, "given": json.dumps(given)})


async def delete_batch(session: WriteSession, tenant: UUID, memories: Collection[UUID]) -> int:
    """Delete memories of a scope that all goes, batch by batch: nobody reads its counts and chains again."""
    values = {"tenant": tenant, "ids": list(memories)}
    await session.fetch(_UNLINK, values)
    return len(await session.fetch(_DELETE, values))


async def clear_context(
    session: WriteSession, tenant: UUID, scope: UUID, *, needles: Sequence[str], sessions: Collection[str]
) -> int:
    """Take the context off memories of a scope in which it holds one of these texts; return how many there were.

    With `sessions`, only off those of these sessions.
    """
    values = {"tenant": tenant, "scope": scope, "needles": list(needles), "sessions": list(sessions)}
    [[count]] = await session.fetch(_CLEAR_CONTEXT, values)
    return int(count)
