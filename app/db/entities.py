"""Reading entities: by id, in pages, and with the edges around them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import RowMapping, text

from app.db.session import ReadSession
from app.model import Scope, ScopeKind

MOST_EDGES = 500
"""Edges of a neighbourhood that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """An identity: its names, what is known of it, whom it was merged into, if it was, and who into it.

    What was merged into it counts as its own: names, attributes, mentions, and the type where it has none itself.
    """

    id: UUID
    scope: Scope
    name: str
    entity_type: str
    aliases: tuple[str, ...]
    attributes: Mapping[str, object]
    mention_count: int
    merged_into: UUID | None
    merged: tuple[UUID, ...]
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A relation that an active memory states, and how many steps away from the start it was found."""

    from_entity: UUID
    from_name: str
    relation_type: str
    to_entity: UUID
    to_name: str
    since: datetime | None
    memory: UUID
    hop: int


_WHOLE = """
    SELECT e.id, s.kind, s.user_id, s.agent_id, e.canonical_name, e.merged_into, e.created_at,
        coalesce(nullif(e.entity_type, 'unknown'), kin.entity_type, 'unknown') AS entity_type,
        e.mention_count + coalesce(kin.mentions, 0) AS mention_count, coalesce(kin.ids, '{}') AS merged,
        (SELECT coalesce(jsonb_object_agg(a.key, a.value ORDER BY k.mention_count, k.id), '{}')
         FROM entities k CROSS JOIN LATERAL jsonb_each(k.attributes) a
         WHERE k.tenant_id = e.tenant_id AND k.merged_into = e.id) || e.attributes AS attributes,
        (SELECT coalesce(jsonb_agg(a.display ORDER BY a.display), '[]') FROM (
            SELECT display FROM entity_aliases WHERE tenant_id = e.tenant_id AND entity_id = e.id
            UNION SELECT display FROM entity_merge_aliases WHERE tenant_id = e.tenant_id AND entity_id = e.id
         ) a WHERE a.display <> e.canonical_name) AS aliases
    FROM entities e
    JOIN scopes s ON s.tenant_id = e.tenant_id AND s.id = e.scope_id
    LEFT JOIN LATERAL (
        SELECT sum(k.mention_count) AS mentions, array_agg(k.id ORDER BY k.id) AS ids,
            (array_agg(k.entity_type ORDER BY k.mention_count DESC, k.id)
             FILTER (WHERE k.entity_type <> 'unknown'))[1] AS entity_type
        FROM entities k WHERE k.tenant_id = e.tenant_id AND k.merged_into = e.id
    ) kin ON true
"""
"""An entity together with all that were merged into it; a condition on `e` follows."""

_BY_IDS = text(f"{_WHOLE} WHERE e.tenant_id = :tenant AND e.id = ANY(:ids)")

_CONDITIONS = {
    "scopes": "e.scope_id = ANY(:scopes)",
    "entity_type": "coalesce(nullif(e.entity_type, 'unknown'), kin.entity_type, 'unknown') = :entity_type",
    "alias": "e.id IN (SELECT a.entity_id FROM entity_aliases a WHERE a.tenant_id = :tenant AND a.alias = :alias)",
    "after": "e.id > :after",
}

_AROUND = text(
    """
    WITH RECURSIVE reached AS (
        SELECT coalesce(merged_into, id) AS entity, 0 AS hop FROM entities WHERE tenant_id = :tenant AND id = :id
        UNION
        SELECT coalesce(far.merged_into, far.id), reached.hop + 1 FROM reached
        CROSS JOIN LATERAL (
            SELECT reached.entity AS id
            UNION ALL SELECT k.id FROM entities k WHERE k.tenant_id = :tenant AND k.merged_into = reached.entity
        ) same
        CROSS JOIN LATERAL (
            SELECT r.to_entity AS entity FROM relations r
            JOIN memories m ON m.tenant_id = r.tenant_id AND m.id = r.memory_id AND m.status = 'active'
            WHERE r.tenant_id = :tenant AND r.from_entity = same.id
            UNION
            SELECT r.from_entity FROM relations r
            JOIN memories m ON m.tenant_id = r.tenant_id AND m.id = r.memory_id AND m.status = 'active'
            WHERE r.tenant_id = :tenant AND r.to_entity = same.id
        ) near
        JOIN entities far ON far.tenant_id = :tenant AND far.id = near.entity
        WHERE reached.hop < :depth
    ), nearest AS (
        SELECT entity, min(hop) AS hop FROM reached GROUP BY entity
    ), same AS (
        SELECT entity, hop, entity AS id FROM nearest
        UNION ALL
        SELECT n.entity, n.hop, k.id FROM nearest n
        JOIN entities k ON k.tenant_id = :tenant AND k.merged_into = n.entity
    )
    SELECT DISTINCT r.id, f.id AS from_entity, f.canonical_name AS from_name, r.relation_type, t.id AS to_entity,
        t.canonical_name AS to_name, r.since, r.memory_id, least(a.hop, b.hop) + 1 AS hop
    FROM same a
    JOIN relations r ON r.tenant_id = :tenant AND r.from_entity = a.id
    JOIN same b ON b.id = r.to_entity
    JOIN memories m ON m.tenant_id = :tenant AND m.id = r.memory_id AND m.status = 'active'
    JOIN entities f ON f.tenant_id = :tenant AND f.id = a.entity
    JOIN entities t ON t.tenant_id = :tenant AND t.id = b.entity
    WHERE least(a.hop, b.hop) < :depth
    ORDER BY hop, r.id LIMIT :limit
    """
)


async def find(session: ReadSession, tenant: UUID, entity: UUID) -> Entity | None:
    """Return an entity, or None."""
    return (await find_all(session, tenant, [entity])).get(entity)


async def find_all(session: ReadSession, tenant: UUID, entities: Collection[UUID]) -> dict[UUID, Entity]:
    """Return those of the entities that exist, by id."""
    rows = await session.execute(_BY_IDS, {"tenant": tenant, "ids": list(entities)})
    return {row["id"]: _entity(row) for row in rows.mappings()}


async def page(
    session: ReadSession,
    tenant: UUID,
    *,
    scopes: tuple[UUID, ...] | None,
    entity_type: str | None,
    alias: str | None,
    after: UUID | None,
    limit: int,
) -> list[Entity]:
    """Return up to `limit` entities in the order of their ids; None leaves a filter open."""
    given = {
        "scopes": None if scopes is None else list(scopes),
        "entity_type": entity_type,
        "alias": alias,
        "after": after,
    }
    used = {name: value for name, value in given.items() if value is not None}
    conditions = ["e.tenant_id = :tenant", *(_CONDITIONS[name] for name in used)]
    statement = text(f"{_WHOLE} WHERE {' AND '.join(conditions)} ORDER BY e.id LIMIT :limit")
    rows = await session.execute(statement, {"tenant": tenant, "limit": limit, **used})
    return [_entity(row) for row in rows.mappings()]


async def around(session: ReadSession, tenant: UUID, entity: UUID, *, depth: int) -> list[Edge]:
    """Return the edges within `depth` steps of an entity, nearest first; entities merged into one are one."""
    rows = await session.execute(_AROUND, {"tenant": tenant, "id": entity, "depth": depth, "limit": MOST_EDGES})
    return [
        Edge(
            from_entity=row["from_entity"],
            from_name=row["from_name"],
            relation_type=row["relation_type"],
            to_entity=row["to_entity"],
            to_name=row["to_name"],
            since=row["since"],
            memory=row["memory_id"],
            hop=row["hop"],
        )
        for row in rows.mappings()
    ]


def _entity(row: RowMapping) -> Entity:
    return Entity(
        id=row["id"],
        scope=Scope(kind=ScopeKind(row["kind"]), user_id=row["user_id"], agent_id=row["agent_id"]),
        name=row["canonical_name"],
        entity_type=row["entity_type"],
        aliases=tuple(row["aliases"]),
        attributes=row["attributes"],
        mention_count=row["mention_count"],
        merged_into=row["merged_into"],
        merged=tuple(row["merged"]),
        created_at=row["created_at"],
    )
