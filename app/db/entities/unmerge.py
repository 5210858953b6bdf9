"""Records of merges of entities, and their undoing.

Everything that a merge moved goes back, and so does what named the merged entity since.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from app.db.apply.memories import RowChange, change_memories, row_change
from app.db.entities.merge import link_row
from app.db.entities.read import roles_of
from app.db.memories.read import VERSION_COLUMNS, version_fields
from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record
from app.memory.slots import accumulate, transition
from app.memory.unmerging import changed_marks
from app.memory.versions import MergedVersion, MergeMark, Transition, Unmerged, Version


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeRecord:
    """A recorded merge: its survivor, its time, the names it brought along, and a merge to undo before it.

    `into_merged`: the survivor was itself merged since. `later`: an entity merged since whose merge moved the same
    columns of the same memories on.
    """

    into: UUID
    merged_at: datetime
    own_names: frozenset[str]
    into_merged: bool
    later: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedBack:
    """A memory whose columns are decided anew when a merge is undone.

    `roles` and `ends` of a relation are those that the merged entity gets in it. None leaves a column as it is.
    """

    memory: UUID
    roles: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    subject_id: UUID | None = None
    slot: str | None
    slot_value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """The numbers of aliases and memories that an undone merge moved back, and the memories that are active again."""

    aliases: int
    memories: int
    revived: tuple[UUID, ...]


_STANDING = statement(
    """
    SELECT g.into_id, g.merged_at, b.merged_into IS NOT NULL AS into_merged,
        ARRAY(SELECT n.alias FROM entity_merge_aliases n
              WHERE n.tenant_id = :tenant AND n.entity_id = g.entity_id AND n.lent) AS own_names,
        (SELECT l.entity_id FROM entity_merge_memories mine
         JOIN entity_merge_memories l ON l.tenant_id = :tenant AND l.memory_id = mine.memory_id
             AND l.entity_id <> mine.entity_id
         WHERE mine.tenant_id = :tenant AND mine.entity_id = g.entity_id
           AND (l.slot = replace(mine.slot, CAST(g.entity_id AS text), CAST(g.into_id AS text))
                OR l.slot_value = replace(mine.slot_value, CAST(g.entity_id AS text), CAST(g.into_id AS text)))
         LIMIT 1) AS later
    FROM entity_merges g JOIN entities b ON b.tenant_id = :tenant AND b.id = g.into_id
    WHERE g.tenant_id = :tenant AND g.entity_id = :entity AND g.merged_at > '-infinity'
    """
)

_KIN = """kin AS (
        SELECT CAST(:entity AS uuid) AS id
        UNION
        SELECT g.entity_id FROM kin JOIN entity_merges g ON g.tenant_id = :tenant AND g.into_id = kin.id
    )"""
"""A recursive query of the merged entity and all that were merged into it before."""

_ROLES = roles_of(
    "CASE WHEN e.id IN (SELECT id FROM kin) THEN CAST(:entity AS uuid) ELSE coalesce(e.merged_into, e.id) END"
)
"""SQL of the entities in a memory's roles, each as what is left of it once the merge is undone."""

_RECLASSIFIED = statement(
    f"""
    WITH RECURSIVE {_KIN}
    SELECT m.id, m.type, m.type_version, m.payload, m.slot IS NOT NULL AS claims, past.type AS former_type,
        past.was -> 'payload' AS former_payload,
        coalesce(CAST(past.was ->> 'type_version' AS integer), 0) AS former_version,
        {_ROLES}
    FROM (
        SELECT DISTINCT me.memory_id AS id FROM kin
        JOIN memory_entities me ON me.tenant_id = :tenant AND me.entity_id = kin.id
    ) theirs
    JOIN memories m ON m.tenant_id = :tenant AND m.id = theirs.id
    CROSS JOIN LATERAL (
        SELECT p.type, p.was FROM memory_past p
        WHERE p.tenant_id = :tenant AND p.memory_id = m.id AND p.believed_until > :since
        ORDER BY p.believed_until LIMIT 1
    ) past
    WHERE m.recorded_at < :since AND m.type <> past.type AND m.id > :after
    ORDER BY m.id LIMIT :limit
    """  # noqa: S608 - composed of constants
)

_SINCE = statement(
    f"""
    WITH RECURSIVE {_KIN}
    SELECT m.id, m.type, m.type_version, m.payload, m.slot IS NOT NULL AS claims,
        ARRAY(SELECT me.role FROM memory_entities me
              WHERE me.tenant_id = :tenant AND me.memory_id = m.id AND me.entity_id = :into) AS shared,
        {_ROLES}
    FROM memories m
    WHERE m.tenant_id = :tenant AND m.recorded_at >= :since AND m.id > :after
      AND m.id IN (SELECT me.memory_id FROM memory_entities me WHERE me.tenant_id = :tenant AND me.entity_id = :into)
    ORDER BY m.id LIMIT :limit
    """  # noqa: S608 - composed of constants
)

_GIVE_BACK = statement(
    """
    WITH given AS (
        SELECT * FROM jsonb_to_recordset(CAST(:given AS jsonb))
            AS g(memory uuid, roles text[], ends text[], subject_id uuid, slot text, slot_value text)
    ), mentions AS (
        UPDATE memory_entities me SET entity_id = :entity FROM given g
        WHERE me.tenant_id = :tenant AND me.memory_id = g.memory AND me.entity_id = :into AND me.role = ANY(g.roles)
        RETURNING me.memory_id
    ), counted AS (
        UPDATE entities e SET
            mention_count = greatest(0, e.mention_count + moved.times * CASE WHEN e.id = :entity THEN 1 ELSE -1 END)
        FROM (
            SELECT sum(m.mentions) AS times FROM mentions k
            JOIN memories m ON m.tenant_id = :tenant AND m.id = k.memory_id
        ) moved
        WHERE e.tenant_id = :tenant AND e.id IN (:entity, :into) AND moved.times > 0
    ), edges AS (
        UPDATE relations r SET from_entity = CASE WHEN 'from' = ANY(g.ends) THEN :entity ELSE r.from_entity END,
            to_entity = CASE WHEN 'to' = ANY(g.ends) THEN :entity ELSE r.to_entity END
        FROM given g WHERE r.tenant_id = :tenant AND r.memory_id = g.memory
    ), voices AS (
        UPDATE memory_index i SET speaker_id = :entity FROM given g
        WHERE i.tenant_id = :tenant AND i.memory_id = g.memory AND i.speaker_id = :into AND 'speaker' = ANY(g.roles)
    )
    INSERT INTO entity_merge_memories (tenant_id, entity_id, memory_id, subject_id, slot, slot_value)
    SELECT :tenant, :entity, g.memory, g.subject_id, nullif(g.slot, m.slot), nullif(g.slot_value, m.slot_value)
    FROM given g JOIN memories m ON m.tenant_id = :tenant AND m.id = g.memory
    ON CONFLICT (tenant_id, entity_id, memory_id) DO UPDATE
        SET slot = excluded.slot, slot_value = excluded.slot_value, contested = false, needs_review = false
    """
)
"""A memory that stays in its slot goes on with those in it: only what changes is recorded, as by a merge.

One that the merge moved itself keeps its subject; the contests of the slot that it had then are over.
"""

_LOCK_MEMORIES = statement(
    f"""
    WITH mine AS MATERIALIZED (
        SELECT m.id, m.scope_id, m.type, m.slot AS shared, l.slot AS own
        FROM entity_merge_memories l JOIN memories m ON m.tenant_id = :tenant AND m.id = l.memory_id
        WHERE l.tenant_id = :tenant AND l.entity_id = :entity
    ), near AS MATERIALIZED (
        SELECT id FROM mine
        UNION
        SELECT m.id FROM (
            SELECT scope_id, type, shared AS slot FROM mine WHERE own IS NOT NULL
            UNION SELECT scope_id, type, own FROM mine WHERE own IS NOT NULL
        ) s CROSS JOIN LATERAL (
            SELECT m.id FROM memories m
            WHERE m.tenant_id = :tenant AND m.scope_id = s.scope_id AND m.type = s.type AND m.slot = s.slot OFFSET 0
        ) m
    )
    SELECT {", ".join(f"m.{name}" for name in VERSION_COLUMNS)} FROM memories m
    WHERE m.tenant_id = :tenant AND m.id IN (
        SELECT id FROM near
        UNION SELECT m.superseded_by FROM near JOIN memories m ON m.tenant_id = :tenant AND m.id = near.id)
    ORDER BY m.id FOR NO KEY UPDATE OF m
    """  # noqa: S608 - composed of constants
)
"""Memories that a merge moved, those in the slots which they leave and return to, and what follows these."""

_MARKS = statement(
    """
    SELECT l.*, g.into_id = :into AS here FROM entity_merge_memories l
    JOIN entity_merges g ON g.tenant_id = :tenant AND g.entity_id = l.entity_id
    WHERE l.tenant_id = :tenant AND l.memory_id = ANY(:ids)
    """
)

_UNLINK = statement(
    """
    DELETE FROM memory_links k USING jsonb_to_recordset(CAST(:given AS jsonb)) AS g(source uuid, target uuid)
    WHERE k.tenant_id = :tenant AND k.from_memory = g.source AND k.to_memory = g.target AND k.kind = 'contradicts'
    """
)

_UNLINK_SIDES = statement(
    """
    DELETE FROM memory_links k
    WHERE k.tenant_id = :tenant AND k.kind IN ('supersedes', 'contradicts') AND k.created_at >= :merged_at
      AND ((k.from_memory = ANY(:home) AND k.to_memory = ANY(:others))
        OR (k.from_memory = ANY(:others) AND k.to_memory = ANY(:home)))
    """
)

_SET_MARKS = statement(
    """
    UPDATE entity_merge_memories l SET contested = g.contested, needs_review = g.asked, contradicts = g.contradicts
    FROM jsonb_to_recordset(CAST(:given AS jsonb))
        AS g(entity uuid, memory uuid, contested boolean, asked boolean, contradicts uuid)
    WHERE l.tenant_id = :tenant AND l.memory_id = g.memory AND l.entity_id = g.entity
    """
)

_GIVE_NAMES_BACK = statement(
    """
    WITH mine AS MATERIALIZED (
        SELECT * FROM entity_merge_aliases WHERE tenant_id = :tenant AND entity_id = :entity
    ), heirs AS MATERIALIZED (
        SELECT DISTINCT ON (o.alias) o.alias, o.entity_id, o.display, o.created_at
        FROM mine
        JOIN entity_merges g ON g.tenant_id = :tenant AND g.into_id = :into AND g.entity_id <> :entity
        JOIN entity_merge_aliases o ON o.tenant_id = :tenant AND o.entity_id = g.entity_id AND o.alias = mine.alias
        WHERE mine.lent ORDER BY o.alias, g.merged_at, g.entity_id
    ), passed AS (
        UPDATE entity_merge_aliases o SET lent = true FROM heirs h
        WHERE o.tenant_id = :tenant AND o.entity_id = h.entity_id AND o.alias = h.alias
    ), kept AS (
        UPDATE entity_aliases a SET display = h.display, created_at = h.created_at FROM heirs h
        WHERE a.tenant_id = :tenant AND a.entity_id = :into AND a.alias = h.alias
    ), taken AS (
        DELETE FROM entity_aliases a USING mine
        WHERE a.tenant_id = :tenant AND a.entity_id = :into AND a.alias = mine.alias AND mine.lent
          AND mine.alias NOT IN (SELECT alias FROM heirs)
    )
    INSERT INTO entity_aliases (tenant_id, scope_id, alias, entity_id, display, created_at)
    SELECT :tenant, e.scope_id, mine.alias, :entity, mine.display, mine.created_at
    FROM mine JOIN entities e ON e.tenant_id = :tenant AND e.id = :entity
    RETURNING alias
    """
)

_STAND_ALONE = statement(
    f"""
    WITH RECURSIVE {_KIN}
    UPDATE entities e SET merged_into = CASE WHEN e.id = :entity THEN NULL ELSE CAST(:entity AS uuid) END
    FROM kin WHERE e.tenant_id = :tenant AND e.id = kin.id
    """  # noqa: S608 - composed of constants
)

_FORGET = statement(
    """
    WITH names AS (
        DELETE FROM entity_merge_aliases WHERE tenant_id = :tenant AND entity_id = :entity
    ), moves AS (
        DELETE FROM entity_merge_memories WHERE tenant_id = :tenant AND entity_id = :entity
    )
    DELETE FROM entity_merges WHERE tenant_id = :tenant AND entity_id = :entity
    """
)


async def read_merge(session: ReadSession, tenant: UUID, entity: UUID) -> MergeRecord | None:
    """Return how the entity was merged; None when it was not, or before merges were recorded."""
    rows = await session.fetch(_STANDING, {"tenant": tenant, "entity": entity})
    if not rows:
        return None
    [row] = rows
    return as_record(MergeRecord, row, into=row["into_id"], own_names=frozenset(row["own_names"]))


async def written_since(
    session: ReadSession, tenant: UUID, entity: UUID, merged: MergeRecord, *, after: UUID, limit: int
) -> list[Record]:
    """Return memories recorded since the merge that mention its survivor, by id, after one of them.

    `roles` maps each role a memory has to [entity id, name, type], as they are once the merge is undone; `shared` are
    those of the survivor, which either of the two may mean; `claims`: it has a slot.
    """
    here = {"tenant": tenant, "entity": entity, "since": merged.merged_at, "after": after, "limit": limit}
    return await session.fetch(_SINCE, {**here, "into": merged.into})


async def reclassified_since(
    session: ReadSession, tenant: UUID, entity: UUID, merged: MergeRecord, *, after: UUID, limit: int
) -> list[Record]:
    """Return older memories of the merged entity that were reclassified since the merge, by id, after one of them.

    `roles` and `claims` are those of `written_since`; `former_type`, `former_payload` and `former_version` are from the
    time of the merge.
    """
    here = {"tenant": tenant, "entity": entity, "since": merged.merged_at, "after": after, "limit": limit}
    return await session.fetch(_RECLASSIFIED, here)


async def give_back(
    session: WriteSession, tenant: UUID, entity: UUID, merged: MergeRecord, given: Sequence[MovedBack], *, at: datetime
) -> None:
    """Record memories as the merged entity's, with new columns; `unmerge` moves them with the others."""
    if not given:
        return
    rows = [
        {
            "memory": str(one.memory),
            "roles": one.roles,
            "ends": one.ends,
            "subject_id": None if one.subject_id is None else str(one.subject_id),
            "slot": one.slot,
            "slot_value": one.slot_value,
        }
        for one in given
    ]
    await session.stamp(at)
    here = {"tenant": tenant, "entity": entity, "into": merged.into, "given": json.dumps(rows)}
    await session.change(_GIVE_BACK, here)


async def unmerge(session: WriteSession, tenant: UUID, entity: UUID, merged: MergeRecord, *, at: datetime) -> Undone:
    """Undo a merge, in a locked scope, as if it had not been made.

    What was written about the survivor meanwhile stays with it. Where it had replaced a memory that goes back,
    that memory holds again.
    """
    here = {"tenant": tenant, "entity": entity, "into": merged.into}
    home, revived = await _move_back(session, tenant, entity, merged, at=at)
    aliases = len(await session.fetch(_GIVE_NAMES_BACK, here))
    await session.change(_STAND_ALONE, here)
    await session.change(_FORGET, here)
    return Undone(aliases=aliases, memories=home, revived=revived)


async def _move_back(
    session: WriteSession, tenant: UUID, entity: UUID, merged: MergeRecord, *, at: datetime
) -> tuple[int, tuple[UUID, ...]]:
    """Move memories back to their slots before the merge; return their number and the memories active again."""
    rows = await session.fetch(_LOCK_MEMORIES, {"tenant": tenant, "entity": entity})
    versions = {row["id"]: Version(**version_fields(row)) for row in rows}
    recorded = await session.fetch(_MARKS, {"tenant": tenant, "into": merged.into, "ids": list(versions)})
    mine = {row["memory_id"]: row for row in recorded if row["entity_id"] == entity}
    event = Unmerged(
        home={one: _merged_version(row) for one, row in mine.items()},
        marks=tuple(_mark(row) for row in recorded if row["entity_id"] != entity),
        merged_at=merged.merged_at,
    )
    found = transition(versions.values(), event, policy=accumulate, now=at)
    others = [one for one in versions if one not in mine]
    sides = {"tenant": tenant, "merged_at": merged.merged_at, "home": list(mine), "others": others}
    await session.fetch(_UNLINK_SIDES, sides)
    gone = [{"source": str(one.source), "target": str(one.target)} for one in found.unlinks]
    await session.fetch(_UNLINK, {"tenant": tenant, "given": json.dumps(gone)})
    await change_memories(
        session,
        tenant,
        _changed(found, {one: row["subject_id"] for one, row in mine.items()}, at=at),
        at=at,
        rows={"memory_links": [link_row(tenant, one, at) for one in found.links]},
    )
    marks = [
        {
            "entity": str(one.entity),
            "memory": str(one.memory),
            "contested": one.contested,
            "asked": one.asked,
            "contradicts": None if one.contradicts is None else str(one.contradicts),
        }
        for one in changed_marks(found, event)
    ]
    await session.fetch(_SET_MARKS, {"tenant": tenant, "given": json.dumps(marks)})
    return len(mine), tuple(one.id for one in found.rivals)


def _changed(found: Transition, subjects: Mapping[UUID, UUID | None], *, at: datetime) -> list[RowChange]:
    """Return the changes of memories; `subjects` are the subject ids before the merge."""
    more = {one: {"subject_id": subject} for one, subject in subjects.items() if subject is not None}
    changes = [row_change(one, at=at, more=more.pop(one.before.id, None)) for one in found.changes]
    return changes + [RowChange(id=one, values=values) for one, values in more.items()]


def _merged_version(row: Record) -> MergedVersion:
    return MergedVersion(
        slot=row["slot"],
        value=row["slot_value"],
        contested=row["contested"],
        asked=row["needs_review"],
        contradicts=row["contradicts"],
    )


def _mark(row: Record) -> MergeMark:
    return MergeMark(
        entity=row["entity_id"],
        memory=row["memory_id"],
        here=row["here"],
        contested=row["contested"],
        asked=row["needs_review"],
        contradicts=row["contradicts"],
    )
