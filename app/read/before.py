"""What came before something: "where did I work before Volkswagen?" asks for what Volkswagen replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from app.db.recall import Sketch
from app.memory import normalise
from app.read.values import Before, ParsedQuery, Ranked


def holders(ranked: Sequence[Ranked], sketches: Mapping[UUID, Sketch], query: ParsedQuery) -> tuple[UUID, ...]:
    """Return the memories whose value is what the question asks to look behind, in the slot it most likely means.

    Of several slots with that value, one of the person that is asked about comes first, then one of a predicate
    that the question names, then the best match.
    """
    before = query.before
    found = [] if before is None else [sketches[one.id] for one in ranked if _holds(sketches[one.id], before)]
    if before is None or not found:
        return ()
    best = min(
        range(len(found)),
        key=lambda place: (not _about(found[place], before), not _asked(found[place], query), place),
    )
    slot = _slot(found[best])
    return tuple(one.id for one in found if _slot(one) == slot)


def first(ranked: Sequence[Ranked], replaced: Sequence[UUID], missing: Sequence[Ranked]) -> tuple[Ranked, ...]:
    """Return the list with what was replaced in front, in the order given; `missing` are those that it lacks."""
    by_id = {one.id: one for one in (*ranked, *missing)}
    raised = [by_id[one] for one in replaced if one in by_id]
    top = max((one.score for one in ranked), default=0.0)
    note = "what the question looks behind replaced it: first"
    lifted = [replace(one, score=max(top, one.score), notes=(*one.notes, note)) for one in raised]
    places = {one.id for one in raised}
    return (*lifted, *(one for one in ranked if one.id not in places))


def _holds(sketch: Sketch, before: Before) -> bool:
    value = sketch.slot_value
    if sketch.slot is None or not value:
        return False
    return value in before.entities or f" {value} " in f" {before.words} "


def _about(sketch: Sketch, before: Before) -> bool:
    return sketch.subject is not None and normalise.name(sketch.subject) in before.subjects


def _asked(sketch: Sketch, query: ParsedQuery) -> bool:
    predicate = (sketch.slot or "").rpartition("|")[2]
    return predicate in query.predicates or predicate in query.relations


def _slot(sketch: Sketch) -> tuple[UUID, str, str | None]:
    return sketch.scope_id, sketch.type, sketch.slot
