"""Recounts of what writes count, and upkeep of a scope's lexical weights and vector index.

A scope's true counts are read in one snapshot without a lock, together with the stored counts of that instant. The
difference is then added to the stored counts, which others may have changed meanwhile: writes only ever add to them and
subtract from them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from asyncpg import Record
from pgvector import SparseVector
from sqlalchemy import text

from app.db.apply.counts import add_counts
from app.db.apply.memories import REREAD
from app.db.lifecycle.sweeps import BatchResult
from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record
from app.db.tenants import lock_scope
from app.lexical.bm25 import searched_terms
from app.lexical.counts import ScopeCounts, total

READ = 2_000
"""Memories read at a time."""

ENTITIES = 1_000
"""Entities counted in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
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
        UPDATE entities e SET mention_count = truth.mentions FROM truth
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
    terms = Counter({row["term"]: row["documents"] for row in await session.fetch(_TERMS, here)})
    found = -as_record(ScopeCounts, counted, terms=terms)
    after = UUID(int=0)
    while rows := await session.fetch(_MEMORIES, {**here, "after": after}):
        found += await asyncio.to_thread(_counts, rows, language)
        after = rows[-1]["id"]
    return Differences(counts=found, empty=sum(count <= 0 for count in terms.values()))


async def correct(session: WriteSession, tenant: UUID, scope: UUID, found: Differences) -> None:
    """Add what differs to a scope's counts, under its lock."""
    await lock_scope(session, tenant, scope)
    await add_counts(session, tenant, scope, found.counts)
    await session.fetch(_SWEEP_TERMS, {"tenant": tenant, "scope": scope})


async def wrong_counts(session: ReadSession, *, tenant: UUID, now: datetime, after: UUID) -> BatchResult:  # noqa: ARG001
    """Return how many of the next entities are mentioned more or less often than is counted."""
    [row] = await session.fetch(_LOOK, {"tenant": tenant, "after": after})
    return _batch(row)


async def recount(session: WriteSession, *, tenant: UUID, now: datetime, after: UUID) -> BatchResult:  # noqa: ARG001
    """Count the mentions of the next entities again; those that a write is counting now are left to it.

    The rows are held first and counted by a later snapshot, so that no mention falls in between.
    """
    here = {"tenant": tenant, "after": after}
    held = await session.fetch(_HOLD_ENTITIES, here)
    [row] = await session.fetch(_RECOUNT, {**here, "ids": [one["id"] for one in held]})
    return _batch(row)


def _batch(row: Record) -> BatchResult:
    last = row["last"] if row["seen"] == ENTITIES else None
    return BatchResult(seen=row["seen"], counts={"corrected": row["wrong"]}, last=last)


def _counts(rows: Sequence[Record], language: str) -> ScopeCounts:
    """Return the counts of memories, of which those that are not searched by words have no text."""
    found = total(ScopeCounts.of(searched_terms(row["content"], language)) for row in rows if row["lexical"])
    found.memories, found.contexts = len(rows), sum(row["context"] for row in rows)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class UnweighedText:
    """The text of one index row, whose lexical weights are to be worked out."""

    memory_id: UUID
    part: int
    kind: str
    content: str
    context: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reweighed:
    """New lexical weights for one index row."""

    memory_id: UUID
    part: int
    lexical: SparseVector


_ADOPT = text(
    f"""
    UPDATE scopes SET lexical_average = lexical_length::float8 / lexical_documents, {REREAD}
    WHERE tenant_id = :tenant AND id = :scope AND lexical_documents > 0 RETURNING lexical_average
    """  # noqa: S608 - composed of constants
)

_BATCH = text(
    """
    SELECT i.memory_id, i.part, i.kind, m.content, m.context FROM memory_index i
    JOIN memories m ON m.tenant_id = :tenant AND m.id = i.memory_id
    WHERE i.tenant_id = :tenant AND i.scope_id = :scope AND i.tsv IS NOT NULL
      AND (i.memory_id, i.part) > (:memory, :part)
    ORDER BY i.memory_id, i.part LIMIT :limit
    """
)

_REWEIGH = statement(
    """
    UPDATE memory_index i SET lexical = g.lexical
    FROM unnest(CAST(:memories AS uuid[]), CAST(:parts AS smallint[]), CAST(:weights AS sparsevec[]))
        AS g(memory_id, part, lexical)
    WHERE i.tenant_id = :tenant AND i.memory_id = g.memory_id AND i.part = g.part AND i.scope_id = :scope
    """
)

_SETTLE = text("UPDATE scopes SET lexical_settled = :settled WHERE tenant_id = :tenant AND id = :scope")

_GROW = text(f"UPDATE scopes SET ann = true, {REREAD} WHERE tenant_id = :tenant AND id = :scope")  # noqa: S608 - constants

_RANK = text(
    """
    WITH outside AS (
        SELECT i.memory_id, i.part FROM memory_index i
        WHERE i.tenant_id = :tenant AND i.scope_id = :scope AND NOT i.ann LIMIT :limit
    )
    UPDATE memory_index i SET ann = true FROM outside o
    WHERE i.tenant_id = :tenant AND i.memory_id = o.memory_id AND i.part = o.part
    """
)

_RANK_QUESTIONS = text(
    """
    WITH outside AS (
        SELECT q.memory_id, q.ordinal FROM hypothetical_embeddings q
        WHERE q.tenant_id = :tenant AND q.scope_id = :scope AND NOT q.ann LIMIT :limit
    )
    UPDATE hypothetical_embeddings q SET ann = true FROM outside o
    WHERE q.tenant_id = :tenant AND q.memory_id = o.memory_id AND q.ordinal = o.ordinal
    """
)


async def grow_scope(session: WriteSession, tenant: UUID, scope: UUID) -> None:
    """Have new rows of the scope go into the vector indexes from now on."""
    await session.execute(_GROW, {"tenant": tenant, "scope": scope})


async def rank(session: WriteSession, tenant: UUID, scope: UUID, *, limit: int) -> int:
    """Put up to `limit` rows of the scope into each vector index; return how many; fewer: there are no more."""
    here = {"tenant": tenant, "scope": scope, "limit": limit}
    done = await session.execute(_RANK, here)
    asked = await session.execute(_RANK_QUESTIONS, here)
    return int(done.rowcount) + int(asked.rowcount)


async def adopt(session: WriteSession, tenant: UUID, scope: UUID) -> float | None:
    """Make the scope's true average length the one its rows go by; None when it has no rows.

    Until `settle`, the scope is marked as unsettled, so that a crash in between is noticed.
    """
    found = (await session.execute(_ADOPT, {"tenant": tenant, "scope": scope})).first()
    await session.execute(_SETTLE, {"tenant": tenant, "scope": scope, "settled": False})
    return None if found is None else float(found[0])


async def batch(
    session: ReadSession, tenant: UUID, scope: UUID, *, after: tuple[UUID, int], limit: int
) -> list[UnweighedText]:
    """Return the next lexical rows of a scope with the texts they index, in key order."""
    memory, part = after
    result = await session.execute(
        _BATCH, {"tenant": tenant, "scope": scope, "memory": memory, "part": part, "limit": limit}
    )
    return [UnweighedText(**row) for row in result.mappings()]


async def reweigh(session: WriteSession, tenant: UUID, scope: UUID, rows: Sequence[Reweighed]) -> None:
    """Store new weights."""
    given = {
        "memories": [one.memory_id for one in rows],
        "parts": [one.part for one in rows],
        "weights": [one.lexical for one in rows],
    }
    await session.fetch(_REWEIGH, {"tenant": tenant, "scope": scope, **given})


async def finish(session: WriteSession, tenant: UUID, scope: UUID) -> None:
    """Mark the scope's rows as weighed by its average."""
    await session.execute(_SETTLE, {"tenant": tenant, "scope": scope, "settled": True})
