"""Links between statements: what is said of the objects of what was found, of their objects, and so on.

A statement of its own, and no arm: only few questions name the ends of a chain of statements (see `app.read.chains`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from uuid import UUID

from app.db import time_travel
from app.db.session import ReadSession, SqlStatement
from app.read.retrieve.search import Search, Shape, of_memory, visible
from app.read.retrieve.statement import PROBE, typed, values
from app.read.values import Link

HOPS = 3
"""Steps from the object of one statement to what is said of it: chains of up to four statements."""

BEGINNING = 24
"""Statements about whom the question names, or who asks, that chains begin with: those nearest to the question."""

LINKED = 6
"""Statements about an object that are followed: those nearest to the question."""

LOOKED_AT = 200
"""Newest statements about an entity that are compared with the question."""

MOST_REACHED = 40
"""Statements that one step reaches at most."""

SHARED_WORDS = 0.3
"""What the share of the question's words that a statement has counts beside its cosine, as in relevance."""


async def read_links(
    session: ReadSession, search: Search, *, found: Sequence[UUID], anchors: Sequence[UUID]
) -> tuple[Link, ...]:
    """Return statements and those that lead to them, nearest steps first.

    A statement leads to another where its object is the subject of that one, by the entity or by its name. The first
    lead from nowhere: those that were `found`, and those about the entities `anchors` that are nearest to the question.
    A step goes to the statements about an object that are nearest to it.
    """
    given = {**values(search), "found": list(found), "anchors": list(anchors), "whole": search.whole or 1.0}
    rows = await session.fetch(_compose(search.shape), given)
    return tuple(Link._make(row) for row in rows)


@lru_cache(maxsize=256)
def _compose(shape: Shape) -> SqlStatement:
    first = f"""
    hop_0 AS MATERIALIZED (
        SELECT unnest(CAST(:found AS uuid[])) AS memory_id, CAST(NULL AS uuid) AS came_from
        UNION
        SELECT near.memory_id, NULL FROM unnest(CAST(:anchors AS uuid[])) AS asked(entity_id)
        {_statements("asked.entity_id", BEGINNING, shape)}
    )"""  # noqa: S608 - composed of constants
    steps = [part for step in range(1, HOPS + 1) for part in (_objects(step, shape), _step(step, shape))]
    every = " UNION ALL ".join(
        f"SELECT memory_id, came_from, {step} AS step FROM hop_{step}"  # noqa: S608 - composed of constants
        for step in range(HOPS + 1)
    )
    ordered = f"""
        SELECT every.memory_id, every.came_from, m.subject_id,
            coalesce(m.payload ->> 'predicate', m.payload ->> 'relation_type', '')
        FROM ({every}) every CROSS JOIN LATERAL (SELECT * FROM {_memories("every.memory_id", shape)} x OFFSET 0) m
        ORDER BY every.step, every.memory_id DESC, every.came_from"""  # noqa: S608 - composed of constants
    return typed(f"WITH {','.join([PROBE, first, *steps])} {ordered}")


def _step(step: int, shape: Shape) -> str:
    """Return the CTE of the statements about the objects of a step, with what leads to each."""
    return f"""
    hop_{step} AS MATERIALIZED (
        SELECT near.memory_id, f.came_from FROM far_{step} f {_statements("f.entity_id", LINKED, shape)}
        WHERE near.memory_id <> f.came_from
        ORDER BY near.nearness DESC, near.memory_id DESC LIMIT {MOST_REACHED}
    )"""  # noqa: S608 - composed of constants


def _statements(entity: str, most: int, shape: Shape) -> str:
    """Return the join with the statements `near` about an entity that are nearest to the question, and how near."""
    near = [f"{SHARED_WORDS} * coalesce(-(i.lexical <#> (SELECT weights FROM probe)), 0) / :whole"]  # noqa: S608 - constants
    if shape.vector:
        near.append(f"coalesce(-({shape.model.vector('i')} <#> (SELECT vector FROM probe)), 0)")  # noqa: S608 - constants
    return f"""CROSS JOIN LATERAL (
            SELECT own.memory_id, {" + ".join(near)} AS nearness
            FROM (
                SELECT me.memory_id FROM memory_entities me
                WHERE me.tenant_id = :tenant AND me.entity_id = {entity} AND me.role IN ('subject', 'from')
                ORDER BY me.memory_id DESC LIMIT {LOOKED_AT}
            ) own
            {of_memory("own.memory_id", shape)}
            WHERE {visible(shape)}
            ORDER BY nearness DESC, own.memory_id DESC LIMIT {most}
        ) near"""  # noqa: S608 - composed of constants


def _objects(step: int, shape: Shape) -> str:
    """Return the CTE of the entities that the objects of statements are, with the statement `came_from`.

    The entity that the object was resolved to, those that are one with it, and those of the visible scopes whose name
    the object is: a statement may be older than the first one about what it leads to.
    """
    then = shape.known_at
    names = time_travel.NAMES if then else "(SELECT * FROM entity_aliases WHERE tenant_id = :tenant)"
    return f"""
    far_{step} AS MATERIALIZED (
        SELECT DISTINCT s.memory_id AS came_from, far.id AS entity_id
        FROM hop_{step - 1} s
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
            SELECT a.entity_id FROM (
                SELECT m.slot_value AS name FROM {_memories("s.memory_id", shape)} m WHERE m.slot_value IS NOT NULL
                UNION
                SELECT own.alias FROM memory_entities me
                CROSS JOIN LATERAL (SELECT * FROM {names} own WHERE own.entity_id = me.entity_id OFFSET 0) own
                WHERE me.tenant_id = :tenant AND me.memory_id = s.memory_id AND me.role IN ('object', 'to')
            ) object
            CROSS JOIN unnest(CAST(:scopes AS uuid[])) AS bucket(scope_id)
            CROSS JOIN LATERAL (
                SELECT a.entity_id FROM {names} a
                WHERE a.scope_id = bucket.scope_id AND a.alias = object.name OFFSET 0
            ) a
        ) far
    )"""  # noqa: S608 - composed of constants


def _memories(memory: str, shape: Shape) -> str:
    """Return the source of a memory by its id, as it is or was."""
    if shape.known_at:
        return time_travel.memories(f"x.id = {memory}")
    return f"(SELECT x.* FROM memories x WHERE x.tenant_id = :tenant AND x.id = {memory})"  # noqa: S608 - of constants
