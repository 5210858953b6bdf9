"""The slot engine: versions of a slot and an event in, changes out.

Pure. Every way into the store makes events and hands the changes to `db/apply`, so the same situation has the same
outcome by each of them; a preview is the same call without the write. A caller may pass all versions of a slot or only
those that the event can touch: the active ones, those that can become active again, and the neighbours in time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, Final, assert_never
from uuid import UUID

from app.memory.confidence import READ_FLOOR
from app.memory.placement import REVIEW_IMPORTANCE, Placement, is_moot_alone
from app.memory.unmerging import Unmerging
from app.memory.versions import (
    TOLERANCE,
    ChangeCause,
    Chosen,
    Cleared,
    ConflictPolicy,
    Ended,
    Moved,
    Removed,
    Reverted,
    SlotClaim,
    SlotEvent,
    SlotOutcome,
    SlotVerdict,
    Stated,
    Transition,
    Unmerged,
    Version,
    VersionDraft,
)
from app.model import LinkKind, MemoryStatus, ReviewReason, SpeechAct


def latest_statement_wins(old: SlotClaim, new: SlotClaim) -> SlotVerdict:
    """Return the verdict of a stateful slot.

    Equal values repeat one another. A different value supersedes when it is an assertion, was not
    stated before the old one, and is trusted at least as much as the old one less the tolerance; what is
    not recalled by default never hides what is. An earlier statement that arrives late is history. Otherwise
    both stand, contradicting each other.
    """
    if old.value == new.value:
        return SlotVerdict.MERGE
    if new.speech_act is not SpeechAct.ASSERTION:
        return SlotVerdict.CONTRADICT
    if new.stated_at < old.stated_at:
        return SlotVerdict.HISTORY
    hides = new.confidence < READ_FLOOR <= old.confidence
    if new.confidence >= old.confidence - TOLERANCE and not hides:
        return SlotVerdict.SUPERSEDE
    return SlotVerdict.CONTRADICT


def only_removed(old: SlotClaim, new: SlotClaim) -> SlotVerdict:
    """Return the verdict of a rule: the same one repeats it, another stands against it, and only its end takes it away.

    A claim without a value is that end, under the guards of a stateful slot.
    """
    if old.value == new.value:
        return SlotVerdict.MERGE
    return latest_statement_wins(old, new) if new.value is None else SlotVerdict.CONTRADICT


def one_identity(_old: SlotClaim, _new: SlotClaim) -> SlotVerdict:
    """Return the verdict of an identity: a name that is said again is the same entity."""
    return SlotVerdict.MERGE


def accumulate(old: SlotClaim, new: SlotClaim) -> SlotVerdict:
    """Return the verdict of a type without slots: claims stand side by side, and only an end takes one away."""
    return latest_statement_wins(old, new) if new.value is None else SlotVerdict.CONTRADICT


def transition(versions: Iterable[Version], event: SlotEvent, *, policy: ConflictPolicy, now: datetime) -> Transition:
    """Return what the event changes among the versions; `policy` is the type's, `now` the instant of the change."""
    draft = VersionDraft(before=_known(versions, event), policy=policy, now=now)
    match event:
        case Stated():
            found = _take_places(draft, event, Placement(draft, event).decide())
        case Ended():
            found = _end(draft, event)
        case Chosen():
            found = _choose(draft, event)
        case Cleared():
            found = _clear(draft, event)
        case Removed():
            found = _remove(draft, event)
        case Reverted():
            found = _revert(draft, event)
        case Moved():
            found = _move(draft, event)
        case Unmerged():
            found = Unmerging(draft, event).decide()
        case _:
            assert_never(event)
    return found


def _known(versions: Iterable[Version], event: SlotEvent) -> dict[UUID, Version]:
    known = {one.id: one for one in versions}
    if isinstance(event, Stated) and event.repetition is not None:
        known.setdefault(event.repetition.version.id, event.repetition.version)
    return known


def _take_places(draft: VersionDraft, event: Stated, found: Transition) -> Transition:
    """Let what a statement is said to replace give way to it, in whichever slot that is.

    What is trusted more, was stated later or stands for somebody's safety stays, and a person looks at the statement.
    """
    holder = found.holder
    elsewhere = [
        one
        for one in draft.all()
        if one.id in event.replaces | event.disputes
        and one.active
        and one.id not in {event.new.id, getattr(holder, "id", None)}
    ]
    if not elsewhere or holder is None or not holder.active or holder.contested:
        return found
    claim = SlotClaim(value=None, stated_at=event.new.stated_at, confidence=event.new.confidence)
    giving = [
        one
        for one in elsewhere
        if one.id in event.replaces
        and latest_statement_wins(replace(one.claim, value=one.value or ""), claim) is SlotVerdict.SUPERSEDE
    ]
    staying = [one for one in elsewhere if one not in giving and one.stated_at <= event.new.stated_at]
    reason = "it is stated to take the place of the older one"
    before = set(draft.links)
    for one in giving:
        draft.supersede(one.id, by=holder.id, since=event.new.valid_from, reason=reason)
    _settle(draft, giving)
    new = found.new
    if new is not None and giving and new.supersedes is None:
        new = replace(new, supersedes=giving[0].id)
    if new is not None and staying and new.review is None and not event.reviewed:
        new = replace(new, review=ReviewReason.CONTRADICTION, review_note=_STAYS)
    done = draft.done(found.outcome, found.reason)
    plain = giving and found.outcome is SlotOutcome.ADDED
    return replace(
        found,
        outcome=SlotOutcome.SUPERSEDED if plain else found.outcome,
        reason=reason if plain else found.reason,
        holder=holder if found.new is None else new,
        new=new,
        changes=done.changes,
        links=(*found.links, *(one for one in done.links if one not in before)),
        rivals=(*found.rivals, *giving),
    )


_STAYS: Final = "it is said to take the place of a belief that stands until it is said to have ended"


def _clear(draft: VersionDraft, event: Cleared) -> Transition:
    for one in sorted(event.versions):
        draft.set(one, ChangeCause.CLEARED, review=None, review_note=None)
    return draft.done(SlotOutcome.CHANGED, "a person has looked at it")


def _end(draft: VersionDraft, event: Ended) -> Transition:
    """Take beliefs out of use that are stated to be no longer so, if a new value stated so would supersede them.

    An end that is ahead bounds them.
    """
    meant = sorted((draft.before[one] for one in event.versions), key=lambda one: (one.contested, one.id))
    verdicts = [
        (one, draft.policy(replace(one.claim, value=one.value or ""), replace(event.claim, value=None)))
        for one in meant
    ]
    standing = [one for one, verdict in verdicts if verdict is not SlotVerdict.HISTORY]
    if not standing:
        why = "it was stated again since" if meant else "nothing that is believed ends with it"
        return draft.done(SlotOutcome.NOTHING, why)
    if event.doubted is not None:
        return _doubt(draft, standing, f"said to have ended; {event.doubted}", ReviewReason.DOUBTFUL)
    ending = [one for one, verdict in verdicts if verdict is SlotVerdict.SUPERSEDE]
    if not ending:
        review = ReviewReason.CONTRADICTION if event.importance >= REVIEW_IMPORTANCE else None
        return _doubt(draft, standing, "a statement that is trusted less says that it is no longer so", review)
    if event.at > max(draft.now, event.claim.stated_at, *(one.valid_from for one in ending)):
        reason = "it is stated to end, and holds until then"
        for one in ending:
            draft.set(one.id, ChangeCause.ENDED, reason=reason, valid_until=event.at)
        return draft.done(SlotOutcome.ENDED, reason, holder=draft.get(ending[0].id), rivals=ending)
    reason = "it is stated to be no longer so"
    for one in ending:
        draft.set(
            one.id,
            ChangeCause.ENDED,
            reason=reason,
            status=MemoryStatus.EXPIRED,
            ended_at=max(event.at, one.valid_from),
            retired_at=draft.now,
            stated_at=max(one.stated_at, event.claim.stated_at),
            contested=False,
            review=None,
            review_note=None,
        )
    _settle(draft, ending)
    return draft.done(SlotOutcome.ENDED, reason, holder=draft.get(ending[0].id), rivals=ending)


def _doubt(draft: VersionDraft, others: Sequence[Version], reason: str, review: ReviewReason | None) -> Transition:
    """Leave beliefs as they are, though they are said to have ended; `review` asks a person why."""
    for one in others:
        if review is not None and one.review is None:
            draft.set(one.id, ChangeCause.DOUBTED, reason=reason, review=review, review_note=reason)
    outcome = SlotOutcome.CONTRADICTED if review is None else SlotOutcome.DOUBTED
    return draft.done(outcome, reason, holder=others[0], rivals=others)


def _choose(draft: VersionDraft, event: Chosen) -> Transition:
    """Let one version stand for others: what was believed becomes history, what was pending never was."""
    losers = [draft.before[one] for one in event.losers if one != event.winner]
    for one in losers:
        if one.status is MemoryStatus.PENDING:
            _forget(draft, one, event.reason, successor=event.winner)
            draft.link(event.winner, LinkKind.SUPERSEDES, one.id)
        else:
            draft.supersede(one.id, by=event.winner, since=event.since, reason=event.reason)
    winner = draft.get(event.winner)
    if winner is not None:
        to: dict[str, Any] = {"review": None, "review_note": None} if event.reviewed else {}
        gains = event.reviewed or any(_claims_with(one, winner) for one in losers)
        if winner.active and gains and not any(_holds(one, winner) for one in draft.all()):
            to["contested"] = False
        believed = next((one for one in losers if one.status is not MemoryStatus.PENDING), None)
        if believed is not None and winner.supersedes is None:
            to["supersedes"] = believed.id
        draft.set(event.winner, ChangeCause.RELINKED, **to)
    _settle(draft, losers)
    return draft.done(SlotOutcome.CHANGED, event.reason, holder=draft.get(event.winner), rivals=losers)


def _claims_with(one: Version, beside: Version) -> bool:
    """Return whether a version claims the slot that another one claims, too."""
    return one.slot is not None and (one.type, one.slot) == (beside.type, beside.slot) and one.id != beside.id


def _holds(one: Version, beside: Version) -> bool:
    """Return whether a version holds the slot that another one claims, too."""
    return _claims_with(one, beside) and one.active and not one.contested


def _forget(draft: VersionDraft, one: Version, reason: str, *, successor: UUID | None = None) -> None:
    draft.set(
        one.id,
        ChangeCause.FORGOTTEN,
        by=successor,
        reason=reason,
        status=MemoryStatus.FORGOTTEN,
        superseded_by=successor or one.superseded_by,
        retired_at=one.recorded_at if one.unbelieved else one.retired_at or draft.now,
        contested=False,
        review=None,
        review_note=None,
    )


def _remove(draft: VersionDraft, event: Removed) -> Transition:
    """Take versions out of belief; what they contested is decided again, and neighbours of what is deleted join."""
    gone = [draft.before[one] for one in sorted(event.versions) if one in draft.before]
    for one in gone:
        match event.status:
            case MemoryStatus.PENDING:
                draft.set(one.id, ChangeCause.PENDED, reason=event.reason, status=MemoryStatus.PENDING)
            case MemoryStatus.FORGOTTEN:
                _forget(draft, one, event.reason)
            case _:
                draft.before = {key: other for key, other in draft.before.items() if key != one.id}
    if event.unfolds and event.status is not MemoryStatus.PENDING:
        _unfold(draft, {one.id for one in gone})
    if event.status is None:
        _join_neighbours(draft, {one.id: one for one in gone})
    _settle(draft, gone)
    return draft.done(SlotOutcome.CHANGED, event.reason, rivals=gone)


def _revert(draft: VersionDraft, event: Reverted) -> Transition:
    """Make versions what they were, unless another version took the slot that one of them held."""
    for one in event.to.values():
        taken = next((other for other in draft.all() if other.id not in event.to and _holds(other, one)), None)
        if taken is not None and one.active and not one.contested:
            return draft.done(SlotOutcome.NOTHING, "another memory holds the slot since", rivals=(taken,))
    for one in event.to.values():
        was = {each.name: getattr(one, each.name) for each in fields(Version)}
        draft.set(one.id, ChangeCause.REVERTED, reason=event.reason, **was)
    return draft.done(SlotOutcome.CHANGED, event.reason)


def _unfold(draft: VersionDraft, summaries: Collection[UUID]) -> None:
    """Make versions what they were before they were folded into summaries that go."""
    for one in list(draft.before.values()):
        was = one.folded
        if was is not None and one.superseded_by in summaries:
            then: dict[str, Any] = {"ended_at": was.ended_at, "retired_at": was.retired_at, "superseded_by": None}
            reason = "the summary that it was folded into is gone"
            draft.set(one.id, ChangeCause.REVIVED, reason=reason, status=was.status, **then)


def _join_neighbours(draft: VersionDraft, gone: Mapping[UUID, Version]) -> None:
    """Link the neighbours of deleted versions to one another."""

    def beyond(at: UUID | None, side: str) -> UUID | None:
        seen: set[UUID] = set()
        while at is not None and at in gone and at not in seen:
            seen.add(at)
            at = getattr(gone[at], side)
        return None if at in gone else at

    for one in list(draft.before.values()):
        to: dict[str, Any] = {}
        if one.superseded_by in gone:
            to["superseded_by"] = beyond(one.superseded_by, "superseded_by")
        if one.supersedes in gone:
            to["supersedes"] = beyond(one.supersedes, "supersedes")
        if to:
            draft.set(one.id, ChangeCause.RELINKED, **to)


def _settle(draft: VersionDraft, left: Collection[Version]) -> None:
    """Set right the slots that versions have left.

    Where nobody stands uncontested the most trusted does from now on; where only one is left nothing contradicts it,
    and its review for that is moot.
    """
    for place in sorted({(one.type, one.slot) for one in left if one.slot is not None}):
        standing = [one for one in draft.all() if one.active and (one.type, one.slot) == place]
        if standing and all(one.contested for one in standing):
            first = min(standing, key=lambda one: (-one.confidence, -one.stated_at.timestamp(), one.id))
            draft.set(first.id, ChangeCause.UNCONTESTED, contested=False)
        if len(standing) == 1 and is_moot_alone(standing[0]):
            draft.set(standing[0].id, ChangeCause.UNCONTESTED, review=None, review_note=None)


def _move(draft: VersionDraft, event: Moved) -> Transition:
    """Bring versions into other slots, where each that finds a holder stands beside it, contested.

    The holder is who was there, else the latest of those that come. One that says something else contradicts it, and
    a person is asked, until a later statement decides.
    """
    for version, (slot, value) in sorted(event.to.items()):
        draft.set(version, ChangeCause.MOVED, slot=slot, value=value)
    claims: dict[tuple[str, str | None], list[Version]] = defaultdict(list)
    for one in draft.all():
        if one.active and one.slot is not None and not one.contested:
            claims[one.type, one.slot].append(one)
    rivals = []
    for claimants in claims.values():
        there = min(claimants, key=lambda one: (_comes(draft, one), -one.stated_at.timestamp(), one.id))
        for one in claimants:
            if one.id == there.id:
                continue
            differs = one.value != there.value
            review = one.review or (event.review if differs else None)
            draft.set(one.id, ChangeCause.MOVED, by=there.id, contested=True, review=review)
            if differs:
                draft.link(one.id, LinkKind.CONTRADICTS, there.id)
                rivals.append(one)
    return draft.done(SlotOutcome.CHANGED, event.reason, rivals=rivals)


def _comes(draft: VersionDraft, one: Version) -> bool:
    return one.slot != draft.before[one.id].slot
