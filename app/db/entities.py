"""Reading entities: by id and in pages."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import RowMapping, text

from app.db import past
from app.db.scopes import scope_of
from app.db.session import ReadSession
from app.model import Scope


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

_WHOLE_THEN = f"""
    SELECT e.id, s.kind, s.user_id, s.agent_id, e.canonical_name, e.merged_into, e.created_at,
        coalesce(nullif(e.entity_type, 'unknown'), kin.entity_type, 'unknown') AS entity_type,
        (SELECT coalesce(sum(m.mentions), 0) FROM memory_entities me
         CROSS JOIN LATERAL (SELECT was.mentions FROM {past.memories("x.id = me.memory_id")} was OFFSET 0) m
         WHERE me.tenant_id = e.tenant_id AND me.entity_id = ANY(e.id || kin.ids)) AS mention_count,
        coalesce(kin.ids, '{{}}') AS merged,
        (SELECT coalesce(jsonb_object_agg(a.key, a.value ORDER BY k.id), '{{}}')
         FROM unnest(kin.ids) AS one(id)
         CROSS JOIN LATERAL (SELECT k.* FROM {past.ENTITIES} k WHERE k.id = one.id OFFSET 0) k
         CROSS JOIN LATERAL jsonb_each(k.attributes) a) || e.attributes AS attributes,
        (SELECT coalesce(jsonb_agg(DISTINCT n.display ORDER BY n.display), '[]') FROM {past.NAMES} n
         WHERE n.entity_id = ANY(e.id || kin.ids) AND n.display <> e.canonical_name) AS aliases
    FROM {past.ENTITIES} e
    JOIN scopes s ON s.tenant_id = e.tenant_id AND s.id = e.scope_id
    LEFT JOIN LATERAL (
        SELECT array_agg(k.id ORDER BY k.id) AS ids,
            (array_agg(k.entity_type ORDER BY k.id) FILTER (WHERE k.entity_type <> 'unknown'))[1] AS entity_type
        FROM {past.family("e.id")} same
        CROSS JOIN LATERAL (SELECT k.* FROM {past.ENTITIES} k WHERE k.id = same.id OFFSET 0) k
        WHERE k.id <> e.id
    ) kin ON true
"""  # noqa: S608 - composed of constants
"""The same as it was then; it was mentioned by the memories that were known then, as often as they had been said."""

_BY_IDS = text(f"{_WHOLE} WHERE e.tenant_id = :tenant AND e.id = ANY(:ids)")
_BY_IDS_THEN = text(f"{_WHOLE_THEN} WHERE e.id = ANY(:ids)")

_CONDITIONS = {
    "scopes": "e.scope_id = ANY(:scopes)",
    "entity_type": "coalesce(nullif(e.entity_type, 'unknown'), kin.entity_type, 'unknown') = :entity_type",
    "alias": "e.id IN (SELECT a.entity_id FROM entity_aliases a WHERE a.tenant_id = :tenant AND a.alias = :alias)",
    "after": "e.id > :after",
}

_ALIAS_THEN = f"""e.id IN (
    SELECT coalesce(k.merged_into, k.id) FROM {past.NAMES} a
    CROSS JOIN LATERAL (SELECT k.* FROM {past.ENTITIES} k WHERE k.id = a.entity_id OFFSET 0) k
    WHERE a.alias = :alias)"""  # noqa: S608


async def find(session: ReadSession, tenant: UUID, entity: UUID, *, known_at: datetime | None = None) -> Entity | None:
    """Return an entity, or None; with `known_at` as it was known then."""
    return (await find_all(session, tenant, [entity], known_at=known_at)).get(entity)


async def find_all(
    session: ReadSession, tenant: UUID, entities: Collection[UUID], *, known_at: datetime | None = None
) -> dict[UUID, Entity]:
    """Return those of the entities that exist, by id; with `known_at` those that did, as they were."""
    then = {} if known_at is None else {"known_at": known_at}
    rows = await session.execute(_BY_IDS_THEN if then else _BY_IDS, {"tenant": tenant, "ids": list(entities), **then})
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
    known_at: datetime | None = None,
) -> list[Entity]:
    """Return up to `limit` entities in the order of their ids; None leaves a filter open, and time at the present."""
    given = {
        "scopes": None if scopes is None else list(scopes),
        "entity_type": entity_type,
        "alias": alias,
        "after": after,
    }
    used = {name: value for name, value in given.items() if value is not None}
    whole, by = (_WHOLE, _CONDITIONS) if known_at is None else (_WHOLE_THEN, {**_CONDITIONS, "alias": _ALIAS_THEN})
    conditions = ["e.tenant_id = :tenant", *(by[name] for name in used)]
    statement = text(f"{whole} WHERE {' AND '.join(conditions)} ORDER BY e.id LIMIT :limit")
    then = {} if known_at is None else {"known_at": known_at}
    rows = await session.execute(statement, {"tenant": tenant, "limit": limit, **used, **then})
    return [_entity(row) for row in rows.mappings()]


def _entity(row: RowMapping) -> Entity:
    return Entity(
        id=row["id"],
        scope=scope_of(row, "kind"),
        name=row["canonical_name"],
        entity_type=row["entity_type"],
        aliases=tuple(row["aliases"]),
        attributes=row["attributes"],
        mention_count=row["mention_count"],
        merged_into=row["merged_into"],
        merged=tuple(row["merged"]),
        created_at=row["created_at"],
    )
