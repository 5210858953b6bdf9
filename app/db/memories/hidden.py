"""Columns of a memory that no answer shows; who makes it anew needs them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from uuid import UUID

from app.db.session import ReadSession, statement
from app.memory.calendar import zone_of

_UNSHOWN = statement(
    """
    SELECT m.identity, m.context, (
        SELECT t.timezone FROM evidence e JOIN turns t ON t.tenant_id = :tenant AND t.id = e.turn_id
        WHERE e.tenant_id = :tenant AND e.memory_id = m.id ORDER BY e.stated_at, e.id LIMIT 1
    ) AS timezone
    FROM memories m WHERE m.tenant_id = :tenant AND m.id = :id
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenState:
    """Columns of a memory that no answer shows: the digest of its statement, its context, its time zone."""

    identity: bytes
    context: str | None
    zone: tzinfo


async def read_hidden(session: ReadSession, tenant: UUID, memory: UUID) -> HiddenState | None:
    """Return the hidden columns of a memory, None when it does not exist."""
    rows = await session.fetch(_UNSHOWN, {"tenant": tenant, "id": memory})
    if not rows:
        return None
    zone = zone_of(rows[0]["timezone"] or "UTC")
    return HiddenState(identity=rows[0]["identity"], context=rows[0]["context"], zone=zone)
