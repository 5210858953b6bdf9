"""Stage: from decisions to the rows, changes and audit events of one transaction, and to the answer of the write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any, assert_never
from uuid import UUID

from app import ids
from app.db.apply.memories import Restatement
from app.db.memories.read import memory_of
from app.memory.audit import AuditAction
from app.memory.candidate import AffectedMemory, WriteDecision
from app.memory.placement import asks_whether_one
from app.memory.versions import TOLERANCE, ChangeCause, SlotOutcome, Transition, Version, VersionChange
from app.model import LinkKind, Memory, MemoryStatus, Scope
from app.write.rows import (
    PendingRows,
    add,
    add_entities,
    add_evidence,
    audit,
    audit_added,
    confidence_detail,
    reindex,
)
from app.write.values import Believe, Decision, Existing, PersistResult, Reject, Repeat, Resolved, Review, version_of


def memory_as_stored(plan: PendingRows, scope: Scope) -> dict[UUID, Memory]:
    """Return the new memories of the plan, by id, as a read would return them."""
    links, evidence = links_of(plan), _evidence(plan)
    common = {
        "scope_kind": scope.kind,
        "user_id": scope.user_id,
        "agent_id": scope.agent_id,
        "access_count": 0,
        "last_accessed_at": None,
        **dict.fromkeys(("stability", "sessions", "useful_count", "not_useful_count", "wrong_count"), 0),
    }
    memories = [
        memory_of({**row, **common, "links": links[row["id"]], "evidence": evidence[row["id"]]})
        for row in plan.rows["memories"]
    ]
    return {one.id: one for one in memories}


def links_of(plan: PendingRows) -> dict[object, list[dict[str, str]]]:
    """Return the links of each memory, ordered by target as a read orders links of one time."""
    found: dict[object, list[dict[str, str]]] = defaultdict(list)
    for row in plan.rows["memory_links"]:
        link = {"kind": str(row["kind"]), "from": str(row["from_memory"]), "to": str(row["to_memory"])}
        found[row["from_memory"]].append(link)
        found[row["to_memory"]].append(link)
    for links in found.values():
        links.sort(key=itemgetter("to"))
    return found


def _evidence(plan: PendingRows) -> dict[object, list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = sorted(map(dict, plan.rows["evidence"]), key=itemgetter("stated_at", "id"))
    found: dict[object, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        turn = row["turn_id"]
        shown = {"stated_at": row["stated_at"].isoformat(), "turn_id": None if turn is None else str(turn)}
        found[row["memory_id"]].append({**row, **shown})
    return found


_DECIDED = {
    SlotOutcome.ADDED: WriteDecision.ADDED,
    SlotOutcome.HISTORY: WriteDecision.ADDED,
    SlotOutcome.MERGED: WriteDecision.MERGED,
    SlotOutcome.ECHOED: WriteDecision.MERGED,
    SlotOutcome.SUPERSEDED: WriteDecision.SUPERSEDED,
    SlotOutcome.CONTRADICTED: WriteDecision.CONTRADICTED,
    SlotOutcome.ENDED: WriteDecision.ENDED,
    SlotOutcome.DOUBTED: WriteDecision.REVIEW,
}


def persist(plan: PendingRows, resolved: Resolved, decision: Decision) -> PersistResult:
    """Add the rows of a decision to the plan, and return its result."""
    match decision:
        case Believe():
            result = _believe(plan, resolved, decision)
        case Review():
            result = _pend(plan, resolved, decision)
        case Repeat():
            result = PersistResult(decided=WriteDecision.MERGED, reason=decision.reason, memory=decision.memory)
        case Reject():
            result = _reject(plan, resolved, decision)
        case _:
            assert_never(decision)
    return result


def _reject(plan: PendingRows, resolved: Resolved, decision: Reject) -> PersistResult:
    prepared = resolved.prepared
    detail = {
        "type": prepared.candidate.type.name,
        "reason": decision.reason,
        "confidence": prepared.confidence,
        "parts": confidence_detail(prepared.parts),
    }
    audit(plan, AuditAction.MEMORY_REJECTED, None, detail)
    return PersistResult(decided=WriteDecision.REJECTED, reason=decision.reason, memory=None)


def _pend(plan: PendingRows, resolved: Resolved, decision: Review) -> PersistResult:
    if decision.into is not None:
        add_evidence(plan, decision.into.id, resolved.prepared)
        audit(plan, AuditAction.MEMORY_ECHOED, decision.into.id, {"reason": decision.reason})
        return PersistResult(decided=WriteDecision.REVIEW, reason=decision.reason, memory=decision.into.id)
    # What nobody has looked at teaches no name and takes no place.
    plain = replace(resolved, refs={}, slot=None, value=None, unified=())
    version = replace(version_of(plain), status=MemoryStatus.PENDING, review=decision.why, review_note=decision.reason)
    add(plan, plain, version)
    audit_added(plan, version.id, plain, decision.reason, status=version.status, more={"review": decision.why})
    return PersistResult(decided=WriteDecision.REVIEW, reason=decision.reason, memory=version.id)


def _believe(plan: PendingRows, resolved: Resolved, decision: Believe) -> PersistResult:
    found, prepared = _asked_once(plan, resolved, decision.transition), resolved.prepared
    holder = found.holder
    if holder is None:
        raise AssertionError("what is believed has a memory that holds it")
    if found.new is not None:
        add(plan, resolved, found.new)
        _tell_of_new(plan, resolved, found, found.new)
    else:
        add_evidence(plan, holder.id, prepared)
    if found.outcome is SlotOutcome.ECHOED:
        audit(plan, AuditAction.MEMORY_ECHOED, holder.id, {"reason": found.reason})
    restated = _restate(plan, resolved, decision, holder) if found.outcome is SlotOutcome.MERGED else {}
    plan.take(found, more={holder.id: restated})
    plan.touch(*resolved.breaks)
    tell_of_changes(plan, found, by_confidence=prepared.confidence)
    decided = _DECIDED[found.outcome]
    return PersistResult(decided=decided, reason=found.reason, memory=holder.id, affected=affected_by(found))


def _asked_once(plan: PendingRows, resolved: Resolved, found: Transition) -> Transition:
    """Return the transition without its review of similar names where another memory of the write has it."""
    new = found.new
    if new is None or not asks_whether_one(new):
        return found
    asked = all(ref.id in plan.entities for ref in resolved.refs.values() if ref.resembles is not None)
    return replace(found, new=replace(new, review=None, review_note=None)) if asked else found


def _tell_of_new(plan: PendingRows, resolved: Resolved, found: Transition, new: Version) -> None:
    more: dict[str, object] = {} if new.review is None else {"review": new.review}
    if new.superseded_by is not None:
        more["by"] = ids.public(ids.MEMORY, new.superseded_by)
    audit_added(plan, new.id, resolved, found.reason, status=new.status, more=more)


def _restate(plan: PendingRows, resolved: Resolved, decision: Believe, after: Version) -> Mapping[str, object]:
    """Add the rows of a repeated statement to the plan; return the columns of its memory that change."""
    change = decision.transition.change_of(after.id)
    assert change is not None  # noqa: S101 - what is said again was read
    assert isinstance(change.before, Existing)  # noqa: S101 - as above
    before, prepared, rewritten = change.before, resolved.prepared, decision.rewritten
    columns: dict[str, object] = {}
    if prepared.candidate.category is not None:
        decay = prepared.candidate.type.decay(prepared.candidate.category)
        chosen = prepared.candidate.category
        columns |= {"category": chosen, "half_life_days": decay.half_life_days, "floor": decay.floor}
    if rewritten is not None:
        payload = rewritten.candidate.payload.stored(rewritten.event)
        columns |= {"payload": payload, "content": rewritten.content, "identity": rewritten.identity}
        reindex(plan, before, after, rewritten)
    named = {role: str(ref.id) for role, ref in resolved.refs.items()}
    plan.restated.append(Restatement(id=after.id, mentions=after.parts.mentions, named=named))
    plan.rows["memory_usage"].append(
        {"tenant_id": plan.around.tenant, "memory_id": after.id, "last_accessed_at": plan.around.now}
    )
    add_entities(plan, after.id, resolved, before=before.parts.mentions)
    tell_of_repetition(plan, before, after, decision.reason, rewritten=rewritten is not None)
    return columns


def tell_of_repetition(plan: PendingRows, before: Version, after: Version, reason: str, *, rewritten: bool) -> None:
    """Add the audit events of a memory that was said again; `rewritten`: in more words than it had."""
    old, new = confidence_detail(before.parts), confidence_detail(after.parts)
    detail: dict[str, object] = {
        "reason": reason,
        "confidence": [before.confidence, after.confidence],
        "parts": {name: [value, new[name]] for name, value in old.items()},
        "rewritten": rewritten,
    }
    if after.valid_until != before.valid_until:
        ends = (before.valid_until, after.valid_until)
        detail["valid_until"] = [None if end is None else end.isoformat() for end in ends]
    audit(plan, AuditAction.MEMORY_MERGED, before.id, detail)
    if after.status is not before.status:
        told = {"reason": "it was stated again", "status": [before.status, after.status]}
        audit(plan, AuditAction.MEMORY_REVIVED, before.id, told)


def tell_of_changes(plan: PendingRows, found: Transition, *, by_confidence: float | None = None) -> None:
    """Add the audit events of a transition, except those of the new and of the repeated memory."""
    for change in found.changes:
        _tell_of_change(plan, change, by_confidence)
    if found.outcome in {SlotOutcome.DOUBTED, SlotOutcome.CONTRADICTED} and found.new is None:
        for one in found.rivals:
            detail = {"reason": found.reason, "confidence": one.confidence, "by_confidence": by_confidence}
            audit(plan, AuditAction.MEMORY_ENDING_DOUBTED, one.id, detail)
    for link in found.links:
        by = {"by": ids.public(ids.MEMORY, link.source)}
        if link.kind is LinkKind.CONTRADICTS:
            one = next(one for one in found.rivals if one.id == link.target)
            detail = {"confidence": one.confidence, "by_confidence": by_confidence, "tolerance": TOLERANCE}
            audit(plan, AuditAction.MEMORY_CONTRADICTED, link.target, {**by, "reason": found.reason, **detail})
        elif link.kind is LinkKind.CONFLICTS_WITH:
            audit(plan, AuditAction.MEMORY_CONFLICTED, link.target, {**by, "reason": _RULED})


_RULED = "a statement about what it rules"


def _tell_of_change(plan: PendingRows, change: VersionChange, by_confidence: float | None) -> None:
    before, after = change.before, change.after
    common: dict[str, object] = {"reason": change.reason, "confidence": before.confidence}
    moved = {"status": [before.status, after.status]}
    trusted = {} if by_confidence is None else {"by_confidence": by_confidence}
    by = {} if change.by is None else {"by": ids.public(ids.MEMORY, change.by)}
    match change.cause:
        case ChangeCause.SUPERSEDED:
            tolerance = {"tolerance": TOLERANCE} if trusted else {}
            audit(plan, AuditAction.MEMORY_SUPERSEDED, before.id, {**by, **common, **moved, **trusted, **tolerance})
        case ChangeCause.ENDED if (end := after.ended_at or after.valid_until) is not None:
            ended = {"ended_at": end.isoformat()}
            audit(plan, AuditAction.MEMORY_ENDED, before.id, {**common, **ended, **moved, **trusted})
        case ChangeCause.RELINKED if change.by is not None:
            placed = {"between": ids.public(ids.MEMORY, change.by), "reason": change.reason}
            audit(plan, AuditAction.MEMORY_RELINKED, before.id, placed)
        case ChangeCause.REVIVED:
            audit(plan, AuditAction.MEMORY_REVIVED, before.id, {"reason": change.reason, **moved})
        case ChangeCause.REVERTED:
            numbers: dict[str, object] = {}
            if before.confidence != after.confidence:
                numbers["confidence"] = [before.confidence, after.confidence]
            if before.status is not after.status:
                numbers |= moved
            audit(plan, AuditAction.MEMORY_REVERTED, before.id, {"reason": change.reason, **numbers})
        case ChangeCause.UNCONTESTED if before.review is not None and after.review is None:
            audit(plan, AuditAction.REVIEW_SETTLED, before.id, {"reason": "nothing contradicts it any more"})
        case _:
            pass  # told of as a part of the decision that brought it about


_AFFECTED = {
    ChangeCause.SUPERSEDED: "superseded",
    ChangeCause.ENDED: "ended",
    ChangeCause.FORGOTTEN: "forgotten",
    ChangeCause.UNCONTESTED: "uncontested",
    ChangeCause.REVERTED: "reverted",
}


def affected_by(found: Transition) -> tuple[AffectedMemory, ...]:
    """Return the other memories that a transition changed or was linked to, and how."""
    told = [
        AffectedMemory(id=one.before.id, change=_AFFECTED[one.cause]) for one in found.changes if one.cause in _AFFECTED
    ]
    if found.outcome is SlotOutcome.HISTORY:
        successor, *predecessor = found.rivals
        told.append(AffectedMemory(id=successor.id, change="follows"))
        told += [AffectedMemory(id=one.id, change="superseded") for one in predecessor]
    elif found.outcome in {SlotOutcome.CONTRADICTED, SlotOutcome.DOUBTED}:
        told += [AffectedMemory(id=one.id, change="contradicted") for one in found.rivals]
    guards = [link.target for link in found.links if link.kind is LinkKind.CONFLICTS_WITH]
    return (*told, *(AffectedMemory(id=one, change=LinkKind.CONFLICTS_WITH) for one in guards))
