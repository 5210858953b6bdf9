"""Deduplication and conflict: what to do with a candidate, given what is already believed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from app.memory import confidence
from app.memory.conflict import REVIEW_IMPORTANCE, Claim, Verdict
from app.memory.lifecycle import is_over
from app.model import ReviewReason, Status
from app.write import windows
from app.write.ending import end
from app.write.sameness import doubtful, duplicates, fits, stored
from app.write.values import (
    Add,
    Contradict,
    Decision,
    Existing,
    History,
    Known,
    Merge,
    Pend,
    Reject,
    Resolved,
    Supersede,
)

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
    settled = _settled(resolved, said)
    if resolved.prepared.candidate.ending is not None and not isinstance(settled, Known | Reject):
        return end(resolved, existing, doubted=settled)
    if settled is not None:
        return settled
    disowned = _disowned(resolved, existing)
    if disowned is not None:
        return disowned
    gone_by = windows.gone_by(resolved, existing)
    if gone_by is not None:
        return gone_by
    holders = [one for one in existing if one.relation == "holder" and one.status == Status.ACTIVE]
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


def _settled(resolved: Resolved, said: Said) -> Known | Reject | Pend | None:
    """Return what is decided whatever else is believed."""
    prepared = resolved.prepared
    turns = (one.turn_id for one in prepared.candidate.evidence if one.turn_id is not None)
    before = next((said[turn, prepared.identity] for turn in turns if (turn, prepared.identity) in said), None)
    if before is not None:
        return Known(memory=before, reason="the same turn has said this before, and it counts once")
    if prepared.confidence < confidence.WRITE_FLOOR:
        return Reject(
            reason=f"confidence {prepared.confidence:.2f} is under the write floor {confidence.WRITE_FLOOR:.2f}"
        )
    if prepared.candidate.review is not None:
        return Pend(reason=f"{prepared.candidate.review}: a person should look at it first")
    return None


def _disowned(resolved: Resolved, existing: Sequence[Existing]) -> Pend | None:
    """Return that a person should look at what was said to be wrong before, in the same words.

    What a person has looked at is no longer held for one.
    """
    one = next((one for one in existing if one.relation == "disowned"), None)
    if one is None or resolved.prepared.candidate.reviewed:
        return None
    if one.status == Status.PENDING:
        reason = "the same statement was reported wrong, and a person has yet to look at it"
        return Pend(reason=reason, why=ReviewReason.REPORTED_WRONG, into=one)
    reason = "a reviewer has rejected the same statement: a person should look at it first"
    return Pend(reason=reason, why=ReviewReason.REPORTED_WRONG)


def _repeated(resolved: Resolved, existing: Sequence[Existing], same: Mapping[UUID, bool]) -> Merge | None:
    """Return the merge with what says the same: word for word, or nearly, or as a judge holds.

    What is believed comes before what has expired, so that two of a kind don't come to stand side by side.
    """
    alike = duplicates(resolved, existing)
    for status in (Status.ACTIVE, Status.EXPIRED):
        there = [one for one in existing if one.status == status and fits(resolved, one)]
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


def _before_its_end(resolved: Resolved, existing: Sequence[Existing]) -> Merge | History | None:
    """Return where a late statement belongs that was made before what is known to be over by now."""
    over = next((one for one in existing if one.relation == "over"), None)
    after = next((one for one in existing if one.relation == "next" and one.ended_at is not None), None)
    if after is not None and after.status == Status.EXPIRED:
        if after.value != resolved.value:
            previous = next((one for one in existing if one.relation == "previous"), None)
            return History(
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
    same = next((one for one, verdict in verdicts if verdict is Verdict.MERGE), None)
    if same is not None:
        return replace(
            merging(resolved, same, "the slot already holds this value"), settles=_settled_by(same, verdicts)
        )
    later = [one for one, verdict in verdicts if verdict is Verdict.HISTORY]
    if later:
        return _earlier(later[0], existing, resolved)
    giving_way = tuple(one for one, verdict in verdicts if verdict is Verdict.SUPERSEDE)
    if len(giving_way) == len(holders):
        first = next((one for one in giving_way if windows.comes_after(one, resolved)), None)
        if first is not None:
            return _until(first, resolved, existing)
        return Supersede(old=giving_way, reason="a newer statement about the same thing replaces the older one")
    return _contradict(resolved, tuple(one for one, verdict in verdicts if verdict is Verdict.CONTRADICT))


def _verdict(resolved: Resolved, holder: Existing, verdict: Verdict) -> Verdict:
    """Return the type's verdict, but for what was said again after it had ended, or before it begins: that is anew."""
    if verdict is not Verdict.MERGE:
        return verdict
    if windows.comes_after(holder, resolved):
        return Verdict.HISTORY if holder.stated_at > resolved.prepared.stated_at else Verdict.SUPERSEDE
    return Verdict.SUPERSEDE if is_over(holder.valid_until, resolved.prepared.stated_at) else Verdict.MERGE


def _until(last: Existing, resolved: Resolved, existing: Sequence[Existing]) -> History | Merge:
    """Return where a statement belongs that holds until something begins that is known already."""
    begins = resolved.prepared.begins
    known = [*(one for one in existing if one.relation == "until"), last]
    later = min((one for one in known if one.valid_from > begins), key=lambda one: one.valid_from)
    now = max((one for one in known if one.valid_from <= begins), key=lambda one: one.valid_from, default=None)
    if now is not None and now.value == resolved.value and (now.ended_at is None or now.ended_at > begins):
        return merging(resolved, now, "the slot holds this value until another begins")
    return History(successor=later, predecessor=now, reason="it holds until what is known to come after it begins")


def _resumed(resolved: Resolved, existing: Sequence[Existing]) -> Merge | History | None:
    """Settle a slot whose holders have all expired: the same value is believed again, another takes the free slot."""
    expired = [one for one in existing if one.relation == "holder"]
    if resolved.slot is None or not expired:
        return None
    rule, new = resolved.prepared.candidate.type.on_conflict, _new_claim(resolved)
    verdicts = [
        (one, rule(_claim(one), new))
        for one in sorted(expired, key=lambda one: (not one.contested, one.stated_at, one.id), reverse=True)
    ]
    same = [one for one, verdict in verdicts if verdict is Verdict.MERGE and fits(resolved, one)]
    if same:
        return merging(resolved, same[0], "the slot held this value before it expired")
    later = [one for one, verdict in verdicts if verdict is Verdict.HISTORY]
    return _earlier(later[0], existing, resolved) if later else None


def _earlier(
    later: Existing,
    existing: Sequence[Existing],
    resolved: Resolved,
    reason: str = "it was stated before what is believed now, so it is kept as history",
) -> History | Merge:
    following = next((one for one in existing if one.relation == "next"), later)
    previous = next((one for one in existing if one.relation == "previous"), None)
    begins = resolved.prepared.begins
    for one in (following, previous):
        held = one is not None and one.status == Status.SUPERSEDED and one.value == resolved.value
        if one is not None and held and one.valid_from <= begins < (one.ended_at or begins):
            return merging(resolved, one, "the slot held this value then")
    return History(successor=following, predecessor=previous, reason=reason)


def _settled_by(same: Existing, verdicts: Sequence[tuple[Existing, Verdict]]) -> tuple[Existing, ...]:
    """Return those of a contested slot that a new statement of one side's value settles: all others, or none."""
    others = [
        (one, verdict) for one, verdict in verdicts if one.status == Status.ACTIVE and verdict is not Verdict.MERGE
    ]
    settled = same.status == Status.ACTIVE and all(verdict is Verdict.SUPERSEDE for _, verdict in others)
    return tuple(one for one, _ in others) if settled else ()


def _contradict(resolved: Resolved, others: tuple[Existing, ...]) -> Contradict:
    candidate = resolved.prepared.candidate
    importance = candidate.type.importance(candidate.payload)
    return Contradict(
        others=others,
        needs_review=importance >= REVIEW_IMPORTANCE,
        reason="it contradicts a belief that is trusted more, so both stand and the weaker is demoted",
    )


def _new_claim(resolved: Resolved) -> Claim:
    return Claim(
        value=resolved.value,
        stated_at=resolved.prepared.stated_at,
        confidence=resolved.prepared.confidence,
        speech_act=resolved.prepared.candidate.speech_act,
    )


def _claim(existing: Existing) -> Claim:
    return Claim(
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
    known = stored(resolved, into)
    merged = known.merged_with(payload)
    until = windows.moved_end(into, resolved)
    return Merge(into=into, payload=None if merged == known else merged, reason=reason, until=until)
