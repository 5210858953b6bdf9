"""Stage: turn resolved candidates into slot events; guards and endings.

What a statement that something is no longer so comes to (docs/decisions/0021-endings.md).

What a memory comes to that a guard stands against: it is stored, linked to the guard, and a person looks at it.

What a statement's own window of time says about the present: nothing, or not yet.

Deduplication and conflict: what to do with a candidate, given what is already believed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from app import ids
from app.memory import confidence, normalise
from app.memory.audit import AuditAction
from app.memory.candidate import AffectedMemory
from app.memory.lifecycle import is_over
from app.memory.placement import REVIEW_IMPORTANCE
from app.memory.spec import Payload
from app.memory.versions import TOLERANCE, SlotClaim, SlotVerdict
from app.model import LinkKind, MemoryStatus, ReviewReason, SpeechAct
from app.write.dedup import doubtful, duplicates, is_comparable, stored_duplicate
from app.write.rows import PendingRows, add_link, audit
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


def resolve_ending(
    resolved: Resolved, existing: Sequence[Existing], *, doubted: Review | None
) -> End | EndForReview | Reject:
    """Return what becomes of the beliefs that an ending is about.

    They end if a new value stated so would supersede them, by the rule of their type. `doubted`: a person should
    look at the ending first; then they stand, and wait for that person.
    """
    prepared = resolved.prepared
    if prepared.candidate.speech_act is not SpeechAct.ASSERTION:
        return Reject(reason="only what is asserted ends a belief")
    meant = [one for one in existing if one.relation == "ended" and _is_meant(resolved, one)]
    verdicts = [(one, _ending_verdict(resolved, one)) for one in sorted(meant, key=lambda one: (one.contested, one.id))]
    standing = tuple(one for one, verdict in verdicts if verdict is not SlotVerdict.HISTORY)
    if not standing:
        stated_since = "it was stated again since" if meant else "nothing that is believed ends with it"
        return Reject(reason=stated_since)
    if doubted is not None:
        return EndForReview(
            others=standing, review=ReviewReason.DOUBTFUL, reason=f"said to have ended; {doubted.reason}"
        )
    giving_way = tuple(one for one, verdict in verdicts if verdict is SlotVerdict.SUPERSEDE)
    if giving_way:
        ending = prepared.candidate.ending
        at = prepared.stated_at if ending is None or ending.at is None else ending.at
        return End(old=giving_way, at=min(at, prepared.stated_at), reason="it is stated to be no longer so")
    matters = prepared.candidate.type.importance(prepared.candidate.payload) >= REVIEW_IMPORTANCE
    return EndForReview(
        others=standing,
        review=ReviewReason.CONTRADICTION if matters else None,
        reason="a statement that is trusted less says that it is no longer so",
    )


def _is_meant(resolved: Resolved, one: Existing) -> bool:
    """Tell whether the ending names this belief: its value, or the only one that can be held there."""
    candidate = resolved.prepared.candidate
    if candidate.ending is None or candidate.type.held is None:
        return False
    if not ends_same_value(candidate.payload, candidate.type.held.under, one):
        return False
    if not candidate.ending.named:
        return one.slot is not None
    if one.value is not None and one.value == resolved.value:
        return True
    field = candidate.type.held.value
    value = candidate.payload.model_dump(mode="json", by_alias=True)[field]
    told, held = normalise.normalise_name(str(value)), normalise.normalise_name(str(one.payload.get(field, "")))
    names_one = any(mention.creates and mention.name == value for mention in candidate.payload.mentions())
    return told == held or (not names_one and set(told.split()) <= set(held.split()))


def ends_same_value(payload: Payload, under: str, one: Existing) -> bool:
    """Tell whether a belief is held under what the ending names, where more than that had to be looked at."""
    if not payload.also_held_under():
        return True
    stored = type(payload).model_validate(one.payload)
    return str(stored.model_dump(by_alias=True)[under]) == str(payload.model_dump(by_alias=True)[under])


def _ending_verdict(resolved: Resolved, one: Existing) -> SlotVerdict:
    """Return what the type's rule makes of a new value for it, stated as the ending is."""
    old = SlotClaim(
        value=one.value or "", stated_at=one.stated_at, confidence=one.confidence, speech_act=one.speech_act
    )
    new = replace(old, value=None, stated_at=resolved.prepared.stated_at, confidence=resolved.prepared.confidence)
    return resolved.prepared.candidate.type.on_conflict(old, replace(new, speech_act=SpeechAct.ASSERTION))


GuardReview = tuple[ReviewReason, str]


def review_of(resolved: Resolved, otherwise: GuardReview | None = None) -> GuardReview | None:
    """Return why a person should look at what is stored, and the note on it; a guard comes before other reasons."""
    if not resolved.breaks or resolved.accepted is not None:
        return otherwise
    return guard_review(resolved.breaks)


def guard_review(guards: Sequence[Existing]) -> GuardReview:
    """Return why a person should look at what guards stand against, and the note on it."""
    named = ", ".join(f"{one.type} {ids.public(ids.MEMORY, one.id)}" for one in guards)
    return (
        ReviewReason.CONSTRAINT,
        f"it is about what is ruled by {named}, which stands until it is said to have ended",
    )


def link_guards(plan: PendingRows, new: UUID, resolved: Resolved) -> tuple[AffectedMemory, ...]:
    """Gather the links from what is stored to the guards against it; the guards themselves stay as they are."""
    plan.touch(*resolved.breaks)
    for guard in resolved.breaks:
        add_link(plan, new, LinkKind.CONFLICTS_WITH, guard.id)
        detail = {"by": ids.public(ids.MEMORY, new), "reason": f"a statement about what this {guard.type} rules"}
        audit(plan, AuditAction.MEMORY_CONFLICTED, guard.id, detail)
    return tuple(AffectedMemory(id=guard.id, change=LinkKind.CONFLICTS_WITH) for guard in resolved.breaks)


def already_over(resolved: Resolved, existing: Sequence[Existing]) -> Add | Merge | None:
    """Return where a statement belongs whose time was over when it was stated: it competes with nothing now."""
    candidate, stated_at = resolved.prepared.candidate, resolved.prepared.stated_at
    if resolved.slot is None or not is_over(candidate.valid_until, stated_at):
        return None
    window = (resolved.prepared.begins, candidate.valid_until)
    known = (one for one in existing if one.relation == "identical" and (one.valid_from, one.valid_until) == window)
    same = next(known, None)
    if same is not None:
        return Merge(into=same, payload=None, reason="it is history already", echo=True)
    return Add(reason="it was over when it was stated, so it is kept as history", over=True)


def extended_end(into: Existing, resolved: Resolved) -> datetime | None:
    """Return when a belief ends by a repetition of it that names an end of its own; None where it keeps what it has.

    A repetition without an end says nothing about it. One that was made earlier, whose time was over when it was
    made, or that is trusted less than what is held, repetition aside, by more than the tolerance, moves nothing.
    """
    prepared, until = resolved.prepared, resolved.prepared.candidate.valid_until
    if until is None or until <= into.valid_from or is_over(until, prepared.stated_at):
        return None
    once, held = replace(prepared.parts, mentions=1), replace(into.parts, mentions=1)
    trusted = confidence.score(once) >= confidence.score(held) - TOLERANCE
    return until if trusted and prepared.stated_at >= into.stated_at else None


def comes_after(holder: Existing, resolved: Resolved) -> bool:
    """Tell whether what holds the slot has yet to begin, and later than what is stated now."""
    return holder.valid_from > max(resolved.prepared.begins, resolved.prepared.stated_at)


Said = Mapping[tuple[UUID, bytes], UUID]
"""What turns have said already: (turn, statement) -> the memory it went into."""


def decide(
    resolved: Resolved,
    existing: Sequence[Existing],
    *,
    said: Said | None = None,
    same: Mapping[UUID, bool] | None = None,
    echoed: Collection[UUID] = (),
) -> Decision:
    """Return what to do with the candidate.

    `existing` holds those that share slot, words or meaning; `said` what its turns have said already; `same`
    what a judge holds of those that it was asked about; `echoed` those that the user has said in this session, where
    the candidate is an assistant's.
    """
    decision = _decided(resolved, existing, said=said or {}, same=same or {})
    if isinstance(decision, Merge) and decision.into.id in echoed:
        return Merge(into=decision.into, payload=None, reason="the assistant repeats what the user said", echo=True)
    resembling = [
        f"{ref.name} may be the same as {ref.resembles}" for ref in resolved.refs.values() if ref.resembles is not None
    ]
    return replace(decision, reason="; ".join((decision.reason, *resembling))) if resembling else decision


def _decided(resolved: Resolved, existing: Sequence[Existing], *, said: Said, same: Mapping[UUID, bool]) -> Decision:
    settled = repeat_or_refusal(resolved, said)
    if resolved.prepared.candidate.ending is not None and not isinstance(settled, Repeat | Reject):
        return resolve_ending(resolved, existing, doubted=settled)
    if settled is not None:
        return settled
    disowned = disowned_value(resolved, existing)
    if disowned is not None:
        return disowned
    gone_by = already_over(resolved, existing)
    if gone_by is not None:
        return gone_by
    holders = [one for one in existing if one.relation == "holder" and one.status == MemoryStatus.ACTIVE]
    if resolved.slot is not None and holders:
        return _compete(resolved, holders, existing)
    return (
        _resumed(resolved, existing)
        or _repeated(resolved, existing, same)
        or _before_its_end(resolved, existing)
        or Add(reason=_new(resolved))
    )


def _new(resolved: Resolved) -> str:
    guards = " and ".join(dict.fromkeys(one.type for one in resolved.breaks))
    return f"it is about what a {guards} rules, and stands beside it" if guards else "nothing like it was known"


def repeat_or_refusal(resolved: Resolved, said: Said) -> Repeat | Reject | Review | None:
    """Return what is decided whatever else is believed."""
    prepared = resolved.prepared
    turns = (one.turn_id for one in prepared.candidate.evidence if one.turn_id is not None)
    before = next((said[turn, prepared.identity] for turn in turns if (turn, prepared.identity) in said), None)
    if before is not None:
        return Repeat(memory=before, reason="the same turn has said this before, and it counts once")
    if prepared.confidence < confidence.WRITE_FLOOR:
        return Reject(
            reason=f"confidence {prepared.confidence:.2f} is under the write floor {confidence.WRITE_FLOOR:.2f}"
        )
    if prepared.candidate.review is not None:
        return Review(reason=f"{prepared.candidate.review}: a person should look at it first")
    return None


def disowned_value(resolved: Resolved, existing: Sequence[Existing]) -> Review | None:
    """Return that a person should look at what was said to be wrong before, in the same words.

    What a person has looked at is no longer held for one.
    """
    one = next((one for one in existing if one.relation == "disowned"), None)
    if one is None or resolved.prepared.candidate.reviewed:
        return None
    if one.status == MemoryStatus.PENDING:
        reason = "the same statement was reported wrong, and a person has yet to look at it"
        return Review(reason=reason, why=ReviewReason.REPORTED_WRONG, into=one)
    reason = "a reviewer has rejected the same statement: a person should look at it first"
    return Review(reason=reason, why=ReviewReason.REPORTED_WRONG)


def _repeated(resolved: Resolved, existing: Sequence[Existing], same: Mapping[UUID, bool]) -> Merge | None:
    """Return the merge with what says the same: word for word, or nearly, or as a judge holds.

    What is believed comes before what has expired, so that two of a kind don't come to stand side by side.
    """
    alike = duplicates(resolved, existing)
    for status in (MemoryStatus.ACTIVE, MemoryStatus.EXPIRED):
        there = [one for one in existing if one.status == status and is_comparable(resolved, one)]
        identical = next((one for one in there if one.relation == "identical"), None)
        if identical is not None:
            return merging(resolved, identical, "the same statement is already believed")
        near = next((one for one in alike if one.status == status), None)
        if near is not None:
            return merging(resolved, near, f"says the same as an existing memory (cosine {near.similarity:.3f})")
    judged = next((one for one in doubtful(resolved, existing) if same.get(one.id)), None)
    if judged is not None:
        return merging(resolved, judged, f"the judge holds it to say the same (cosine {judged.similarity:.3f})")
    return None


def _before_its_end(resolved: Resolved, existing: Sequence[Existing]) -> Merge | AddAsHistory | None:
    """Return where a late statement belongs that was made before what is known to be over by now."""
    over = next((one for one in existing if one.relation == "over"), None)
    after = next((one for one in existing if one.relation == "next" and one.ended_at is not None), None)
    if after is not None and after.status == MemoryStatus.EXPIRED:
        if after.value != resolved.value:
            previous = next((one for one in existing if one.relation == "previous"), None)
            return AddAsHistory(
                successor=after, predecessor=previous, reason="it was stated before another value that has ended since"
            )
        over = over or after
    if over is None and after is not None:
        why = "it was stated before what has been replaced since, so it is kept as history"
        return _earlier(after, existing, resolved, why)
    if over is None:
        return None
    return merging(resolved, over, "it was stated before it ended, so it stays as it was remembered")


def _compete(resolved: Resolved, holders: Sequence[Existing], existing: Sequence[Existing]) -> Decision:
    """Settle a taken slot. Holders that the type's rule gives way become history together."""
    rule = resolved.prepared.candidate.type.on_conflict
    new = _new_claim(resolved)
    by_standing = sorted(holders, key=lambda one: (one.contested, one.stated_at, one.id))
    verdicts = [(one, _verdict(resolved, one, rule(_claim(one), new))) for one in by_standing]
    same = next((one for one, verdict in verdicts if verdict is SlotVerdict.MERGE), None)
    if same is not None:
        return replace(
            merging(resolved, same, "the slot already holds this value"), settles=_settled_by(same, verdicts)
        )
    later = [one for one, verdict in verdicts if verdict is SlotVerdict.HISTORY]
    if later:
        return _earlier(later[0], existing, resolved)
    giving_way = tuple(one for one, verdict in verdicts if verdict is SlotVerdict.SUPERSEDE)
    if len(giving_way) == len(holders):
        first = next((one for one in giving_way if comes_after(one, resolved)), None)
        if first is not None:
            return _until(first, resolved, existing)
        return Supersede(old=giving_way, reason="a newer statement about the same thing replaces the older one")
    return _contradict(resolved, tuple(one for one, verdict in verdicts if verdict is SlotVerdict.CONTRADICT))


def _verdict(resolved: Resolved, holder: Existing, verdict: SlotVerdict) -> SlotVerdict:
    """Return the type's verdict, but for what was said again after it had ended, or before it begins: that is anew."""
    if verdict is not SlotVerdict.MERGE:
        return verdict
    if comes_after(holder, resolved):
        return SlotVerdict.HISTORY if holder.stated_at > resolved.prepared.stated_at else SlotVerdict.SUPERSEDE
    return SlotVerdict.SUPERSEDE if is_over(holder.valid_until, resolved.prepared.stated_at) else SlotVerdict.MERGE


def _until(last: Existing, resolved: Resolved, existing: Sequence[Existing]) -> AddAsHistory | Merge:
    """Return where a statement belongs that holds until something begins that is known already."""
    begins = resolved.prepared.begins
    known = [*(one for one in existing if one.relation == "until"), last]
    later = min((one for one in known if one.valid_from > begins), key=lambda one: one.valid_from)
    now = max((one for one in known if one.valid_from <= begins), key=lambda one: one.valid_from, default=None)
    if now is not None and now.value == resolved.value and (now.ended_at is None or now.ended_at > begins):
        return merging(resolved, now, "the slot holds this value until another begins")
    return AddAsHistory(successor=later, predecessor=now, reason="it holds until what is known to come after it begins")


def _resumed(resolved: Resolved, existing: Sequence[Existing]) -> Merge | AddAsHistory | None:
    """Settle a slot whose holders have all expired: the same value is believed again, another takes the free slot."""
    expired = [one for one in existing if one.relation == "holder"]
    if resolved.slot is None or not expired:
        return None
    rule, new = resolved.prepared.candidate.type.on_conflict, _new_claim(resolved)
    verdicts = [
        (one, rule(_claim(one), new))
        for one in sorted(expired, key=lambda one: (not one.contested, one.stated_at, one.id), reverse=True)
    ]
    same = [one for one, verdict in verdicts if verdict is SlotVerdict.MERGE and is_comparable(resolved, one)]
    if same:
        return merging(resolved, same[0], "the slot held this value before it expired")
    later = [one for one, verdict in verdicts if verdict is SlotVerdict.HISTORY]
    return _earlier(later[0], existing, resolved) if later else None


def _earlier(
    later: Existing,
    existing: Sequence[Existing],
    resolved: Resolved,
    reason: str = "it was stated before what is believed now, so it is kept as history",
) -> AddAsHistory | Merge:
    following = next((one for one in existing if one.relation == "next"), later)
    previous = next((one for one in existing if one.relation == "previous"), None)
    begins = resolved.prepared.begins
    for one in (following, previous):
        held = one is not None and one.status == MemoryStatus.SUPERSEDED and one.value == resolved.value
        if one is not None and held and one.valid_from <= begins < (one.ended_at or begins):
            return merging(resolved, one, "the slot held this value then")
    return AddAsHistory(successor=following, predecessor=previous, reason=reason)


def _settled_by(same: Existing, verdicts: Sequence[tuple[Existing, SlotVerdict]]) -> tuple[Existing, ...]:
    """Return those of a contested slot that a new statement of one side's value settles: all others, or none."""
    others = [
        (one, verdict)
        for one, verdict in verdicts
        if one.status == MemoryStatus.ACTIVE and verdict is not SlotVerdict.MERGE
    ]
    settled = same.status == MemoryStatus.ACTIVE and all(verdict is SlotVerdict.SUPERSEDE for _, verdict in others)
    return tuple(one for one, _ in others) if settled else ()


def _contradict(resolved: Resolved, others: tuple[Existing, ...]) -> Contradict:
    candidate = resolved.prepared.candidate
    importance = candidate.type.importance(candidate.payload)
    return Contradict(
        others=others,
        needs_review=importance >= REVIEW_IMPORTANCE,
        reason="it contradicts a belief that is trusted more, so both stand and the weaker is demoted",
    )


def _new_claim(resolved: Resolved) -> SlotClaim:
    return SlotClaim(
        value=resolved.value,
        stated_at=resolved.prepared.stated_at,
        confidence=resolved.prepared.confidence,
        speech_act=resolved.prepared.candidate.speech_act,
    )


def _claim(existing: Existing) -> SlotClaim:
    return SlotClaim(
        value=existing.value,
        stated_at=existing.stated_at,
        confidence=existing.confidence,
        speech_act=existing.speech_act,
    )


def merging(resolved: Resolved, into: Existing, reason: str) -> Merge:
    """Return the merge of the candidate into a memory of its type: what both say together, if that is more.

    Where the candidate names an end of its own, the memory ends by that.
    """
    payload = resolved.prepared.candidate.payload
    known = stored_duplicate(resolved, into)
    merged = known.merged_with(payload)
    until = extended_end(into, resolved)
    return Merge(into=into, payload=None if merged == known else merged, reason=reason, until=until)
