"""Reading the relations around an entity."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from uuid import UUID

from sqlalchemy import TextClause, text

from app.db import past
from app.db.session import ReadSession

MOST_EDGES = 500
"""Edges of a neighbourhood that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
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
def _around(*, dated: bool, then: bool) -> TextClause:
    """Return the statement; `dated`: of relations that held `:as_of`, `then`: as of `:known_at`."""
    known = past.ENTITIES if then else "entities"
    stated = f"(SELECT * FROM {past.memories('x.id = r.memory_id')} was OFFSET 0)" if then else "memories"  # noqa: S608
    holds = """m.status IN ('active', 'superseded', 'expired') AND m.valid_from <= :as_of
        AND (m.valid_until IS NULL OR m.valid_until > :as_of) AND (m.ended_at IS NULL OR m.ended_at > :as_of)"""
    stating = f"""CROSS JOIN LATERAL (
                SELECT FROM {stated} m
                WHERE m.tenant_id = r.tenant_id AND m.id = r.memory_id AND {holds if dated else "m.status = 'active'"}
            ) m"""

    def same(root: str) -> str:
        return past.family(root) if then else _FAMILY.replace("root", root)

    def entity(alias: str, id: str) -> str:  # noqa: A002 - as in SQL
        return f"""CROSS JOIN LATERAL (
            SELECT {alias}.* FROM {known} {alias} WHERE {alias}.tenant_id = :tenant AND {alias}.id = {id} OFFSET 0
        ) {alias}"""  # noqa: S608 - composed of constants

    return text(
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
        t.canonical_name AS to_name, r.since, r.memory_id, least(a.hop, b.hop) + 1 AS hop
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
) -> list[Edge]:
    """Return the edges within `depth` steps of an entity, nearest first; entities merged into one are one.

    Those that active memories state; or, with `as_of`, memories that held then. `known_at`: as was known then.
    """
    given = {"as_of": as_of, "known_at": known_at}
    used = {name: value for name, value in given.items() if value is not None}
    rows = await session.execute(
        _around(dated=as_of is not None, then=known_at is not None),
        {"tenant": tenant, "id": entity, "depth": depth, "limit": MOST_EDGES, **used},
    )
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
