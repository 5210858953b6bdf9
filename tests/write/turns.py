"""Turns for tests that need no store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from app.memory.extraction import Role, Turn
from app.model import Scope, ScopeKind

NOW = datetime(2026, 5, 9, 12, 0, tzinfo=UTC)


def turn(content: str, role: Role = Role.USER, *, seconds: float = 0.0, **about: Any) -> Turn:
    return Turn(
        id=UUID(int=1),
        scope=Scope(kind=ScopeKind.USER, user_id="u1"),
        role=role,
        content=content,
        occurred_at=NOW + timedelta(seconds=seconds),
        **about,
    )
