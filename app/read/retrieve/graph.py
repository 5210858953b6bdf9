"""The graph arm: memories about the named entities, and what one and two relations away is known of."""

from __future__ import annotations

from app.db import time_travel
from app.read.retrieve.search import Shape, of_memory, type_filter, visible

MENTIONS = 400
"""Newest memories of an entity that it nominates: a hub must not nominate the whole store."""

LOOKED_THROUGH = 4_000
"""Newest mentions of an entity that are looked through for those that are more than its speaking."""

EDGES = 40
"""Edges followed from an entity: those that were asked about first, then the most trusted."""

ONE_HOP = 0.5
TWO_HOPS = 0.25
"""Weights of memories one and two relations away; one that mentions the named entity weighs 1."""

UNASKED = 0.5
"""Weight of a relation of another kind than the question asks about."""

DESCRIBED = 0.6
"""Weight of the description of an entity one relation away, or of one with the same name."""

NAMESAKES = 3
"""The most descriptions that one name leads to."""

COMMON = 0.05
"""Rarity under which mentioning an entity says nothing; its edges still do."""

SPEAKING = 0.25
"""Weight of having said something, for an entity of which nothing else is known."""

SPOKEN = 20
"""Memories that an entity may have said to be nominated by them."""


def cte(shape: Shape) -> str:
    """Return the arm's CTEs; scores are in 0..1, the mean over the question's names.

    Edges are read both ways and only from memories that may be seen; a hard type filter applies to the
    answers, not to the way there. Entities merged into one are one.
    """
    then = shape.known_at
    names = time_travel.NAMES if then else "(SELECT * FROM entity_aliases WHERE tenant_id = :tenant)"
    return f"""
    seed AS MATERIALIZED (
        SELECT given.*, (
            SELECT count(*) BETWEEN 1 AND {SPOKEN} AND bool_and(said.role = 'speaker')
            FROM (SELECT me.role FROM memory_entities me
                  WHERE me.tenant_id = :tenant AND me.entity_id = given.entity_id LIMIT {SPOKEN + 1}) said
        ) AS only_spoke
        FROM unnest(CAST(:seed_ids AS uuid[]), CAST(:seed_names AS int[]), CAST(:seed_rarity AS float8[]))
            AS given(entity_id, name, rarity)
    ),
    {_edges("edge_one", "seed", "NULL::uuid", "seed.name", shape)},
    {_next_entities("one_hop", "edge_one", ONE_HOP)},
    {_edges("edge_two", "one_hop", "one_hop.came_from", "one_hop.name", shape)},
    {_next_entities("two_hops", "edge_two", TWO_HOPS)},
    told AS (
        SELECT s.name, m.memory_id, s.rarity * CASE WHEN m.role <> 'speaker' THEN 1
                                                    WHEN s.only_spoke THEN {SPEAKING} ELSE 0 END AS score
        FROM seed s {_mentions("s.entity_id", MENTIONS, "OR s.only_spoke")}
        WHERE s.rarity >= {COMMON}
        UNION ALL
        SELECT name, memory_id, 1.0 FROM edge_one WHERE asked
        UNION ALL
        SELECT name, memory_id, {ONE_HOP} FROM edge_two WHERE asked
        UNION ALL
        SELECT e.name, m.memory_id, {DESCRIBED} FROM edge_one e {_descriptions(names, shape)}
        UNION ALL
        SELECT o.name, m.memory_id, o.weight FROM one_hop o {_mentions("o.entity_id", MENTIONS // 8)}
        UNION ALL
        SELECT t.name, m.memory_id, t.weight FROM two_hops t {_mentions("t.entity_id", MENTIONS // 20)}
    ),
    graph AS MATERIALIZED (
        SELECT by_name.memory_id, sum(by_name.score) / :names AS score
        FROM (SELECT name, memory_id, max(score) AS score FROM told GROUP BY name, memory_id) by_name
        {of_memory("by_name.memory_id", shape)}
        WHERE by_name.score > 0 AND {type_filter(shape)}
        GROUP BY by_name.memory_id ORDER BY score DESC, by_name.memory_id DESC LIMIT :depth
    )"""  # noqa: S608 - composed of constants


def _mentions(entity: str, most: int, unless: str = "") -> str:
    """Return the join with the newest memories about an entity (ids sort by time); speaking is not about."""
    return f"""CROSS JOIN LATERAL (
            SELECT recent.memory_id, recent.role FROM (
                SELECT me.memory_id, me.role FROM memory_entities me
                WHERE me.tenant_id = :tenant AND me.entity_id = {entity}
                ORDER BY me.memory_id DESC LIMIT {LOOKED_THROUGH}
            ) recent
            WHERE recent.role <> 'speaker' {unless} LIMIT {most}
        ) m"""  # noqa: S608 - composed of constants


def _descriptions(names: str, shape: Shape) -> str:
    """Return the join with the visible memories that describe the far end `e`, or one of its name among `names`.

    Mentions are looked up entity by entity: few of them identify, so a join would walk through the tenant's.
    """
    return f"""CROSS JOIN LATERAL (
            SELECT DISTINCT me.memory_id
            FROM (SELECT * FROM {names} x WHERE x.entity_id = e.far OFFSET 0) own
            CROSS JOIN LATERAL (
                SELECT * FROM {names} x WHERE x.scope_id = own.scope_id AND x.alias = own.alias OFFSET 0
            ) a
            CROSS JOIN LATERAL (
                SELECT * FROM memory_entities x
                WHERE x.tenant_id = :tenant AND x.entity_id = a.entity_id AND x.role = 'identity' OFFSET 0
            ) me
            {of_memory("me.memory_id", shape)}
            WHERE {visible(shape)}
            ORDER BY me.memory_id DESC LIMIT {NAMESAKES}
        ) m"""  # noqa: S608 - composed of constants


def _edges(name: str, source: str, came_from: str, mention: str, shape: Shape) -> str:
    """Return the CTE of the edges of each entity of `source`, without the way back."""
    return f"""
    {name} AS MATERIALIZED (
        SELECT {mention} AS name, {source}.entity_id AS near, e.memory_id, e.far, e.asked
        FROM {source}
        CROSS JOIN LATERAL (
            SELECT r.memory_id, r.relation_type = ANY(:relations) AS asked, r.far
            FROM (
                SELECT *, to_entity AS far FROM relations
                WHERE tenant_id = :tenant AND from_entity = {source}.entity_id
                UNION ALL
                SELECT *, from_entity FROM relations
                WHERE tenant_id = :tenant AND to_entity = {source}.entity_id AND from_entity <> to_entity
            ) r
            {of_memory("r.memory_id", shape)}
            WHERE r.scope_id = ANY(:scopes) AND {visible(shape)}
            ORDER BY asked DESC, i.confidence DESC, r.memory_id DESC LIMIT {EDGES}
        ) e
        WHERE e.far IS DISTINCT FROM {came_from}
    )"""  # noqa: S608 - composed of constants


def _next_entities(name: str, edges: str, weight: float) -> str:
    """Return the CTE of the entities at the far ends, each with those that are one with it."""
    return f"""
    {name} AS MATERIALIZED (
        SELECT e.name, same.id AS entity_id, (array_agg(e.near))[1] AS came_from,
            max(CASE WHEN e.asked OR :any_edge THEN {weight} ELSE {weight * UNASKED} END) AS weight
        FROM {edges} e
        CROSS JOIN LATERAL (SELECT * FROM entities f WHERE f.tenant_id = :tenant AND f.id = e.far OFFSET 0) f
        CROSS JOIN LATERAL (
            SELECT coalesce(f.merged_into, f.id) AS id
            UNION SELECT f.id
            UNION SELECT k.id FROM entities k
                  WHERE k.tenant_id = :tenant AND k.merged_into = coalesce(f.merged_into, f.id)
        ) same
        WHERE same.id NOT IN (SELECT entity_id FROM seed)
        GROUP BY e.name, same.id
    )"""  # noqa: S608 - composed of constants
