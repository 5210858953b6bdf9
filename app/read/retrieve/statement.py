"""All arms as one statement: one round trip, one snapshot, one row an arm."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import ARRAY, Boolean, DateTime, Float, Integer, Text, TextClause, Uuid, bindparam, text
from sqlalchemy.types import TypeEngine

from app.db.session import ReadSession
from app.lexical.bm25 import as_tsquery
from app.read.retrieve import graph, lexical, semantic, temporal
from app.read.retrieve.search import CONTENT, CONTEXT, Search, bounds, parameters
from app.read.values import Arm, Scored

_TYPES: Mapping[str, TypeEngine[Any] | type[TypeEngine[Any]]] = {
    "tenant": Uuid(),
    "scopes": ARRAY(Uuid),
    "min_confidence": Float(),
    "statuses": ARRAY(Text),
    "begun": DateTime(timezone=True),
    "instant": DateTime(timezone=True),
    "known_at": DateTime(timezone=True),
    "types": ARRAY(Text),
    "topic": Text(),
    "excluded": ARRAY(Uuid),
    "within_lower": ARRAY(DateTime(timezone=True)),
    "within_upper": ARRAY(DateTime(timezone=True)),
    "window_lower": ARRAY(DateTime(timezone=True)),
    "window_upper": ARRAY(DateTime(timezone=True)),
    "vector": Text(),
    "weights": Text(),
    "nominated": Text(),
    "depth": Integer(),
    "questions": Float(),
    "seed_ids": ARRAY(Uuid),
    "seed_names": ARRAY(Integer),
    "seed_rarity": ARRAY(Float),
    "names": Integer(),
    "relations": ARRAY(Text),
    "any_edge": Boolean(),
}
_LEXICAL = {Arm.LEXICAL: CONTENT, Arm.LEXICAL_CONTEXT: CONTEXT}
_PARAMETER = re.compile(r"(?<![:\w]):(\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """Each arm's nominations, best first, and the seconds the database took for it."""

    arms: Mapping[Arm, tuple[Scored, ...]]
    seconds: Mapping[Arm, float]


async def retrieve(session: ReadSession, search: Search) -> Retrieved:
    """Run the arms that have something to go by; those that don't, nominate nothing."""
    arms = tuple(arm for arm in Arm if arm in search.arms and _has_input(arm, search))
    if not arms:
        return Retrieved(arms={}, seconds={})
    statement, names = _prepared(_compose(arms, search))
    values = _values(search)
    rows: Any = await session.execute(statement, {name: values[name] for name in names})
    found: dict[Arm, tuple[Scored, ...]] = {}
    seconds: dict[Arm, float] = {}
    before = 0.0
    for name, nominated, scores, elapsed in rows:
        arm = Arm(name)
        found[arm] = tuple(zip(nominated or (), scores or (), strict=True))
        seconds[arm], before = elapsed - before, elapsed
    return Retrieved(arms=found, seconds=seconds)


def _has_input(arm: Arm, search: Search) -> bool:
    match arm:
        case Arm.SEMANTIC:
            return search.vector is not None
        case Arm.SEMANTIC_CONTEXT:
            return search.vector is not None and search.contexts
        case Arm.LEXICAL:
            return bool(search.nominators)
        case Arm.LEXICAL_CONTEXT:
            return bool(search.nominators) and search.contexts
        case Arm.GRAPH:
            return bool(search.mentioned)
        case Arm.TEMPORAL:
            return bool(search.windows)


def _cte(arm: Arm, search: Search) -> str:
    match arm:
        case Arm.SEMANTIC:
            return semantic.cte(search, arm=arm, kinds=CONTENT, asked=search.questions > 0)
        case Arm.SEMANTIC_CONTEXT:
            return semantic.cte(search, arm=arm, kinds=CONTEXT, asked=False)
        case Arm.GRAPH:
            return graph.cte(search)
        case Arm.TEMPORAL:
            return temporal.cte(search)
        case Arm.LEXICAL | Arm.LEXICAL_CONTEXT:
            raise AssertionError("the lexical arms are composed together")


def _compose(arms: tuple[Arm, ...], search: Search) -> str:
    """Return the statement: a row an arm, with its list as arrays and when, since the start, it was done.

    Arrays, because hundreds of rows cost more to receive than to find. The arms run one after another, in
    the order they are listed. The question's vectors are read from text once, in `probe`, not once a row.
    """
    probe = """probe AS MATERIALIZED (
        SELECT CAST(:vector AS halfvec) AS vector, CAST(:weights AS sparsevec) AS weights,
               CAST(:nominated AS tsquery) AS nominated
    )"""
    words = {arm.value: _LEXICAL[arm] for arm in arms if arm in _LEXICAL}
    ctes = [_cte(arm, search) for arm in arms if arm not in _LEXICAL]
    if words:
        ctes.append(lexical.ctes(search, words))
    lists = " UNION ALL ".join(
        f"SELECT '{arm}' AS arm, array_agg(memory_id), array_agg(CAST(score AS float8)),"  # noqa: S608
        f" CAST(extract(epoch FROM clock_timestamp() - statement_timestamp()) AS float8) FROM {arm}"
        for arm in arms
    )
    return f"WITH {','.join([probe, *ctes])} {lists}"


@lru_cache(maxsize=256)
def _prepared(sql: str) -> tuple[TextClause, tuple[str, ...]]:
    names = tuple(dict.fromkeys(_PARAMETER.findall(sql)))
    return text(sql).bindparams(*(bindparam(name, type_=_TYPES[name]) for name in names)), names


def _values(search: Search) -> dict[str, object]:
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
