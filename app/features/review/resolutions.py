"""Review decisions: from a reviewer's choice to a slot event, and to the rows and changes of its write."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from app import ids
from app.db.apply.memories import FIXED, RowChange
from app.db.memories.former import FormerState
from app.errors import Conflict
from app.features.review.items import ReviewDecision, ReviewItem
from app.lexical.bm25 import searched_terms
from app.lexical.counts import ScopeCounts
from app.memory.audit import AuditAction
from app.memory.candidate import AffectedMemory
from app.memory.slots import latest_statement_wins, transition
from app.memory.versions import (
    Chosen,
    Cleared,
    Ended,
    Removed,
    SlotClaim,
    SlotEvent,
    SlotOutcome,
    Transition,
    Version,
)
from app.model import LinkKind, Memory, MemoryStatus
from app.write.conflict import merge_into
from app.write.persist import affected_by, persist, tell_of_changes
from app.write.rows import PendingRows, add, add_link, audit, audit_added, revert
from app.write.values import Believe, Decision, Existing, Resolved, version_of

Versions = Mapping[UUID, Version]
"""The item, its sides and the named memory, with the active versions of their slots."""


def existing_of(memory: Memory, version: Version) -> Existing:
    """Return a memory that somebody named, as a decision sees it."""
    fields = {name: getattr(version, name) for name in Version.__dataclass_fields__}
    return Existing(
        **fields,
        relation="named",
        content=memory.content,
        payload=memory.payload,
        topic=memory.topic,
        session_id=memory.session_id,
        sequence_number=memory.sequence_number,
        similarity=None,
        type_version=memory.type_version,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewOutcome:
    """The outcome of a decision: its name, the memory that holds the belief now, the changes of others."""

    outcome: str
    memory: UUID | None
    affected: tuple[AffectedMemory, ...] = ()


def accept(
    plan: PendingRows, item: ReviewItem, resolved: Resolved, decision: Decision, versions: Versions
) -> ReviewOutcome | None:
    """Add the changes of accepting a pending memory, and return the outcome; None when it can't be accepted.

    `resolved` is without the evidence, which is stored already. The memory's row is written again as it would be stored
    now, or the memory is merged into one that says the same. What it contradicts is not marked for review again.
    """
    if not isinstance(decision, Believe):
        return None
    match decision.transition.outcome:
        case SlotOutcome.MERGED | SlotOutcome.ECHOED:
            result = persist(plan, resolved, decision)
            survivor = decision.transition.holder
            assert survivor is not None  # noqa: S101 - narrows for the type checker
            gone = _go_into(plan, item.memory, survivor, versions)
            return replace(gone, affected=(*result.affected, *gone.affected))
        case SlotOutcome.ENDED | SlotOutcome.DOUBTED | SlotOutcome.NOTHING:
            return None
        case _:
            _uncount(plan, item.memory, resolved)
            result = persist(plan, resolved, decision)
            _rewrite(plan, item.memory)
            return ReviewOutcome(outcome=result.decided, memory=result.memory, affected=result.affected)


def goes_into_another(decision: Decision) -> bool:
    """Return whether a pending memory that is accepted is merged into one that says the same."""
    merged = {SlotOutcome.MERGED, SlotOutcome.ECHOED}
    return isinstance(decision, Believe) and decision.transition.outcome in merged


def _rewrite(plan: PendingRows, memory: Memory) -> None:
    """Replace the new row of a pending memory by a change of its stored row; its index rows are written again."""
    [row] = plan.rows.pop("memories")
    values = {name: value for name, value in row.items() if name not in FIXED}
    holds = row["status"] == MemoryStatus.ACTIVE and row["slot"] is not None and not row["contested"]
    plan.change(RowChange(id=memory.id, values=values, claims=holds))
    plan.touched[memory.id] = MemoryStatus.PENDING
    plan.rebuilt.append(memory.id)


def uphold(plan: PendingRows, item: ReviewItem, versions: Versions) -> ReviewOutcome:
    """Add the changes of accepting an active memory, which supersedes those it competes with; return the outcome.

    A memory that is no longer active only leaves the queue.
    """
    memory = item.memory
    if memory.status is not MemoryStatus.ACTIVE:
        return _take(plan, Cleared(versions=frozenset({memory.id})), versions, outcome="kept", memory=memory.id)
    losers = tuple(one.id for one in item.rivals)
    reason = "a reviewer accepted what contradicts it"
    event = Chosen(winner=memory.id, losers=losers, since=memory.valid_from, reason=reason, reviewed=True)
    return _take(plan, event, versions, outcome="accepted", memory=memory.id)


def reject(plan: PendingRows, item: ReviewItem, versions: Versions) -> ReviewOutcome:
    """Add the changes of forgetting the memory, which no longer contests others; return the outcome."""
    memory = item.memory.id
    event = Removed(versions=frozenset({memory}), status=MemoryStatus.FORGOTTEN, reason="a reviewer rejected it")
    found = _take(plan, event, versions, outcome="rejected", memory=memory)
    return replace(found, affected=tuple(one for one in found.affected if one.id != memory))


def keep_both(plan: PendingRows, item: ReviewItem, versions: Versions) -> ReviewOutcome:
    """Add the changes of keeping both memories, whose links and confidence stay; return the outcome."""
    for side in item.sides:
        if side.competes and not side.same_value:
            _link(plan, item.memory, side.memory)
    event = Cleared(versions=frozenset({item.memory.id}))
    return _take(plan, event, versions, outcome="kept", memory=item.memory.id)


def end(plan: PendingRows, item: ReviewItem, since: datetime, versions: Versions) -> ReviewOutcome:
    """Add the changes of ending a belief at `since`, from when on it is history; return the outcome."""
    memory, now = item.memory, plan.around.now
    claim = SlotClaim(value=None, stated_at=max(now, memory.stated_at), confidence=1.0)
    event = Ended(versions=frozenset({memory.id}), claim=claim, at=since)
    found = _take(plan, event, versions, outcome="ended", memory=memory.id)
    return replace(found, affected=tuple(one for one in found.affected if one.id != memory.id))


def undo(plan: PendingRows, before: Mapping[UUID, FormerState], versions: Versions) -> ReviewOutcome:
    """Add the changes that give every memory of a decision its state before it, and return the outcome.

    Raises Conflict when another memory holds a slot that one of them held.
    """
    found = revert(plan, before, versions, reason="a reviewer undid the decision")
    if found.outcome is SlotOutcome.NOTHING:
        taken = ", ".join(ids.public(ids.MEMORY, one.id) for one in found.rivals)
        raise Conflict(f"the decision can't be undone: {taken} holds the slot since")
    tell_of_changes(plan, found)
    return ReviewOutcome(outcome="undone", memory=None, affected=affected_by(found))


def finality(plan: PendingRows) -> str | None:
    """Return the reason why a decision can't be undone; None if it changed only columns and links of memories."""
    if plan.evidence:
        return "it joined two memories and their evidence"
    if plan.restated:
        return "it counted as a repetition of a memory"
    if plan.rows.get("memories"):
        return "it stored a statement of the reviewer, which can be rejected or superseded"
    if plan.unified:
        return "it made entities one: take them apart instead"
    return None


def supersede_with(plan: PendingRows, item: ReviewItem, by: Memory, versions: Versions) -> ReviewOutcome:
    """Add the changes of superseding the item and its sides by a stored memory; return the outcome."""
    losers = tuple(one.id for one in (item.memory, *item.rivals) if one.id != by.id)
    reason = "a reviewer decided for another memory"
    event = Chosen(winner=by.id, losers=losers, since=by.valid_from, reason=reason)
    return _take(plan, event, versions, outcome="superseded", memory=by.id)


def override(
    plan: PendingRows, item: ReviewItem, resolved: Resolved, decision: Decision, versions: Versions
) -> ReviewOutcome:
    """Add the changes of superseding the item and its sides by a reviewer's own statement; return the outcome."""
    losers = [item.memory.id, *(one.id for one in item.rivals)]
    known: dict[UUID, Version] = dict(versions)
    into: Existing | None = None
    match decision:
        case Believe(transition=Transition(outcome=SlotOutcome.MERGED, holder=Existing() as into)):
            _restate(plan, resolved, decision, into)
        case Believe(transition=Transition(outcome=SlotOutcome.SUPERSEDED, rivals=old)):
            losers = [*(one.id for one in old), *losers]
            known |= {one.id: one for one in old}
    winner = version_of(resolved) if into is None else known.get(into.id, into)
    event = Chosen(
        winner=winner.id,
        losers=tuple(dict.fromkeys(losers)),
        since=winner.valid_from,
        reason="a reviewer stated what holds instead",
        reviewed=winner.id == item.memory.id,
    )
    versions = {**known, winner.id: winner}
    found = transition(versions.values(), event, policy=latest_statement_wins, now=plan.around.now)
    if into is None:
        add(plan, resolved, found.holder or winner)
        audit_added(plan, winner.id, resolved, "a reviewer stated it", status=MemoryStatus.ACTIVE)
        found = replace(found, changes=tuple(one for one in found.changes if one.before.id != winner.id))
    return _taken(plan, found, outcome="superseded", memory=winner.id)


def _restate(plan: PendingRows, resolved: Resolved, decision: Believe, into: Existing) -> None:
    """Add the rows of a reviewer's statement that repeats a memory."""
    change = decision.transition.change_of(into.id)
    before = change.before if change is not None and isinstance(change.before, Existing) else into
    merged = merge_into(resolved, before, decision.reason, now=plan.around.now)
    persist(plan, resolved, replace(merged, payload=decision.payload, rewritten=decision.rewritten))


def merge(
    plan: PendingRows, item: ReviewItem, resolved: Resolved, decision: Believe, versions: Versions
) -> ReviewOutcome:
    """Add the changes of merging the item, without its evidence, into a stored memory; return the outcome."""
    persist(plan, resolved, decision)
    survivor = decision.transition.holder
    assert survivor is not None  # noqa: S101 - narrows for the type checker
    return _go_into(plan, item.memory, survivor, versions)


def _go_into(plan: PendingRows, memory: Memory, survivor: Version, versions: Versions) -> ReviewOutcome:
    """Add the changes of moving a memory's evidence to another and superseding it; return the outcome."""
    plan.evidence.append((memory.id, survivor.id))
    reason = "it says the same as another memory"
    event = Chosen(winner=survivor.id, losers=(memory.id,), since=memory.valid_from, reason=reason)
    return _take(plan, event, {survivor.id: survivor, **versions}, outcome="merged", memory=survivor.id)


def _take(plan: PendingRows, event: SlotEvent, versions: Versions, *, outcome: str, memory: UUID) -> ReviewOutcome:
    """Add the changes of a slot event, in which the latest statement wins for every type; return the outcome."""
    found = transition(versions.values(), event, policy=latest_statement_wins, now=plan.around.now)
    return _taken(plan, found, outcome=outcome, memory=memory)


def _taken(plan: PendingRows, found: Transition, *, outcome: str, memory: UUID) -> ReviewOutcome:
    plan.take(found)
    tell_of_changes(plan, found)
    return ReviewOutcome(outcome=outcome, memory=memory, affected=affected_by(found))


def _link(plan: PendingRows, memory: Memory, other: Memory) -> None:
    """Add a `contradicts` link between two memories, unless there is one in either direction."""
    ends = {(str(link["from"]), str(link["to"])) for link in memory.links if link["kind"] == LinkKind.CONTRADICTS}
    if not ends & {(str(memory.id), str(other.id)), (str(other.id), str(memory.id))}:
        add_link(plan, memory.id, LinkKind.CONTRADICTS, other.id)


def _uncount(plan: PendingRows, memory: Memory, resolved: Resolved) -> None:
    """Subtract a pending memory from the scope's statistics, because accepting it counts it again."""
    terms = searched_terms(memory.content, plan.around.language)
    in_context = any(one.kind == "context" for one in resolved.prepared.texts)
    plan.counts += -ScopeCounts.of(terms, contexts=int(in_context))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewAuditDetail:
    """The audit record of a decision: who, what, why, and the numbers before and after."""

    item: ReviewItem
    choice: ReviewDecision
    named: Memory | None
    changed: Collection[UUID]
    final: str | None

    def add(self, plan: PendingRows, done: ReviewOutcome) -> None:
        """Add the event of the decision to its plan."""
        memory = self.item.memory
        before = [memory, *(side.memory for side in self.item.sides), *([self.named] if self.named else [])]
        seen = {memory.id, *([] if done.memory is None else [done.memory]), *(one.id for one in done.affected)}
        after = [one for one in ({each.id: each for each in before} | plan.versions).values() if one.id in seen]
        detail = {
            "action": self.choice.action,
            "outcome": done.outcome,
            "reason": self.choice.reason,
            "reviewer": self.choice.reviewer,
            "final": self.final,
            "changed": [ids.public(ids.MEMORY, one) for one in sorted(self.changed)],
            "review": memory.review,
            "waiting_since": memory.review_since,
            "memory": None if done.memory is None else ids.public(ids.MEMORY, done.memory),
            "before": _numbers(before),
            "after": _numbers(after),
        }
        audit(plan, AuditAction.REVIEW_DECIDED, memory.id, detail)


def _numbers(found: Iterable[Memory | Version]) -> dict[str, object]:
    return {
        ids.public(ids.MEMORY, one.id): {
            "status": one.status,
            "confidence": one.confidence,
            "mentions": one.parts.mentions,
            "contested": one.contested,
        }
        for one in found
    }
