"""From decisions to rows: what one transaction will write, worked out before it opens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never
from uuid import UUID

from app import ids
from app.db.writing import Merged, Relinked, Retired
from app.memory import confidence
from app.memory.candidate import Affected, Decided
from app.memory.conflict import TOLERANCE
from app.model import Action, LinkKind, ReviewReason, Status
from app.write.graph import add_entities
from app.write.plan import Plan
from app.write.rows import (
    add,
    add_evidence,
    add_link,
    audit,
    audit_added,
    parts_told,
    reindex,
    stored_payload,
    takes_hold,
)
from app.write.values import (
    Add,
    Contradict,
    Decision,
    History,
    Known,
    Merge,
    Pend,
    Reject,
    Resolved,
    Supersede,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a decision came to in the words of the API; `memory` is the id of what now holds the belief."""

    decided: Decided
    reason: str
    memory: UUID | None
    affected: tuple[Affected, ...] = ()


def persist(plan: Plan, resolved: Resolved, decision: Decision) -> Verdict:
    """Add to the plan what the decision writes, and return what it came to."""
    match decision:
        case Reject():
            verdict = _reject(plan, resolved, decision)
        case Merge():
            verdict = _merge(plan, resolved, decision)
        case Add():
            verdict = _add(plan, resolved, decision)
        case Supersede():
            verdict = _supersede(plan, resolved, decision)
        case Contradict():
            verdict = _contradict(plan, resolved, decision)
        case History():
            verdict = _history(plan, resolved, decision)
        case Pend():
            verdict = _pend(plan, resolved, decision)
        case Known():
            verdict = Verdict(decided=Decided.MERGED, reason=decision.reason, memory=decision.memory)
        case _:
            assert_never(decision)
    return verdict


def _reject(plan: Plan, resolved: Resolved, decision: Reject) -> Verdict:
    prepared = resolved.prepared
    detail = {
        "type": prepared.candidate.type.name,
        "reason": decision.reason,
        "confidence": prepared.confidence,
        "parts": parts_told(prepared.parts),
    }
    audit(plan, Action.MEMORY_REJECTED, None, detail)
    return Verdict(decided=Decided.REJECTED, reason=decision.reason, memory=None)


def _add(plan: Plan, resolved: Resolved, decision: Add) -> Verdict:
    new = add(plan, resolved)
    audit_added(plan, new, resolved, decision.reason)
    return Verdict(decided=Decided.ADDED, reason=decision.reason, memory=new)


def _pend(plan: Plan, resolved: Resolved, decision: Pend) -> Verdict:
    new = add(plan, _unclaiming(resolved), status=Status.PENDING, review=(ReviewReason.DOUBTFUL, decision.reason))
    audit_added(plan, new, resolved, decision.reason, status=Status.PENDING, more={"review": ReviewReason.DOUBTFUL})
    return Verdict(decided=Decided.REVIEW, reason=decision.reason, memory=new)


def _unclaiming(resolved: Resolved) -> Resolved:
    """Return the candidate without names and slot: what nobody has looked at teaches no name and takes no place."""
    return replace(resolved, refs={}, slot=None, value=None, unified=())


def _merge(plan: Plan, resolved: Resolved, decision: Merge) -> Verdict:
    into, prepared = decision.into, resolved.prepared
    parts = confidence.merged(into.parts, prepared.parts)
    believed = confidence.believed(parts, into.speech_act)
    rewritten = decision.rewritten
    plan.merged.append(
        Merged(
            id=into.id,
            source_strength=parts.source,
            extractor_confidence=parts.extractor,
            mentions=parts.mentions,
            confidence=believed,
            stated_at=max(into.stated_at, prepared.stated_at),
            payload=None if rewritten is None else stored_payload(rewritten),
            content=None if rewritten is None else rewritten.content,
            identity=None if rewritten is None else rewritten.identity,
        )
    )
    if rewritten is not None:
        reindex(plan, into, rewritten, believed)
    plan.rows["memory_usage"].append(
        {"tenant_id": plan.around.tenant, "memory_id": into.id, "last_accessed_at": plan.around.now}
    )
    add_evidence(plan, into.id, prepared)
    add_entities(plan, into.id, resolved)
    detail = {
        "reason": decision.reason,
        "confidence": [into.confidence, believed],
        "parts": {name: [before, parts_told(parts)[name]] for name, before in parts_told(into.parts).items()},
        "rewritten": rewritten is not None,
    }
    audit(plan, Action.MEMORY_MERGED, into.id, detail)
    return Verdict(decided=Decided.MERGED, reason=decision.reason, memory=into.id)


def _supersede(plan: Plan, resolved: Resolved, decision: Supersede) -> Verdict:
    first, *_ = decision.old
    new = add(plan, resolved, supersedes=first.id)
    audit_added(plan, new, resolved, decision.reason)
    takes_over = takes_hold(resolved.prepared)
    for old in decision.old:
        plan.retired.append(
            Retired(id=old.id, successor=new, ended_at=max(takes_over, old.valid_from), retired_at=plan.around.now)
        )
        add_link(plan, new, LinkKind.SUPERSEDES, old.id)
        detail = {
            "by": ids.public(ids.MEMORY, new),
            "reason": decision.reason,
            "status": [old.status, Status.SUPERSEDED],
            "confidence": old.confidence,
            "by_confidence": resolved.prepared.confidence,
            "tolerance": TOLERANCE,
        }
        audit(plan, Action.MEMORY_SUPERSEDED, old.id, detail)
    affected = tuple(Affected(id=old.id, change="superseded") for old in decision.old)
    return Verdict(decided=Decided.SUPERSEDED, reason=decision.reason, memory=new, affected=affected)


def _contradict(plan: Plan, resolved: Resolved, decision: Contradict) -> Verdict:
    review = (ReviewReason.CONTRADICTION, decision.reason) if decision.needs_review else None
    new = add(plan, resolved, contested=True, review=review)
    audit_added(plan, new, resolved, decision.reason, more=None if review is None else {"review": review[0]})
    for other in decision.others:
        add_link(plan, new, LinkKind.CONTRADICTS, other.id)
        detail = {
            "by": ids.public(ids.MEMORY, new),
            "reason": decision.reason,
            "confidence": other.confidence,
            "by_confidence": resolved.prepared.confidence,
            "tolerance": TOLERANCE,
        }
        audit(plan, Action.MEMORY_CONTRADICTED, other.id, detail)
    affected = tuple(Affected(id=other.id, change="contradicted") for other in decision.others)
    return Verdict(decided=Decided.CONTRADICTED, reason=decision.reason, memory=new, affected=affected)


def _history(plan: Plan, resolved: Resolved, decision: History) -> Verdict:
    successor, predecessor = decision.successor, decision.predecessor
    new = add(plan, resolved, supersedes=None if predecessor is None else predecessor.id, successor=successor)
    by = {"by": ids.public(ids.MEMORY, successor.id)}
    audit_added(plan, new, resolved, decision.reason, status=Status.SUPERSEDED, more=by)
    placed = {"between": ids.public(ids.MEMORY, new), "reason": decision.reason}
    audit(plan, Action.MEMORY_RELINKED, successor.id, placed)
    add_link(plan, successor.id, LinkKind.SUPERSEDES, new)
    plan.relinked.append(Relinked(id=successor.id, supersedes=new, superseded_by=None, ended_at=None))
    affected = [Affected(id=successor.id, change="follows")]
    if predecessor is not None:
        add_link(plan, new, LinkKind.SUPERSEDES, predecessor.id)
        ended = max(takes_hold(resolved.prepared), predecessor.valid_from)
        plan.relinked.append(Relinked(id=predecessor.id, supersedes=None, superseded_by=new, ended_at=ended))
        audit(plan, Action.MEMORY_RELINKED, predecessor.id, placed)
        affected.append(Affected(id=predecessor.id, change="superseded"))
    return Verdict(decided=Decided.ADDED, reason=decision.reason, memory=new, affected=tuple(affected))
