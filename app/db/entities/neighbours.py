"""SQL of the entities that are named together with one."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from app.db.session import ReadSession, statement


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityNeighbour:
    """An entity that an active memory names together with another; `label` is the memory's predicate or type."""

    entity: UUID
    name: str
    entity_type: str
    memory: UUID
    content: str
    label: str


# Episodes are left out: what is said in one breath need not belong together.
_NAMED_TOGETHER = statement(
    """
    WITH family AS (SELECT id FROM entities WHERE tenant_id = :tenant AND :entity IN (id, merged_into)),
    naming AS (
        SELECT DISTINCT me.memory_id FROM memory_entities me
        WHERE me.tenant_id = :tenant AND me.entity_id IN (SELECT id FROM family)
    )
    SELECT DISTINCT coalesce(e.merged_into, e.id) AS entity, root.canonical_name, root.entity_type, m.id AS memory,
        m.content, coalesce(m.payload ->> 'predicate', m.payload ->> 'relation_type', m.type) AS label
    FROM naming
    JOIN memories m ON m.tenant_id = :tenant AND m.id = naming.memory_id
    JOIN memory_entities me ON me.tenant_id = :tenant AND me.memory_id = m.id
    JOIN entities e ON e.tenant_id = :tenant AND e.id = me.entity_id
    JOIN entities root ON root.tenant_id = :tenant AND root.id = coalesce(e.merged_into, e.id)
    WHERE m.status = 'active' AND m.type <> 'episodic' AND e.id NOT IN (SELECT id FROM family)
    ORDER BY m.id DESC, entity LIMIT :limit
    """
)


async def named_together(session: ReadSession, tenant: UUID, entity: UUID, *, limit: int) -> list[EntityNeighbour]:
    """Return the entities that active memories name together with one, and those memories, the latest first."""
    rows = await session.fetch(_NAMED_TOGETHER, {"tenant": tenant, "entity": entity, "limit": limit})
    return [
        EntityNeighbour(
            entity=row["entity"],
            name=row["canonical_name"],
            entity_type=row["entity_type"],
            memory=row["memory"],
            content=row["content"],
            label=row["label"],
        )
        for row in rows
    ]
