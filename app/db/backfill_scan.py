"""Queries of a backfill's scan: memories that may be of another type, and their neighbours, as whole rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from app.db.memories.read import EVERY
from app.db.session import ReadSession, statement

BackfillScanRow = Mapping[str, Any]
"""A memory as a row: values by column."""

_ROLES = """(
    SELECT jsonb_object_agg(me.role, jsonb_build_array(e.id, e.canonical_name, e.entity_type))
    FROM memory_entities me JOIN entities e ON e.tenant_id = :tenant AND e.id = me.entity_id
    WHERE me.tenant_id = :tenant AND me.memory_id = m.id
) AS roles"""

_PAGE = statement(
    """
    WITH page AS MATERIALIZED (
        SELECT x.id FROM memories x
        WHERE x.tenant_id = :tenant AND x.id > :after
          AND (CAST(:scopes AS uuid[]) IS NULL OR x.scope_id = ANY(:scopes))
        ORDER BY x.id LIMIT :limit
    )
    SELECT page.id AS passed, m.* FROM page LEFT JOIN LATERAL (
        SELECT x.id, x.type, x.payload, x.content, x.updated_at FROM memories x
        WHERE x.tenant_id = :tenant AND x.id = page.id
          AND x.type = ANY(:types) AND x.status IN ('active', 'expired', 'superseded') OFFSET 0
    ) m ON true
    ORDER BY page.id
    """
)

_ROWS = statement(
    f"""
    SELECT {EVERY}, {_ROLES}, s.kind AS scope_kind, s.user_id, s.agent_id, m.slot IS NOT NULL AND EXISTS (
            SELECT FROM memories o WHERE o.tenant_id = :tenant AND o.scope_id = m.scope_id AND o.type = m.type
                AND o.slot = m.slot AND o.contested AND o.status = 'active'
        ) AS in_contest
    FROM unnest(CAST(:ids AS uuid[])) AS given(id)
    CROSS JOIN LATERAL (SELECT * FROM memories x WHERE x.tenant_id = :tenant AND x.id = given.id OFFSET 0) m
    JOIN scopes s ON s.tenant_id = :tenant AND s.id = m.scope_id
    """  # noqa: S608 - composed of constants
)

_ABOUT = statement(
    f"""
    SELECT {EVERY}, {_ROLES} FROM unnest(CAST(:subjects AS uuid[])) AS given(id)
    CROSS JOIN LATERAL (
        SELECT * FROM memories x
        WHERE x.tenant_id = :tenant AND x.scope_id = :scope AND x.subject_id = given.id AND x.type = ANY(:types)
          AND x.status = 'active' AND x.speech_act = 'assertion' AND x.slot IS NOT NULL
          AND NOT EXISTS (SELECT FROM backfill_items f
                          WHERE f.tenant_id = :tenant AND f.backfill_id = :backfill AND f.memory_id = x.id)
        OFFSET 0
    ) m
    """  # noqa: S608 - composed of constants
)

_WITHIN = statement(
    """
    SELECT id, memory_count FROM scopes
    WHERE tenant_id = :tenant AND (CAST(:user AS text) IS NULL OR user_id = :user)
      AND (CAST(:agent AS text) IS NULL OR agent_id = :agent) AND (CAST(:kind AS text) IS NULL OR kind = :kind)
    ORDER BY id
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillScanPage:
    """A page of memories of the scanned types, up to `last`, which is None on the last page.

    A row has id, type, payload, content and updated_at.
    """

    rows: Sequence[BackfillScanRow]
    last: UUID | None


async def read_page(
    session: ReadSession, tenant: UUID, *, user: str | None, agent: str | None, kind: str | None
) -> dict[UUID, int]:
    """Return the scopes of a user, an agent or a kind, each with its number of memories."""
    rows = await session.fetch(_WITHIN, {"tenant": tenant, "user": user, "agent": agent, "kind": kind})
    return {row["id"]: row["memory_count"] for row in rows}


async def page(
    session: ReadSession,
    tenant: UUID,
    *,
    types: Sequence[str],
    scopes: Sequence[UUID] | None,
    after: UUID,
    limit: int,
) -> BackfillScanPage:
    """Scan the next `limit` memories by id, and return those of the types that are neither pending nor forgotten."""
    here = {"tenant": tenant, "types": list(types), "after": after, "limit": limit}
    found = await session.fetch(_PAGE, {**here, "scopes": None if scopes is None else list(scopes)})
    return BackfillScanPage(
        rows=[row for row in found if row["id"] is not None], last=found[-1]["passed"] if found else None
    )


async def rows(session: ReadSession, tenant: UUID, ids: Collection[UUID]) -> dict[UUID, BackfillScanRow]:
    """Return whole rows of memories by id, with their scope, the entities that they mention by role, and `in_contest`.

    `in_contest` is whether another memory contests the slot.
    """
    found = await session.fetch(_ROWS, {"tenant": tenant, "ids": list(ids)}) if ids else []
    return {row["id"]: row for row in found}


async def read_neighbours(
    session: ReadSession,
    tenant: UUID,
    scope: UUID,
    *,
    backfill: UUID,
    subjects: Collection[UUID],
    types: Sequence[str],
) -> list[BackfillScanRow]:
    """Return active memories of some types about entities of a scope, without those that the backfill flagged."""
    here = {"tenant": tenant, "scope": scope, "backfill": backfill}
    return list(await session.fetch(_ABOUT, {**here, "subjects": list(subjects), "types": list(types)}))
