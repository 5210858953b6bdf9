"""The semantic arms: nearest embeddings, a memory counting by its best part, and by the best question it answers.

A question is worded like the one that is asked, so it comes nearer than what the memory says does; taken as
it is, it would lift memories that have questions over those that have none. A memory gains only a share of
what its best question is ahead of it: `said + share x (asked - said)`.
"""

from __future__ import annotations

from app.read.retrieve.search import Search, indexed, type_filter

EXACT_UP_TO = 20_000
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


def cte(search: Search, *, arm: str, kinds: str, asked: bool) -> str:
    """Return the arm's CTEs; `asked`: by the questions that memories answer, too.

    Exact: `min` over all parts, an aggregate that no vector index can answer; vectors are of unit length, so
    the inner product is the cosine, at a third of its cost. Approximate: the model's
    index by its own expression, `PARTS_PER_MEMORY` times deeper than asked. An index scan may end early
    (it visits a bounded number of entries, and the filters refuse most), so when it came back with fewer
    memories than asked for, the exact search runs in its place: an arm is short only when there is no more.
    """
    exact = _exact_with_questions(search, kinds) if asked else _exact(search, kinds)
    if search.exact:
        return f"{arm} AS MATERIALIZED ({exact})"
    near = f"near_{arm}"
    found = _near_with_questions(search, kinds) if asked else _near(search, kinds)
    return f"""
    {near} AS MATERIALIZED ({found}),
    {arm} AS MATERIALIZED (
        (SELECT memory_id, score FROM {near} WHERE (SELECT count(*) FROM {near}) >= :depth)
        UNION ALL
        (SELECT memory_id, score FROM ({exact}) every WHERE (SELECT count(*) FROM {near}) < :depth)
    )"""  # noqa: S608 - composed of constants


def _exact(search: Search, kinds: str) -> str:
    return f"""
        SELECT i.memory_id, -min({search.model.vector("i")} <#> (SELECT vector FROM probe)) AS score
        FROM {indexed(search.filters)} WHERE {_here(search, kinds)}
        GROUP BY i.memory_id ORDER BY score DESC, i.memory_id DESC LIMIT :depth
    """  # noqa: S608 - composed of constants; the model's number must be literal to match its partial index


def _exact_with_questions(search: Search, kinds: str) -> str:
    """Return the same with questions; a join might be planned for one row a side, which takes for ever."""
    said, asked = search.model.vector("i"), search.model.vector("q")
    return f"""
        SELECT heard.memory_id, {_gained("max(heard.said)", "max(heard.asked)")} AS score FROM (
            SELECT i.memory_id, -({said} <#> (SELECT vector FROM probe)) AS said, CAST(NULL AS float8) AS asked
            FROM {indexed(search.filters)} WHERE {_here(search, kinds)}
            UNION ALL
            SELECT q.memory_id, NULL, -({asked} <#> (SELECT vector FROM probe))
            FROM hypothetical_embeddings q WHERE {_questions(search)}
        ) heard
        GROUP BY heard.memory_id HAVING max(heard.said) IS NOT NULL
        ORDER BY score DESC, heard.memory_id DESC LIMIT :depth
    """  # noqa: S608 - as above


def _near(search: Search, kinds: str) -> str:
    return f"""
        SELECT found.memory_id, 1 - min(found.distance) AS score
        FROM ({_nearest(search, kinds)}) found
        GROUP BY found.memory_id ORDER BY score DESC, found.memory_id DESC LIMIT :depth
    """  # noqa: S608 - as above


def _near_with_questions(search: Search, kinds: str) -> str:
    """Return the same with questions: both nominate, and of each nominee both are looked up."""
    said, asked = search.model.vector("i"), search.model.vector("q")
    return f"""
        SELECT nominee.memory_id, {_gained("own.said", "own.asked")} AS score
        FROM (
            SELECT memory_id FROM (
                SELECT memory_id FROM ({_nearest(search, kinds)}) said
                ORDER BY distance LIMIT :depth * {PARTS_PER_MEMORY:d}
            ) said
            UNION
            SELECT memory_id FROM ({_nearest_questions(search)}) asked
        ) nominee
        CROSS JOIN LATERAL (
            SELECT
                (SELECT -min({said} <#> (SELECT vector FROM probe)) FROM {indexed(search.filters)}
                 WHERE i.memory_id = nominee.memory_id AND {_here(search, kinds)}) AS said,
                (SELECT -min({asked} <#> (SELECT vector FROM probe)) FROM hypothetical_embeddings q
                 WHERE q.memory_id = nominee.memory_id AND {_questions(search)}) AS asked
            OFFSET 0
        ) own
        WHERE own.said IS NOT NULL
        ORDER BY score DESC, nominee.memory_id DESC LIMIT :depth
    """  # noqa: S608 - as above


def _gained(said: str, asked: str) -> str:
    """Return a memory's score; without questions, `asked` is null and nothing is gained."""
    return f"{said} + :questions * greatest(0, {asked} - {said})"


def _here(search: Search, kinds: str) -> str:
    return f"{type_filter(search.filters)} AND i.kind IN {kinds} AND {search.model.condition('i')}"


def _questions(search: Search) -> str:
    """Return the condition on `q` to be a question of the visible scopes; its memory's index row says the rest."""
    return f"q.tenant_id = :tenant AND q.scope_id = ANY(:scopes) AND {search.model.condition('q')}"


def _nearest(search: Search, kinds: str) -> str:
    """Return the nearest parts: by the index in scopes that are in it, by comparison in those too small for it."""
    distance = _distance("i", search)
    here = _here(search, kinds)
    return f"""
        (SELECT i.memory_id, {distance} FROM {indexed(search.filters)} WHERE {here} AND i.ann
         ORDER BY distance LIMIT :depth * {PARTS_PER_MEMORY:d})
        UNION ALL
        (SELECT i.memory_id, {distance} FROM {indexed(search.filters)} WHERE {here} AND NOT i.ann)
    """  # noqa: S608 - as above


def _nearest_questions(search: Search) -> str:
    """Return the nearest questions whose memories may answer, likewise.

    `OFFSET 0`: each question's memory is looked up as the index brings it, until there are enough.
    """
    distance = _distance("q", search)
    may_answer = f"""CROSS JOIN LATERAL (
            SELECT FROM {indexed(search.filters)}
            WHERE i.memory_id = q.memory_id AND i.part = 0 AND {type_filter(search.filters)} OFFSET 0
        ) may_answer"""
    return f"""
        (SELECT q.memory_id, {distance} FROM hypothetical_embeddings q {may_answer}
         WHERE {_questions(search)} AND q.ann ORDER BY distance LIMIT :depth * {PARTS_PER_MEMORY:d})
        UNION ALL
        (SELECT q.memory_id, {distance} FROM hypothetical_embeddings q {may_answer}
         WHERE {_questions(search)} AND NOT q.ann ORDER BY distance LIMIT :depth * {PARTS_PER_MEMORY:d})
    """  # noqa: S608 - as above


def _distance(row: str, search: Search) -> str:
    size = f"halfvec({search.model.dimensions:d})"
    return f"({search.model.vector(row)}::{size}) <=> CAST((SELECT vector FROM probe) AS {size}) AS distance"  # noqa: S608 - constants
