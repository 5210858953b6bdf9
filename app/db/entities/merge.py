"""Merging entities: what moves, and a record of how it was. `unmerges` moves it back.

Few things move. Names, because they lead to one entity; of memories what decides what competes with what:
subject, slot and value. Mentions and relations stay where they are: reads take an entity and all that were
merged into it as one, which `entities.merged_into` says. It names the last survivor, however long the way there;
`entity_merges.into_id` names the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text

from app import ids
from app.db.audit import AuditWriter
from app.db.session import WriteSession
from app.db.sql import Row
from app.memory.audit import AuditAction


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two memories that a merge found in one slot with different values: the one that came, the one that held it."""

    memory: UUID
    holder: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMerge:
    """What merging one entity into another moved: names, memories; and what it found to contradict."""

    entity: UUID
    into: UUID
    aliases: int
    memories: int
    contradictions: tuple[Contradiction, ...]


_HOLD = text(
    """
    UPDATE scopes s SET version = version + 1, written_at = greatest(:now, written_at + interval '1 microsecond')
    FROM entities e
    WHERE e.tenant_id = :tenant AND e.id = :entity AND s.tenant_id = e.tenant_id AND s.id = e.scope_id
    RETURNING s.written_at
    """
)

_MOVE_NAMES = text(
    """
    WITH gone AS (
        DELETE FROM entity_aliases WHERE tenant_id = :tenant AND entity_id = :entity
        RETURNING scope_id, alias, display, created_at
    ), lent AS (
        INSERT INTO entity_aliases (tenant_id, scope_id, alias, entity_id, display, created_at)
        SELECT :tenant, scope_id, alias, :into, display, created_at FROM gone ON CONFLICT DO NOTHING
        RETURNING alias
    )
    INSERT INTO entity_merge_aliases (tenant_id, entity_id, alias, display, created_at, lent)
    SELECT :tenant, :entity, gone.alias, gone.display, gone.created_at, lent.alias IS NOT NULL
    FROM gone LEFT JOIN lent ON lent.alias = gone.alias
    """
)

_MOVE_MEMORIES = text(
    """
    WITH touched AS MATERIALIZED (
        SELECT DISTINCT me.memory_id AS id FROM (
            SELECT CAST(:entity AS uuid) AS id
            UNION SELECT k.id FROM entities k WHERE k.tenant_id = :tenant AND k.merged_into = :entity
        ) family
        JOIN memory_entities me ON me.tenant_id = :tenant AND me.entity_id = family.id
    ), moving AS MATERIALIZED (
        SELECT m.id, m.scope_id, m.type, m.stated_at, m.needs_review,
            CASE WHEN m.subject_id = :entity THEN m.subject_id END AS subject_id,
            CASE WHEN strpos(m.slot, :old) > 0 THEN m.slot END AS slot,
            CASE WHEN strpos(m.slot_value, :old) > 0 THEN m.slot_value END AS slot_value,
            replace(m.slot, :old, :new) AS new_slot, replace(m.slot_value, :old, :new) AS new_value,
            m.slot IS NOT NULL AND m.status = 'active' AND NOT m.contested AS claims
        FROM touched JOIN memories m ON m.tenant_id = :tenant AND m.id = touched.id
        WHERE m.subject_id = :entity OR strpos(m.slot, :old) > 0 OR strpos(m.slot_value, :old) > 0
    ), holding AS (
        SELECT h.* FROM (SELECT DISTINCT scope_id, type, new_slot FROM moving WHERE claims AND slot IS NOT NULL) taken
        CROSS JOIN LATERAL (
            SELECT m.id, m.type, m.slot, m.slot_value, m.stated_at FROM memories m
            WHERE m.tenant_id = :tenant AND m.scope_id = taken.scope_id AND m.type = taken.type
              AND m.slot = taken.new_slot AND m.status = 'active' AND NOT m.contested OFFSET 0
        ) h
        WHERE h.id NOT IN (SELECT id FROM moving)
    ), claiming AS (
        SELECT true AS comes, * FROM moving
        UNION ALL
        SELECT false, id, NULL, type, stated_at, false, NULL, slot, slot_value, slot, slot_value, true FROM holding
    ), ranked AS (
        SELECT *, first_value(id) OVER standing AS holder, first_value(new_value) OVER standing AS held
        FROM claiming
        WINDOW standing AS (PARTITION BY type, new_slot, claims, CASE WHEN NOT claims THEN id END
                            ORDER BY comes AND slot IS NOT NULL, stated_at DESC, id)
    ), settled AS MATERIALIZED (
        SELECT *, id <> holder AS second, id <> holder AND new_value IS DISTINCT FROM held AS differs
        FROM ranked WHERE comes
    ), moved AS (
        UPDATE memories m SET subject_id = CASE WHEN s.subject_id IS NULL THEN m.subject_id ELSE :into END,
            slot = s.new_slot, slot_value = s.new_value, contested = m.contested OR s.second,
            review_reason = CASE WHEN s.differs THEN coalesce(m.review_reason, 'entity_merge') ELSE m.review_reason END,
            review_since = CASE WHEN s.differs THEN coalesce(m.review_since, :at) ELSE m.review_since END
        FROM settled s WHERE m.tenant_id = :tenant AND m.id = s.id
    ), linked AS (
        INSERT INTO memory_links (tenant_id, from_memory, kind, to_memory, created_at)
        SELECT :tenant, id, 'contradicts', holder, :at FROM settled WHERE differs ON CONFLICT DO NOTHING
    ), recorded AS (
        INSERT INTO entity_merge_memories (tenant_id, entity_id, memory_id, subject_id, slot, slot_value, contested,
            needs_review, contradicts)
        SELECT :tenant, :entity, id, subject_id, slot, slot_value, second, differs AND NOT needs_review,
            CASE WHEN differs AND NOT EXISTS (
                SELECT FROM memory_links k WHERE k.tenant_id = :tenant AND k.from_memory = settled.id
                  AND k.kind = 'contradicts' AND k.to_memory = settled.holder) THEN holder END
        FROM settled
    )
    SELECT count(*) AS memories, array_agg(ARRAY[id, holder] ORDER BY id) FILTER (WHERE differs) AS contradictions
    FROM settled
    """
)

_JOIN = text(
    """
    WITH recorded AS (
        INSERT INTO entity_merges (tenant_id, entity_id, into_id, merged_at) VALUES (:tenant, :entity, :into, :at)
    ), unrecorded AS ( -- merged before there was a record: known from now on, though not how to undo it
        INSERT INTO entity_merges (tenant_id, entity_id, into_id, merged_at)
        SELECT :tenant, k.id, :entity, '-infinity' FROM entities k
        WHERE k.tenant_id = :tenant AND k.merged_into = :entity
          AND NOT EXISTS (SELECT FROM entity_merges g WHERE g.tenant_id = :tenant AND g.entity_id = k.id)
    )
    UPDATE entities SET merged_into = :into
    WHERE tenant_id = :tenant AND (id = :entity OR merged_into = :entity)
    """
)


async def hold(session: WriteSession, tenant: UUID, entity: UUID, *, now: datetime) -> datetime:
    """Hold the entity's scope until the transaction ends and move its version; return the stamp of what follows.

    Whoever read the scope before and writes it later must read it again. The stamp is `now`, or just after the
    scope's last write should that be later. Without such an entity nothing is held.
    """
    found = (await session.execute(_HOLD, {"tenant": tenant, "entity": entity, "now": now})).first()
    at: datetime = now if found is None else found[0]
    return at


async def merge(session: WriteSession, tenant: UUID, entity: UUID, *, into: UUID, at: datetime) -> EntityMerge:
    """Make one of two entities of one scope that is held, neither of them merged before; `into` survives.

    `at` is the merge's stamp, later than what it moves.

    A memory that comes into a slot which is taken stands beside the holder, contested, until a later statement
    settles it; if it says something else, it also contradicts the holder and waits to be looked at.
    """
    await session.stamp(at)
    here = {"tenant": tenant, "entity": entity, "into": into}
    names = await session.execute(_MOVE_NAMES, here)
    found: Any = await session.execute(_MOVE_MEMORIES, {**here, "old": str(entity), "new": str(into), "at": at})
    memories, contradictions = found.one()
    await session.execute(_JOIN, {**here, "at": at})
    return EntityMerge(
        entity=entity,
        into=into,
        aliases=names.rowcount,
        memories=memories,
        contradictions=tuple(Contradiction(memory=one, holder=other) for one, other in contradictions or ()),
    )


async def merge_entities(
    session: WriteSession, tenant: UUID, pairs: Sequence[tuple[UUID, UUID]], *, at: datetime
) -> list[EntityMerge]:
    """Merge (entity, survivor) pairs that a declaration made one, in a scope that is held.

    A pair whose ends are one already, or that was given twice, moves nothing.
    """
    moved = []
    for entity, survivor in dict.fromkeys(pairs):
        first, second = await _root(session, tenant, entity), await _root(session, tenant, survivor)
        if first != second:
            moved.append(await merge(session, tenant, first, into=second, at=at))
    return moved


def merge_events(ledger: AuditWriter, moved: Sequence[EntityMerge], reason: str | None) -> list[Row]:
    """Return the audit events of merges, and of the contradictions that they brought about."""
    events: list[Row] = []
    for one in moved:
        detail = {
            "entity": ids.public(ids.ENTITY, one.entity),
            "into": ids.public(ids.ENTITY, one.into),
            "aliases": one.aliases,
            "memories": one.memories,
            "contradictions": len(one.contradictions),
            "reason": reason,
        }
        events.append(ledger.event(AuditAction.ENTITY_MERGED, detail))
        for found in one.contradictions:
            by = {"by": ids.public(ids.MEMORY, found.holder), "reason": "their subjects were merged"}
            events.append(ledger.event(AuditAction.MEMORY_CONTRADICTED, by, memory=found.memory))
    return events


_ROOT = text("SELECT coalesce(merged_into, id) FROM entities WHERE tenant_id = :tenant AND id = :entity")


async def _root(session: WriteSession, tenant: UUID, entity: UUID) -> UUID:
    return UUID(str((await session.execute(_ROOT, {"tenant": tenant, "entity": entity})).scalar_one()))
