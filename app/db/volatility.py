"""Slots whose value changes often: how often, and the mark on the memory that holds one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.db.session import ReadSession, WriteSession
from app.db.statement import statement
from app.db.survey import Page

Slot = tuple[UUID, str, str]
"""Scope, type and slot."""

_RANGE = (
    "m.tenant_id = :tenant AND (m.scope_id, m.id) > (:after_scope, :after_id) AND (m.scope_id, m.id) <= (:scope, :id)"
)

_FLIPS = statement(
    f"""
    SELECT m.scope_id, m.type, m.slot, count(*) AS flips FROM memories m
    WHERE {_RANGE} AND m.status = 'superseded' AND m.slot IS NOT NULL AND m.ended_at > :since AND m.ended_at <= :now
    GROUP BY m.scope_id, m.type, m.slot
    """  # noqa: S608 - composed of constants
)

_MARKED = statement(
    f"""
    SELECT m.id, m.scope_id, m.type, m.slot, m.status = 'active' AND NOT m.contested AS holds FROM memories m
    WHERE {_RANGE} AND m.volatile
    """  # noqa: S608 - composed of constants
)

_MARK = statement(
    """
    UPDATE memories m SET volatile = true, updated_at = :now,
        review_note = CASE WHEN m.review_reason IS NULL
            THEN format('the value of its slot was replaced %s times in %s days', g.flips, CAST(:days AS int))
            ELSE m.review_note END,
        review_since = coalesce(m.review_since, :now), review_reason = coalesce(m.review_reason, 'volatile')
    FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS g(scope_id uuid, type text, slot text, flips int)
    WHERE m.tenant_id = :tenant AND m.scope_id = g.scope_id AND m.type = g.type AND m.slot = g.slot
      AND m.status = 'active' AND NOT m.contested AND NOT m.volatile
    RETURNING m.id, m.scope_id, g.flips
    """
)

_SETTLE = statement(
    """
    UPDATE memories m SET volatile = false, updated_at = :now,
        review_note = CASE WHEN m.review_reason = 'volatile' THEN NULL ELSE m.review_note END,
        review_since = CASE WHEN m.review_reason = 'volatile' THEN NULL ELSE m.review_since END,
        review_reason = nullif(m.review_reason, 'volatile')
    WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.volatile
    RETURNING m.id, m.scope_id
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A memory marked as volatile; `holds`: it still is what its slot holds."""

    id: UUID
    slot: Slot
    holds: bool


async def flips(
    session: ReadSession, tenant: UUID, page: Page, *, since: datetime, now: datetime
) -> Mapping[Slot, int]:
    """Return how often slots' values ceased to hold in that time, as far as a page of the store shows."""
    rows = await session.fetch(_FLIPS, {"tenant": tenant, "since": since, "now": now, **page.values()})
    return {(row["scope_id"], row["type"], row["slot"]): row["flips"] for row in rows}


async def marked(session: ReadSession, tenant: UUID, page: Page) -> list[Marked]:
    """Return the memories of a page that are marked."""
    rows = await session.fetch(_MARKED, {"tenant": tenant, **page.values()})
    return [Marked(id=row["id"], slot=(row["scope_id"], row["type"], row["slot"]), holds=row["holds"]) for row in rows]


async def mark(
    session: WriteSession, tenant: UUID, slots: Mapping[Slot, int], *, days: int, now: datetime
) -> list[tuple[UUID, UUID, int]]:
    """Mark what the slots hold, and ask a person to look at it unless one is asked to already.

    Return memory, scope and flips of those that were not marked before: they are asked about once.
    """
    given = [
        {"scope_id": str(scope), "type": kind, "slot": slot, "flips": count}
        for (scope, kind, slot), count in slots.items()
    ]
    rows = await session.fetch(_MARK, {"tenant": tenant, "given": json.dumps(given), "days": days, "now": now})
    return [(row["id"], row["scope_id"], row["flips"]) for row in rows]


async def settle(
    session: WriteSession, tenant: UUID, memories: Sequence[UUID], *, now: datetime
) -> list[tuple[UUID, UUID]]:
    """Take the mark off, and the question to people with it; return memory and scope of those that had it."""
    rows = await session.fetch(_SETTLE, {"tenant": tenant, "ids": list(memories), "now": now})
    return [(row["id"], row["scope_id"]) for row in rows]
