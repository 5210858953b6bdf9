"""The graph arm: memories about the named entities, and what one and two relations away is known of.

Beside it, chains of statements: what is said of the objects of what was found, and of their objects.
"""

from __future__ import annotations

from collections.abc import Collection

from app.db import time_travel
from app.read.retrieve.search import Search, SearchFilters, of_memory, type_filter, visible
from app.read.values import Arm

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


FOUND = 8
"""Best matches by words, and by meaning, whose objects are followed."""

HOPS = 3
"""Steps from the object of one statement to what is said of it: chains of up to four statements."""

BEGINNING = 24
"""Statements about whom the question names, or who asks, that chains begin with: those nearest to the question."""

LINKED = 6
"""Statements about an object that are followed: those nearest to the question."""

LOOKED_AT = 200
"""Newest statements about an object that are compared with the question."""

MOST_REACHED = 60
"""Statements that one step reaches at most."""

SHARED_WORDS = 0.3
"""What the share of the question's words that a statement has counts beside its cosine, as in relevance."""


def cte(search: Search) -> str:
    """Return the arm's CTEs; scores are in 0..1, the mean over the question's names.

    Edges are read both ways and only from memories that may be seen; a hard type filter applies to the
    answers, not to the way there. Entities merged into one are one.
    """
    then = search.filters.known_at is not None
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
    {_edges("edge_one", "seed", "NULL::uuid", "seed.name", search.filters)},
    {_next_entities("one_hop", "edge_one", ONE_HOP)},
    {_edges("edge_two", "one_hop", "one_hop.came_from", "one_hop.name", search.filters)},
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
        SELECT e.name, m.memory_id, {DESCRIBED} FROM edge_one e {_descriptions(names, search.filters)}
        UNION ALL
        SELECT o.name, m.memory_id, o.weight FROM one_hop o {_mentions("o.entity_id", MENTIONS // 8)}
        UNION ALL
        SELECT t.name, m.memory_id, t.weight FROM two_hops t {_mentions("t.entity_id", MENTIONS // 20)}
    ),
    graph AS MATERIALIZED (
        SELECT by_name.memory_id, sum(by_name.score) / :names AS score
        FROM (SELECT name, memory_id, max(score) AS score FROM told GROUP BY name, memory_id) by_name
        {of_memory("by_name.memory_id", search.filters)}
        WHERE by_name.score > 0 AND {type_filter(search.filters)}
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


def _descriptions(names: str, filters: SearchFilters) -> str:
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
            {of_memory("me.memory_id", filters)}
            WHERE {visible(filters)}
            ORDER BY me.memory_id DESC LIMIT {NAMESAKES}
        ) m"""  # noqa: S608 - composed of constants


def _edges(name: str, source: str, came_from: str, mention: str, filters: SearchFilters) -> str:
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
            {of_memory("r.memory_id", filters)}
            WHERE r.scope_id = ANY(:scopes) AND {visible(filters)}
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


def reached(search: Search, arms: Collection[Arm]) -> list[str]:
    """Return the CTEs whose last one, `reached`, has statements and those that lead to them, nearest steps first.

    A statement leads to another where its object is the subject of that one, by the entity or by its name. The first
    lead from nowhere: the best that the `arms` over texts found, and the nearest about those whom the question names
    and the one who asks. A step goes to the statements about an object that are nearest to the question.
    """
    found = " UNION ".join(
        f"(SELECT memory_id FROM {arm} ORDER BY score DESC, memory_id DESC LIMIT {FOUND})"  # noqa: S608 - constants
        for arm in (Arm.SEMANTIC, Arm.LEXICAL)
        if arm in arms
    )
    steps = [
        f"""
    hop_0 AS MATERIALIZED (
        SELECT first.memory_id, CAST(NULL AS uuid) AS came_from
        FROM ({found} UNION SELECT near.memory_id FROM unnest(CAST(:anchors AS uuid[])) AS asked(entity_id)
              {_statements("asked.entity_id", BEGINNING, search)}) first
    )"""  # noqa: S608 - composed of constants
    ]
    for step in range(1, HOPS + 1):
        steps += [_objects(f"far_{step}", f"hop_{step - 1}", search), _step(step, search)]
    every = " UNION ALL ".join(f"SELECT memory_id, came_from, {step} AS step FROM hop_{step}" for step in range(HOPS + 1))  # noqa: S608 - constants
    return [*steps, f"""
    reached AS MATERIALIZED (SELECT * FROM ({every}) every ORDER BY step, memory_id DESC, came_from)"""]


def _step(step: int, search: Search) -> str:
    """Return the CTE of the statements about the objects of a step, with what leads to each."""
    return f"""
    hop_{step} AS MATERIALIZED (
        SELECT near.memory_id, f.came_from FROM far_{step} f {_statements("f.entity_id", LINKED, search)}
        WHERE near.memory_id <> f.came_from
        ORDER BY near.nearness DESC, near.memory_id DESC LIMIT {MOST_REACHED}
    )"""  # noqa: S608 - composed of constants


def _statements(entity: str, most: int, search: Search) -> str:
    """Return the join with the statements `near` about an entity that are nearest to the question, and how near."""
    near = [f"{SHARED_WORDS} * coalesce(-(i.lexical <#> (SELECT weights FROM probe)), 0) / :whole"]
    if search.vector is not None:
        near.append(f"coalesce(-({search.model.vector('i')} <#> (SELECT vector FROM probe)), 0)")
    return f"""CROSS JOIN LATERAL (
            SELECT own.memory_id, {" + ".join(near)} AS nearness
            FROM (
                SELECT me.memory_id FROM memory_entities me
                WHERE me.tenant_id = :tenant AND me.entity_id = {entity} AND me.role IN ('subject', 'from')
                ORDER BY me.memory_id DESC LIMIT {LOOKED_AT}
            ) own
            {of_memory("own.memory_id", search.filters)}
            WHERE {visible(search.filters)}
            ORDER BY nearness DESC, own.memory_id DESC LIMIT {most}
        ) near"""  # noqa: S608 - composed of constants


def _objects(name: str, source: str, search: Search) -> str:
    """Return the CTE of the entities that the objects of statements are, with the statement `came_from`.

    The entity that the object was resolved to, those that are one with it, and those of the visible scopes whose name
    the object is: a statement may be older than the first one about what it leads to.
    """
    then = search.filters.known_at is not None
    names = time_travel.NAMES if then else "(SELECT * FROM entity_aliases WHERE tenant_id = :tenant)"
    held = "x.id = s.memory_id"
    memories = time_travel.memories(held) if then else f"(SELECT x.* FROM memories x WHERE x.tenant_id = :tenant AND {held})"
    return f"""
    {name} AS MATERIALIZED (
        SELECT DISTINCT s.memory_id AS came_from, far.id AS entity_id
        FROM {source} s
        CROSS JOIN LATERAL (
            SELECT same.id FROM memory_entities me
            CROSS JOIN LATERAL (SELECT * FROM entities f WHERE f.tenant_id = :tenant AND f.id = me.entity_id OFFSET 0) f
            CROSS JOIN LATERAL (
                SELECT coalesce(f.merged_into, f.id) AS id
                UNION SELECT f.id
                UNION SELECT k.id FROM entities k
                      WHERE k.tenant_id = :tenant AND k.merged_into = coalesce(f.merged_into, f.id)
            ) same
            WHERE me.tenant_id = :tenant AND me.memory_id = s.memory_id AND me.role IN ('object', 'to')
            UNION
            SELECT a.entity_id FROM {memories} m
            CROSS JOIN unnest(CAST(:scopes AS uuid[])) AS bucket(scope_id)
            CROSS JOIN LATERAL (
                SELECT a.entity_id FROM {names} a
                WHERE a.scope_id = bucket.scope_id AND a.alias = m.slot_value OFFSET 0
            ) a
            WHERE m.slot_value IS NOT NULL
        ) far
    )"""  # noqa: S608 - composed of constants
