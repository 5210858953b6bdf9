"""The semantic arms: nearest embeddings, a memory counting by its best part, and by the best question it answers.

A question is worded like the one that is asked, so it comes nearer than what the memory says does; taken as
it is, it would lift memories that have questions over those that have none. A memory gains only a share of
what its best question is ahead of it: `said + share x (asked - said)`.
"""

from __future__ import annotations

from collections.abc import Mapping

from app.db.apply.scope import LARGE
from app.read.retrieve.search import Shape, in_each_scope, indexed, type_filter
from app.read.values import Arm

EXACT_UP_TO = 2 * LARGE
"""Visible memories up to which every vector is compared: exact, and faster than the filtered index."""

MOST_VISITED = 20_000
"""Index entries an approximate search may expect to visit; past that, comparing all is no slower.

pgvector's own `hnsw.max_scan_tuples`: an iterative scan gives up there."""

PARTS_PER_MEMORY = 3
"""Nearest parts fetched for each memory wanted: the best parts of a few memories may crowd the top."""


WITH_QUESTIONS = 2
"""By what to divide that where memories are asked by questions: their vectors are compared as well."""


def is_exact(*, memories: int, index_rows: int, depth: int, questions: bool = False) -> bool:
    """Tell whether to compare every visible vector; `questions`: also those of questions.

    Among the neighbours' rows in the index only a share of memories / index_rows is visible, so a search
    for n rows visits about n x index_rows / memories entries.
    """
    if memories <= EXACT_UP_TO / (WITH_QUESTIONS if questions else 1):
        return True
    return depth * PARTS_PER_MEMORY * max(1.0, index_rows / memories) > MOST_VISITED


def ctes(shape: Shape, arms: Mapping[Arm, str]) -> list[str]:
    """Return the CTEs of these arms, by name with the kinds of index rows each looks at.

    Exact: the best of all parts, which no vector index can answer, in one pass for all arms; vectors are of unit
    length, so the inner product is the cosine, at a third of its cost. Approximate: the model's
    index by its own expression, `PARTS_PER_MEMORY` times deeper than asked. An index scan may end early
    (it visits a bounded number of entries, and the filters refuse most), so when it came back with fewer
    memories than asked for, the exact search runs in its place: an arm is short only when there is no more.
    """
    if not shape.exact:
        return [_approximate(shape, arm, kinds) for arm, kinds in arms.items()]
    found = [_compared(shape, arms)]
    for arm in arms:
        said = f"SELECT memory_id, {arm} AS score FROM compared WHERE {arm} IS NOT NULL"  # noqa: S608 - constants
        best = _heard(shape, said) if _asked(shape, arm) else f"{said} ORDER BY score DESC, memory_id DESC LIMIT :depth"
        found.append(f"{arm} AS MATERIALIZED ({best})")
    return found


def _asked(shape: Shape, arm: Arm) -> bool:
    """Tell whether memories are found by the questions that they answer, too."""
    return arm is Arm.SEMANTIC and shape.questions


def _compared(shape: Shape, arms: Mapping[Arm, str]) -> str:
    """Return the CTE of each memory's best score in each arm; compared before they are grouped: scores are narrow."""
    every = f"({' OR '.join(f'i.kind IN {kinds}' for kinds in arms.values())})"
    best = ", ".join(f"max(part.score) FILTER (WHERE part.kind IN {kinds}) AS {arm}" for arm, kinds in arms.items())
    return f"""
    compared AS MATERIALIZED (
        SELECT part.memory_id, {best} FROM ({_parts(shape, every)}) part GROUP BY part.memory_id
    )"""  # noqa: S608 - composed of constants


def _parts(shape: Shape, of_kinds: str) -> str:
    columns = f"i.memory_id, i.kind, -({shape.model.vector('i')} <#> (SELECT vector FROM probe)) AS score"  # noqa: S608 - constants
    mine = f"{of_kinds} AND {shape.model.condition('i')}"
    return in_each_scope(columns, shape, mine, each_type=True)


def _approximate(shape: Shape, arm: Arm, kinds: str) -> str:
    near = f"near_{arm}"
    said = _parts(shape, f"i.kind IN {kinds}")
    if _asked(shape, arm):
        found, exact = _near_with_questions(shape, kinds), _heard(shape, said)
    else:
        found = _near(shape, kinds)
        exact = f"""
            SELECT part.memory_id, max(part.score) AS score FROM ({said}) part
            GROUP BY part.memory_id ORDER BY score DESC, part.memory_id DESC LIMIT :depth"""  # noqa: S608 - constants
    return f"""
    {near} AS MATERIALIZED ({found}),
    {arm} AS MATERIALIZED (
        (SELECT memory_id, score FROM {near} WHERE (SELECT count(*) FROM {near}) >= :depth)
        UNION ALL
        (SELECT memory_id, score FROM ({exact}) every WHERE (SELECT count(*) FROM {near}) < :depth)
    )"""  # noqa: S608 - composed of constants


def _heard(shape: Shape, said: str) -> str:
    """Return the best of these scores with questions; a join might be planned for one row a side, and take for ever."""
    return f"""
        SELECT heard.memory_id, {_gained("max(heard.said)", "max(heard.asked)")} AS score FROM (
            SELECT told.memory_id, told.score AS said, CAST(NULL AS float8) AS asked FROM ({said}) told
            UNION ALL
            SELECT q.memory_id, NULL, -({shape.model.vector("q")} <#> (SELECT vector FROM probe))
            FROM {_questions_of_each_scope(shape)}
        ) heard
        GROUP BY heard.memory_id HAVING max(heard.said) IS NOT NULL
        ORDER BY score DESC, heard.memory_id DESC LIMIT :depth
    """  # noqa: S608 - as above


def _near(shape: Shape, kinds: str) -> str:
    return f"""
        SELECT found.memory_id, 1 - min(found.distance) AS score
        FROM ({_nearest(shape, kinds)}) found
        GROUP BY found.memory_id ORDER BY score DESC, found.memory_id DESC LIMIT :depth
    """  # noqa: S608 - as above


def _near_with_questions(shape: Shape, kinds: str) -> str:
    """Return the same with questions: both nominate, and of each nominee both are looked up."""
    said, asked = shape.model.vector("i"), shape.model.vector("q")
    return f"""
        SELECT nominee.memory_id, {_gained("own.said", "own.asked")} AS score
        FROM (
            SELECT memory_id FROM (
                SELECT memory_id FROM ({_nearest(shape, kinds)}) said
                ORDER BY distance LIMIT :depth * {PARTS_PER_MEMORY:d}
            ) said
            UNION
            SELECT memory_id FROM ({_nearest_questions(shape)}) asked
        ) nominee
        CROSS JOIN LATERAL (
            SELECT
                (SELECT -min({said} <#> (SELECT vector FROM probe)) FROM {indexed(shape)}
                 WHERE i.memory_id = nominee.memory_id AND {_here(shape, kinds)}) AS said,
                (SELECT -min({asked} <#> (SELECT vector FROM probe)) FROM hypothetical_embeddings q
                 WHERE q.memory_id = nominee.memory_id AND {_questions(shape)}) AS asked
            OFFSET 0
        ) own
        WHERE own.said IS NOT NULL
        ORDER BY score DESC, nominee.memory_id DESC LIMIT :depth
    """  # noqa: S608 - as above


def _gained(said: str, asked: str) -> str:
    """Return a memory's score; without questions, `asked` is null and nothing is gained."""
    return f"{said} + :questions * greatest(0, {asked} - {said})"


def _here(shape: Shape, kinds: str) -> str:
    return f"{type_filter(shape)} AND i.kind IN {kinds} AND {shape.model.condition('i')}"


def _questions(shape: Shape) -> str:
    """Return the condition on `q` to be a question of the visible scopes; its memory's index row says the rest."""
    return f"q.tenant_id = :tenant AND q.scope_id = ANY(:scopes) AND {shape.model.condition('q')}"


def _questions_of_each_scope(shape: Shape) -> str:
    """Return them by one look-up a scope, as what follows FROM, for the reason that `in_each_scope` gives."""
    return f"""unnest(CAST(:scopes AS uuid[])) AS bucket(scope_id)
            CROSS JOIN LATERAL (
                SELECT q.* FROM hypothetical_embeddings q
                WHERE q.tenant_id = :tenant AND q.scope_id = bucket.scope_id AND {shape.model.condition("q")} OFFSET 0
            ) q"""  # noqa: S608 - composed of constants


def _nearest(shape: Shape, kinds: str) -> str:
    """Return the nearest parts: by the index in scopes that are in it, by comparison in those too small for it."""
    columns = f"i.memory_id, {_distance('i', shape)}"
    unranked = f"i.kind IN {kinds} AND {shape.model.condition('i')} AND NOT i.ann"
    return f"""
        (SELECT {columns} FROM {indexed(shape)} WHERE {_here(shape, kinds)} AND i.ann
         ORDER BY distance LIMIT :depth * {PARTS_PER_MEMORY:d})
        UNION ALL
        ({in_each_scope(columns, shape, unranked)})
    """  # noqa: S608 - as above


def _nearest_questions(shape: Shape) -> str:
    """Return the nearest questions whose memories may answer, likewise.

    `OFFSET 0`: each question's memory is looked up as the index brings it, until there are enough.
    """
    distance = _distance("q", shape)
    may_answer = f"""CROSS JOIN LATERAL (
            SELECT FROM {indexed(shape)}
            WHERE i.memory_id = q.memory_id AND i.part = 0 AND {type_filter(shape)} OFFSET 0
        ) may_answer"""
    return f"""
        (SELECT q.memory_id, {distance} FROM hypothetical_embeddings q {may_answer}
         WHERE {_questions(shape)} AND q.ann ORDER BY distance LIMIT :depth * {PARTS_PER_MEMORY:d})
        UNION ALL
        (SELECT q.memory_id, {distance} FROM {_questions_of_each_scope(shape)} {may_answer}
         WHERE NOT q.ann ORDER BY distance LIMIT :depth * {PARTS_PER_MEMORY:d})
    """  # noqa: S608 - as above


def _distance(row: str, shape: Shape) -> str:
    return f"{shape.model.distance(row, '(SELECT vector FROM probe)')} AS distance"  # noqa: S608 - constants
