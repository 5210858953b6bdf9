"""Queries of the existing versions that an import continues, by slot and by chain."""

from __future__ import annotations

import json
from collections.abc import Collection
from uuid import UUID

from app.db.memories.read import VERSION_COLUMNS, version_fields
from app.db.session import ReadSession, statement
from app.memory.versions import Version

Slot = tuple[UUID, str, str]
"""A slot by scope, type and key."""

_FIELDS = ", ".join(f"m.{name}" for name in VERSION_COLUMNS)

_OF_SLOTS = statement(
    f"""
    SELECT m.scope_id, {_FIELDS}
    FROM jsonb_to_recordset(CAST(:slots AS jsonb)) AS g(scope_id uuid, type text, slot text)
    JOIN memories m ON m.tenant_id = :tenant AND m.scope_id = g.scope_id AND m.type = g.type AND m.slot = g.slot
    WHERE m.status IN ('active', 'expired', 'superseded')
    """  # noqa: S608 - our own names
)

_CHAINS = statement(
    f"""
    WITH RECURSIVE ahead AS (
        SELECT b.id, b.superseded_by FROM memories b
        WHERE b.tenant_id = :tenant AND b.id = ANY(:new) AND b.supersedes IS NOT NULL
        UNION
        SELECT m.id, m.superseded_by FROM ahead
        JOIN memories m ON m.tenant_id = :tenant AND m.id = ahead.superseded_by
    ), met AS (
        SELECT id FROM ahead
        UNION
        SELECT b.supersedes FROM memories b WHERE b.tenant_id = :tenant AND b.id = ANY(:new)
    )
    SELECT m.scope_id, {_FIELDS} FROM met JOIN memories m ON m.tenant_id = :tenant AND m.id = met.id
    """  # noqa: S608 - our own names
)


async def versions_of_slots(session: ReadSession, tenant: UUID, slots: Collection[Slot]) -> dict[Slot, list[Version]]:
    """Return the present and former versions of slots."""
    found: dict[Slot, list[Version]] = {slot: [] for slot in slots}
    given = [{"scope_id": str(scope), "type": kind, "slot": slot} for scope, kind, slot in slots]
    for row in await session.fetch(_OF_SLOTS, {"tenant": tenant, "slots": json.dumps(given)}) if given else ():
        found[row["scope_id"], row["type"], row["slot"]].append(Version(**version_fields(row)))
    return found


async def versions_of_chains(
    session: ReadSession, tenant: UUID, new: Collection[UUID]
) -> dict[UUID, tuple[UUID, Version]]:
    """Return the chains of memories that were just stored, with their predecessors and all their successors.

    The value of each memory is its scope and its version.
    """
    rows = await session.fetch(_CHAINS, {"tenant": tenant, "new": sorted(new)}) if new else ()
    return {row["id"]: (row["scope_id"], Version(**version_fields(row))) for row in rows}
