"""A memory that is said to be wrong: it waits for review, and what was said of it stands on it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from app.db.session import WriteSession
from app.model import ReviewReason

_HOLD = text("SELECT id FROM memories WHERE tenant_id = :tenant AND id = :memory FOR NO KEY UPDATE")

_PEND = text(
    """
    WITH pending AS (
        UPDATE memories SET status = 'pending', updated_at = :now
        WHERE tenant_id = :tenant AND id = :memory AND status = 'active' RETURNING id, scope_id
    ), indexed AS (
        UPDATE memory_index i SET status = 'pending' FROM pending
        WHERE i.tenant_id = :tenant AND i.memory_id = :memory AND i.memory_id = pending.id
    )
    UPDATE scopes s SET version = version + 1 FROM pending WHERE s.tenant_id = :tenant AND s.id = pending.scope_id
    """
)

_MARK = text(
    """
    UPDATE memories SET review_reason = :reason, review_note = :note, review_since = coalesce(review_since, :now),
        updated_at = :now
    WHERE tenant_id = :tenant AND id = :memory
    """
)

_NOTE = text(
    """
    UPDATE memories SET provenance = CAST(:provenance AS jsonb), updated_at = :now
    WHERE tenant_id = :tenant AND id = :memory
    """
)


async def hold(session: WriteSession, *, tenant: UUID, memory: UUID) -> None:
    """Keep workers, which hold no scope, from changing a memory until the transaction ends; its scope is held."""
    await session.execute(_HOLD, {"tenant": tenant, "memory": memory})


async def pend(session: WriteSession, *, tenant: UUID, memory: UUID, now: datetime) -> None:
    """Take an active memory out of recall, and its slot with it; its scope is held."""
    await session.execute(_PEND, {"tenant": tenant, "memory": memory, "now": now})


async def mark(session: WriteSession, *, tenant: UUID, memory: UUID, note: str, now: datetime) -> None:
    """Say on a memory that it was reported wrong; since when a person should look at it stays, if one should."""
    given = {"tenant": tenant, "memory": memory, "note": note, "now": now, "reason": ReviewReason.REPORTED_WRONG}
    await session.execute(_MARK, given)


async def keep(
    session: WriteSession, *, tenant: UUID, memory: UUID, provenance: Mapping[str, object], now: datetime
) -> None:
    """Replace how a memory came about, with what was said of it."""
    given = {"tenant": tenant, "memory": memory, "provenance": json.dumps(provenance), "now": now}
    await session.execute(_NOTE, given)
