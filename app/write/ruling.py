"""What a reviewer's decision comes to: the plan of its write, and what it changes besides.

Nothing here reads or writes: each function gathers into a plan, as `persist` does for what is merely written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol, assert_never
from uuid import UUID

from app import ids
from app.db.changes import Relinked, Retired
from app.db.contests import slots_of
from app.db.review_changes import Ruling
from app.memory.actions import Action
from app.memory.candidate import Affected
from app.memory.review import Item
from app.model import LinkKind, Memory, Status
from app.text.lexical import index_of, terms
from app.write.persist import persist
from app.write.plan import Plan
from app.write.rows import add, add_link, audit, audit_added
from app.write.values import (
    Add,
    Contradict,
    Decision,
    Doubt,
    End,
    History,
    Known,
    Merge,
    Pend,
    Reject,
    Resolved,
    Supersede,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled:
    """What a decision came to: a word for it, which memory holds the belief now, what happened to others."""

    outcome: str
    memory: UUID | None
    ruling: Ruling
    affected: tuple[Affected, ...] = ()


class Loser(Protocol):
    """A memory that another takes the place of."""

    @property
    def id(self) -> UUID:
        """Return its id."""

    @property
    def status(self) -> str:
        """Return where it is in its life."""

    @property
    def valid_from(self) -> datetime:
        """Return from when on it held."""

    @property
    def confidence(self) -> float:
        """Return how far it was trusted."""


def believed(plan: Plan, item: Item, resolved: Resolved, decision: Decision) -> Ruled | None:
    """Return what believing a pending memory comes to; None when there is nothing to believe.

    `resolved` is without its evidence, which it has already. Its row becomes what it would be stored as now, or it
    goes into a memory that says the same. A person has seen it, so what it contradicts asks for no second look.
    """
    match decision:
        case Merge():
            verdict = persist(plan, resolved, decision)
            return _gone_into(plan, item.memory, decision.into.id, outcome="merged", changed=verdict.affected)
        case Reject() | Pend() | Known() | End() | Doubt():
            return None
        case Add() | Supersede() | Contradict() | History():
            told = replace(decision, needs_review=False) if isinstance(decision, Contradict) else decision
            _uncount(plan, item.memory, resolved)
            verdict = persist(plan, replace(resolved, accepted=item.memory), told)
            [row] = plan.rows.pop("memories")
            return Ruled(
                outcome=verdict.decided,
                memory=verdict.memory,
                ruling=Ruling(accepted=_as_linked(row, item.memory)),
                affected=verdict.affected,
            )
        case _:
            assert_never(decision)


def upheld(plan: Plan, item: Item) -> Ruled:
    """Return what believing a memory that is stored already comes to: it wins over those it competes with.

    What is not believed any more competes with nothing: it only leaves the queue.
    """
    memory = item.memory
    if memory.status is not Status.ACTIVE:
        return Ruled(outcome="kept", memory=memory.id, ruling=Ruling(cleared=(memory.id,)))
    rivals = item.rivals
    affected, _ = _lose(plan, memory.id, memory.valid_from, rivals, "a reviewer accepted what contradicts it")
    if rivals and memory.supersedes is None:
        _follows(plan, memory.id, rivals[0].id)
    return Ruled(
        outcome="accepted",
        memory=memory.id,
        ruling=Ruling(cleared=(memory.id,), winners=(memory.id,)),
        affected=affected,
    )


def rejected(item: Item) -> Ruled:
    """Return what not believing it comes to: it is forgotten, and whoever it contested stands alone."""
    memory = item.memory
    return Ruled(
        outcome="rejected",
        memory=memory.id,
        ruling=Ruling(forgotten=((memory.id, None),), slots=slots_of(memory)),
    )


def kept(plan: Plan, item: Item) -> Ruled:
    """Return what keeping both comes to: linked as before, demoted as before, and no longer asked about."""
    for side in item.sides:
        if side.competes and not side.same_value:
            _linked(plan, item.memory, side.memory)
    return Ruled(outcome="kept", memory=item.memory.id, ruling=Ruling(cleared=(item.memory.id,)))


def replaced(plan: Plan, item: Item, by: Memory) -> Ruled:
    """Return what superseding the item and its sides by a stored memory comes to."""
    losers = [one for one in (item.memory, *item.rivals) if one.id != by.id]
    affected, forgotten = _lose(plan, by.id, by.valid_from, losers, "a reviewer decided for another memory")
    if by.supersedes is None:
        _follows(plan, by.id, losers[0].id)
    slots = tuple(dict.fromkeys(slot for one in (*losers, by) for slot in slots_of(one)))
    return Ruled(outcome="superseded", memory=by.id, ruling=Ruling(forgotten=forgotten, slots=slots), affected=affected)


def overruled(plan: Plan, item: Item, resolved: Resolved, decision: Decision) -> Ruled:
    """Return what superseding the item and its sides by a reviewer's own statement comes to."""
    every: tuple[Loser, ...] = (item.memory, *item.rivals)
    if isinstance(decision, Merge):
        winner, since = decision.into.id, decision.into.valid_from
        persist(plan, resolved, replace(decision, settles=()))
    else:
        others = decision.old if isinstance(decision, Supersede) else ()
        every = tuple({one.id: one for one in (*others, *every)}.values())
        winner, since = add(plan, resolved, supersedes=every[0].id), resolved.prepared.begins
        audit_added(plan, winner, resolved, "a reviewer stated it")
    losers = [one for one in every if one.id != winner]
    affected, forgotten = _lose(plan, winner, since, losers, "a reviewer stated what holds instead")
    slots = tuple(dict.fromkeys(slot for one in (item.memory, *item.rivals) for slot in slots_of(one)))
    cleared = (winner,) if winner == item.memory.id else ()
    return Ruled(
        outcome="superseded",
        memory=winner,
        ruling=Ruling(forgotten=forgotten, slots=slots, cleared=cleared),
        affected=affected,
    )


def merged(plan: Plan, item: Item, resolved: Resolved, decision: Decision) -> Ruled:
    """Return what a Merge of the item into a stored memory comes to; `resolved` is without its evidence."""
    assert isinstance(decision, Merge)  # noqa: S101 - narrows for the type checker
    persist(plan, resolved, decision)
    return _gone_into(plan, item.memory, decision.into.id, outcome="merged")


def _gone_into(plan: Plan, memory: Memory, survivor: UUID, *, outcome: str, changed: Sequence[Affected] = ()) -> Ruled:
    """Return what it comes to that a memory is part of another now: its evidence goes along."""
    affected, forgotten = _lose(plan, survivor, memory.valid_from, [memory], "it says the same as another memory")
    return Ruled(
        outcome=outcome,
        memory=survivor,
        ruling=Ruling(forgotten=forgotten, evidence=((memory.id, survivor),), slots=slots_of(memory)),
        affected=(*changed, *affected),
    )


def _lose(
    plan: Plan, winner: UUID, since: datetime, losers: Sequence[Loser], reason: str
) -> tuple[tuple[Affected, ...], tuple[tuple[UUID, UUID | None], ...]]:
    """Gather that a memory takes the place of others; return what happens to each, and those that are forgotten.

    What was believed becomes history; what was pending never was.
    """
    affected: list[Affected] = []
    forgotten: list[tuple[UUID, UUID | None]] = []
    for one in losers:
        add_link(plan, winner, LinkKind.SUPERSEDES, one.id)
        if one.status == Status.PENDING:
            forgotten.append((one.id, winner))
            affected.append(Affected(id=one.id, change="forgotten"))
            continue
        ended = max(since, one.valid_from)
        plan.retired.append(Retired(id=one.id, successor=winner, ended_at=ended, retired_at=plan.around.now))
        detail = {"by": ids.public(ids.MEMORY, winner), "reason": reason, "confidence": one.confidence}
        audit(plan, Action.MEMORY_SUPERSEDED, one.id, detail)
        affected.append(Affected(id=one.id, change="superseded"))
    return tuple(affected), tuple(forgotten)


def _as_linked(row: Mapping[str, object], memory: Memory) -> Mapping[str, object]:
    """Return an accepted memory's row with what it had replaced before, unless it replaces another now."""
    return {**row, "supersedes": row["supersedes"] or memory.supersedes}


def _follows(plan: Plan, memory: UUID, before: UUID) -> None:
    plan.relinked.append(Relinked(id=memory, supersedes=before, superseded_by=None, ended_at=None))


def _linked(plan: Plan, memory: Memory, other: Memory) -> None:
    """Gather the link between two memories that contradict each other, unless it is there, in either direction."""
    ends = {(str(link["from"]), str(link["to"])) for link in memory.links if link["kind"] == LinkKind.CONTRADICTS}
    if not ends & {(str(memory.id), str(other.id)), (str(other.id), str(memory.id))}:
        add_link(plan, memory.id, LinkKind.CONTRADICTS, other.id)


def _uncount(plan: Plan, memory: Memory, resolved: Resolved) -> None:
    """Take a pending memory off the scope's statistics: it is about to be counted again."""
    found = terms(memory.content, plan.around.language)
    plan.documents.subtract({index_of(term) for term in found})
    plan.lexical_documents -= 1
    plan.lexical_length -= len(found)
    plan.contexts -= any(one.kind == "context" for one in resolved.prepared.texts)
    plan.added -= 1
