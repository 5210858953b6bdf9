"""From decisions to rows: what one transaction will write, worked out before it opens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import assert_never
from uuid import UUID

from app import ids
from app.db.changes import Doubted, Ended, Merged, Relinked, Retired
from app.memory import confidence
from app.memory.actions import Action
from app.memory.candidate import Affected, Decided
from app.memory.conflict import TOLERANCE
from app.model import LinkKind, ReviewReason, Status
from app.write.graph import add_entities
from app.write.guarding import Review, link_guards, review_of
from app.write.plan import Plan
from app.write.rows import (
    add,
    add_evidence,
    add_link,
    audit,
    audit_added,
    parts_told,
    reindex,
)
from app.write.values import (
    Add,
    Contradict,
    Decision,
    Doubt,
    End,
    Existing,
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
        case End() | Doubt():
            return _ended(plan, resolved, decision)
        case Reject() | Known():
            return _unwritten(plan, resolved, decision)
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
        case _:
            assert_never(decision)
    return verdict


def _unwritten(plan: Plan, resolved: Resolved, decision: Reject | Known) -> Verdict:
    if isinstance(decision, Known):
        return Verdict(decided=Decided.MERGED, reason=decision.reason, memory=decision.memory)
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
    if decision.over:
        new = add(plan, resolved, status=Status.EXPIRED)
        audit_added(plan, new, resolved, decision.reason, status=Status.EXPIRED)
        return Verdict(decided=Decided.ADDED, reason=decision.reason, memory=new)
    review = review_of(resolved)
    new = add(plan, resolved, review=review)
    audit_added(plan, new, resolved, decision.reason, more=_told(review))
    affected = link_guards(plan, new, resolved)
    return Verdict(decided=Decided.ADDED, reason=decision.reason, memory=new, affected=affected)


def _told(review: Review | None) -> dict[str, object] | None:
    return None if review is None else {"review": review[0]}


def _pend(plan: Plan, resolved: Resolved, decision: Pend) -> Verdict:
    if decision.into is not None:
        add_evidence(plan, decision.into.id, resolved.prepared)
        audit(plan, Action.MEMORY_ECHOED, decision.into.id, {"reason": decision.reason})
        return Verdict(decided=Decided.REVIEW, reason=decision.reason, memory=decision.into.id)
    new = add(plan, _unclaiming(resolved), status=Status.PENDING, review=(decision.why, decision.reason))
    audit_added(plan, new, resolved, decision.reason, status=Status.PENDING, more={"review": decision.why})
    return Verdict(decided=Decided.REVIEW, reason=decision.reason, memory=new)


def _unclaiming(resolved: Resolved) -> Resolved:
    """Return the candidate without names and slot: what nobody has looked at teaches no name and takes no place."""
    return replace(resolved, refs={}, slot=None, value=None, unified=())


def _merge(plan: Plan, resolved: Resolved, decision: Merge) -> Verdict:
    into, prepared = decision.into, resolved.prepared
    if decision.echo:
        add_evidence(plan, into.id, prepared)
        audit(plan, Action.MEMORY_ECHOED, into.id, {"reason": decision.reason})
        return Verdict(decided=Decided.MERGED, reason=decision.reason, memory=into.id)
    parts = confidence.merged(into.parts, prepared.parts)
    believed = confidence.believed(parts, into.speech_act)
    rewritten = decision.rewritten
    decay = prepared.candidate.type.decay(prepared.candidate.category)
    plan.touch(into)
    plan.merged.append(
        Merged(
            id=into.id,
            source_strength=parts.source,
            extractor_confidence=parts.extractor,
            mentions=parts.mentions,
            confidence=believed,
            stated_at=max(into.stated_at, prepared.stated_at),
            payload=None if rewritten is None else rewritten.candidate.payload.stored(rewritten.event),
            content=None if rewritten is None else rewritten.content,
            identity=None if rewritten is None else rewritten.identity,
            category=prepared.candidate.category,
            half_life_days=decay.half_life_days,
            floor=decay.floor,
            settles=bool(decision.settles),
            valid_until=decision.until,
            named={role: str(ref.id) for role, ref in resolved.refs.items()},
        )
    )
    affected = _retire(plan, resolved, into.id, decision.settles, "the other side was stated again, and is trusted")
    if rewritten is not None:
        reindex(plan, replace(into, valid_until=decision.until or into.valid_until), rewritten, believed)
    plan.rows["memory_usage"].append(
        {"tenant_id": plan.around.tenant, "memory_id": into.id, "last_accessed_at": plan.around.now}
    )
    add_evidence(plan, into.id, prepared)
    add_entities(plan, into.id, resolved, before=into.parts.mentions)
    detail = {
        "reason": decision.reason,
        "confidence": [into.confidence, believed],
        "parts": {name: [before, parts_told(parts)[name]] for name, before in parts_told(into.parts).items()},
        "rewritten": rewritten is not None,
        **_end_told(into, decision.until),
    }
    audit(plan, Action.MEMORY_MERGED, into.id, detail)
    if into.status == Status.EXPIRED and into.ended_at is None:
        told = {"reason": "it was stated again", "status": [into.status, Status.ACTIVE]}
        audit(plan, Action.MEMORY_REVIVED, into.id, told)
    return Verdict(decided=Decided.MERGED, reason=decision.reason, memory=into.id, affected=affected)


def _end_told(into: Existing, until: datetime | None) -> dict[str, object]:
    """Return from when to when the end of a belief was moved, if it was."""
    if until is None or until == into.valid_until:
        return {}
    return {"valid_until": [None if into.valid_until is None else into.valid_until.isoformat(), until.isoformat()]}


def _supersede(plan: Plan, resolved: Resolved, decision: Supersede) -> Verdict:
    first, *_ = decision.old
    plan.touch(*decision.old)
    review = review_of(resolved)
    new = add(plan, resolved, supersedes=first.id, review=review)
    audit_added(plan, new, resolved, decision.reason, more=_told(review))
    affected = _retire(plan, resolved, new, decision.old, decision.reason) + link_guards(plan, new, resolved)
    return Verdict(decided=Decided.SUPERSEDED, reason=decision.reason, memory=new, affected=affected)


def _retire(
    plan: Plan, resolved: Resolved, new: UUID, others: tuple[Existing, ...], reason: str
) -> tuple[Affected, ...]:
    """Gather that what was stated takes the place of others, from when on it holds."""
    takes_over = resolved.prepared.begins
    for old in others:
        plan.retired.append(
            Retired(id=old.id, successor=new, ended_at=max(takes_over, old.valid_from), retired_at=plan.around.now)
        )
        add_link(plan, new, LinkKind.SUPERSEDES, old.id)
        detail = {
            "by": ids.public(ids.MEMORY, new),
            "reason": reason,
            "status": [old.status, Status.SUPERSEDED],
            "confidence": old.confidence,
            "by_confidence": resolved.prepared.confidence,
            "tolerance": TOLERANCE,
        }
        audit(plan, Action.MEMORY_SUPERSEDED, old.id, detail)
    return tuple(Affected(id=old.id, change="superseded") for old in others)


def _ended(plan: Plan, resolved: Resolved, decision: End | Doubt) -> Verdict:
    return _end(plan, resolved, decision) if isinstance(decision, End) else _doubt(plan, resolved, decision)


def _end(plan: Plan, resolved: Resolved, decision: End) -> Verdict:
    """Take beliefs out of use; what said so becomes evidence of the first, so that its turn counts once."""
    stated_at = resolved.prepared.stated_at
    for old in decision.old:
        ended_at = max(decision.at, old.valid_from)
        plan.ended.append(Ended(id=old.id, ended_at=ended_at, retired_at=plan.around.now, stated_at=stated_at))
        detail = {
            "reason": decision.reason,
            "ended_at": ended_at.isoformat(),
            "status": [old.status, Status.EXPIRED],
            "confidence": old.confidence,
            "by_confidence": resolved.prepared.confidence,
        }
        audit(plan, Action.MEMORY_ENDED, old.id, detail)
    add_evidence(plan, decision.old[0].id, resolved.prepared)
    affected = tuple(Affected(id=old.id, change="ended") for old in decision.old)
    return Verdict(decided=Decided.ENDED, reason=decision.reason, memory=decision.old[0].id, affected=affected)


def _doubt(plan: Plan, resolved: Resolved, decision: Doubt) -> Verdict:
    for other in decision.others:
        if decision.review is not None:
            plan.doubted.append(
                Doubted(id=other.id, reason=decision.review, note=decision.reason, since=plan.around.now)
            )
        detail = {
            "reason": decision.reason,
            "confidence": other.confidence,
            "by_confidence": resolved.prepared.confidence,
        }
        audit(plan, Action.MEMORY_ENDING_DOUBTED, other.id, detail)
    add_evidence(plan, decision.others[0].id, resolved.prepared)
    decided = Decided.CONTRADICTED if decision.review is None else Decided.REVIEW
    affected = tuple(Affected(id=other.id, change="contradicted") for other in decision.others)
    return Verdict(decided=decided, reason=decision.reason, memory=decision.others[0].id, affected=affected)


def _contradict(plan: Plan, resolved: Resolved, decision: Contradict) -> Verdict:
    review = review_of(resolved, (ReviewReason.CONTRADICTION, decision.reason) if decision.needs_review else None)
    plan.touch(*decision.others)
    new = add(plan, resolved, contested=True, review=review)
    audit_added(plan, new, resolved, decision.reason, more=_told(review))
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
    affected += link_guards(plan, new, resolved)
    return Verdict(decided=Decided.CONTRADICTED, reason=decision.reason, memory=new, affected=affected)


def _history(plan: Plan, resolved: Resolved, decision: History) -> Verdict:
    successor, predecessor = decision.successor, decision.predecessor
    plan.touch(successor, *(() if predecessor is None else (predecessor,)))
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
        begins = resolved.prepared.begins
        ended = max(
            predecessor.valid_from, begins if predecessor.ended_at is None else min(begins, predecessor.ended_at)
        )
        plan.relinked.append(Relinked(id=predecessor.id, supersedes=None, superseded_by=new, ended_at=ended))
        audit(plan, Action.MEMORY_RELINKED, predecessor.id, placed)
        affected.append(Affected(id=predecessor.id, change="superseded"))
    return Verdict(decided=Decided.ADDED, reason=decision.reason, memory=new, affected=tuple(affected))
