"""Counting anew what writes keep counts of: a scope's memories and terms, an entity's mentions.

A scope's truth is read in one snapshot, without a lock, and with it what was counted at that instant. What differs
is then added to the counts, which others may have moved meanwhile: they only ever add and take off.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from app.db.lifecycle.sweep import Batch
from app.db.scopes import hold_scope
from app.db.session import ReadSession, WriteSession
from app.db.statement import statement
from app.text.lexical import index_of, terms

READ = 2_000
"""Memories read at a time."""

ENTITIES = 1_000
"""Entities counted in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """What must be added to a scope's counts to make them true, and how many terms are kept without a memory."""

    memories: int
    contexts: int
    documents: int
    length: int
    terms: Mapping[int, int]
    empty: int

    @property
    def wrong(self) -> bool:
        """Return whether any count is untrue; a term that is kept without a memory is only untidy."""
        return bool(self.memories or self.contexts or self.documents or self.length or self.terms)


_NEXT_SCOPE = statement("SELECT id FROM scopes WHERE tenant_id = :tenant AND id > :after ORDER BY id LIMIT 1")

_COUNTED = statement(
    """
    SELECT memory_count, context_count, lexical_documents, lexical_length FROM scopes
    WHERE tenant_id = :tenant AND id = :scope
    """
)

_TERMS = statement("SELECT term, documents FROM lexical_terms WHERE tenant_id = :tenant AND scope_id = :scope")

_MEMORIES = statement(
    f"""
    SELECT m.id, m.content, coalesce(i.lexical, false) AS lexical, coalesce(i.context, false) AS context
    FROM (
        SELECT x.id, x.content FROM memories x
        WHERE x.tenant_id = :tenant AND x.scope_id = :scope AND x.id > :after ORDER BY x.id LIMIT {READ}
    ) m
    LEFT JOIN LATERAL (
        SELECT bool_or(y.tsv IS NOT NULL AND y.kind <> 'context') AS lexical, bool_or(y.kind = 'context') AS context
        FROM memory_index y WHERE y.tenant_id = :tenant AND y.memory_id = m.id
    ) i ON true
    ORDER BY m.id
    """  # noqa: S608 - composed of constants
)

_CORRECT = statement(
    """
    WITH given AS (
        SELECT * FROM jsonb_to_recordset(CAST(:terms AS jsonb)) AS g(term int, documents int)
    ), counted AS (
        UPDATE scopes SET memory_count = memory_count + :memories, context_count = context_count + :contexts,
            lexical_documents = lexical_documents + :documents, lexical_length = lexical_length + :length
        WHERE tenant_id = :tenant AND id = :scope
    )
    INSERT INTO lexical_terms (tenant_id, scope_id, term, documents)
    SELECT :tenant, :scope, term, documents FROM given
    ON CONFLICT (tenant_id, scope_id, term) DO UPDATE SET documents = lexical_terms.documents + excluded.documents
    """
)

_SWEEP_TERMS = statement("DELETE FROM lexical_terms WHERE tenant_id = :tenant AND scope_id = :scope AND documents <= 0")


def mentions_of(entity: str) -> str:
    """Return the SQL of how often the memories that name an entity were stated; `entity` is the SQL of its id."""
    return f"""(
        SELECT coalesce(sum(m.mentions), 0) FROM memory_entities k
        JOIN memories m ON m.tenant_id = :tenant AND m.id = k.memory_id
        WHERE k.tenant_id = :tenant AND k.entity_id = {entity})"""  # noqa: S608 - our own names


_MISCOUNTED = f"""
    WITH looked AS MATERIALIZED (
        SELECT e.id, e.mention_count FROM entities e WHERE e.tenant_id = :tenant AND e.id > :after
        ORDER BY e.id LIMIT {ENTITIES}
    ), truth AS MATERIALIZED (
        SELECT looked.id, looked.mention_count, {mentions_of("looked.id")} AS mentions FROM looked
    )
"""  # noqa: S608 - composed of constants

_LOOK = statement(
    f"""
    {_MISCOUNTED}
    SELECT (SELECT count(*) FROM looked) AS seen, (SELECT id FROM looked ORDER BY id DESC LIMIT 1) AS last,
        (SELECT count(*) FROM truth WHERE mentions <> mention_count) AS wrong
    """  # noqa: S608 - composed of constants
)

_HOLD_ENTITIES = statement(
    f"""
    SELECT id FROM entities WHERE tenant_id = :tenant AND id IN (
        SELECT e.id FROM entities e WHERE e.tenant_id = :tenant AND e.id > :after ORDER BY e.id LIMIT {ENTITIES})
    FOR NO KEY UPDATE SKIP LOCKED
    """  # noqa: S608 - composed of constants
)

_RECOUNT = statement(
    f"""
    {_MISCOUNTED}, mended AS (
        UPDATE entities e SET mention_count = truth.mentions, updated_at = greatest(e.updated_at, now()) FROM truth
        WHERE e.tenant_id = :tenant AND e.id = truth.id AND truth.id = ANY(:ids)
          AND truth.mentions <> truth.mention_count
        RETURNING e.id
    )
    SELECT (SELECT count(*) FROM looked) AS seen, (SELECT id FROM looked ORDER BY id DESC LIMIT 1) AS last,
        (SELECT count(*) FROM mended) AS wrong
    """  # noqa: S608 - composed of constants
)


async def next_scope(session: ReadSession, tenant: UUID, after: UUID) -> UUID | None:
    """Return the scope behind an id, None when there is none."""
    rows = await session.fetch(_NEXT_SCOPE, {"tenant": tenant, "after": after})
    return rows[0]["id"] if rows else None


async def differences(session: ReadSession, tenant: UUID, scope: UUID, language: str) -> Differences:
    """Return what is counted wrongly of a scope. The session must be a `SNAPSHOT`, so that all is of one instant."""
    here = {"tenant": tenant, "scope": scope}
    [counted] = await session.fetch(_COUNTED, here)
    stored = {row["term"]: row["documents"] for row in await session.fetch(_TERMS, here)}
    known, memories, contexts, documents, length = Counter[int](), 0, 0, 0, 0
    after = UUID(int=0)
    while rows := await session.fetch(_MEMORIES, {**here, "after": after}):
        indexed = [row for row in rows if row["lexical"]]
        words = await asyncio.to_thread(_words, indexed, language)
        known.update(place for own in words for place in set(own))
        memories += len(rows)
        contexts += sum(row["context"] for row in rows)
        documents += len(indexed)
        length += sum(map(len, words))
        after = rows[-1]["id"]
    return Differences(
        memories=memories - counted["memory_count"],
        contexts=contexts - counted["context_count"],
        documents=documents - counted["lexical_documents"],
        length=length - counted["lexical_length"],
        terms={
            term: known[term] - stored.get(term, 0)
            for term in known.keys() | stored.keys()
            if known[term] != stored.get(term, 0)
        },
        empty=sum(count <= 0 for count in stored.values()),
    )


async def correct(session: WriteSession, tenant: UUID, scope: UUID, found: Differences) -> None:
    """Add what differs to a scope's counts, under its lock."""
    here = {"tenant": tenant, "scope": scope}
    await hold_scope(session, tenant, scope)
    given = [{"term": term, "documents": count} for term, count in sorted(found.terms.items())]
    await session.fetch(
        _CORRECT,
        {
            **here,
            "terms": json.dumps(given),
            "memories": found.memories,
            "contexts": found.contexts,
            "documents": found.documents,
            "length": found.length,
        },
    )
    await session.fetch(_SWEEP_TERMS, here)


async def miscounted(session: ReadSession, *, tenant: UUID, now: datetime, after: UUID) -> Batch:  # noqa: ARG001
    """Return how many of the next entities are mentioned more or less often than is counted."""
    [row] = await session.fetch(_LOOK, {"tenant": tenant, "after": after})
    return _batch(row)


async def recount(session: WriteSession, *, tenant: UUID, now: datetime, after: UUID) -> Batch:  # noqa: ARG001
    """Count the mentions of the next entities anew; those that a write is counting now are left to it.

    The rows are held first and counted by a later snapshot, so that no mention falls in between.
    """
    here = {"tenant": tenant, "after": after}
    held = await session.fetch(_HOLD_ENTITIES, here)
    [row] = await session.fetch(_RECOUNT, {**here, "ids": [one["id"] for one in held]})
    return _batch(row)


def _batch(row: Record) -> Batch:
    last = row["last"] if row["seen"] == ENTITIES else None
    return Batch(seen=row["seen"], counts={"corrected": row["wrong"]}, last=last)


def _words(rows: Sequence[Record], language: str) -> list[list[int]]:
    return [[index_of(term) for term in terms(row["content"], language)] for row in rows]
