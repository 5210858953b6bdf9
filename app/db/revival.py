"""From expired back to active: a memory that was used again is believed again (seed 001, the lifecycle)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, Uuid, bindparam, text

from app import ids
from app.db.rows import insert_all
from app.db.session import WriteSession
from app.memory.freshness import EXPIRY, Decay, since_last_use

FADED = f"its freshness is not over {EXPIRY}"
OVER = "its time of validity is over"
TAKEN = "another memory holds its place now"

_LOCK = text(
    """
    SELECT m.id FROM memories m
    JOIN scopes s ON s.tenant_id = m.tenant_id AND s.id = m.scope_id
    WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.status = 'expired'
    ORDER BY s.id FOR UPDATE OF s
    """
).bindparams(bindparam("ids", type_=ARRAY(Uuid)))

_EXPIRED = text(
    """
    SELECT m.id, m.scope_id, m.type, m.slot, m.contested, m.stated_at, least(m.valid_until, m.ended_at) AS ends,
        m.half_life_days, m.floor,
        coalesce(u.access_count, 0) AS access_count, u.last_accessed_at,
        m.slot IS NOT NULL AND NOT m.contested AND EXISTS (
            SELECT FROM memories r WHERE r.tenant_id = :tenant AND r.scope_id = m.scope_id AND r.type = m.type
              AND r.slot = m.slot AND r.status = 'active' AND NOT r.contested) AS taken
    FROM memories m LEFT JOIN memory_usage u ON u.tenant_id = m.tenant_id AND u.memory_id = m.id
    WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.status = 'expired'
    ORDER BY m.stated_at DESC, m.id DESC
    """
).bindparams(bindparam("ids", type_=ARRAY(Uuid)))

_REVIVE = text(
    """
    WITH back AS (
        UPDATE memories m SET status = 'active', updated_at = :now, retired_at = NULL
        WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.status = 'expired'
        RETURNING m.id, m.scope_id
    ), indexed AS (
        UPDATE memory_index i SET status = 'active', retired_at = NULL
        FROM back WHERE i.tenant_id = :tenant AND i.memory_id = ANY(:ids) AND i.memory_id = back.id
    )
    UPDATE scopes s SET version = version + 1
    WHERE s.tenant_id = :tenant AND s.id IN (SELECT back.scope_id FROM back)
    """
).bindparams(bindparam("ids", type_=ARRAY(Uuid)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Revival:
    """What became of an expired memory that was used: its freshness now, and why it stayed expired, if it did."""

    memory: UUID
    freshness: float
    stays: str | None


async def hold(session: WriteSession, *, tenant: UUID, memories: Collection[UUID]) -> list[UUID]:
    """Return those of these memories that are expired, their scopes held until the transaction ends.

    Before anything else is locked: who writes a scope holds it first, and the counters of its memories then.
    """
    found = await session.execute(_LOCK, {"tenant": tenant, "ids": list(memories)})
    return [row[0] for row in found]


async def revive(
    session: WriteSession, *, tenant: UUID, memories: Collection[UUID], now: datetime, clock: datetime, actor: str
) -> list[Revival]:
    """Make those of these memories active again that are expired and fresh again, with an audit event each.

    Their scopes are held and their accesses written down. Freshness is what it is at `now`; `clock` is the
    service's own time. A memory stays expired when it is no fresher than `EXPIRY`, its validity is over (it was
    said to be so no longer, too), or its slot is taken; of two of one slot the later statement comes back.
    """
    rows = (await session.execute(_EXPIRED, {"tenant": tenant, "ids": list(memories)})).mappings().all()
    told: list[Revival] = []
    slots: set[tuple[Any, ...]] = set()
    for row in rows:
        fresh = _freshness(row, now)
        slot = (row["scope_id"], row["type"], row["slot"])
        held = row["slot"] is not None and not row["contested"]
        stays = _stays(row, fresh, now, taken=row["taken"] or (held and slot in slots))
        if stays is None and held:
            slots.add(slot)
        told.append(Revival(memory=row["id"], freshness=fresh, stays=stays))
    back = [one for one in told if one.stays is None]
    if back:
        given = {"tenant": tenant, "ids": [one.memory for one in back], "now": clock}
        await session.execute(_REVIVE, given)
        await insert_all(session, {"audit_events": _events(rows, back, tenant, clock, actor)})
    return told


def _stays(row: Mapping[Any, Any], fresh: float, now: datetime, *, taken: bool) -> str | None:
    if fresh <= EXPIRY:
        return FADED
    if row["ends"] is not None and row["ends"] <= now:
        return OVER
    return TAKEN if taken else None


def _freshness(row: Mapping[Any, Any], now: datetime) -> float:
    return since_last_use(
        stated_at=row["stated_at"],
        last_accessed_at=row["last_accessed_at"],
        access_count=row["access_count"],
        decay=Decay(half_life_days=row["half_life_days"], floor=row["floor"]),
        now=now,
    )


def _events(
    rows: Sequence[Mapping[Any, Any]], back: Sequence[Revival], tenant: UUID, at: datetime, actor: str
) -> list[dict[str, object]]:
    by_id = {row["id"]: row for row in rows}
    return [
        {
            "tenant_id": tenant,
            "id": ids.new(),
            "occurred_at": at,
            "actor": actor,
            "action": "memory.revived",
            "memory_id": one.memory,
            "scope_id": by_id[one.memory]["scope_id"],
            "detail": {
                "status": ["expired", "active"],
                "freshness": round(one.freshness, 6),
                "access_count": by_id[one.memory]["access_count"],
                "over": EXPIRY,
            },
        }
        for one in back
    ]
