"""Stage: what a candidate does to what is believed; the slot engine decides who holds the slot.

Endings are told apart from statements, and matched with the memories that they mean (docs/decisions/writes.md).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from uuid import UUID

from app import ids
from app.memory import confidence, normalise
from app.memory.resemblance import BETWEEN, question
from app.memory.slots import transition
from app.memory.spec import MemoryType
from app.memory.versions import (
    TOLERANCE,
    Ended,
    Repetition,
    SlotClaim,
    SlotOutcome,
    Stated,
    Transition,
    Version,
)
from app.model import MemoryStatus, ReviewReason, SpeechAct
from app.write.values import (
    Believe,
    Decision,
    Existing,
    Reject,
    Repeat,
    Resolved,
    Review,
    stored_payload,
    version_of,
)

REFERRED = "referred"
"""The relation of existing memories that the candidate itself refers to."""

SLOT = "slot"
"""The relation of existing memories that share the candidate's slot."""

Said = Mapping[tuple[UUID, bytes], UUID]
"""Statements of turns that are stored already: (turn, statement) -> memory."""


def decide(
    resolved: Resolved,
    existing: Sequence[Existing],
    *,
    now: datetime,
    said: Said | None = None,
    repeated: Repetition | None = None,
    echoed: Collection[UUID] = (),
) -> Decision:
    """Return what to do with the candidate, as of `now`.

    `existing` holds those that share slot, words or meaning; `said` what its turns have said already; `repeated` what
    it says again, by its words or meaning; `echoed` those that the user has said in this session, where the candidate
    is an assistant's.
    """
    decision = _with_notes(resolved, _decided(resolved, existing, repeated, now=now, said=said or {}))
    match decision:
        case Believe(transition=Transition(outcome=SlotOutcome.MERGED, holder=Version() as into)) if into.id in echoed:
            why = "the assistant repeats what the user said"
            decision = Believe(transition=Transition(outcome=SlotOutcome.ECHOED, reason=why, holder=into))
    resembling = [question(ref.name, ref.resembles) for ref in resolved.refs.values() if ref.resembles is not None]
    return _with_resembling(resolved, decision, resembling) if resembling else decision


def _with_notes(resolved: Resolved, decision: Decision) -> Decision:
    """Return the decision with what was made of the statement in its reason: another type, a supposed cardinality."""
    candidate = resolved.prepared.candidate
    changed = candidate.provenance.get("reclassified")
    notes = [f"reclassified as {candidate.type.name}: {changed['because']}"] if isinstance(changed, Mapping) else []
    stored = isinstance(decision, Believe) and decision.transition.new is not None
    supposed = candidate.payload.supposition() if stored else None
    reason = BETWEEN.join((decision.reason, *notes, *([] if supposed is None else [supposed])))
    if isinstance(decision, Believe):
        return replace(decision, transition=replace(decision.transition, reason=reason))
    return replace(decision, reason=reason)


def _with_resembling(resolved: Resolved, decision: Decision, resembling: Sequence[str]) -> Decision:
    """Return the decision with the similar names in its reason; a new active memory is marked for review for them.

    What is rejected makes no entity that could be the same, and its audit event is of no memory that is ever erased.
    """
    if isinstance(decision, Reject):
        return decision
    reason = BETWEEN.join((decision.reason, *resembling))
    if not isinstance(decision, Believe):
        return replace(decision, reason=reason)
    new = decision.transition.new
    if new is not None and new.active and new.review is None and not resolved.prepared.candidate.reviewed:
        new = replace(new, review=ReviewReason.ENTITY_MERGE, review_note=BETWEEN.join(resembling))
    return replace(decision, transition=replace(decision.transition, reason=reason, new=new))


def _decided(
    resolved: Resolved, existing: Sequence[Existing], repeated: Repetition | None, *, now: datetime, said: Said
) -> Decision:
    refusal = repeat_or_refusal(resolved, said)
    if resolved.prepared.candidate.ending is not None and not isinstance(refusal, Repeat | Reject):
        return resolve_ending(resolved, existing, doubted=refusal, now=now)
    return refusal or disowned_value(resolved, existing) or place(resolved, existing, repeated, now=now)


def repeat_or_refusal(resolved: Resolved, said: Said) -> Repeat | Reject | Review | None:
    """Return the decision that no stored belief can alter; None where the beliefs decide."""
    prepared = resolved.prepared
    turns = (one.turn_id for one in prepared.candidate.evidence if one.turn_id is not None)
    before = next((said[turn, prepared.statement] for turn in turns if (turn, prepared.statement) in said), None)
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
    """Return a review of a statement that was reported or rejected as wrong in the same words; None for any other.

    A statement that a reviewer has seen already gets none.
    """
    one = next((one for one in existing if one.relation == "disowned"), None)
    if one is None or resolved.prepared.candidate.reviewed:
        return None
    if one.status is MemoryStatus.PENDING:
        reason = "the same statement was reported wrong, and a person has yet to look at it"
        return Review(reason=reason, why=ReviewReason.REPORTED_WRONG, into=one)
    reason = "a reviewer has rejected the same statement: a person should look at it first"
    return Review(reason=reason, why=ReviewReason.REPORTED_WRONG)


def place(resolved: Resolved, existing: Sequence[Existing], repeated: Repetition | None, *, now: datetime) -> Believe:
    """Return the decision on the statement in its slot."""
    candidate = resolved.prepared.candidate
    asserted = candidate.speech_act is SpeechAct.ASSERTION
    referred = [one for one in existing if one.relation == REFERRED and one.id != candidate.repeats]
    of_slot = [_in_one_form(resolved, one) for one in existing if one.relation == SLOT]
    versions = list({one.id: one for one in (*referred, *of_slot)}.values())
    event = Stated(
        new=version_of(resolved),
        repetition=repeated,
        guards=resolved.breaks,
        guard_note=guard_note(resolved.breaks) if resolved.breaks else None,
        lasting=_lasting(resolved, of_slot),
        importance=candidate.type.importance(candidate.payload),
        reviewed=candidate.reviewed,
        replaces=frozenset(candidate.replaces) if asserted else frozenset(),
        disputes=frozenset(candidate.disputes) if asserted else frozenset(),
    )
    found = transition(versions, event, policy=candidate.type.on_conflict, now=now)
    return with_payload(resolved, found)


def _lasting(resolved: Resolved, versions: Sequence[Existing]) -> frozenset[UUID]:
    """Return the believed versions that a person decides about before the statement takes their place."""
    candidate = resolved.prepared.candidate
    asks = candidate.type.asks_before
    if asks is None:
        return frozenset()
    believed = (one for one in versions if one.active and one.value != resolved.value)
    return frozenset(one.id for one in believed if asks(stored_payload(resolved, one), candidate.payload))


def _in_one_form(resolved: Resolved, one: Existing) -> Existing:
    """Return a version with the value in the form that the statement gives it, where both name the same.

    A name is the value as it is written while nobody is known by it, and an entity from then on. What is written is
    compared as it would be stored now, whatever the rule was when it was.
    """
    value = resolved.value
    if value is None or one.value is None:
        return one
    if _is_entity(one.value) == _is_entity(value):
        return one if _is_entity(value) else replace(one, value=stored_payload(resolved, one).value({}))
    names = {normalise.normalise_name(ref.name) for ref in resolved.refs.values() if str(ref.id) == value}
    names.add(resolved.prepared.candidate.payload.written_value() or value)
    same = stored_payload(resolved, one).written_value() in names
    return replace(one, value=value) if same else one


def _is_entity(value: str) -> bool:
    try:
        UUID(value)
    except ValueError:
        return False
    return True


def with_payload(resolved: Resolved, found: Transition) -> Believe:
    """Return the decision, with the merged payload where a repetition adds to the stored one."""
    into = found.holder
    if found.outcome is not SlotOutcome.MERGED or not isinstance(into, Existing):
        return Believe(transition=found)
    known, candidate = stored_payload(resolved, into), resolved.prepared.candidate
    merged = known.merged_with(candidate.payload)
    if _corrects(resolved, into):
        merged = merged.respelled(candidate.payload)
    return Believe(transition=found, payload=None if merged == known else merged)


def _corrects(resolved: Resolved, into: Existing) -> bool:
    """Return whether a repetition may correct how a belief is written: not stated before it, nor trusted less."""
    once, held = replace(resolved.prepared.parts, mentions=1), replace(into.parts, mentions=1)
    trusted = confidence.score(once) >= confidence.score(held) - TOLERANCE
    return trusted and resolved.prepared.stated_at >= into.stated_at


def merge_into(resolved: Resolved, into: Existing, reason: str, *, now: datetime) -> Believe:
    """Return the merge of the candidate into a memory that a reviewer says is the same, whatever its slot."""
    event = Stated(
        new=replace(version_of(resolved), slot=None), repetition=Repetition(version=into, reason=reason), reviewed=True
    )
    policy = resolved.prepared.candidate.type.on_conflict
    return with_payload(resolved, transition((), event, policy=policy, now=now))


def guard_note(guards: Sequence[Version]) -> str:
    """Return the description, for a reviewer, of the rules that a statement is about."""
    named = ", ".join(f"{one.type} {ids.public(ids.MEMORY, one.id)}" for one in guards)
    return f"it is about what is ruled by {named}, which stands until it is said to have ended"


def resolve_ending(
    resolved: Resolved, existing: Sequence[Existing], *, doubted: Review | None, now: datetime
) -> Believe | Reject:
    """Return the decision on the beliefs that an ending ends.

    `doubted` is the review that the ending needs first; with it the beliefs stay, and wait for a reviewer.
    """
    prepared = resolved.prepared
    candidate = prepared.candidate
    if candidate.speech_act is not SpeechAct.ASSERTION:
        return Reject(reason="only what is asserted ends a belief")
    stated_end = prepared.stated_at if candidate.ending is None else candidate.ending.at
    of = () if candidate.ending is None else candidate.ending.of
    held = [one for one in existing if (one.id in of if of else one.relation == "ended")]
    held = list({one.id: one for one in held}.values())
    meant = held if of else _meant(resolved, held)
    event = Ended(
        versions=frozenset(one.id for one in meant if one.active),
        claim=SlotClaim(value=None, stated_at=prepared.stated_at, confidence=prepared.confidence),
        at=stated_end or prepared.stated_at,
        importance=candidate.type.importance(candidate.payload),
        doubted=None if doubted is None else doubted.reason,
    )
    found = transition(held, event, policy=candidate.type.on_conflict, now=now)
    return Reject(reason=found.reason) if found.outcome is SlotOutcome.NOTHING else Believe(transition=found)


def _meant(resolved: Resolved, held: Sequence[Existing]) -> Sequence[Existing]:
    """Return the beliefs that an ending ends; none where its words fit several events, or several things of a kind."""
    found = [one for one in held if _is_meant(resolved, one)]
    candidate = resolved.prepared.candidate
    if candidate.payload.event_time(candidate.zone) is not None:
        return found if len(found) == 1 else ()
    if _names_one(resolved):
        exact = [one for one in found if _is_named(resolved, one)]
        return exact or (found if _agree(candidate.type, found) else ())
    return () if candidate.payload.also_held_under() and not _agree(candidate.type, found) else found


def _agree(kind: MemoryType, found: Sequence[Existing]) -> bool:
    """Return whether beliefs may be about one thing: `tennis` and `tennis on Mondays`, but not `old bike`, `new bike`.

    Each then has all words of those that have fewer.
    """
    words = sorted(({*_words(kind, one)} for one in found), key=len)
    return all(less <= more for less, more in pairwise(words))


def _words(kind: MemoryType, one: Existing) -> list[str]:
    value = "" if kind.held is None else one.payload.get(kind.held.value, "")
    return normalise.normalise_name(str(value)).split()


def _is_meant(resolved: Resolved, one: Existing) -> bool:
    """Return whether the ending is about this belief: it names its value, or no value and the belief has a slot."""
    candidate = resolved.prepared.candidate
    if candidate.ending is None or candidate.type.held is None:
        return False
    if not candidate.payload.ends(one.payload):
        return False
    if not candidate.ending.named:
        return one.slot is not None
    told, held = _told(resolved), _words(candidate.type, one)
    begins = held[: len(told)] == told  # "Bremen" ends "Bremen Port", but "York" is not New York
    return _is_named(resolved, one) or (begins if _names_one(resolved) else {*told} <= {*held})


def _is_named(resolved: Resolved, one: Existing) -> bool:
    """Return whether the ending gives the value of this belief in full."""
    return (one.value is not None and one.value == resolved.value) or (
        {*_told(resolved)} == {*_words(resolved.prepared.candidate.type, one)}
    )


def _names_one(resolved: Resolved) -> bool:
    """Return whether the value that an ending gives is somebody's or something's name, or a part of it."""
    value = _ended_value(resolved)
    return any(one.creates and one.name == value for one in resolved.prepared.candidate.payload.mentions())


def _told(resolved: Resolved) -> list[str]:
    return normalise.normalise_name(_ended_value(resolved)).split()


def _ended_value(resolved: Resolved) -> str:
    """Return the value that an ending gives, empty where its type holds none."""
    candidate = resolved.prepared.candidate
    if candidate.type.held is None:
        return ""
    return str(candidate.payload.model_dump(mode="json", by_alias=True)[candidate.type.held.value])
