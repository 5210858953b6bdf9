"""Scopes as rows: whose one is, and holding one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from asyncpg import Record
from sqlalchemy import RowMapping

from app.db.session import WriteSession
from app.db.statement import statement
from app.model import Scope, ScopeKind

_HOLD = statement("SELECT version FROM scopes WHERE tenant_id = :tenant AND id = :scope FOR UPDATE")


def scope_of(row: Mapping[str, Any] | RowMapping | Record, kind: str = "scope_kind") -> Scope:
    """Return the scope of a row that has its user, its agent, and its kind in the column named."""
    return Scope(kind=ScopeKind(row[kind]), user_id=row["user_id"], agent_id=row["agent_id"])


async def hold_scope(session: WriteSession, tenant: UUID, scope: UUID) -> int | None:
    """Hold a scope against writers until the transaction ends; return its version, None when there is none."""
    rows = await session.fetch(_HOLD, {"tenant": tenant, "scope": scope})
    return int(rows[0]["version"]) if rows else None
