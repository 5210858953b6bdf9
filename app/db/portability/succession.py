"""Memories that are here and give way to those an import brings: chains stay linear, and no two versions overlap."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from app import ids
from app.db.audit import AuditWriter, append
from app.db.portability.imports import Holder
from app.db.session import WriteSession, statement
from app.memory.audit import AuditAction
from app.memory.versions import TOLERANCE
from app.model import MemoryStatus

_RETIRE = statement(
    """
    WITH gone AS (
        UPDATE memories SET status = 'superseded', superseded_by = :successor, ended_at = greatest(valid_from, :ended),
            retired_at = :now, updated_at = :now, review_reason = NULL, review_note = NULL, review_since = NULL
        WHERE tenant_id = :tenant AND id = :id RETURNING id, ended_at
    )
    UPDATE memory_index i SET status = 'superseded', ended_at = gone.ended_at, retired_at = :now
    FROM gone WHERE i.tenant_id = :tenant AND i.memory_id = gone.id
    """
)

_FOLLOW = statement(
    """
    WITH RECURSIVE pairs AS MATERIALIZED (
        SELECT a.id, a.status, a.superseded_by AS was_next, a.confidence, b.id AS next, b.superseded_by AS after,
            b.valid_from AS since, b.confidence AS by_confidence
        FROM memories b JOIN memories a ON a.tenant_id = :tenant AND a.id = b.supersedes
        WHERE b.tenant_id = :tenant AND b.id = ANY(:new) AND b.status <> 'pending' AND a.id <> ALL(:new)
          AND a.scope_id = b.scope_id AND a.type = b.type AND a.stated_at <= b.stated_at
          AND a.superseded_by IS DISTINCT FROM b.id
    ), ahead AS (
        SELECT next AS of, after AS id FROM pairs WHERE after IS NOT NULL
        UNION
        SELECT ahead.of, m.superseded_by FROM ahead JOIN memories m ON m.tenant_id = :tenant AND m.id = ahead.id
        WHERE m.superseded_by IS NOT NULL
    ), given AS MATERIALIZED (
        SELECT p.* FROM pairs p
        WHERE NOT EXISTS (SELECT FROM ahead h WHERE h.of = p.next AND h.id = p.id)
          AND CASE p.status
              WHEN 'active' THEN p.by_confidence >= p.confidence - :tolerance
              WHEN 'superseded' THEN EXISTS (SELECT FROM ahead h WHERE h.of = p.next AND h.id = p.was_next)
              ELSE false END
    ), gone AS (
        UPDATE memories m SET status = 'superseded', superseded_by = g.next,
            ended_at = greatest(m.valid_from, least(g.since, m.ended_at)),
            retired_at = CASE m.status WHEN 'active' THEN :now ELSE m.retired_at END, updated_at = :now,
            contested = false, review_reason = NULL, review_note = NULL, review_since = NULL
        FROM given g WHERE m.tenant_id = :tenant AND m.id = g.id AND m.status = g.status
        RETURNING m.id, m.ended_at, m.retired_at
    ), indexed AS (
        UPDATE memory_index i SET status = 'superseded', ended_at = gone.ended_at, retired_at = gone.retired_at
        FROM gone WHERE i.tenant_id = :tenant AND i.memory_id = gone.id
    )
    SELECT g.id, g.status, g.confidence, g.next, g.by_confidence FROM given g JOIN gone ON gone.id = g.id ORDER BY g.id
    """
)

_REASON = "an import brought what came after it"


async def retire(session: WriteSession, ledger: AuditWriter, holder: Holder, successor: Mapping[str, Any]) -> None:
    """Make the holder of a slot history: a memory that comes in, as a row, has taken its slot."""
    values = {"successor": successor["id"], "ended": successor["valid_from"], "now": ledger.at}
    await session.fetch(_RETIRE, {"tenant": ledger.tenant, "id": holder.id, **values})
    detail = _superseded(successor["id"], MemoryStatus.ACTIVE, holder.confidence, successor["confidence"])
    await append(session, [ledger.event(AuditAction.MEMORY_SUPERSEDED, detail, memory=holder.id)])


async def follow(session: WriteSession, ledger: AuditWriter, new: Collection[UUID]) -> None:
    """Let what was here before give way to those of the memories just stored that came after it where they are from.

    The active one ends where its successor begins, if that was not stated earlier and is not trusted far less; one
    that is history already, and was followed by what follows the new one, gets it as its neighbour in between.
    """
    given = {"tenant": ledger.tenant, "new": sorted(new), "now": ledger.at, "tolerance": TOLERANCE}
    events = []
    for row in await session.fetch(_FOLLOW, given) if new else ():
        if row["status"] == MemoryStatus.ACTIVE:
            detail = _superseded(row["next"], row["status"], row["confidence"], row["by_confidence"])
            events.append(ledger.event(AuditAction.MEMORY_SUPERSEDED, detail, memory=row["id"]))
        else:
            placed = {"between": ids.public(ids.MEMORY, row["next"]), "reason": _REASON}
            events.append(ledger.event(AuditAction.MEMORY_RELINKED, placed, memory=row["id"]))
    await append(session, events)


def _superseded(by: UUID, status: str, confidence: float, by_confidence: float) -> dict[str, object]:
    return {
        "by": ids.public(ids.MEMORY, by),
        "reason": _REASON,
        "status": [status, MemoryStatus.SUPERSEDED],
        "confidence": confidence,
        "by_confidence": by_confidence,
        "tolerance": TOLERANCE,
    }
