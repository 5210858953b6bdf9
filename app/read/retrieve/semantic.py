"""The semantic arms: nearest embeddings, a memory counting by its best part."""

from __future__ import annotations

from app.read.retrieve.search import Search, wanted

EXACT_UP_TO = 20_000
"""Visible memories up to which every vector is compared: exact, and faster than the filtered index."""

MOST_VISITED = 20_000
"""Index entries an approximate search may expect to visit; past that, comparing all is no slower.

pgvector's own `hnsw.max_scan_tuples`: an iterative scan gives up there."""

PARTS_PER_MEMORY = 3
"""Nearest parts fetched for each memory wanted: the best parts of a few memories may crowd the top."""


def is_exact(*, memories: int, index_rows: int, depth: int) -> bool:
    """Tell whether to compare every visible vector.

    Among the neighbours' rows in the index only a share of memories / index_rows is visible, so a search
    for n rows visits about n x index_rows / memories entries.
    """
    if memories <= EXACT_UP_TO:
        return True
    return depth * PARTS_PER_MEMORY * max(1.0, index_rows / memories) > MOST_VISITED


def cte(search: Search, *, arm: str, kinds: str) -> str:
    """Return the arm's CTEs.

    Exact: `min` over all parts, an aggregate that no vector index can answer; vectors are of unit length, so
    the inner product is the cosine, at a third of its cost. Approximate: the model's
    index by its own expression, `PARTS_PER_MEMORY` times deeper than asked. An index scan may end early
    (it visits a bounded number of entries, and the filters refuse most), so when it came back with fewer
    memories than asked for, the exact search runs in its place: an arm is short only when there is no more.
    """
    exact = _exact(search, kinds)
    if search.exact:
        return f"{arm} AS MATERIALIZED ({exact})"
    near = f"near_{arm}"
    return f"""
    {near} AS MATERIALIZED (
        SELECT found.memory_id, 1 - min(found.distance) AS score
        FROM ({_nearest(search, kinds)}) found
        GROUP BY found.memory_id ORDER BY score DESC, found.memory_id DESC LIMIT :depth
    ),
    {arm} AS MATERIALIZED (
        (SELECT memory_id, score FROM {near} WHERE (SELECT count(*) FROM {near}) >= :depth)
        UNION ALL
        (SELECT memory_id, score FROM ({exact}) every WHERE (SELECT count(*) FROM {near}) < :depth)
    )"""  # noqa: S608 - composed of constants


def _exact(search: Search, kinds: str) -> str:
    return f"""
        SELECT i.memory_id, -min(i.embedding <#> (SELECT vector FROM probe)) AS score
        FROM memory_index i
        WHERE {wanted(search.filters)} AND i.kind IN {kinds} AND i.model_id = {search.model.id:d}
        GROUP BY i.memory_id ORDER BY score DESC, i.memory_id DESC LIMIT :depth
    """  # noqa: S608 - composed of constants; the model's number must be literal to match its partial index


def _nearest(search: Search, kinds: str) -> str:
    """Return the nearest parts: by the index in scopes that are in it, by comparison in those too small for it."""
    size = f"halfvec({search.model.dimensions:d})"
    distance = f"(i.embedding::{size}) <=> CAST((SELECT vector FROM probe) AS {size}) AS distance"  # noqa: S608 - constants
    here = f"{wanted(search.filters)} AND i.kind IN {kinds} AND i.model_id = {search.model.id:d}"
    return f"""
        (SELECT i.memory_id, {distance} FROM memory_index i WHERE {here} AND i.ann
         ORDER BY distance LIMIT :depth * {PARTS_PER_MEMORY:d})
        UNION ALL
        (SELECT i.memory_id, {distance} FROM memory_index i WHERE {here} AND NOT i.ann)
    """  # noqa: S608 - as above
