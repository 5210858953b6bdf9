"""Whose a row's scope is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asyncpg import Record
from sqlalchemy import RowMapping

from app.model import Scope, ScopeKind


def scope_of(row: Mapping[str, Any] | RowMapping | Record, kind: str = "scope_kind") -> Scope:
    """Return the scope of a row that has its user, its agent, and its kind in the column named."""
    return Scope(kind=ScopeKind(row[kind]), user_id=row["user_id"], agent_id=row["agent_id"])
