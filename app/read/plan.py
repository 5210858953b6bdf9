"""Plans of retrieval and ranking by kind of question, and how a question was understood, as plain values.

The table is data: the first row whose pattern fits decides, and the plan is returned with `explain`. The numbers
were chosen in the middle of a plateau on three kinds of conversations (docs/decisions/ranking.md has the figures).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from app import ids
from app.read.values import Arm, Cut, ParsedQuery, QueryPlan, QueryRequest, Scaling


def explain_question(query: ParsedQuery, *, relaxed: bool) -> dict[str, object]:
    """Return how the question was read; `relaxed`: nothing fitted what was inferred, so it was only preferred."""
    return {
        "question": query.reading.text,
        "dense_text": query.dense_text,
        "terms": list(query.terms),
        "entities": [
            {
                "text": mentioned.text,
                "id": ids.public(ids.ENTITY, entity.ids[0]),
                "name": entity.name,
                "entity_type": entity.entity_type,
            }
            for mentioned in query.mentioned
            for entity in mentioned.entities
        ],
        "windows": [
            {
                "from": None if window.lower is None else window.lower.isoformat(),
                "until": None if window.upper is None else window.upper.isoformat(),
            }
            for window in query.reading.windows
        ],
        "types": list(query.types.only),
        "type_hints": list(query.types.only if relaxed else query.types.preferred),
        "types_inferred": query.types.inferred,
        "relaxed": relaxed,
        "predicates": list(query.predicates),
        "negations": {
            "denied": query.reading.denied,
            "excluded": [*query.excluded.names, *query.excluded.words],
        },
        "specificity": round(query.specificity, 3),
        "mode": query.mode.value,
    }


def explain_filters(request: QueryRequest, query: ParsedQuery, *, relaxed: bool) -> list[dict[str, object]]:
    """Return the filters of a question; one that was inferred from its words is relaxed where nothing passes it."""
    given: dict[str, object] = {"topic": request.topic, "metadata": dict(request.metadata)}
    inferred: dict[str, object] = {"windows": query.types.within and explain_question(query, relaxed=False)["windows"]}
    (inferred if query.types.inferred else given)["types"] = list(query.types.only)
    return [
        {"filter": name, "value": value, "inferred": filters is inferred, "relaxed": filters is inferred and relaxed}
        for filters in (given, inferred)
        for name, value in filters.items()
        if value
    ]


SCALING: Mapping[Arm, Scaling] = {
    Arm.SEMANTIC: Scaling.RANGE,
    Arm.SEMANTIC_CONTEXT: Scaling.RANGE,
    Arm.LEXICAL: Scaling.RANGE,
    Arm.LEXICAL_CONTEXT: Scaling.RANGE,
    Arm.GRAPH: Scaling.NONE,
    Arm.TEMPORAL: Scaling.BEST,
}
"""Cosines and BM25 mean something within one list alone, and scores of the graph are made in 0..1. So are those of
time, but turns that were said in a window have at most .6 of an event's: where nothing else fits, their best is 1."""

TEXT = {Arm.SEMANTIC: 1.2, Arm.LEXICAL: 1.0, Arm.SEMANTIC_CONTEXT: 1.2, Arm.LEXICAL_CONTEXT: 0.75}
"""The four arms over texts: a memory by itself, and together with the end of what came before it.

Two compare words, and each word is compared by its nearness once more: so the words of what came before count less."""

_MEANING = frozenset({Arm.SEMANTIC, Arm.SEMANTIC_CONTEXT})

TIMED = {**TEXT, Arm.TEMPORAL: 1.3}
"""With what happened or was said at the time that the question names."""

OPEN = QueryPlan(
    name="open",
    why="The question names no time: the arms over texts decide, and age only breaks ties.",
    weights={**TEXT, Arm.GRAPH: 0.3},
    scaling=SCALING,
    rank_share=2.0,
    k=5,
    depth=100,
    questions=0.5,
    considered=200,
    confidence=0.3,
    freshness=0.03,
    compared=60,
    words=0.25,
    said_before=0.5,
    around=0.15,
    neighbours=0.5,
    beside_assistant=0.5,
    farther=0.7,
    brevity=60,
    question=0.45,
    told_in_question=0.9,
    answer=0.6,
    speaker=1.5,
    asked_back=1.2,
    assistant=0.85,
    type_hint=1.15,
    elsewhen=0.5,
    misnumbered=0.4,
    others=0.6,
    history=1.0,
    newest=1.0,
    rival=0.58,
    reordered=5,
)


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A row of the table: the plan, and the questions it is for."""

    plan: QueryPlan
    fits: Callable[[ParsedQuery], bool]


TABLE: tuple[PlanRow, ...] = (
    PlanRow(
        replace(
            OPEN,
            name="events-in-window",
            why="Only what happened in the named time can answer, however long ago that is.",
            weights={**TIMED, Arm.GRAPH: 0.6},
            freshness=0.0,
            newest=0.0,
        ),
        lambda query: query.types.within,
    ),
    PlanRow(
        replace(
            OPEN,
            name="past",
            why="The question asks about the past: age does not count, and what was replaced may be the answer.",
            weights={**TIMED, Arm.GRAPH: 0.3},
            freshness=0.0,
            newest=0.0,
            history=1.25,
        ),
        lambda query: query.about_past,
    ),
    PlanRow(
        replace(
            OPEN,
            name="window",
            why="The question names a time: what happened or was said then comes first, at any age.",
            weights={**TIMED, Arm.GRAPH: 0.3},
            freshness=0.0,
        ),
        lambda query: bool(query.reading.windows),
    ),
    PlanRow(
        replace(
            OPEN,
            name="now",
            why="The question asks about the present: of memories that match alike, the fresher comes first.",
            freshness=0.1,
        ),
        lambda query: query.about_now,
    ),
    PlanRow(
        replace(
            OPEN,
            name="relations",
            why="The question asks how someone is related: relations between entities count as much as words.",
            weights={**TEXT, Arm.GRAPH: 1.0},
        ),
        lambda query: bool(query.mentioned) and bool(query.relations),
    ),
    PlanRow(OPEN, lambda _query: True),
)


EXPLAINED_CUTS = 20
"""Matches that were not returned which an explanation lists."""


def plan(query: ParsedQuery) -> QueryPlan:
    """Return the plan of the first row that fits.

    A question that gathers its answer from several sessions has none that is meant, unless it goes on with a task.
    """
    chosen = next(row.plan for row in TABLE if row.fits(query))
    spread = query.reading.gathers and not query.reading.goes_on
    return replace(chosen, around=0.0) if spread else chosen


def by_words_alone(chosen: QueryPlan) -> QueryPlan:
    """Return the plan without the arms of meaning, for a question that the embedder doesn't know."""
    weights = {arm: weight for arm, weight in chosen.weights.items() if arm not in _MEANING}
    why = f"{chosen.why} The embedding model knows little of its words, so its vectors do not count."
    return replace(chosen, name=f"{chosen.name}, by words alone", why=why, weights=weights)


def explain_plan(chosen: QueryPlan, cut: Sequence[Cut], filters: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Return a plan as plain values, for the caller, with its filters and the best of what was not returned."""
    return {
        **asdict(chosen),
        "filters": list(filters),
        "weights": {arm.value: weight for arm, weight in chosen.weights.items()},
        "cut": [
            {"id": ids.public(ids.MEMORY, one.id), "relevance": round(one.relevance, 3), "why": one.why}
            for one in cut[:EXPLAINED_CUTS]
        ],
        "scaling": {arm.value: scaling.value for arm, scaling in chosen.scaling.items()},
    }
