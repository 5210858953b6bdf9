"""Turns told after a memory that are nearest to it in meaning."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Final
from uuid import UUID

from app.db.session import ReadSession, SqlStatement, statement
from app.db.sql import columns_of

NEAREST: Final = 4
"""Most turns that are returned."""


@cache
def _later(model: int) -> SqlStatement:
    at = columns_of(model)
    return statement(
        f"""
        SELECT i.memory_id
        FROM (
            SELECT x.scope_id, x.stated_at, x.{at.vector} AS vector FROM memory_index x
            WHERE x.tenant_id = :tenant AND x.memory_id = :memory AND x.part = 0 AND x.{at.model} = {model:d}
        ) told
        CROSS JOIN LATERAL (
            SELECT x.memory_id, -(x.vector <#> told.vector) AS cosine
            FROM unnest(ARRAY['content', 'both']) AS part(kind)
            CROSS JOIN unnest(CAST(:verbatim AS text[])) AS said(type)
            CROSS JOIN LATERAL (
                SELECT x.memory_id, x.{at.vector} AS vector FROM memory_index x
                WHERE x.tenant_id = :tenant AND x.scope_id = told.scope_id AND x.kind = part.kind AND x.type = said.type
                  AND x.status = 'active' AND x.stated_at > told.stated_at AND x.{at.model} = {model:d}
                  AND NOT coalesce(x.speaker_id = ANY(CAST(:assistants AS uuid[])), false)
                OFFSET 0
            ) x
            ORDER BY x.vector <#> told.vector LIMIT {NEAREST}
        ) i
        WHERE i.cosine >= :least
        """  # noqa: S608 - composed of constants
    )


async def read_later_turns(
    session: ReadSession,
    *,
    tenant: UUID,
    memory: UUID,
    verbatim: Collection[str],
    assistants: Collection[UUID],
    least: float,
    model: int,
) -> list[UUID]:
    """Return the turns of a memory's scope that were told after it and are nearest to it, by people.

    `least` is the least cosine, `model` the embedding model's id. Every later turn of the scope is compared, one
    look-up a kind and type: a plan for any tenant would read all of a large one for `= ANY(...)`.
    """
    rows = await session.fetch(
        _later(model),
        {
            "tenant": tenant,
            "memory": memory,
            "verbatim": list(verbatim),
            "assistants": list(assistants),
            "least": least,
        },
    )
    return [row[0] for row in rows]
