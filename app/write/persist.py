"""Stage: from changes to rows and answers.

What a write answers: its new memories as reading them back would show them, without reading them back.

From decisions to rows: what one transaction will write, worked out before it opens.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime
from operator import itemgetter
from typing import Any, assert_never
from uuid import UUID

from app import ids
from app.db.apply import MarkForReview, MemoryEnd, MemoryMerge, Relink, Retire
from app.db.memories.read import memory_of
from app.memory import confidence
from app.memory.audit import AuditAction
from app.memory.candidate import AffectedMemory, DecidedCandidate
from app.memory.versions import TOLERANCE
from app.model import LinkKind, Memory, MemoryStatus, ReviewReason, Scope
from app.write.conflict import GuardReview, link_guards, review_of
from app.write.rows import (
    PendingRows,
    add,
    add_entities,
    add_evidence,
    add_link,
    audit,
    audit_added,
    confidence_detail,
    reindex,
)
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


def memory_as_stored(plan: PendingRows, scope: Scope) -> dict[UUID, Memory]:
    """Return the memories that the plan adds, by id."""
    links, evidence = _links(plan), _evidence(plan)
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


def _links(plan: PendingRows) -> dict[object, list[dict[str, str]]]:
    """Return the links of each memory, in the order of those that are written at once."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistResult:
    """What a decision came to in the words of the API; `memory` is the id of what now holds the belief."""

    decided: DecidedCandidate
    reason: str
    memory: UUID | None
    affected: tuple[AffectedMemory, ...] = ()


def persist(plan: PendingRows, resolved: Resolved, decision: Decision) -> PersistResult:
    """Add to the plan what the decision writes, and return what it came to."""
    match decision:
        case End() | EndForReview():
            return _ended(plan, resolved, decision)
        case Reject() | Repeat():
            return _unwritten(plan, resolved, decision)
        case Merge():
            verdict = _merge(plan, resolved, decision)
        case Add():
            verdict = _add(plan, resolved, decision)
        case Supersede():
            verdict = _supersede(plan, resolved, decision)
        case Contradict():
            verdict = _contradict(plan, resolved, decision)
        case AddAsHistory():
            verdict = _history(plan, resolved, decision)
        case Review():
            verdict = _pend(plan, resolved, decision)
        case _:
            assert_never(decision)
    return verdict


def _unwritten(plan: PendingRows, resolved: Resolved, decision: Reject | Repeat) -> PersistResult:
    if isinstance(decision, Repeat):
        return PersistResult(decided=DecidedCandidate.MERGED, reason=decision.reason, memory=decision.memory)
    prepared = resolved.prepared
    detail = {
        "type": prepared.candidate.type.name,
        "reason": decision.reason,
        "confidence": prepared.confidence,
        "parts": confidence_detail(prepared.parts),
    }
    audit(plan, AuditAction.MEMORY_REJECTED, None, detail)
    return PersistResult(decided=DecidedCandidate.REJECTED, reason=decision.reason, memory=None)


def _add(plan: PendingRows, resolved: Resolved, decision: Add) -> PersistResult:
    if decision.over:
        new = add(plan, resolved, status=MemoryStatus.EXPIRED)
        audit_added(plan, new, resolved, decision.reason, status=MemoryStatus.EXPIRED)
        return PersistResult(decided=DecidedCandidate.ADDED, reason=decision.reason, memory=new)
    review = review_of(resolved)
    new = add(plan, resolved, review=review)
    audit_added(plan, new, resolved, decision.reason, more=_told(review))
    affected = link_guards(plan, new, resolved)
    return PersistResult(decided=DecidedCandidate.ADDED, reason=decision.reason, memory=new, affected=affected)


def _told(review: GuardReview | None) -> dict[str, object] | None:
    return None if review is None else {"review": review[0]}


def _pend(plan: PendingRows, resolved: Resolved, decision: Review) -> PersistResult:
    if decision.into is not None:
        add_evidence(plan, decision.into.id, resolved.prepared)
        audit(plan, AuditAction.MEMORY_ECHOED, decision.into.id, {"reason": decision.reason})
        return PersistResult(decided=DecidedCandidate.REVIEW, reason=decision.reason, memory=decision.into.id)
    new = add(plan, without_slot(resolved), status=MemoryStatus.PENDING, review=(decision.why, decision.reason))
    audit_added(plan, new, resolved, decision.reason, status=MemoryStatus.PENDING, more={"review": decision.why})
    return PersistResult(decided=DecidedCandidate.REVIEW, reason=decision.reason, memory=new)


def without_slot(resolved: Resolved) -> Resolved:
    """Return the candidate without names and slot: what nobody has looked at teaches no name and takes no place."""
    return replace(resolved, refs={}, slot=None, value=None, unified=())


def _merge(plan: PendingRows, resolved: Resolved, decision: Merge) -> PersistResult:
    into, prepared = decision.into, resolved.prepared
    if decision.echo:
        add_evidence(plan, into.id, prepared)
        audit(plan, AuditAction.MEMORY_ECHOED, into.id, {"reason": decision.reason})
        return PersistResult(decided=DecidedCandidate.MERGED, reason=decision.reason, memory=into.id)
    parts = confidence.merged_parts(into.parts, prepared.parts)
    believed = confidence.meets_floor(parts, into.speech_act)
    rewritten = decision.rewritten
    decay = prepared.candidate.type.decay(prepared.candidate.category)
    plan.touch(into)
    plan.merged.append(
        MemoryMerge(
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
        "parts": {
            name: [before, confidence_detail(parts)[name]] for name, before in confidence_detail(into.parts).items()
        },
        "rewritten": rewritten is not None,
        **_end_told(into, decision.until),
    }
    audit(plan, AuditAction.MEMORY_MERGED, into.id, detail)
    if into.status == MemoryStatus.EXPIRED and into.ended_at is None:
        told = {"reason": "it was stated again", "status": [into.status, MemoryStatus.ACTIVE]}
        audit(plan, AuditAction.MEMORY_REVIVED, into.id, told)
    return PersistResult(decided=DecidedCandidate.MERGED, reason=decision.reason, memory=into.id, affected=affected)


def _end_told(into: Existing, until: datetime | None) -> dict[str, object]:
    """Return from when to when the end of a belief was moved, if it was."""
    if until is None or until == into.valid_until:
        return {}
    return {"valid_until": [None if into.valid_until is None else into.valid_until.isoformat(), until.isoformat()]}


def _supersede(plan: PendingRows, resolved: Resolved, decision: Supersede) -> PersistResult:
    first, *_ = decision.old
    plan.touch(*decision.old)
    review = review_of(resolved)
    new = add(plan, resolved, supersedes=first.id, review=review)
    audit_added(plan, new, resolved, decision.reason, more=_told(review))
    affected = _retire(plan, resolved, new, decision.old, decision.reason) + link_guards(plan, new, resolved)
    return PersistResult(decided=DecidedCandidate.SUPERSEDED, reason=decision.reason, memory=new, affected=affected)


def _retire(
    plan: PendingRows, resolved: Resolved, new: UUID, others: tuple[Existing, ...], reason: str
) -> tuple[AffectedMemory, ...]:
    """Gather that what was stated takes the place of others, from when on it holds."""
    takes_over = resolved.prepared.begins
    for old in others:
        plan.retired.append(
            Retire(id=old.id, successor=new, ended_at=max(takes_over, old.valid_from), retired_at=plan.around.now)
        )
        add_link(plan, new, LinkKind.SUPERSEDES, old.id)
        detail = {
            "by": ids.public(ids.MEMORY, new),
            "reason": reason,
            "status": [old.status, MemoryStatus.SUPERSEDED],
            "confidence": old.confidence,
            "by_confidence": resolved.prepared.confidence,
            "tolerance": TOLERANCE,
        }
        audit(plan, AuditAction.MEMORY_SUPERSEDED, old.id, detail)
    return tuple(AffectedMemory(id=old.id, change="superseded") for old in others)


def _ended(plan: PendingRows, resolved: Resolved, decision: End | EndForReview) -> PersistResult:
    return _end(plan, resolved, decision) if isinstance(decision, End) else _doubt(plan, resolved, decision)


def _end(plan: PendingRows, resolved: Resolved, decision: End) -> PersistResult:
    """Take beliefs out of use; what said so becomes evidence of the first, so that its turn counts once."""
    stated_at = resolved.prepared.stated_at
    for old in decision.old:
        ended_at = max(decision.at, old.valid_from)
        plan.ended.append(MemoryEnd(id=old.id, ended_at=ended_at, retired_at=plan.around.now, stated_at=stated_at))
        detail = {
            "reason": decision.reason,
            "ended_at": ended_at.isoformat(),
            "status": [old.status, MemoryStatus.EXPIRED],
            "confidence": old.confidence,
            "by_confidence": resolved.prepared.confidence,
        }
        audit(plan, AuditAction.MEMORY_ENDED, old.id, detail)
    add_evidence(plan, decision.old[0].id, resolved.prepared)
    affected = tuple(AffectedMemory(id=old.id, change="ended") for old in decision.old)
    return PersistResult(
        decided=DecidedCandidate.ENDED, reason=decision.reason, memory=decision.old[0].id, affected=affected
    )


def _doubt(plan: PendingRows, resolved: Resolved, decision: EndForReview) -> PersistResult:
    for other in decision.others:
        if decision.review is not None:
            plan.doubted.append(
                MarkForReview(id=other.id, reason=decision.review, note=decision.reason, since=plan.around.now)
            )
        detail = {
            "reason": decision.reason,
            "confidence": other.confidence,
            "by_confidence": resolved.prepared.confidence,
        }
        audit(plan, AuditAction.MEMORY_ENDING_DOUBTED, other.id, detail)
    add_evidence(plan, decision.others[0].id, resolved.prepared)
    decided = DecidedCandidate.CONTRADICTED if decision.review is None else DecidedCandidate.REVIEW
    affected = tuple(AffectedMemory(id=other.id, change="contradicted") for other in decision.others)
    return PersistResult(decided=decided, reason=decision.reason, memory=decision.others[0].id, affected=affected)


def _contradict(plan: PendingRows, resolved: Resolved, decision: Contradict) -> PersistResult:
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
        audit(plan, AuditAction.MEMORY_CONTRADICTED, other.id, detail)
    affected = tuple(AffectedMemory(id=other.id, change="contradicted") for other in decision.others)
    affected += link_guards(plan, new, resolved)
    return PersistResult(decided=DecidedCandidate.CONTRADICTED, reason=decision.reason, memory=new, affected=affected)


def _history(plan: PendingRows, resolved: Resolved, decision: AddAsHistory) -> PersistResult:
    successor, predecessor = decision.successor, decision.predecessor
    plan.touch(successor, *(() if predecessor is None else (predecessor,)))
    new = add(plan, resolved, supersedes=None if predecessor is None else predecessor.id, successor=successor)
    by = {"by": ids.public(ids.MEMORY, successor.id)}
    audit_added(plan, new, resolved, decision.reason, status=MemoryStatus.SUPERSEDED, more=by)
    placed = {"between": ids.public(ids.MEMORY, new), "reason": decision.reason}
    audit(plan, AuditAction.MEMORY_RELINKED, successor.id, placed)
    add_link(plan, successor.id, LinkKind.SUPERSEDES, new)
    plan.relinked.append(Relink(id=successor.id, supersedes=new, superseded_by=None, ended_at=None))
    affected = [AffectedMemory(id=successor.id, change="follows")]
    if predecessor is not None:
        add_link(plan, new, LinkKind.SUPERSEDES, predecessor.id)
        begins = resolved.prepared.begins
        ended = max(
            predecessor.valid_from, begins if predecessor.ended_at is None else min(begins, predecessor.ended_at)
        )
        plan.relinked.append(Relink(id=predecessor.id, supersedes=None, superseded_by=new, ended_at=ended))
        audit(plan, AuditAction.MEMORY_RELINKED, predecessor.id, placed)
        affected.append(AffectedMemory(id=predecessor.id, change="superseded"))
    return PersistResult(decided=DecidedCandidate.ADDED, reason=decision.reason, memory=new, affected=tuple(affected))
