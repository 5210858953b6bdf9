"""Queries of entities, by id and in pages, and of the relations around one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from uuid import UUID

from asyncpg import Record

from app.db import time_travel
from app.db.memories.validity import is_or_was_believed, is_true
from app.db.scopes import scope_of
from app.db.session import ReadSession, SqlStatement, statement
from app.db.sql import as_record
from app.model import Scope

MOST_EDGES = 500
"""Edges of a neighbourhood that are shown."""

MOST_STATES = 500
"""Former states of an entity that are read for the values that its attributes had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationEdge:
    """A relation that a memory states, and how many steps away from the start it was found."""

    from_entity: UUID
    from_name: str
    relation_type: str
    to_entity: UUID
    to_name: str
    since: datetime | None
    memory: UUID
    hop: int


_FAMILY = """(
            SELECT root AS id
            UNION ALL SELECT k.id FROM entities k WHERE k.tenant_id = :tenant AND k.merged_into = root
        )"""


@cache
def _around(*, dated: bool, then: bool) -> SqlStatement:
    """Return the statement; `dated`: of relations that held `:as_of`, `then`: as of `:known_at`."""
    known = time_travel.ENTITIES if then else "entities"
    stated = f"(SELECT * FROM {time_travel.memories('x.id = r.memory_id')} was OFFSET 0)" if then else "memories"  # noqa: S608
    holds = f"{is_or_was_believed('m')} AND {is_true('m', ':as_of')}"
    stating = f"""CROSS JOIN LATERAL (
                SELECT FROM {stated} m
                WHERE m.tenant_id = :tenant AND m.id = r.memory_id AND {holds if dated else "m.status = 'active'"}
            ) m"""

    def same(root: str) -> str:
        return time_travel.entity_family(root) if then else _FAMILY.replace("root", root)

    def entity(alias: str, id: str) -> str:  # noqa: A002 - as in SQL
        return f"""CROSS JOIN LATERAL (
            SELECT {alias}.* FROM {known} {alias} WHERE {alias}.tenant_id = :tenant AND {alias}.id = {id} OFFSET 0
        ) {alias}"""  # noqa: S608 - composed of constants

    return statement(
        f"""
    WITH RECURSIVE reached AS (
        SELECT coalesce(e.merged_into, e.id) AS entity, 0 AS hop FROM {known} e
        WHERE e.tenant_id = :tenant AND e.id = :id
        UNION
        SELECT coalesce(far.merged_into, far.id), reached.hop + 1 FROM reached
        CROSS JOIN LATERAL {same("reached.entity")} same
        CROSS JOIN LATERAL (
            SELECT r.to_entity AS entity FROM relations r {stating}
            WHERE r.tenant_id = :tenant AND r.from_entity = same.id
            UNION
            SELECT r.from_entity FROM relations r {stating}
            WHERE r.tenant_id = :tenant AND r.to_entity = same.id
        ) near
        {entity("far", "near.entity")}
        WHERE reached.hop < :depth
    ), nearest AS (
        SELECT entity, min(hop) AS hop FROM reached GROUP BY entity
    ), same AS (
        SELECT n.entity, n.hop, kin.id FROM nearest n CROSS JOIN LATERAL {same("n.entity")} kin
    )
    SELECT DISTINCT r.id, f.id AS from_entity, f.canonical_name AS from_name, r.relation_type, t.id AS to_entity,
        t.canonical_name AS to_name, r.since, r.memory_id AS memory, least(a.hop, b.hop) + 1 AS hop
    FROM same a
    JOIN relations r ON r.tenant_id = :tenant AND r.from_entity = a.id
    JOIN same b ON b.id = r.to_entity
    {stating}
    {entity("f", "a.entity")}
    {entity("t", "b.entity")}
    WHERE least(a.hop, b.hop) < :depth
    ORDER BY hop, r.id LIMIT :limit
    """  # noqa: S608 - composed of constants
    )


async def around(
    session: ReadSession,
    tenant: UUID,
    entity: UUID,
    *,
    depth: int,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
) -> list[RelationEdge]:
    """Return the edges within `depth` steps of an entity, nearest first; entities merged into one are one.

    Those that active memories state; or, with `as_of`, memories that held then. `known_at`: as was known then.
    """
    given = {"as_of": as_of, "known_at": known_at}
    used = {name: value for name, value in given.items() if value is not None}
    rows = await session.fetch(
        _around(dated=as_of is not None, then=known_at is not None),
        {"tenant": tenant, "id": entity, "depth": depth, "limit": MOST_EDGES, **used},
    )
    return [as_record(RelationEdge, row) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRecord:
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
class FormerAttribute:
    """A value that an attribute of an entity had, and until when it was believed."""

    name: str
    value: object
    retired_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityFilters:
    """Filters of a listing of entities; None leaves a dimension open.

    `alias` is any of an entity's names, `prefix` what a word of one begins with; both normalised.
    """

    scopes: tuple[UUID, ...] | None = None
    entity_type: str | None = None
    alias: str | None = None
    prefix: str | None = None


_TYPE_OF_KIN = "(array_agg(k.entity_type ORDER BY k.created_at, k.id) FILTER (WHERE k.entity_type <> 'unknown'))[1]"


def roles_of(root: str) -> str:
    """Return the SQL of the entities in the roles of a memory `m`: [id, name, type] by role.

    `root` is the SQL of the id of the entity that stands for a mentioned one, `e`.
    """
    return f"""(
        SELECT jsonb_object_agg(me.role, jsonb_build_array(r.id, r.canonical_name, r.entity_type))
        FROM memory_entities me JOIN entities e ON e.tenant_id = :tenant AND e.id = me.entity_id
        JOIN entities r ON r.tenant_id = :tenant AND r.id = {root}
        WHERE me.tenant_id = :tenant AND me.memory_id = m.id
    ) AS roles"""  # noqa: S608 - composed of constants


_ATTRIBUTES_OF_KIN = "SELECT coalesce(jsonb_object_agg(a.key, a.value ORDER BY k.created_at DESC, k.id DESC), '{}')"
"""Of entities that were merged into one, what the one that was known first says goes before what others say."""

_WHOLE = f"""
    SELECT e.id, s.kind, s.user_id, s.agent_id, e.canonical_name, e.merged_into, e.created_at,
        coalesce(nullif(e.entity_type, 'unknown'), kin.entity_type, 'unknown') AS entity_type,
        e.mention_count + coalesce(kin.mentions, 0) AS mention_count, coalesce(kin.ids, '{{}}') AS merged,
        ({_ATTRIBUTES_OF_KIN}
         FROM entities k CROSS JOIN LATERAL jsonb_each(k.attributes) a
         WHERE k.tenant_id = :tenant AND k.merged_into = e.id) || e.attributes AS attributes,
        (SELECT coalesce(jsonb_agg(a.display ORDER BY a.display), '[]') FROM (
            SELECT display FROM entity_aliases WHERE tenant_id = :tenant AND entity_id = e.id
            UNION SELECT display FROM entity_merge_aliases WHERE tenant_id = :tenant AND entity_id = e.id
         ) a WHERE a.display <> e.canonical_name) AS aliases
    FROM entities e
    JOIN scopes s ON s.tenant_id = :tenant AND s.id = e.scope_id
    LEFT JOIN LATERAL (
        SELECT sum(k.mention_count) AS mentions, array_agg(k.id ORDER BY k.id) AS ids,
            {_TYPE_OF_KIN} AS entity_type
        FROM entities k WHERE k.tenant_id = :tenant AND k.merged_into = e.id
    ) kin ON true
"""  # noqa: S608 - composed of constants
"""An entity together with all that were merged into it; a condition on `e` follows."""

_WHOLE_THEN = f"""
    SELECT e.id, s.kind, s.user_id, s.agent_id, e.canonical_name, e.merged_into, e.created_at,
        coalesce(nullif(e.entity_type, 'unknown'), kin.entity_type, 'unknown') AS entity_type,
        (SELECT coalesce(sum(m.mentions), 0) FROM memory_entities me
         CROSS JOIN LATERAL (SELECT was.mentions FROM {time_travel.memories("x.id = me.memory_id")} was OFFSET 0) m
         WHERE me.tenant_id = :tenant AND me.entity_id = ANY(e.id || kin.ids)) AS mention_count,
        coalesce(kin.ids, '{{}}') AS merged,
        ({_ATTRIBUTES_OF_KIN}
         FROM unnest(kin.ids) AS one(id)
         CROSS JOIN LATERAL (SELECT k.* FROM {time_travel.ENTITIES} k WHERE k.id = one.id OFFSET 0) k
         CROSS JOIN LATERAL jsonb_each(k.attributes) a) || e.attributes AS attributes,
        (SELECT coalesce(jsonb_agg(DISTINCT n.display ORDER BY n.display), '[]') FROM {time_travel.NAMES} n
         WHERE n.entity_id = ANY(e.id || kin.ids) AND n.display <> e.canonical_name) AS aliases
    FROM {time_travel.ENTITIES} e
    JOIN scopes s ON s.tenant_id = :tenant AND s.id = e.scope_id
    LEFT JOIN LATERAL (
        SELECT array_agg(k.id ORDER BY k.id) AS ids,
            {_TYPE_OF_KIN} AS entity_type
        FROM {time_travel.entity_family("e.id")} same
        CROSS JOIN LATERAL (SELECT k.* FROM {time_travel.ENTITIES} k WHERE k.id = same.id OFFSET 0) k
        WHERE k.id <> e.id
    ) kin ON true
"""  # noqa: S608 - composed of constants
"""The same as it was then; it was mentioned by the memories that were known then, as often as they had been said."""

_BY_IDS = statement(f"{_WHOLE} WHERE e.tenant_id = :tenant AND e.id = ANY(:ids)")

_BY_IDS_THEN = statement(f"{_WHOLE_THEN} WHERE e.id = ANY(:ids)")

_HAS_NAME = {
    "alias": "a.alias = :alias",
    "prefix": "(starts_with(a.alias, :prefix) OR position(' ' || :prefix IN a.alias) > 0)",
}

_CONDITIONS = {
    "scopes": "e.scope_id = ANY(:scopes)",
    "entity_type": "coalesce(nullif(e.entity_type, 'unknown'), kin.entity_type, 'unknown') = :entity_type",
    "after": "e.id > :after",
    **{
        name: f"e.id IN (SELECT a.entity_id FROM entity_aliases a WHERE a.tenant_id = :tenant AND {condition})"  # noqa: S608
        for name, condition in _HAS_NAME.items()
    },
}

_CONDITIONS_THEN = _CONDITIONS | {
    name: f"""e.id IN (
        SELECT coalesce(k.merged_into, k.id) FROM {time_travel.NAMES} a
        CROSS JOIN LATERAL (SELECT k.* FROM {time_travel.ENTITIES} k WHERE k.id = a.entity_id OFFSET 0) k
        WHERE {condition})"""  # noqa: S608 - composed of constants
    for name, condition in _HAS_NAME.items()
}


async def find(
    session: ReadSession, tenant: UUID, entity: UUID, *, known_at: datetime | None = None
) -> EntityRecord | None:
    """Return an entity, or None; with `known_at` as it was known then."""
    return (await find_all(session, tenant, [entity], known_at=known_at)).get(entity)


async def find_all(
    session: ReadSession, tenant: UUID, entities: Collection[UUID], *, known_at: datetime | None = None
) -> dict[UUID, EntityRecord]:
    """Return those of the entities that exist, by id; with `known_at` those that did, as they were."""
    then = {} if known_at is None else {"known_at": known_at}
    rows = await session.fetch(_BY_IDS_THEN if then else _BY_IDS, {"tenant": tenant, "ids": list(entities), **then})
    return {row["id"]: _entity(row) for row in rows}


_PAST = statement(
    """
    SELECT p.entity_id, p.attributes, p.believed_until FROM entities e
    JOIN entity_past p ON p.tenant_id = :tenant AND p.entity_id = e.id
    WHERE e.tenant_id = :tenant AND (e.id = :entity OR e.merged_into = :entity)
        AND p.believed_until <= coalesce(CAST(:known_at AS timestamptz), 'infinity')
    ORDER BY p.believed_until DESC, p.entity_id LIMIT :limit
    """
)


async def former_attributes(
    session: ReadSession, tenant: UUID, record: EntityRecord, *, known_at: datetime | None = None
) -> list[FormerAttribute]:
    """Return the values that attributes of an entity had before those of `record`, the latest first.

    With `known_at`, those that had been replaced by then. Looks at its latest 500 former states.
    """
    states = await session.fetch(
        _PAST, {"tenant": tenant, "entity": record.id, "known_at": known_at, "limit": MOST_STATES}
    )
    found: list[FormerAttribute] = []
    later: dict[UUID, Mapping[str, object]] = {}
    for state in states:
        after = later.get(state["entity_id"], record.attributes)
        found += (
            FormerAttribute(name=name, value=value, retired_at=state["believed_until"])
            for name, value in state["attributes"].items()
            if after.get(name) != value
        )
        later[state["entity_id"]] = state["attributes"]
    return found


async def page(
    session: ReadSession,
    tenant: UUID,
    *,
    filters: EntityFilters,
    after: UUID | None,
    limit: int,
    known_at: datetime | None = None,
) -> list[EntityRecord]:
    """Return up to `limit` entities in the order of their ids, as they are or as they were at `known_at`."""
    given = {
        "scopes": None if filters.scopes is None else list(filters.scopes),
        "entity_type": filters.entity_type,
        "alias": filters.alias,
        "prefix": filters.prefix,
        "after": after,
    }
    used = {name: value for name, value in given.items() if value is not None}
    whole, by = (_WHOLE, _CONDITIONS) if known_at is None else (_WHOLE_THEN, _CONDITIONS_THEN)
    conditions = ["e.tenant_id = :tenant", *(by[name] for name in used)]
    query = statement(f"{whole} WHERE {' AND '.join(conditions)} ORDER BY e.id LIMIT :limit")
    then = {} if known_at is None else {"known_at": known_at}
    rows = await session.fetch(query, {"tenant": tenant, "limit": limit, **used, **then})
    return [_entity(row) for row in rows]


def _entity(row: Record) -> EntityRecord:
    lists = {name: tuple(row[name]) for name in ("aliases", "merged")}
    return as_record(EntityRecord, row, scope=scope_of(row, "kind"), name=row["canonical_name"], **lists)
