"""Slots that several memories claim: who stands unchallenged once one of them is gone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import asyncpg

from app.db.apply import ScopeMoved
from app.db.session import WriteSession, statement
from app.model import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestResult:
    """A memory that nothing contests any more, or that leads a contest now; `cleared`: its review is moot."""

    id: UUID
    cleared: bool


def slots_of(memory: Memory) -> tuple[tuple[str, str], ...]:
    """Return the slot that a memory claims, with its type; nothing when it claims none."""
    return () if memory.slot is None else ((memory.type, memory.slot),)


_SETTLE = statement(
    """
    WITH left_in AS MATERIALIZED (
        SELECT m.id, m.contested, m.review_reason, count(*) OVER slot AS standing,
            bool_or(NOT m.contested) OVER slot AS held,
            row_number() OVER (PARTITION BY m.type, m.slot
                               ORDER BY m.contested, m.confidence DESC, m.stated_at DESC, m.id) AS place
        FROM (
            SELECT DISTINCT type, slot FROM jsonb_to_recordset(CAST(:slots AS jsonb)) AS g(type text, slot text)
        ) given
        JOIN memories m ON m.tenant_id = :tenant AND m.scope_id = :scope AND m.type = given.type
            AND m.slot = given.slot AND m.status = 'active'
        WINDOW slot AS (PARTITION BY m.type, m.slot)
    ), settled AS MATERIALIZED (
        SELECT id, standing = 1 AND review_reason IN ('contradiction', 'entity_merge') IS TRUE AS cleared FROM left_in
        WHERE (contested AND NOT held AND place = 1)
           OR (standing = 1 AND review_reason IN ('contradiction', 'entity_merge'))
    )
    UPDATE memories m SET contested = false, updated_at = :now,
        review_reason = CASE WHEN s.cleared THEN NULL ELSE m.review_reason END,
        review_note = CASE WHEN s.cleared THEN NULL ELSE m.review_note END,
        review_since = CASE WHEN s.cleared THEN NULL ELSE m.review_since END
    FROM settled s WHERE m.tenant_id = :tenant AND m.id = s.id
    RETURNING m.id, s.cleared
    """
)


async def settle(
    session: WriteSession, tenant: UUID, scope: UUID, slots: Iterable[tuple[str, str]], *, now: datetime
) -> list[ContestResult]:
    """Set right what is left in slots, given as (type, slot), of a scope that is held; return what changed.

    Where nobody stands uncontested the most trusted does from now on; where only one is left nothing
    contradicts it, and its review for that is moot. Raises ScopeMoved when somebody took a place past the hold.
    """
    given = [{"type": kind, "slot": slot} for kind, slot in slots]
    if not given:
        return []
    values = {"tenant": tenant, "scope": scope, "slots": json.dumps(given), "now": now}
    try:
        rows = await session.fetch(_SETTLE, values)
    except asyncpg.UniqueViolationError as error:
        raise ScopeMoved from error
    return [ContestResult(id=row["id"], cleared=row["cleared"]) for row in rows]
