"""Merges of two entities: what is moved to the one that stays, and a record of how it was.

Few things move: names, because they must lead to one entity, and of memories the columns that decide which of them
compete (subject, slot and value). Mentions and relations stay where they are: reads take an entity and all that were
merged into it as one. `entities.merged_into` names the entity that is left after all merges, `entity_merges.into_id`
the next one. `unmerge` undoes a merge from its record.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from app import ids
from app.db.apply.memories import RowChange, change_memories, row_change, written
from app.db.audit import AuditWriter
from app.db.memories.read import VERSION_COLUMNS, version_fields
from app.db.session import WriteSession, statement
from app.db.sql import Row
from app.memory.audit import AuditAction
from app.memory.slots import accumulate, transition
from app.memory.versions import Moved, SlotLink, Transition, Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two memories that a merge found in one slot with different values: the one that came, the one that held it."""

    memory: UUID
    holder: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMerge:
    """Names and memories that an entity merge moved, and the contradictions it found."""

    entity: UUID
    into: UUID
    aliases: int
    memories: int
    contradictions: tuple[Contradiction, ...]


_STAMP = ":now, (SELECT last.at + interval '1 microsecond' FROM (SELECT s.written_at AS at) last)"

_LOCK_SCOPE = statement(
    f"""
    UPDATE scopes s SET {written(_STAMP)}
    FROM entities e
    WHERE e.tenant_id = :tenant AND e.id = :entity AND s.tenant_id = :tenant AND s.id = e.scope_id
    RETURNING s.written_at
    """  # noqa: S608 - composed of constants
)

_MOVE_NAMES = statement(
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
    RETURNING alias
    """
)

_LOCK_MEMORIES = statement(
    f"""
    WITH moving AS MATERIALIZED (
        SELECT m.id, m.scope_id, m.type, m.status = 'active' AND NOT m.contested AND strpos(m.slot, :old) > 0 AS claims,
            replace(m.slot, :old, :new) AS slot
        FROM (
            SELECT DISTINCT me.memory_id AS id FROM (
                SELECT CAST(:entity AS uuid) AS id
                UNION SELECT k.id FROM entities k WHERE k.tenant_id = :tenant AND k.merged_into = :entity
            ) family
            JOIN memory_entities me ON me.tenant_id = :tenant AND me.entity_id = family.id
        ) touched JOIN memories m ON m.tenant_id = :tenant AND m.id = touched.id
        WHERE m.subject_id = :entity OR strpos(m.slot, :old) > 0 OR strpos(m.slot_value, :old) > 0
    ), holding AS (
        SELECT h.id FROM (SELECT DISTINCT scope_id, type, slot FROM moving WHERE claims) taken
        CROSS JOIN LATERAL (
            SELECT m.id FROM memories m
            WHERE m.tenant_id = :tenant AND m.scope_id = taken.scope_id AND m.type = taken.type
              AND m.slot = taken.slot AND m.status = 'active' AND NOT m.contested OFFSET 0
        ) h
    )
    SELECT {", ".join(f"m.{name}" for name in VERSION_COLUMNS)}, m.subject_id,
        m.id IN (SELECT id FROM moving) AS moves
    FROM memories m
    WHERE m.tenant_id = :tenant AND m.id IN (SELECT id FROM moving UNION SELECT id FROM holding)
    ORDER BY m.id FOR NO KEY UPDATE OF m
    """  # noqa: S608 - composed of constants
)
"""Memories whose subject, slot or value names the entity, and those that hold the slots which they come into."""

_LINKED = statement(
    """
    SELECT from_memory, to_memory FROM memory_links
    WHERE tenant_id = :tenant AND kind = 'contradicts' AND from_memory = ANY(:ids)
    """
)

_JOIN = statement(
    """
    WITH recorded AS (
        INSERT INTO entity_merges (tenant_id, entity_id, into_id, merged_at)
        SELECT k.tenant_id, k.id, CASE WHEN k.id = :entity THEN CAST(:into AS uuid) ELSE CAST(:entity AS uuid) END,
            -- One merged before there was a record is known from now on, though not how to undo it.
            CASE WHEN k.id = :entity THEN CAST(:at AS timestamptz) ELSE '-infinity' END
        FROM entities k
        WHERE k.tenant_id = :tenant AND (k.id = :entity OR k.merged_into = :entity AND NOT EXISTS (
            SELECT FROM entity_merges g WHERE g.tenant_id = :tenant AND g.entity_id = k.id))
    )
    UPDATE entities SET merged_into = :into
    WHERE tenant_id = :tenant AND (id = :entity OR merged_into = :entity)
    """
)


async def lock_scope(session: WriteSession, tenant: UUID, entity: UUID, *, now: datetime) -> datetime:
    """Lock the entity's scope until the transaction ends and move its version; return the stamp of what follows.

    Whoever read the scope before and writes it later must read it again. The stamp is `now`, or just after the
    scope's last write should that be later. Without such an entity nothing is locked.
    """
    rows = await session.fetch(_LOCK_SCOPE, {"tenant": tenant, "entity": entity, "now": now})
    at: datetime = rows[0]["written_at"] if rows else now
    return at


async def merge(session: WriteSession, tenant: UUID, entity: UUID, *, into: UUID, at: datetime) -> EntityMerge:
    """Make one of two entities of one locked scope, neither of them merged before; `into` survives.

    `at` is the merge's stamp, later than what it moves.

    A memory that comes into a slot which is taken stands beside the holder, contested, until a later statement
    settles it; if it says something else, it also contradicts the holder and waits to be looked at.
    """
    here = {"tenant": tenant, "entity": entity, "into": into}
    aliases = len(await session.fetch(_MOVE_NAMES, here))
    values = {"tenant": tenant, "entity": entity, "old": str(entity), "new": str(into)}
    locked = await session.fetch(_LOCK_MEMORIES, values)
    moving = [row for row in locked if row["moves"]]
    versions = {row["id"]: Version(**version_fields(row)) for row in locked}
    moves = Moved(
        to={row["id"]: (_renamed(row["slot"], values), _renamed(row["slot_value"], values)) for row in moving}
    )
    found = transition(versions.values(), moves, policy=accumulate, now=at)
    linked = {(row["from_memory"], row["to_memory"]) for row in await session.fetch(_LINKED, _named(tenant, found))}
    await change_memories(
        session,
        tenant,
        [_moved(row, found, entity=entity, into=into, at=at) for row in moving],
        at=at,
        rows={
            "memory_links": [link_row(tenant, one, at) for one in found.links],
            "entity_merge_memories": [_record(row, found, linked, values) for row in moving],
        },
    )
    await session.change(_JOIN, {**here, "at": at})
    return EntityMerge(
        entity=entity,
        into=into,
        aliases=aliases,
        memories=len(moving),
        contradictions=tuple(Contradiction(memory=one.source, holder=one.target) for one in found.links),
    )


def _renamed(text: str | None, values: Mapping[str, object]) -> str | None:
    return None if text is None else text.replace(str(values["old"]), str(values["new"]))


def _named(tenant: UUID, found: Transition) -> dict[str, object]:
    return {"tenant": tenant, "ids": [one.source for one in found.links]}


def _moved(row: Record, found: Transition, *, entity: UUID, into: UUID, at: datetime) -> RowChange:
    """Return what changes of a memory: its subject, and what the engine says of its slot."""
    subject = {"subject_id": into} if row["subject_id"] == entity else {}
    change = found.change_of(row["id"])
    return RowChange(id=row["id"], values=subject) if change is None else row_change(change, at=at, more=subject)


def link_row(tenant: UUID, one: SlotLink, at: datetime) -> Row:
    """Return an edge between two memories as a row."""
    return {
        "tenant_id": tenant,
        "from_memory": one.source,
        "kind": one.kind,
        "to_memory": one.target,
        "created_at": at,
    }


def _record(row: Record, found: Transition, linked: Collection[tuple[UUID, UUID]], values: Mapping[str, object]) -> Row:
    """Return what a memory was before, as far as it changes; None stands for what stays as it is."""
    change = found.change_of(row["id"])
    contested = change is not None and change.after.contested and not change.before.contested
    reviewed = change is not None and change.after.review is not None and change.before.review is None
    new = next((one.target for one in found.links if one.source == row["id"]), None)
    old = str(values["old"])
    return {
        "tenant_id": values["tenant"],
        "entity_id": values["entity"],
        "memory_id": row["id"],
        "subject_id": row["subject_id"] if row["subject_id"] == values["entity"] else None,
        "slot": row["slot"] if old in (row["slot"] or "") else None,
        "slot_value": row["slot_value"] if old in (row["slot_value"] or "") else None,
        "contested": contested,
        "needs_review": reviewed,
        "contradicts": None if (row["id"], new) in linked else new,
    }


async def merge_entities(
    session: WriteSession, tenant: UUID, pairs: Sequence[tuple[UUID, UUID]], *, at: datetime
) -> list[EntityMerge]:
    """Merge (entity, survivor) pairs that a declaration made one, in a locked scope.

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


_ROOT = statement("SELECT coalesce(merged_into, id) FROM entities WHERE tenant_id = :tenant AND id = :entity")


async def _root(session: WriteSession, tenant: UUID, entity: UUID) -> UUID:
    [[root]] = await session.fetch(_ROOT, {"tenant": tenant, "entity": entity})
    return UUID(str(root))
