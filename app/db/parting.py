"""Dividing a slot that two entities shared: each side's versions follow one another again, as if alone.

`home` below are the memories that a merge had moved into the slot and that are back in their own. What was decided
between them and those that stay is undone: who replaced whom, who contradicts whom, who stands behind whom.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import text

from app.db.session import WriteSession

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
            contested = m.contested OR (r.revived AND (r.taken OR r.place > 1)), updated_at = :at
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
            ORDER BY p.stated_at DESC, p.id DESC LIMIT 1), updated_at = :at
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
            review_since = CASE WHEN r.needs_review THEN NULL ELSE m.review_since END, updated_at = :at
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


async def part(session: WriteSession, here: Mapping[str, object]) -> list[UUID]:
    """Divide every slot that memories have just left for their own; return those that hold again.

    `here` has the tenant, the `entity` they are about, the one it was merged `into` and when (`merged_at`), both
    ids as text, `old` and `new`, and the stamp of what is done, `at`.
    """
    revived = [UUID(str(row[0])) for row in await session.execute(_PART_CHAINS, here)]
    await session.execute(_PART_LINKS, here)
    await session.execute(_LIFT, here)
    await session.execute(_RELINK, here)
    return revived
