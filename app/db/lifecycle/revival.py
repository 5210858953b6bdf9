"""Bringing expired memories back: because they were accessed, found useful, or stated again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.db.audit import Ledger, append
from app.db.lifecycle import fading
from app.db.lifecycle.sweep import USE
from app.db.session import WriteSession
from app.db.statement import statement
from app.memory.actions import Action
from app.memory.freshness import EXPIRY
from app.memory.lifecycle import Fade
from app.model import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Revived:
    """A memory that is active again, and how fresh it is by the access that brought it back."""

    id: UUID
    scope_id: UUID
    fade: Fade


_HOLD_SCOPES = statement(
    """
    SELECT s.id FROM scopes s WHERE s.tenant_id = :tenant AND s.id IN (
        SELECT m.scope_id FROM memories m WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.status = 'expired')
    ORDER BY s.id FOR UPDATE
    """
)

_FIT = statement(
    f"""
    WITH fit AS MATERIALIZED (
        SELECT m.id, m.scope_id, m.type, m.slot, m.contested, m.stated_at, {fading.NUMBERS}
        FROM memories m {USE}
        WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.status = 'expired'
          AND (m.valid_until IS NULL OR m.valid_until > :now)
          AND (m.ended_at IS NULL OR m.ended_at > :now)
          AND {fading.FRESHNESS} > {EXPIRY}
          AND NOT EXISTS (
            SELECT FROM memories h WHERE h.tenant_id = :tenant AND h.scope_id = m.scope_id AND h.type = m.type
              AND h.slot = m.slot AND h.status = 'active')
    )
    SELECT DISTINCT ON (scope_id, type, slot, CASE WHEN slot IS NULL THEN id END) * FROM fit
    ORDER BY scope_id, type, slot, CASE WHEN slot IS NULL THEN id END, contested, stated_at DESC, id DESC
    """  # noqa: S608 - composed of constants
)

_REVIVE = statement(
    """
    WITH moved AS (
        UPDATE scopes SET version = version + 1 WHERE tenant_id = :tenant AND id = ANY(:scopes)
    ), indexed AS (
        UPDATE memory_index SET status = 'active' WHERE tenant_id = :tenant AND memory_id = ANY(:ids)
    )
    UPDATE memories SET status = 'active', updated_at = greatest(updated_at, :now)
    WHERE tenant_id = :tenant AND id = ANY(:ids)
    """
)

_HOLD = statement("SELECT id FROM memories WHERE tenant_id = :tenant AND id = ANY(:ids) ORDER BY id FOR NO KEY UPDATE")


async def revive(
    session: WriteSession, tenant: UUID, memories: Collection[UUID], *, now: datetime, actor: str, reason: str
) -> list[Revived]:
    """Make active again those of the memories that are expired and fit to return; return them.

    Fit is what is fresh enough by its last access, which must be recorded already; is still true; and whose
    slot no active memory holds. Of several expired ones of a slot the latest statement returns. The reason is
    for the audit log, in our own words.

    Scopes are locked first, and moved on, because what writes have read of them is no longer all. So call it
    before anything else of the transaction locks memories or their use, unless it holds the scopes already.
    """
    ids = sorted(memories)
    values = {"tenant": tenant, "ids": ids}
    if not ids or not await session.fetch(_HOLD_SCOPES, values):
        return []
    await session.fetch(_HOLD, values)
    rows = await session.fetch(_FIT, {**values, "now": now})
    revived = [Revived(id=row["id"], scope_id=row["scope_id"], fade=fading.fade_of(row)) for row in rows]
    changing = {"ids": [one.id for one in revived], "scopes": sorted({one.scope_id for one in revived})}
    await session.fetch(_REVIVE, {"tenant": tenant, "now": now, **changing})
    events = [
        Ledger(tenant=tenant, actor=actor, at=now, scope=one.scope_id).event(
            Action.MEMORY_REVIVED,
            {"reason": reason, "status": [Status.EXPIRED, Status.ACTIVE], **one.fade.detail()},
            memory=one.id,
        )
        for one in revived
    ]
    await append(session, events)
    return revived
