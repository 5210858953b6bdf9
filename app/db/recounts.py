"""Recounts of what writes count: memories and terms of scopes, mentions of entities.

A scope's true counts are read in one snapshot without a lock, together with the stored counts of that instant. The
difference is then added to the stored counts, which others may have changed meanwhile: writes only ever add to them and
subtract from them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from app.db.apply.counts import add_counts
from app.db.scopes import lock_scope
from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record
from app.lexical.bm25 import searched_terms
from app.lexical.counts import ScopeCounts, total

READ = 2_000
"""Memories read at a time."""

ENTITIES = 1_000
"""Entities counted in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """The result of a batch: approximate rows read, changes by name, and the last id, None at the end."""

    seen: int
    counts: Mapping[str, int]
    last: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountDifferences:
    """Corrections of a scope's counts, and the number of terms without a memory."""

    counts: ScopeCounts
    empty: int


_NEXT_SCOPE = statement("SELECT id FROM scopes WHERE tenant_id = :tenant AND id > :after ORDER BY id LIMIT 1")

_COUNTED = statement(
    """
    SELECT memory_count AS memories, context_count AS contexts, lexical_documents AS documents,
        lexical_length AS length
    FROM scopes
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

_SWEEP_TERMS = statement("DELETE FROM lexical_terms WHERE tenant_id = :tenant AND scope_id = :scope AND documents <= 0")


def _mentions_of(entity: str) -> str:
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
        SELECT looked.id, looked.mention_count, {_mentions_of("looked.id")} AS mentions FROM looked
    )
"""  # noqa: S608 - composed of constants

_FIND_WRONG = statement(
    f"""
    {_MISCOUNTED}
    SELECT (SELECT count(*) FROM looked) AS seen, (SELECT id FROM looked ORDER BY id DESC LIMIT 1) AS last,
        (SELECT count(*) FROM truth WHERE mentions <> mention_count) AS wrong
    """  # noqa: S608 - composed of constants
)

_LOCK_ENTITIES = statement(
    f"""
    SELECT id FROM entities WHERE tenant_id = :tenant AND id IN (
        SELECT e.id FROM entities e WHERE e.tenant_id = :tenant AND e.id > :after ORDER BY e.id LIMIT {ENTITIES})
    FOR NO KEY UPDATE SKIP LOCKED
    """  # noqa: S608 - composed of constants
)

_RECOUNT_PAGE = statement(
    f"""
    {_MISCOUNTED}, mended AS (
        UPDATE entities e SET mention_count = truth.mentions FROM truth
        WHERE e.tenant_id = :tenant AND e.id = truth.id AND truth.id = ANY(:ids)
          AND truth.mentions <> truth.mention_count
        RETURNING e.id
    )
    SELECT (SELECT count(*) FROM looked) AS seen, (SELECT id FROM looked ORDER BY id DESC LIMIT 1) AS last,
        (SELECT count(*) FROM mended) AS wrong
    """  # noqa: S608 - composed of constants
)


_RECOUNT = statement(
    f"""
    WITH truth AS (
        SELECT g.id, {_mentions_of("g.id")} AS mentions FROM unnest(CAST(:ids AS uuid[])) AS g(id)
    )
    UPDATE entities e SET mention_count = truth.mentions
    FROM truth
    WHERE e.tenant_id = :tenant AND e.id = truth.id AND truth.mentions <> e.mention_count
    """  # noqa: S608 - composed of constants
)


async def next_scope(session: ReadSession, tenant: UUID, after: UUID) -> UUID | None:
    """Return the scope behind an id, None when there is none."""
    rows = await session.fetch(_NEXT_SCOPE, {"tenant": tenant, "after": after})
    return rows[0]["id"] if rows else None


async def read_differences(session: ReadSession, tenant: UUID, scope: UUID, language: str) -> CountDifferences:
    """Return what is counted wrongly of a scope. The session must be a `SNAPSHOT`, so that all is of one instant."""
    here = {"tenant": tenant, "scope": scope}
    [counted] = await session.fetch(_COUNTED, here)
    terms = Counter({row["term"]: row["documents"] for row in await session.fetch(_TERMS, here)})
    found = -as_record(ScopeCounts, counted, terms=terms)
    after = UUID(int=0)
    while rows := await session.fetch(_MEMORIES, {**here, "after": after}):
        found += await asyncio.to_thread(_counts, rows, language)
        after = rows[-1]["id"]
    return CountDifferences(counts=found, empty=sum(count <= 0 for count in terms.values()))


async def correct_counts(session: WriteSession, tenant: UUID, scope: UUID, found: CountDifferences) -> None:
    """Add what differs to a scope's counts, under its lock."""
    await lock_scope(session, tenant, scope)
    await add_counts(session, tenant, scope, found.counts)
    await session.fetch(_SWEEP_TERMS, {"tenant": tenant, "scope": scope})


async def find_wrong_mentions(session: ReadSession, *, tenant: UUID, now: datetime, after: UUID) -> BatchResult:  # noqa: ARG001
    """Return how many of the next entities are mentioned more or less often than is counted."""
    [row] = await session.fetch(_FIND_WRONG, {"tenant": tenant, "after": after})
    return _batch(row)


async def recount_page(session: WriteSession, *, tenant: UUID, now: datetime, after: UUID) -> BatchResult:  # noqa: ARG001
    """Count the mentions of the next entities again; those that a write is counting now are left to it.

    The rows are locked first and counted by a later snapshot, so that no mention falls in between.
    """
    here = {"tenant": tenant, "after": after}
    locked = await session.fetch(_LOCK_ENTITIES, here)
    [row] = await session.fetch(_RECOUNT_PAGE, {**here, "ids": [one["id"] for one in locked]})
    return _batch(row)


async def recount_mentions(session: WriteSession, tenant: UUID, entities: Collection[UUID]) -> None:
    """Recount the mentions of entities in locked scopes."""
    if entities:
        await session.fetch(_RECOUNT, {"tenant": tenant, "ids": sorted(entities)})


def _batch(row: Record) -> BatchResult:
    last = row["last"] if row["seen"] == ENTITIES else None
    return BatchResult(seen=row["seen"], counts={"corrected": row["wrong"]}, last=last)


def _counts(rows: Sequence[Record], language: str) -> ScopeCounts:
    """Return the counts of memories, of which those that are not searched by words have no text."""
    found = total(ScopeCounts.of(searched_terms(row["content"], language)) for row in rows if row["lexical"])
    found.memories, found.contexts = len(rows), sum(row["context"] for row in rows)
    return found
