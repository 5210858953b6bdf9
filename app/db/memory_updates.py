"""Updates of editable fields of single memories."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from app.db.apply.memories import RowChange, bump_scopes, change_memories
from app.db.session import WriteSession

_LOCK = text(
    """
    SELECT s.version FROM memories m
    JOIN scopes s ON s.tenant_id = :tenant AND s.id = m.scope_id
    WHERE m.tenant_id = :tenant AND m.id = :id FOR UPDATE OF s
    """
)

EDITABLE = (
    "importance",
    "topic",
    "metadata",
    "category",
    "half_life_days",
    "floor",
    "valid_until",
    "review_reason",
    "review_note",
    "review_since",
)
"""Columns that a caller may change; the content of a memory is changed by a newer memory only."""


async def lock(session: WriteSession, tenant: UUID, memory: UUID) -> bool:
    """Lock the scope of a memory until the transaction ends; return False when there is no such memory."""
    return (await session.execute(_LOCK, {"tenant": tenant, "id": memory})).first() is not None


async def update_fields(
    session: WriteSession, tenant: UUID, memory: UUID, values: Mapping[str, object], *, scope: UUID, at: datetime
) -> None:
    """Set editable columns of a memory, and their copies in its index rows; its scope must be locked."""
    unknown = set(values) - set(EDITABLE)
    if unknown:
        raise ValueError(f"not editable: {', '.join(sorted(unknown))}")
    await change_memories(session, tenant, [RowChange(id=memory, values=values)], at=at)
    await bump_scopes(session, tenant, [scope], at=at)
