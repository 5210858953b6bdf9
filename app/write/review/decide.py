"""From a reviewer's action to slot events and their outcome.

From a stored memory back to what was decided about it: a candidate, or an existing belief.

What a reviewer's decision comes to: the plan of its write, and what it changes besides.

Nothing here reads or writes: each function gathers into a plan, as `persist` does for what is merely written.

A reviewer's decision as it is made, and what the audit log is told of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol, assert_never
from uuid import UUID

from pydantic import ValidationError

from app import ids
from app.db.apply import Relink, Retire
from app.db.contests import ContestResult, slots_of
from app.db.review import HiddenState
from app.db.review_changes import ReviewChanges
from app.errors import Conflict
from app.lexical.bm25 import index_of, terms
from app.memory.audit import AuditAction
from app.memory.candidate import AffectedMemory, Candidate
from app.memory.freshness import Decay
from app.memory.registry import Registry
from app.memory.review import ReviewDecision, ReviewItem
from app.memory.spec import Payload
from app.model import LinkKind, Memory, MemoryStatus
from app.write.persist import persist
from app.write.rows import PendingRows, WriteContext, add, add_link, audit, audit_added
from app.write.values import (
    Add,
    AddAsHistory,
    Contradict,
    Decision,
    End,
    EndForReview,
    Existing,
    Merge,
    Reject,
    Repeat,
    Resolved,
    Review,
    Supersede,
)


def candidate_of(memory: Memory, unshown: HiddenState, types: Registry) -> Candidate:
    """Return the candidate that a memory under review was made of, without its evidence.

    Raises Conflict when its payload is of a shape that its type no longer has.
    """
    spec = types.get(memory.type).at(memory.type_version)
    try:
        payload: Payload = spec.payload.model_validate(dict(memory.payload))
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, one["loc"])) for one in error.errors(include_input=False))
        raise Conflict(
            f"{ids.public(ids.MEMORY, memory.id)} was stored when {spec.name} had other fields ({fields}): "
            "reject it, or supersede it with what it should say"
        ) from None
    as_by_type = spec.decay(None) == Decay(half_life_days=memory.half_life_days, floor=memory.floor)
    return Candidate(
        type=spec,
        payload=payload,
        scope=memory.scope,
        content=memory.content,
        context=unshown.context,
        stated_at=memory.stated_at,
        zone=unshown.zone,
        source_strength=memory.parts.source,
        extractor_confidence=memory.parts.extractor,
        speech_act=memory.speech_act,
        importance=memory.importance,
        topic=memory.topic,
        category=None if as_by_type else memory.category,
        session_id=memory.session_id,
        sequence_number=memory.sequence_number,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        metadata=memory.metadata,
        provenance=memory.provenance,
        reviewed=True,
    )


def existing_of(memory: Memory) -> Existing:
    """Return a memory that somebody named, as a decision sees it."""
    return Existing(
        relation="named",
        id=memory.id,
        type=memory.type,
        status=memory.status,
        content=memory.content,
        payload=memory.payload,
        slot=memory.slot,
        value=None,
        contested=memory.contested,
        stated_at=memory.stated_at,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        recorded_at=memory.recorded_at,
        confidence=memory.confidence,
        parts=memory.parts,
        speech_act=memory.speech_act,
        topic=memory.topic,
        session_id=memory.session_id,
        sequence_number=memory.sequence_number,
        similarity=None,
        type_version=memory.type_version,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewOutcome:
    """What a decision came to: a word for it, which memory holds the belief now, what happened to others."""

    outcome: str
    memory: UUID | None
    ruling: ReviewChanges
    affected: tuple[AffectedMemory, ...] = ()


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


def accept(plan: PendingRows, item: ReviewItem, resolved: Resolved, decision: Decision) -> ReviewOutcome | None:
    """Return what believing a pending memory comes to; None when there is nothing to believe.

    `resolved` is without its evidence, which it has already. Its row becomes what it would be stored as now, or it
    goes into a memory that says the same. A person has seen it, so what it contradicts asks for no second look.
    """
    match decision:
        case Merge():
            verdict = persist(plan, resolved, decision)
            return _gone_into(plan, item.memory, decision.into.id, outcome="merged", changed=verdict.affected)
        case Reject() | Review() | Repeat() | End() | EndForReview():
            return None
        case Add() | Supersede() | Contradict() | AddAsHistory():
            told = replace(decision, needs_review=False) if isinstance(decision, Contradict) else decision
            _uncount(plan, item.memory, resolved)
            verdict = persist(plan, replace(resolved, accepted=item.memory), told)
            [row] = plan.rows.pop("memories")
            return ReviewOutcome(
                outcome=verdict.decided,
                memory=verdict.memory,
                ruling=ReviewChanges(accepted=_as_linked(row, item.memory)),
                affected=verdict.affected,
            )
        case _:
            assert_never(decision)


def uphold(plan: PendingRows, item: ReviewItem) -> ReviewOutcome:
    """Return what believing a memory that is stored already comes to: it wins over those it competes with.

    What is not believed any more competes with nothing: it only leaves the queue.
    """
    memory = item.memory
    if memory.status is not MemoryStatus.ACTIVE:
        return ReviewOutcome(outcome="kept", memory=memory.id, ruling=ReviewChanges(cleared=(memory.id,)))
    rivals = item.rivals
    affected, _ = _lose(plan, memory.id, memory.valid_from, rivals, "a reviewer accepted what contradicts it")
    if rivals and memory.supersedes is None:
        _follows(plan, memory.id, rivals[0].id)
    return ReviewOutcome(
        outcome="accepted",
        memory=memory.id,
        ruling=ReviewChanges(cleared=(memory.id,), winners=(memory.id,)),
        affected=affected,
    )


def reject(item: ReviewItem) -> ReviewOutcome:
    """Return what not believing it comes to: it is forgotten, and whoever it contested stands alone."""
    memory = item.memory
    return ReviewOutcome(
        outcome="rejected",
        memory=memory.id,
        ruling=ReviewChanges(forgotten=((memory.id, None),), slots=slots_of(memory)),
    )


def keep_both(plan: PendingRows, item: ReviewItem) -> ReviewOutcome:
    """Return what keeping both comes to: linked as before, demoted as before, and no longer asked about."""
    for side in item.sides:
        if side.competes and not side.same_value:
            _linked(plan, item.memory, side.memory)
    return ReviewOutcome(outcome="kept", memory=item.memory.id, ruling=ReviewChanges(cleared=(item.memory.id,)))


def supersede_with(plan: PendingRows, item: ReviewItem, by: Memory) -> ReviewOutcome:
    """Return what superseding the item and its sides by a stored memory comes to."""
    losers = [one for one in (item.memory, *item.rivals) if one.id != by.id]
    affected, forgotten = _lose(plan, by.id, by.valid_from, losers, "a reviewer decided for another memory")
    if by.supersedes is None:
        _follows(plan, by.id, losers[0].id)
    slots = tuple(dict.fromkeys(slot for one in (*losers, by) for slot in slots_of(one)))
    return ReviewOutcome(
        outcome="superseded", memory=by.id, ruling=ReviewChanges(forgotten=forgotten, slots=slots), affected=affected
    )


def override(plan: PendingRows, item: ReviewItem, resolved: Resolved, decision: Decision) -> ReviewOutcome:
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
    return ReviewOutcome(
        outcome="superseded",
        memory=winner,
        ruling=ReviewChanges(forgotten=forgotten, slots=slots, cleared=cleared),
        affected=affected,
    )


def merge(plan: PendingRows, item: ReviewItem, resolved: Resolved, decision: Decision) -> ReviewOutcome:
    """Return what a Merge of the item into a stored memory comes to; `resolved` is without its evidence."""
    assert isinstance(decision, Merge)  # noqa: S101 - narrows for the type checker
    persist(plan, resolved, decision)
    return _gone_into(plan, item.memory, decision.into.id, outcome="merged")


def _gone_into(
    plan: PendingRows, memory: Memory, survivor: UUID, *, outcome: str, changed: Sequence[AffectedMemory] = ()
) -> ReviewOutcome:
    """Return what it comes to that a memory is part of another now: its evidence goes along."""
    affected, forgotten = _lose(plan, survivor, memory.valid_from, [memory], "it says the same as another memory")
    return ReviewOutcome(
        outcome=outcome,
        memory=survivor,
        ruling=ReviewChanges(forgotten=forgotten, evidence=((memory.id, survivor),), slots=slots_of(memory)),
        affected=(*changed, *affected),
    )


def _lose(
    plan: PendingRows, winner: UUID, since: datetime, losers: Sequence[Loser], reason: str
) -> tuple[tuple[AffectedMemory, ...], tuple[tuple[UUID, UUID | None], ...]]:
    """Gather that a memory takes the place of others; return what happens to each, and those that are forgotten.

    What was believed becomes history; what was pending never was.
    """
    affected: list[AffectedMemory] = []
    forgotten: list[tuple[UUID, UUID | None]] = []
    for one in losers:
        add_link(plan, winner, LinkKind.SUPERSEDES, one.id)
        if one.status == MemoryStatus.PENDING:
            forgotten.append((one.id, winner))
            affected.append(AffectedMemory(id=one.id, change="forgotten"))
            continue
        ended = max(since, one.valid_from)
        plan.retired.append(Retire(id=one.id, successor=winner, ended_at=ended, retired_at=plan.around.now))
        detail = {"by": ids.public(ids.MEMORY, winner), "reason": reason, "confidence": one.confidence}
        audit(plan, AuditAction.MEMORY_SUPERSEDED, one.id, detail)
        affected.append(AffectedMemory(id=one.id, change="superseded"))
    return tuple(affected), tuple(forgotten)


def _as_linked(row: Mapping[str, object], memory: Memory) -> Mapping[str, object]:
    """Return an accepted memory's row with what it had replaced before, unless it replaces another now."""
    return {**row, "supersedes": row["supersedes"] or memory.supersedes}


def _follows(plan: PendingRows, memory: UUID, before: UUID) -> None:
    plan.relinked.append(Relink(id=memory, supersedes=before, superseded_by=None, ended_at=None))


def _linked(plan: PendingRows, memory: Memory, other: Memory) -> None:
    """Gather the link between two memories that contradict each other, unless it is there, in either direction."""
    ends = {(str(link["from"]), str(link["to"])) for link in memory.links if link["kind"] == LinkKind.CONTRADICTS}
    if not ends & {(str(memory.id), str(other.id)), (str(other.id), str(memory.id))}:
        add_link(plan, memory.id, LinkKind.CONTRADICTS, other.id)


def _uncount(plan: PendingRows, memory: Memory, resolved: Resolved) -> None:
    """Take a pending memory off the scope's statistics: it is about to be counted again."""
    found = terms(memory.content, plan.around.language)
    plan.documents.subtract({index_of(term) for term in found})
    plan.lexical_documents -= 1
    plan.lexical_length -= len(found)
    plan.contexts -= any(one.kind == "context" for one in resolved.prepared.texts)
    plan.added -= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewAuditDetail:
    """What the audit log is told of a decision: who, what, why, and the numbers before and after."""

    around: WriteContext
    item: ReviewItem
    choice: ReviewDecision
    named: Memory | None

    def events(
        self, ruled: ReviewOutcome, stored: Mapping[UUID, Memory], settled: Sequence[ContestResult]
    ) -> list[Mapping[str, object]]:
        """Return the events, the decision itself last."""
        memory = self.item.memory
        before = [memory, *(side.memory for side in self.item.sides), *([self.named] if self.named else [])]
        detail = {
            "action": self.choice.action,
            "outcome": ruled.outcome,
            "reason": self.choice.reason,
            "review": memory.review,
            "waiting_since": memory.review_since,
            "memory": None if ruled.memory is None else ids.public(ids.MEMORY, ruled.memory),
            "before": _numbers(before),
            "after": _numbers(stored.values()),
        }
        moot = {"reason": "nothing contradicts it any more", "review": ids.public(ids.REVIEW, memory.id)}
        ledger = self.around.ledger
        found = [ledger.event(AuditAction.REVIEW_SETTLED, moot, memory=one.id) for one in settled if one.cleared]
        return [*found, ledger.event(AuditAction.REVIEW_DECIDED, detail, memory=memory.id)]


def _numbers(found: Iterable[Memory]) -> dict[str, object]:
    return {
        ids.public(ids.MEMORY, one.id): {
            "status": one.status,
            "confidence": one.confidence,
            "mentions": one.parts.mentions,
            "contested": one.contested,
        }
        for one in found
    }
