"""Rows of scopes, and locks of scopes and memories: writers lock the scopes first, workers lock memories alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from asyncpg import Record

from app.db.session import ReadSession, WriteSession, statement
from app.model import Scope, ScopeKind

_LOCK = statement("SELECT version FROM scopes WHERE tenant_id = :tenant AND id = :scope FOR UPDATE")


_VERSION = statement("SELECT version FROM scopes WHERE tenant_id = :tenant AND id = :scope")

_MATCHING = statement(
    """
    SELECT id, memory_count FROM scopes
    WHERE tenant_id = :tenant AND (CAST(:user AS text) IS NULL OR user_id = :user)
      AND (CAST(:agent AS text) IS NULL OR agent_id = :agent) AND (CAST(:kind AS text) IS NULL OR kind = :kind)
    ORDER BY id
    """
)

_OF_USER = statement("SELECT id, memory_count FROM scopes WHERE tenant_id = :tenant AND user_id = :user ORDER BY id")


def scope_of(row: Mapping[str, Any] | Record, kind: str = "scope_kind") -> Scope:
    """Return the scope of a row with columns `user_id`, `agent_id`, and `kind` for the scope's kind."""
    return Scope(kind=ScopeKind(row[kind]), user_id=row["user_id"], agent_id=row["agent_id"])


async def scope_version(session: ReadSession, tenant: UUID, scope: UUID) -> int:
    """Return the version of a scope, 0 when nothing was ever written to it."""
    rows = await session.fetch(_VERSION, {"tenant": tenant, "scope": scope})
    return int(rows[0]["version"]) if rows else 0


async def find_scopes(
    session: ReadSession, tenant: UUID, *, user: str | None, agent: str | None, kind: str | None = None
) -> dict[UUID, int]:
    """Return the scopes of a user, an agent and a kind, each with its number of memories; None matches any."""
    rows = await session.fetch(_MATCHING, {"tenant": tenant, "user": user, "agent": agent, "kind": kind})
    return {row["id"]: row["memory_count"] for row in rows}


async def scopes_of_user(session: ReadSession, tenant: UUID, user: str) -> dict[UUID, int]:
    """Return the scopes of a user, whatever the agent, each with its number of memories.

    Apart from `find_scopes`, so that an erasure never finds every scope for want of a name.
    """
    rows = await session.fetch(_OF_USER, {"tenant": tenant, "user": user})
    return {row["id"]: row["memory_count"] for row in rows}


async def lock_scope(session: WriteSession, tenant: UUID, scope: UUID) -> int | None:
    """Lock a scope until the transaction ends; return its version, None when it does not exist."""
    rows = await session.fetch(_LOCK, {"tenant": tenant, "scope": scope})
    return int(rows[0]["version"]) if rows else None


_LOCK_OF_MEMORY = statement(
    """
    SELECT s.version FROM memories m
    JOIN scopes s ON s.tenant_id = :tenant AND s.id = m.scope_id
    WHERE m.tenant_id = :tenant AND m.id = :id FOR UPDATE OF s
    """
)


async def lock_scope_of(session: WriteSession, tenant: UUID, memory: UUID) -> bool:
    """Lock the scope of a memory until the transaction ends; return False when there is no such memory."""
    return bool(await session.fetch(_LOCK_OF_MEMORY, {"tenant": tenant, "id": memory}))


_LOCK_MEMORIES = statement(
    "SELECT id FROM memories WHERE tenant_id = :tenant AND id = ANY(:ids) ORDER BY id FOR NO KEY UPDATE"
)

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
    await session.fetch(_LOCK_MEMORIES, {"tenant": tenant, "ids": list(memories)})


async def lock_scopes_of_expired(session: WriteSession, tenant: UUID, memories: Collection[UUID]) -> list[UUID]:
    """Return those of these memories that are expired, and lock their scopes until the transaction ends."""
    rows = await session.fetch(_LOCK_EXPIRED, {"tenant": tenant, "ids": list(memories)})
    return [row["id"] for row in rows]
