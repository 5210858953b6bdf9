"""Keeping the index true to its scope: lexical weights by a length that drifts, vectors by size."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import RowMapping, text

from app.db.session import ReadSession, WriteSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Reweighed:
    """New lexical weights, as a sparsevec's text, for one index row."""

    memory_id: UUID
    part: int
    lexical: str


_ADOPT = text(
    """
    UPDATE scopes SET lexical_average = lexical_length::float8 / lexical_documents, version = version + 1
    WHERE tenant_id = :tenant AND id = :scope AND lexical_documents > 0 RETURNING lexical_average
    """
)

_BATCH = text(
    """
    SELECT i.memory_id, i.part, i.kind, m.content, m.context FROM memory_index i
    JOIN memories m ON m.tenant_id = i.tenant_id AND m.id = i.memory_id
    WHERE i.tenant_id = :tenant AND i.scope_id = :scope AND i.tsv IS NOT NULL
      AND (i.memory_id, i.part) > (:memory, :part)
    ORDER BY i.memory_id, i.part LIMIT :limit
    """
)

_REWEIGH = text(
    """
    UPDATE memory_index i SET lexical = CAST(g.lexical AS sparsevec)
    FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS g(memory_id uuid, part smallint, lexical text)
    WHERE i.tenant_id = :tenant AND i.memory_id = g.memory_id AND i.part = g.part AND i.scope_id = :scope
    """
)

_SETTLE = text("UPDATE scopes SET lexical_settled = :settled WHERE tenant_id = :tenant AND id = :scope")


_GROW = text("UPDATE scopes SET ann = true, version = version + 1 WHERE tenant_id = :tenant AND id = :scope")

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


async def grow(session: WriteSession, tenant: UUID, scope: UUID) -> None:
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
) -> list[RowMapping]:
    """Return the next lexical rows of a scope with the texts they index, in key order."""
    memory, part = after
    result = await session.execute(
        _BATCH, {"tenant": tenant, "scope": scope, "memory": memory, "part": part, "limit": limit}
    )
    return list(result.mappings())


async def reweigh(session: WriteSession, tenant: UUID, scope: UUID, rows: Sequence[Reweighed]) -> None:
    """Store new weights."""
    given = [{"memory_id": str(one.memory_id), "part": one.part, "lexical": one.lexical} for one in rows]
    await session.execute(_REWEIGH, {"tenant": tenant, "scope": scope, "given": json.dumps(given)})


async def settle(session: WriteSession, tenant: UUID, scope: UUID) -> None:
    """Mark the scope's rows as weighed by its average."""
    await session.execute(_SETTLE, {"tenant": tenant, "scope": scope, "settled": True})
