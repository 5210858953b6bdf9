"""Memories that wait for a person because a user asked to forget them, and what is kept back with them.

A belief that is meant waits for review as `erasure`. The memories that keep its turns word for word, and their
summaries, are kept back as `withheld` for as long: they are no items of the review queue.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from app.db.apply.memories import RowChange, bump_scopes, change_memories
from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record
from app.model import MemoryStatus, ReviewReason

MOST_COMPARED = 1_000
"""Memories, the newest, that a request to forget something is compared with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryInQuestion:
    """The columns of a memory that tell whether a request to forget something means it."""

    id: UUID
    type: str
    status: MemoryStatus
    content: str
    payload: Mapping[str, Any]
    subject: str | None


_IN_QUESTION = statement(
    """
    SELECT m.id, m.type, m.status, m.content, m.payload, m.subject FROM memories m
    WHERE m.tenant_id = :tenant AND m.scope_id = :scope AND m.status IN ('active', 'superseded', 'expired')
      AND m.stated_at <= :asked_at
      AND (m.payload ->> 'predicate' = ANY(CAST(:predicates AS text[]))
        OR m.payload ->> 'relation_type' = ANY(CAST(:predicates AS text[]))
        OR EXISTS (SELECT FROM unnest(CAST(:needles AS text[])) AS n(needle)
            WHERE strpos(folded(m.content || ' ' || m.payload::text), folded(n.needle)) > 0))
    ORDER BY m.stated_at DESC, m.id DESC LIMIT :most
    """
)

_SUMMARIES = statement(
    """
    SELECT DISTINCT s.id FROM memory_folds f
    JOIN memories s ON s.tenant_id = :tenant AND s.id = f.into_id
    WHERE f.tenant_id = :tenant AND f.memory_id = ANY(:ids)
    """
)

_ACTIVE = statement("SELECT id FROM memories WHERE tenant_id = :tenant AND id = ANY(:ids) AND status = 'active'")

_RELEASABLE = statement(
    """
    SELECT m.id FROM memories m
    WHERE m.tenant_id = :tenant AND m.scope_id = :scope AND m.review_reason = 'withheld' AND NOT EXISTS (
        SELECT FROM evidence e
        JOIN evidence b ON b.tenant_id = :tenant AND b.turn_id = e.turn_id
        JOIN memories w ON w.tenant_id = :tenant AND w.id = b.memory_id AND w.review_reason = 'erasure'
        WHERE e.tenant_id = :tenant AND (e.memory_id = m.id OR e.memory_id IN (
            SELECT f.memory_id FROM memory_folds f WHERE f.tenant_id = :tenant AND f.into_id = m.id)))
    ORDER BY m.id
    """
)


async def in_question(
    session: ReadSession,
    tenant: UUID,
    scope: UUID,
    *,
    needles: Sequence[str],
    predicates: Sequence[str],
    asked_at: datetime,
) -> list[MemoryInQuestion]:
    """Return the memories stated until `asked_at` with one of the predicates or texts, which are in lower case."""
    values = {"tenant": tenant, "scope": scope, "needles": list(needles), "predicates": list(predicates)}
    rows = await session.fetch(_IN_QUESTION, {**values, "asked_at": asked_at, "most": MOST_COMPARED})
    return [as_record(MemoryInQuestion, row, status=MemoryStatus(row["status"])) for row in rows]


async def withhold(
    session: WriteSession, tenant: UUID, memories: Collection[UUID], *, note: str, now: datetime
) -> list[UUID]:
    """Keep back those of these memories of a locked scope that are active, and their summaries; return them."""
    if not memories:
        return []
    summaries = [row["id"] for row in await session.fetch(_SUMMARIES, {"tenant": tenant, "ids": list(memories)})]
    rows = await session.fetch(_ACTIVE, {"tenant": tenant, "ids": [*memories, *summaries]})
    held = {"status": MemoryStatus.PENDING, **waiting(ReviewReason.WITHHELD, note, now)}
    await change_memories(session, tenant, [RowChange(id=row["id"], values=held) for row in rows], at=now)
    return [row["id"] for row in rows]


async def release(session: WriteSession, tenant: UUID, scope: UUID, *, now: datetime) -> list[UUID]:
    """Make active again what is kept back in a locked scope with nothing that waits for erasure; return it."""
    rows = await session.fetch(_RELEASABLE, {"tenant": tenant, "scope": scope})
    shown = {"status": MemoryStatus.ACTIVE, "review_reason": None, "review_note": None, "review_since": None}
    if rows:
        await change_memories(session, tenant, [RowChange(id=row["id"], values=shown) for row in rows], at=now)
        await bump_scopes(session, tenant, [scope], at=now)
    return [row["id"] for row in rows]


def waiting(reason: ReviewReason, note: str, now: datetime) -> dict[str, object]:
    """Return the review columns of a memory that waits for a reason since an instant."""
    return {"review_reason": reason, "review_note": note, "review_since": now}
