"""Audit events of what happened to memories; they hold ids, numbers and our own words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from app import ids
from app.db.rows import Row


def event(
    tenant: UUID,
    *,
    now: datetime,
    actor: str,
    action: str,
    memory: UUID | None,
    scope: UUID | None,
    detail: Mapping[str, object],
) -> Row:
    """Return one event as a row of `audit_events`."""
    return {
        "tenant_id": tenant,
        "id": ids.new(),
        "occurred_at": now,
        "actor": actor,
        "action": action,
        "memory_id": memory,
        "scope_id": scope,
        "detail": detail,
    }
