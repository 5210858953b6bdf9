"""Read and undo the record of a merge.

Dividing a slot that two entities shared: each side's versions follow one another again, as if alone.

`home` below are the memories that a merge had moved into the slot and that are back in their own. What was decided
between them and those that stay is undone: who replaced whom, who contradicts whom, who stands behind whom.

Taking a merge apart: everything that it moved goes back, and so does what named the merged entity since.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import RowMapping, text

from app.db.session import ReadSession, WriteSession

LONGEST = 1_000
"""Steps along a chain of supersession that are followed to find the next version of one's own."""

_HOME = """
    home AS MATERIALIZED (
        SELECT m.id, m.scope_id, m.type, m.slot, replace(m.slot, :old, :new) AS shared
        FROM entity_merge_memories l JOIN memories m ON m.tenant_id = :tenant AND m.id = l.memory_id
        WHERE l.tenant_id = :tenant AND l.entity_id = :entity AND l.slot IS NOT NULL
    )"""

_IN_SHARED = """(
            SELECT m.* FROM memories m WHERE m.tenant_id = :tenant AND m.scope_id = home.scope_id
              AND m.type = home.type AND m.slot = home.shared OFFSET 0
        )"""

_PART_CHAINS = text(
    f"""
    WITH RECURSIVE {_HOME}, crossing AS (
        SELECT home.id, home.slot, n.id AS next FROM home CROSS JOIN LATERAL (
            SELECT n.id FROM memories m JOIN memories n ON n.tenant_id = :tenant AND n.id = m.superseded_by
            WHERE m.tenant_id = :tenant AND m.id = home.id AND n.slot = home.shared OFFSET 0
        ) n
        UNION
        SELECT m.id, m.slot, home.id FROM home CROSS JOIN LATERAL (
            SELECT m.id, m.slot FROM memories m
            WHERE m.tenant_id = :tenant AND m.superseded_by = home.id AND m.slot = home.shared OFFSET 0
        ) m
    ), walk AS (
        SELECT id, slot, next, 1 AS step FROM crossing
        UNION ALL
        SELECT walk.id, walk.slot, n.superseded_by, step + 1 FROM walk
        JOIN memories n ON n.tenant_id = :tenant AND n.id = walk.next AND n.slot IS DISTINCT FROM walk.slot
        WHERE step < {LONGEST}
    ), parted AS MATERIALIZED (
        SELECT DISTINCT ON (walk.id) m.id, m.type, m.slot, walk.next, m.valid_from, m.superseded_by AS stranger,
            n.valid_from AS until, walk.next IS NULL AND m.status = 'superseded' AS revived,
            EXISTS (SELECT FROM memories h WHERE h.tenant_id = :tenant AND h.scope_id = m.scope_id AND h.type = m.type
                        AND h.slot = m.slot AND h.status = 'active' AND NOT h.contested) AS taken,
            m.stated_at
        FROM walk JOIN memories m ON m.tenant_id = :tenant AND m.id = walk.id
        LEFT JOIN memories n ON n.tenant_id = :tenant AND n.id = walk.next
        ORDER BY walk.id, step DESC
    ), ranked AS (
        SELECT *, row_number() OVER (PARTITION BY type, slot, revived ORDER BY stated_at DESC, id DESC) AS place
        FROM parted
    ), changed AS (
        UPDATE memories m SET superseded_by = r.next, status = CASE WHEN r.revived THEN 'active' ELSE m.status END,
            retired_at = CASE WHEN r.revived THEN NULL ELSE m.retired_at END,
            ended_at = CASE WHEN r.revived THEN NULL WHEN r.next IS NULL THEN m.ended_at
                            ELSE greatest(r.until, r.valid_from) END,
            contested = m.contested OR (r.revived AND (r.taken OR r.place > 1))
        FROM ranked r WHERE m.tenant_id = :tenant AND m.id = r.id
        RETURNING m.id, m.status, m.retired_at, m.ended_at, r.next, r.revived
    ), indexed AS (
        UPDATE memory_index i SET status = c.status, retired_at = c.retired_at, ended_at = c.ended_at
        FROM changed c WHERE i.tenant_id = :tenant AND i.memory_id = c.id
    ), linked AS (
        INSERT INTO memory_links (tenant_id, from_memory, kind, to_memory, created_at)
        SELECT :tenant, next, 'supersedes', id, :at FROM changed WHERE next IS NOT NULL ON CONFLICT DO NOTHING
    )
    SELECT id FROM changed WHERE revived
    """  # noqa: S608 - composed of constants
)

_PART_LINKS = text(
    f"""
    WITH {_HOME}, strangers AS (
        SELECT home.id AS mine, m.id AS other FROM home CROSS JOIN LATERAL {_IN_SHARED} m
    ), pairs AS MATERIALIZED (
        SELECT mine AS one, other FROM strangers UNION ALL SELECT other, mine FROM strangers
    ), unlinked AS (
        DELETE FROM memory_links k USING pairs
        WHERE k.tenant_id = :tenant AND k.from_memory = pairs.one AND k.to_memory = pairs.other
          AND k.kind IN ('supersedes', 'contradicts') AND k.created_at >= :merged_at
    )
    UPDATE memories m SET supersedes = (
            SELECT p.id FROM memories p WHERE p.tenant_id = :tenant AND p.superseded_by = m.id
            ORDER BY p.stated_at DESC, p.id DESC LIMIT 1)
    FROM pairs WHERE m.tenant_id = :tenant AND m.id = pairs.one AND m.supersedes = pairs.other
    """  # noqa: S608 - composed of constants
)

_LIFT = text(
    f"""
    WITH {_HOME}, vacated AS (
        SELECT DISTINCT scope_id, type, shared FROM home
        WHERE NOT EXISTS (SELECT FROM memories h WHERE h.tenant_id = :tenant AND h.scope_id = home.scope_id
                AND h.type = home.type AND h.slot = home.shared AND h.status = 'active' AND NOT h.contested)
    ), risen AS MATERIALIZED (
        SELECT DISTINCT ON (m.scope_id, m.type, m.slot) m.id, l.entity_id, l.needs_review, l.contradicts
        FROM vacated home CROSS JOIN LATERAL {_IN_SHARED} m
        LEFT JOIN LATERAL (
            SELECT c.* FROM entity_merge_memories c
            JOIN entity_merges g ON g.tenant_id = c.tenant_id AND g.entity_id = c.entity_id AND g.into_id = :into
            WHERE c.tenant_id = :tenant AND c.memory_id = m.id AND c.contested OFFSET 0
        ) l ON true
        WHERE m.status = 'active' AND (l.memory_id IS NOT NULL OR m.recorded_at >= :merged_at)
        ORDER BY m.scope_id, m.type, m.slot, m.stated_at DESC, m.id
    ), lifted AS (
        UPDATE memories m SET contested = false,
            review_reason = CASE WHEN r.needs_review THEN NULL ELSE m.review_reason END,
            review_since = CASE WHEN r.needs_review THEN NULL ELSE m.review_since END
        FROM risen r WHERE m.tenant_id = :tenant AND m.id = r.id
    ), unlinked AS (
        DELETE FROM memory_links k USING risen r
        WHERE k.tenant_id = :tenant AND k.from_memory = r.id AND k.to_memory = r.contradicts AND k.kind = 'contradicts'
    )
    UPDATE entity_merge_memories l SET contested = false, needs_review = false, contradicts = NULL
    FROM risen r WHERE l.tenant_id = :tenant AND l.memory_id = r.id AND l.entity_id = r.entity_id
    """  # noqa: S608 - composed of constants
)

_RELINK = text(
    f"""
    WITH {_HOME}, orphans AS MATERIALIZED (
        SELECT l.entity_id, l.memory_id, l.contradicts,
            (SELECT h.id FROM memories h
             WHERE h.tenant_id = :tenant AND h.scope_id = m.scope_id AND h.type = m.type AND h.slot = m.slot
               AND h.status = 'active' AND NOT h.contested AND h.id <> m.id
               AND h.slot_value IS DISTINCT FROM m.slot_value) AS holder
        FROM home CROSS JOIN LATERAL {_IN_SHARED} m
        JOIN entity_merge_memories l ON l.tenant_id = :tenant AND l.memory_id = m.id AND l.contradicts = home.id
    ), unlinked AS (
        DELETE FROM memory_links k USING orphans o
        WHERE k.tenant_id = :tenant AND k.from_memory = o.memory_id AND k.to_memory = o.contradicts
          AND k.kind = 'contradicts'
    ), linked AS (
        INSERT INTO memory_links (tenant_id, from_memory, kind, to_memory, created_at)
        SELECT :tenant, memory_id, 'contradicts', holder, :at FROM orphans WHERE holder IS NOT NULL
        ON CONFLICT DO NOTHING
    )
    UPDATE entity_merge_memories l SET contradicts = o.holder
    FROM orphans o WHERE l.tenant_id = :tenant AND l.memory_id = o.memory_id AND l.entity_id = o.entity_id
    """  # noqa: S608 - composed of constants
)


async def split_slot(session: WriteSession, here: Mapping[str, object]) -> list[UUID]:
    """Divide every slot that memories have just left for their own; return those that hold again.

    `here` has the tenant, the `entity` they are about, the one it was merged `into` and when (`merged_at`), both
    ids as text, `old` and `new`, and the stamp of what is done, `at`.
    """
    revived = [UUID(str(row[0])) for row in await session.execute(_PART_CHAINS, here)]
    await session.execute(_PART_LINKS, here)
    await session.execute(_LIFT, here)
    await session.execute(_RELINK, here)
    return revived


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeRecord:
    """A merge as it stands: into what, when, the names it brought along, and what must be undone before it.

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
    """A memory written since the merge that named the merged entity by a name of its own: what is its again.

    `roles` are those it plays there; None leaves a column as it is.
    """

    memory: UUID
    roles: tuple[str, ...]
    ends: tuple[str, ...]
    subject_id: UUID | None
    slot: str | None
    slot_value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What taking a merge apart moved back: names, memories, and the memories that hold again."""

    aliases: int
    memories: int
    revived: tuple[UUID, ...]


_STANDING = text(
    """
    SELECT g.into_id, g.merged_at, b.merged_into IS NOT NULL AS into_merged,
        ARRAY(SELECT n.alias FROM entity_merge_aliases n
              WHERE n.tenant_id = g.tenant_id AND n.entity_id = g.entity_id AND n.lent) AS own_names,
        (SELECT l.entity_id FROM entity_merge_memories mine
         JOIN entity_merge_memories l ON l.tenant_id = g.tenant_id AND l.memory_id = mine.memory_id
             AND l.entity_id <> mine.entity_id
         WHERE mine.tenant_id = g.tenant_id AND mine.entity_id = g.entity_id
           AND (l.slot = replace(mine.slot, CAST(g.entity_id AS text), CAST(g.into_id AS text))
                OR l.slot_value = replace(mine.slot_value, CAST(g.entity_id AS text), CAST(g.into_id AS text)))
         LIMIT 1) AS later
    FROM entity_merges g JOIN entities b ON b.tenant_id = g.tenant_id AND b.id = g.into_id
    WHERE g.tenant_id = :tenant AND g.entity_id = :entity AND g.merged_at > '-infinity'
    """
)

_SINCE = text(
    """
    SELECT m.id, m.type, m.type_version, m.payload, m.slot IS NOT NULL AS claims,
        (SELECT jsonb_object_agg(r.role, jsonb_build_array(r.entity_id, e.canonical_name, e.entity_type))
         FROM memory_entities r JOIN entities e ON e.tenant_id = r.tenant_id AND e.id = r.entity_id
         WHERE r.tenant_id = :tenant AND r.memory_id = m.id) AS roles
    FROM memories m
    WHERE m.tenant_id = :tenant AND m.recorded_at >= :since AND m.id > :after
      AND m.id IN (SELECT me.memory_id FROM memory_entities me WHERE me.tenant_id = :tenant AND me.entity_id = :into)
    ORDER BY m.id LIMIT :limit
    """
)

_GIVE_BACK = text(
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
    SELECT :tenant, :entity, memory, subject_id, slot, slot_value FROM given ON CONFLICT DO NOTHING
    """
)

_SEND_HOME = text(
    """
    WITH recorded AS MATERIALIZED (
        SELECT l.*, m.type, m.stated_at,
            l.slot IS NOT NULL AND m.status = 'active' AND (l.contested OR NOT m.contested) AS claims
        FROM entity_merge_memories l JOIN memories m ON m.tenant_id = :tenant AND m.id = l.memory_id
        WHERE l.tenant_id = :tenant AND l.entity_id = :entity
    ), mine AS MATERIALIZED (
        SELECT *, claims AND row_number() OVER (PARTITION BY type, slot, claims ORDER BY stated_at DESC, memory_id) > 1
            AS second
        FROM recorded
    ), unlinked AS (
        DELETE FROM memory_links k USING mine
        WHERE k.tenant_id = :tenant AND k.from_memory = mine.memory_id AND k.to_memory = mine.contradicts
          AND k.kind = 'contradicts'
    )
    UPDATE memories m SET subject_id = coalesce(mine.subject_id, m.subject_id), slot = coalesce(mine.slot, m.slot),
        slot_value = coalesce(mine.slot_value, m.slot_value),
        contested = (m.contested AND NOT mine.contested) OR mine.second,
        review_reason = CASE WHEN mine.needs_review THEN NULL ELSE m.review_reason END,
        review_since = CASE WHEN mine.needs_review THEN NULL ELSE m.review_since END
    FROM mine WHERE m.tenant_id = :tenant AND m.id = mine.memory_id
    """
)

_GIVE_NAMES_BACK = text(
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
    """
)

_STAND_ALONE = text(
    """
    WITH RECURSIVE kin AS (
        SELECT CAST(:entity AS uuid) AS id
        UNION
        SELECT g.entity_id FROM kin JOIN entity_merges g ON g.tenant_id = :tenant AND g.into_id = kin.id
    )
    UPDATE entities e SET merged_into = CASE WHEN e.id = :entity THEN NULL ELSE CAST(:entity AS uuid) END
    FROM kin WHERE e.tenant_id = :tenant AND e.id = kin.id
    """
)

_FORGET = text(
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
    row = (await session.execute(_STANDING, {"tenant": tenant, "entity": entity})).first()
    if row is None:
        return None
    return MergeRecord(
        into=row.into_id,
        merged_at=row.merged_at,
        own_names=frozenset(row.own_names),
        into_merged=row.into_merged,
        later=row.later,
    )


async def written_since(
    session: ReadSession, tenant: UUID, merged: MergeRecord, *, after: UUID, limit: int
) -> list[RowMapping]:
    """Return memories recorded since the merge that mention its survivor, by id, after one of them.

    `roles` maps each role a memory has to [entity id, name, type]; `claims`: it has a slot.
    """
    here = {"tenant": tenant, "into": merged.into, "since": merged.merged_at, "after": after, "limit": limit}
    return list((await session.execute(_SINCE, here)).mappings())


async def give_back(
    session: WriteSession, tenant: UUID, entity: UUID, merged: MergeRecord, given: Sequence[MovedBack], *, at: datetime
) -> None:
    """Make memories written since the merge the merged entity's; `undo` sends them home with the others."""
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
    await session.execute(_GIVE_BACK, here)


async def unmerge(session: WriteSession, tenant: UUID, entity: UUID, merged: MergeRecord, *, at: datetime) -> Undone:
    """Take a merge apart, in a scope that is held; everything is then as if it had not been made.

    What was written about the survivor meanwhile stays with it. Where it had replaced a memory that goes back,
    that memory holds again.
    """
    await session.stamp(at)
    here = {"tenant": tenant, "entity": entity, "into": merged.into}
    home = await session.execute(_SEND_HOME, {"tenant": tenant, "entity": entity})
    texts = {"old": str(entity), "new": str(merged.into), "merged_at": merged.merged_at, "at": at}
    revived = await split_slot(session, {**here, **texts})
    names = await session.execute(_GIVE_NAMES_BACK, here)
    await session.execute(_STAND_ALONE, {"tenant": tenant, "entity": entity})
    await session.execute(_FORGET, {"tenant": tenant, "entity": entity})
    return Undone(aliases=names.rowcount, memories=home.rowcount, revived=tuple(revived))
