"""Memories as they were before their latest change, which a decision is undone by; the links that it made."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from app.db.apply.memories import COLUMNS
from app.db.memories.read import VERSION_COLUMNS, version_fields
from app.db.session import ReadSession, WriteSession, statement
from app.memory.versions import Version


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerState:
    """A memory as it was before its latest change, at `changed_at`: its version, and all columns that changed."""

    version: Version
    columns: Mapping[str, Any]
    changed_at: datetime


_FORMER = statement(
    f"""
    SELECT m.updated_at, p.was, to_jsonb(m) AS present, {", ".join(f"state.{name}" for name in VERSION_COLUMNS)}
    FROM memories m
    JOIN memory_past p ON p.tenant_id = :tenant AND p.memory_id = m.id AND p.believed_until = m.updated_at
    CROSS JOIN LATERAL jsonb_populate_record(m, p.was) state
    WHERE m.tenant_id = :tenant AND m.id = ANY(:ids)
    """  # noqa: S608 - composed of constants
)

_UNLINK = statement(
    """
    DELETE FROM memory_links l
    WHERE l.tenant_id = :tenant AND l.from_memory = ANY(:ids) AND l.to_memory = ANY(:ids) AND l.created_at = :at
    """
)


async def read_former(session: ReadSession, tenant: UUID, memories: Collection[UUID]) -> dict[UUID, FormerState]:
    """Return memories as they were before their latest change; those that never changed or are gone are left out."""
    rows: Any = await session.fetch(_FORMER, {"tenant": tenant, "ids": sorted(memories)})
    found: dict[UUID, FormerState] = {}
    for row in rows:
        was, now = row["was"], row["present"]
        changed = {name: was[name] for name in COLUMNS if name in was and was[name] != now[name]}
        version = Version(**version_fields(row))
        found[version.id] = FormerState(version=version, columns=changed, changed_at=row["updated_at"])
    return found


async def unlink_made_at(session: WriteSession, tenant: UUID, memories: Collection[UUID], at: datetime) -> None:
    """Delete the links among memories that a change at this instant made."""
    await session.fetch(_UNLINK, {"tenant": tenant, "ids": sorted(memories), "at": at})
