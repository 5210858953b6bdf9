"""Erasure from the query log: what a user asked, and the questions in words that returned a memory."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from app.db.session import WriteSession, statement

_ERASE_USER = statement("DELETE FROM query_log WHERE tenant_id = :tenant AND user_id = :user")

_ERASE_MEMORIES = statement(
    "DELETE FROM query_log WHERE tenant_id = :tenant AND question IS NOT NULL AND memories && CAST(:ids AS uuid[])"
)


async def erase_user(session: WriteSession, tenant: UUID, user: str) -> int:
    """Delete what a user asked; return how many entries."""
    return await session.change(_ERASE_USER, {"tenant": tenant, "user": user})


async def erase_memory(session: WriteSession, tenant: UUID, memory: UUID) -> int:
    """Delete the entries with questions in words that returned a memory; return how many."""
    return await erase_memories(session, tenant, [memory])


async def erase_memories(session: WriteSession, tenant: UUID, memories: Sequence[UUID]) -> int:
    """Delete the entries with questions in words that returned one of these memories; return how many."""
    return await session.change(_ERASE_MEMORIES, {"tenant": tenant, "ids": list(memories)})
