"""Reading memories, whole: by id, in pages, and with the chain they belong to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping, text

from app.db.session import ReadSession
from app.db.statement import statement
from app.model import (
    Category,
    ConfidenceParts,
    Evidence,
    Memory,
    ReviewReason,
    Scope,
    ScopeKind,
    SpeechAct,
    Status,
)

WHOLE = """
    SELECT m.*, s.kind AS scope_kind, s.user_id, s.agent_id,
        coalesce(u.access_count, 0) AS access_count, u.last_accessed_at,
        (SELECT coalesce(jsonb_agg(jsonb_build_object('kind', l.kind, 'from', l.from_memory, 'to', l.to_memory)
                                   ORDER BY l.created_at, l.to_memory), '[]')
         FROM memory_links l
         WHERE l.tenant_id = m.tenant_id AND (l.from_memory = m.id OR l.to_memory = m.id)) AS links,
        (SELECT coalesce(jsonb_agg(jsonb_build_object('turn_id', e.turn_id, 'quote', e.quote, 'role', e.role,
                                                      'session_id', e.session_id, 'stated_at', e.stated_at)
                                   ORDER BY e.stated_at, e.id), '[]')
         FROM evidence e WHERE e.tenant_id = m.tenant_id AND e.memory_id = m.id) AS evidence
    FROM memories m
    JOIN scopes s ON s.tenant_id = m.tenant_id AND s.id = m.scope_id
    LEFT JOIN memory_usage u ON u.tenant_id = m.tenant_id AND u.memory_id = m.id
"""
"""A memory with its scope, use, links and evidence; a condition on `m` follows."""

_BY_ID = statement(
    WHOLE.replace(
        "FROM memories m\n",
        """FROM unnest(CAST(:ids AS uuid[])) AS given(id)
    CROSS JOIN LATERAL (SELECT * FROM memories x WHERE x.tenant_id = :tenant AND x.id = given.id OFFSET 0) m
""",
        1,
    )
)
"""One look-up an id: joined plainly, a plan made for many small tenants walks all of a large one's memories."""

_CHAIN = text(
    """
    WITH RECURSIVE older AS (
        SELECT id, supersedes, 0 AS depth FROM memories WHERE tenant_id = :tenant AND id = :id
        UNION
        SELECT m.id, m.supersedes, older.depth + 1 FROM older
        JOIN memories m ON m.tenant_id = :tenant AND m.superseded_by = older.id
        WHERE older.depth < :depth
    ), newer AS (
        SELECT id, superseded_by, 0 AS depth FROM memories WHERE tenant_id = :tenant AND id = :id
        UNION
        SELECT m.id, m.superseded_by, newer.depth + 1 FROM newer
        JOIN memories m ON m.tenant_id = :tenant AND m.id = newer.superseded_by
        WHERE newer.depth < :depth
    )
    SELECT id FROM older UNION SELECT id FROM newer
    """
)

LONGEST_CHAIN = 1_000
"""Versions of one belief that a history shows in each direction."""


async def fetch(session: ReadSession, tenant: UUID, ids: Collection[UUID]) -> dict[UUID, Memory]:
    """Return the memories of these ids that exist, by id."""
    if not ids:
        return {}
    rows = await session.fetch(_BY_ID, {"tenant": tenant, "ids": list(ids)})
    return {row["id"]: whole(row) for row in rows}


async def chain(session: ReadSession, tenant: UUID, memory: UUID) -> list[Memory]:
    """Return every version of the belief a memory belongs to, in the order they were stated."""
    result = await session.execute(_CHAIN, {"tenant": tenant, "id": memory, "depth": LONGEST_CHAIN})
    found = await fetch(session, tenant, [row[0] for row in result])
    return sorted(found.values(), key=lambda one: (one.stated_at, one.id))


def parts_of(row: RowMapping | Mapping[str, Any]) -> ConfidenceParts:
    """Return the components of confidence that a row of `memories` holds."""
    return ConfidenceParts(
        source=row["source_strength"],
        extractor=row["extractor_confidence"],
        prior=row["prior"],
        mentions=row["mentions"],
    )


def whole(row: RowMapping | Mapping[str, Any]) -> Memory:
    """Return the memory of a row that `WHOLE` selected, or that has what it selects."""
    return Memory(
        id=row["id"],
        scope=Scope(kind=ScopeKind(row["scope_kind"]), user_id=row["user_id"], agent_id=row["agent_id"]),
        type=row["type"],
        category=Category(row["category"]),
        status=Status(row["status"]),
        content=row["content"],
        payload=row["payload"],
        subject=row["subject"],
        slot=row["slot"],
        contested=row["contested"],
        parts=parts_of(row),
        confidence=row["confidence"],
        importance=row["importance"],
        topic=row["topic"],
        session_id=row["session_id"],
        sequence_number=row["sequence_number"],
        stated_at=row["stated_at"],
        valid_from=row["valid_from"],
        valid_until=_earliest(row["valid_until"], row["ended_at"]),
        recorded_at=row["recorded_at"],
        retired_at=row["retired_at"],
        supersedes=row["supersedes"],
        superseded_by=row["superseded_by"],
        review=None if row["review_reason"] is None else ReviewReason(row["review_reason"]),
        review_note=row["review_note"],
        review_since=row["review_since"],
        half_life_days=row["half_life_days"],
        floor=row["floor"],
        access_count=row["access_count"],
        last_accessed_at=row["last_accessed_at"],
        speech_act=SpeechAct(row["speech_act"]),
        provenance=row["provenance"],
        metadata=row["metadata"],
        links=tuple(row["links"]),
        evidence=tuple(_evidence(one) for one in row["evidence"]),
    )


def _earliest(*instants: datetime | None) -> datetime | None:
    return min((one for one in instants if one is not None), default=None)


def _evidence(given: Mapping[str, Any]) -> Evidence:
    turn = given["turn_id"]
    return Evidence(
        stated_at=datetime.fromisoformat(given["stated_at"]),
        turn_id=None if turn is None else UUID(turn),
        quote=given["quote"],
        role=given["role"],
        session_id=given["session_id"],
    )
