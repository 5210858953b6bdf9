"""Locks of memories against workers, which lock no scope; writers lock the scopes first."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from app.db.session import WriteSession, statement

_LOCK = statement("SELECT id FROM memories WHERE tenant_id = :tenant AND id = ANY(:ids) ORDER BY id FOR NO KEY UPDATE")

_LOCK_EXPIRED = statement(
    """
    SELECT m.id FROM memories m
    JOIN scopes s ON s.tenant_id = :tenant AND s.id = m.scope_id
    WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.status = 'expired'
    ORDER BY s.id FOR UPDATE OF s
    """
)


async def lock_memories(session: WriteSession, tenant: UUID, memories: Collection[UUID]) -> None:
    """Lock memories, in the order of their ids, until the transaction ends."""
    await session.fetch(_LOCK, {"tenant": tenant, "ids": list(memories)})


async def lock_scopes_of_expired(session: WriteSession, tenant: UUID, memories: Collection[UUID]) -> list[UUID]:
    """Return those of these memories that are expired, and lock their scopes until the transaction ends."""
    rows = await session.fetch(_LOCK_EXPIRED, {"tenant": tenant, "ids": list(memories)})
    return [row["id"] for row in rows]
