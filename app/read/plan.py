"""Weights of the arms by kind of question, and their explanation.

The question as it was understood, in plain values, for the one who asked.

The plan table: for each kind of question, how much each arm says and how much age counts.

Data, not code: the first row whose pattern fits decides. Returned with `explain`. The numbers were tuned on
conversations with the embedded model (LoCoMo dev, LongMemEval dev); what each is worth stands beside it as
the evidence recall@10 with it and without it, on LoCoMo unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace

from app import ids
from app.read.values import Arm, ParsedQuery, QueryPlan, Scaling


def explain_question(query: ParsedQuery, *, relaxed: bool) -> dict[str, object]:
    """Return how the question was read; `relaxed`: nothing fitted what was inferred, so it was only preferred."""
    return {
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
            for window in query.windows
        ],
        "types": list(query.types),
        "type_hints": list(query.types if relaxed else query.soft_types),
        "types_inferred": query.inferred,
        "relaxed": relaxed,
        "predicates": list(query.predicates),
        "negations": {
            "denied": query.denied,
            "excluded": [*query.excluded_names, *query.excluded_words],
        },
        "specificity": round(query.specificity, 3),
        "mode": query.mode.value,
    }


SCALING: Mapping[Arm, Scaling] = {
    Arm.SEMANTIC: Scaling.RANGE,
    Arm.SEMANTIC_CONTEXT: Scaling.RANGE,
    Arm.LEXICAL: Scaling.RANGE,
    Arm.LEXICAL_CONTEXT: Scaling.RANGE,
    Arm.GRAPH: Scaling.NONE,
    Arm.TEMPORAL: Scaling.NONE,
}
"""Cosines and BM25 mean something within one list alone; the other two are made in 0..1."""

TEXT = {Arm.SEMANTIC: 1.1, Arm.LEXICAL: 1.0, Arm.SEMANTIC_CONTEXT: 1.0, Arm.LEXICAL_CONTEXT: 1.0}
"""The four arms over texts; those over a turn with the one before it are worth .742 against .672. Meaning counts a
tenth more: LongMemEval S finds .968 of its sessions among the first five, and .965 with all alike."""

OPEN = QueryPlan(
    name="open",
    why="An open question: the arms over texts decide, and age counts a little (seed 002).",
    weights={**TEXT, Arm.GRAPH: 0.5},
    scaling=SCALING,
    k=5,  # the seed's 60: .783 against .790
    depth=100,  # 30: .783
    questions=0.5,  # recall@5 of paraphrased facts and the like (evals/hype.py): .776, none: .654
    considered=120,
    freshness=0.1,  # .3: .777, 1: .705, when half of the questions want the newest
    neighbours=0.3,  # none: .756
    question=0.6,  # none: .773
    speaker=1.3,  # none: .776
    asked_back=1.5,  # LongMemEval S recall@5: .851, none: .831
    type_hint=1.15,
    elsewhen=0.5,
    history=1.0,
    newest=0.5,  # LongMemEval, newest evidence first: .786, none: .500; recall@10 is the same
    reordered=10,
)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: the plan, and the questions it is for."""

    plan: QueryPlan
    fits: Callable[[ParsedQuery], bool]


TABLE: tuple[Row, ...] = (
    Row(
        replace(
            OPEN,
            name="events-in-window",
            why="Only what happened in the named time can answer, however long ago that is.",
            weights={**TEXT, Arm.SEMANTIC: 1.0, Arm.GRAPH: 1.0, Arm.TEMPORAL: 2.0},
            freshness=0.0,
            newest=0.0,
        ),
        lambda query: query.within,
    ),
    Row(
        replace(
            OPEN,
            name="past",
            why="The question asks how things were: age is no fault, and what was replaced may be the answer.",
            weights={**TEXT, Arm.GRAPH: 0.5, Arm.TEMPORAL: 1.0},
            freshness=0.0,
            newest=0.0,
            history=1.25,
        ),
        lambda query: query.about_past,
    ),
    Row(
        replace(
            OPEN,
            name="window",
            why="The question names a time: what happened or was said then comes first, at any age.",
            weights={**TEXT, Arm.GRAPH: 0.5, Arm.TEMPORAL: 1.0},
            freshness=0.0,
        ),
        lambda query: bool(query.windows),
    ),
    Row(
        replace(
            OPEN,
            name="now",
            why="The question asks how things are now, so what was said or used lately weighs more (seed 001).",
            freshness=1.0,
        ),
        lambda query: query.about_now,
    ),
    Row(
        replace(
            OPEN,
            name="relations",
            why="The question asks how someone is related: edges between entities know, words may not.",
            weights={**TEXT, Arm.GRAPH: 1.5},
        ),
        lambda query: bool(query.mentioned) and bool(query.relations),
    ),
    Row(OPEN, lambda _query: True),
)


def plan(query: ParsedQuery) -> QueryPlan:
    """Return the plan of the first row that fits."""
    return next(row.plan for row in TABLE if row.fits(query))


def explained(chosen: QueryPlan) -> dict[str, object]:
    """Return a plan as plain values, for the caller."""
    return {
        **asdict(chosen),
        "weights": {arm.value: weight for arm, weight in chosen.weights.items()},
        "scaling": {arm.value: scaling.value for arm, scaling in chosen.scaling.items()},
    }
