"""All arms as one statement: one round trip, one snapshot, one row an arm."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from app.db.session import ReadSession, SqlStatement, statement
from app.lexical.bm25 import as_tsquery
from app.read.retrieve import graph, lexical, semantic, temporal
from app.read.retrieve.search import CONTENT, CONTEXT, Search, Shape, bounds, labelled, parameters
from app.read.values import Arm, Scored

_TYPES: Mapping[str, str] = {
    "tenant": "uuid",
    "scopes": "uuid[]",
    "min_confidence": "float8",
    "statuses": "text[]",
    "begun": "timestamptz",
    "instant": "timestamptz",
    "known_at": "timestamptz",
    "types": "text[]",
    "topic": "text",
    "metadata": "jsonb",
    "excluded": "uuid[]",
    "within_lower": "timestamptz[]",
    "within_upper": "timestamptz[]",
    "window_lower": "timestamptz[]",
    "window_upper": "timestamptz[]",
    "window_told": "boolean[]",
    "vector": "halfvec",
    "weights": "sparsevec",
    "nominated": "text",
    "depth": "int",
    "questions": "float8",
    "seed_ids": "uuid[]",
    "seed_names": "int[]",
    "seed_rarity": "float8[]",
    "names": "int",
    "relations": "text[]",
    "any_edge": "boolean",
    "found": "uuid[]",
    "anchors": "uuid[]",
    "whole": "float8",
}
"""The types of the parameters; Postgres would infer another for some of them."""
_SEMANTIC = {Arm.SEMANTIC: CONTENT, Arm.SEMANTIC_CONTEXT: CONTEXT}
_LEXICAL = {Arm.LEXICAL: CONTENT, Arm.LEXICAL_CONTEXT: CONTEXT}
PROBE = """probe AS MATERIALIZED (
        SELECT :vector AS vector, :weights AS weights, CAST(:nominated AS tsquery) AS nominated
    )"""
"""The CTE of what a question is compared by."""

_PARAMETER = re.compile(r"(?<!:):([a-z_]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """Each arm's nominations, best first, and the seconds the database took for it."""

    arms: Mapping[Arm, tuple[Scored, ...]]
    seconds: Mapping[Arm, float]


async def retrieve(session: ReadSession, search: Search) -> Retrieved:
    """Run the arms that have something to go by; those that don't, nominate nothing."""
    shape = search.shape
    if not shape.arms:
        return Retrieved(arms={}, seconds={})
    rows = await session.fetch(_compose(shape), values(search))
    found: dict[Arm, tuple[Scored, ...]] = {}
    seconds: dict[Arm, float] = {}
    before = 0.0
    for name, nominated, scores, elapsed in rows:
        arm = Arm(name)
        found[arm] = tuple(zip(nominated or (), scores or (), strict=True))
        seconds[arm], before = elapsed - before, elapsed
    return Retrieved(arms=found, seconds=seconds)


def _cte(arm: Arm, shape: Shape) -> str:
    match arm:
        case Arm.GRAPH:
            return graph.cte(shape)
        case Arm.TEMPORAL:
            return temporal.cte(shape)
        case _:
            raise AssertionError("the arms of a kind are composed together")


@lru_cache(maxsize=256)
def _compose(shape: Shape) -> SqlStatement:
    """Return the statement: a row an arm, with its list as arrays and when, since the start, it was done.

    Arrays, because hundreds of rows cost more to receive than to find. The arms run one after another, in
    the order they are listed. The question's words are read from text once, in `probe`, not once a row.
    """
    arms = shape.arms
    meaning = {arm: _SEMANTIC[arm] for arm in arms if arm in _SEMANTIC}
    words = {arm.value: _LEXICAL[arm] for arm in arms if arm in _LEXICAL}
    ctes = labelled(shape)
    ctes += semantic.ctes(shape, meaning) if meaning else []
    ctes += [_cte(arm, shape) for arm in arms if arm not in meaning and arm not in _LEXICAL]
    if words:
        ctes.append(lexical.ctes(shape, words))
    lists = " UNION ALL ".join(
        f"SELECT '{arm}' AS arm, array_agg(memory_id), array_agg(CAST(score AS float8)),"  # noqa: S608
        f" CAST(extract(epoch FROM clock_timestamp() - statement_timestamp()) AS float8) FROM {arm}"
        for arm in arms
    )
    return typed(f"WITH {','.join([PROBE, *ctes])} {lists}")


def typed(sql: str) -> SqlStatement:
    """Return a statement whose parameters have their types."""
    return statement(_PARAMETER.sub(lambda found: f"CAST(:{found[1]} AS {_TYPES[found[1]]})", sql))


def values(search: Search) -> dict[str, object]:
    """Return the parameters of a search; unused ones are left out where the statement is bound."""
    seeds = [
        (one, place, entity.rarity)
        for place, mentioned in enumerate(search.mentioned)
        for entity in mentioned.entities
        for one in entity.ids
    ]
    return {
        **parameters(search.filters),
        **bounds(search.windows),
        "vector": search.vector,
        "weights": search.weights,
        "nominated": as_tsquery(search.nominators) or None,
        "depth": search.depth,
        "questions": search.questions,
        "seed_ids": [one for one, _, _ in seeds],
        "seed_names": [place for _, place, _ in seeds],
        "seed_rarity": [rarity for _, _, rarity in seeds],
        "names": max(1, len(search.mentioned)),
        "relations": list(search.relations),
        "any_edge": not search.relations,
    }
