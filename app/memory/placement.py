"""The place of a statement in its slot: it repeats, replaces, contradicts, or belongs into history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from app.memory import confidence
from app.memory.lifecycle import is_over
from app.memory.versions import (
    TOLERANCE,
    ChangeCause,
    SlotLink,
    SlotOutcome,
    SlotVerdict,
    Stated,
    Transition,
    Version,
    VersionDraft,
)
from app.model import LinkKind, MemoryStatus, ReviewReason

REVIEW_IMPORTANCE = 0.7
"""From this importance on, a contradiction asks for a person."""

_MOOT_ALONE = frozenset({ReviewReason.CONTRADICTION, ReviewReason.ENTITY_MERGE})


def asks_whether_one(version: Version) -> bool:
    """Return whether a person is asked whether a name of a version means a known entity: then a note says which."""
    return version.review is ReviewReason.ENTITY_MERGE and version.review_note is not None


def is_moot_alone(version: Version) -> bool:
    """Return whether the review of a version is moot once nothing in its slot says otherwise."""
    return version.review in _MOOT_ALONE and not asks_whether_one(version)


@dataclass(frozen=True, slots=True)
class Placement:
    """The place of a statement in its slot."""

    draft: VersionDraft
    event: Stated

    @property
    def new(self) -> Version:
        """Return the version that the statement becomes if nothing stands in the way."""
        return self.event.new

    def decide(self) -> Transition:
        """Return the decision on the statement."""
        place, repetition = (self.new.type, self.new.slot), self.event.repetition
        others = [one for one in self.draft.before.values() if (one.type, one.slot) == place and one.id != self.new.id]
        if self.new.slot is None:
            others = []
        elif is_over(self.new.valid_until, self.new.stated_at):
            return self._already_over(others)
        others = [one for one in others if not one.over_when_stated]
        holders = [one for one in others if one.active]
        found = self._said_again(others)
        if found is None:
            found = self._compete(holders, others) if holders else self._resume(others)
        if found is None and repetition is not None:
            found = self._merge(repetition.version, repetition.reason)
        return self._guarded(found or self._before_an_end(others) or self._add())

    def _guarded(self, found: Transition) -> Transition:
        """Link what is stored to the rules that it is about, and have a person look; the rules stay as they are."""
        new, event = found.new, self.event
        if not event.guards or new is None or not new.active:
            return found
        links = (SlotLink(source=new.id, kind=LinkKind.CONFLICTS_WITH, target=one.id) for one in event.guards)
        if not event.reviewed and event.new.review is None:
            new = replace(new, review=ReviewReason.CONSTRAINT, review_note=event.guard_note)
        return replace(found, new=new, holder=new, links=(*found.links, *links))

    def _already_over(self, others: Sequence[Version]) -> Transition:
        """Its time was over when it was stated: it competes with nothing now."""
        window = (self.new.valid_from, self.new.valid_until)
        for one in others:
            if one.value == self.new.value and (one.valid_from, one.valid_until) == window:
                return self.draft.done(SlotOutcome.ECHOED, "it is history already", holder=one)
        return self._add("it was over when it was stated, so it is kept as history", status=MemoryStatus.EXPIRED)

    def _said_again(self, others: Sequence[Version]) -> Transition | None:
        """Merge a statement with what was replaced since and was stated at the same instant: it was sent again."""
        said = (self.new.value, self.new.stated_at, self.new.valid_from)
        for one in others:
            if one.status is MemoryStatus.SUPERSEDED and (one.value, one.stated_at, one.valid_from) == said:
                return None if self.event.stored else self._merge(one, "the same statement is history already")
        return None

    def _compete(self, holders: Sequence[Version], others: Sequence[Version]) -> Transition:
        """Decide a taken slot. Holders that the type's rule lets give way become history together."""
        by_standing = sorted(holders, key=lambda one: (one.contested, one.stated_at, one.id))
        verdicts = [(one, self._verdict(one)) for one in by_standing]
        same = next((one for one, verdict in verdicts if verdict is SlotVerdict.MERGE), None)
        if same is not None:
            others_of = [(one, verdict) for one, verdict in verdicts if verdict is not SlotVerdict.MERGE]
            wins = all(verdict is SlotVerdict.SUPERSEDE for _, verdict in others_of)
            losing = [one for one, _ in others_of] if wins else []
            return self._merge(same, "the slot already holds this value", losing=losing)
        later = next((one for one, verdict in verdicts if verdict is SlotVerdict.HISTORY), None)
        if later is not None:
            return self._earlier(later, others)
        giving_way = [one for one, verdict in verdicts if verdict is SlotVerdict.SUPERSEDE]
        if len(giving_way) < len(holders):
            return self._contradict([one for one, verdict in verdicts if verdict is SlotVerdict.CONTRADICT])
        ahead = next((one for one in giving_way if self._begins_before(one)), None)
        return self._supersede(giving_way) if ahead is None else self._until(ahead, others)

    def _verdict(self, holder: Version) -> SlotVerdict:
        """Return the type's verdict; repeating a value that ended, or has yet to begin, is a new statement."""
        verdict = self.draft.policy(holder.claim, self.new.claim)
        if verdict is SlotVerdict.SUPERSEDE and self._lasts(holder):
            return SlotVerdict.CONTRADICT
        if verdict is not SlotVerdict.MERGE:
            return verdict
        if self._begins_before(holder):
            return SlotVerdict.HISTORY if holder.stated_at > self.new.stated_at else SlotVerdict.SUPERSEDE
        return SlotVerdict.SUPERSEDE if is_over(holder.valid_until, self.new.stated_at) else SlotVerdict.MERGE

    def _lasts(self, holder: Version) -> bool:
        """Return whether a person is to decide before another value takes the holder's place."""
        return holder.id in self.event.lasting and not self.event.reviewed

    def _begins_before(self, holder: Version) -> bool:
        """Return whether the holder has yet to begin, and later than what is stated now."""
        return holder.valid_from > max(self.new.valid_from, self.new.stated_at)

    def _until(self, last: Version, others: Sequence[Version]) -> Transition:
        """Place a statement that holds until something begins that is known already."""
        begins = self.new.valid_from
        planned = [one for one in others if _ends_ahead(one, self.new.stated_at)]
        known = [*planned, last]
        later = min((one for one in known if one.valid_from > begins), key=lambda one: one.valid_from)
        now = max((one for one in known if one.valid_from <= begins), key=lambda one: one.valid_from, default=None)
        if now is not None and now.value == self.new.value and (now.ended_at is None or now.ended_at > begins):
            return self._merge(now, "the slot holds this value until another begins")
        return self._history(later, now, "it holds until what is known to come after it begins")

    def _resume(self, others: Sequence[Version]) -> Transition | None:
        """Decide a slot whose holders have all expired: the same value is believed again, another takes its place."""
        expired = [one for one in others if one.status is MemoryStatus.EXPIRED and one.ended_at is None]
        ranked = sorted(expired, key=lambda one: (not one.contested, one.stated_at, one.id), reverse=True)
        verdicts = [(one, self.draft.policy(one.claim, self.new.claim)) for one in ranked]
        for one, verdict in verdicts:
            if verdict is SlotVerdict.MERGE and not is_over(one.valid_until, self.new.stated_at):
                return self._merge(one, "the slot held this value before it expired")
        later = next((one for one, verdict in verdicts if verdict is SlotVerdict.HISTORY), None)
        return None if later is None else self._earlier(later, others)

    def _before_an_end(self, others: Sequence[Version]) -> Transition | None:
        """Place a late statement that was made before what is known to be over by now."""
        after = self._next(others)
        if after is None or after.ended_at is None:
            return None
        if after.status is not MemoryStatus.EXPIRED:
            why = "it was stated before what has been replaced since, so it is kept as history"
            return self._earlier(after, others, why)
        if after.value == self.new.value:
            return self._merge(after, "it was stated before it ended, so it stays as it was remembered")
        why = "it was stated before another value that has ended since"
        return self._history(after, self._previous(others), why)

    def _earlier(
        self,
        later: Version,
        others: Sequence[Version],
        reason: str = "it was stated before what is believed now, so it is kept as history",
    ) -> Transition:
        """Place a statement that was made before a version that holds or held the slot."""
        following, previous = self._next(others) or later, self._previous(others)
        begins = self.new.valid_from
        for one in (following, previous):
            held = one is not None and one.status is MemoryStatus.SUPERSEDED and one.value == self.new.value
            if one is not None and held and one.valid_from <= begins < (one.ended_at or begins):
                return self._merge(one, "the slot held this value then")
        return self._history(following, previous, reason)

    def _next(self, others: Sequence[Version]) -> Version | None:
        """Return the version stated next after this one."""
        believed = {MemoryStatus.ACTIVE, MemoryStatus.EXPIRED, MemoryStatus.SUPERSEDED}
        later = (
            one for one in others if one.stated_at > self.new.stated_at and not one.contested and one.status in believed
        )
        return min(later, key=lambda one: (one.stated_at, one.id), default=None)

    def _previous(self, others: Sequence[Version]) -> Version | None:
        """Return the version stated last before this one that is history."""
        earlier = (
            one
            for one in others
            if one.stated_at <= self.new.stated_at and not one.contested and one.status is MemoryStatus.SUPERSEDED
        )
        return max(earlier, key=lambda one: (one.stated_at, one.id), default=None)

    def _add(
        self,
        reason: str | None = None,
        *,
        status: MemoryStatus = MemoryStatus.ACTIVE,
        **to: Any,  # noqa: ANN401 - fields of a Version
    ) -> Transition:
        if reason is None:
            guards = " and ".join(dict.fromkeys(one.type for one in self.event.guards))
            reason = (
                f"it is about what a {guards} rules, and stands beside it" if guards else "nothing like it was known"
            )
        return self._stored(SlotOutcome.ADDED, reason, status=status, **to)

    def _supersede(self, old: Sequence[Version]) -> Transition:
        reason = "a newer statement about the same thing replaces the older one"
        for one in old:
            self.draft.supersede(one.id, by=self.new.id, since=self.new.valid_from, reason=reason)
        before = self.new.supersedes or old[0].id
        return self._stored(SlotOutcome.SUPERSEDED, reason, rivals=old, supersedes=before)

    def _contradict(self, others: Sequence[Version]) -> Transition:
        lasting = any(map(self._lasts, others))
        reason = (
            "it is about health and nothing says that the earlier value has ended, so both stand until a person decides"
            if lasting
            else "it contradicts a belief that is trusted more, so both stand and the weaker is demoted"
        )
        asks = (lasting or self.event.importance >= REVIEW_IMPORTANCE) and not self.event.reviewed
        review = (
            {"review": ReviewReason.CONTRADICTION, "review_note": reason} if asks and self.new.review is None else {}
        )
        for one in others:
            self.draft.link(self.new.id, LinkKind.CONTRADICTS, one.id)
        return self._stored(SlotOutcome.CONTRADICTED, reason, rivals=others, contested=True, **review)

    def _history(self, successor: Version, predecessor: Version | None, reason: str) -> Transition:
        """Place the statement between two versions of the chain, as superseded from the start."""
        draft, new = self.draft, self.new
        if predecessor is not None and predecessor.id == new.id:
            predecessor = None
        ended = max(successor.valid_from, new.valid_from)
        draft.set(successor.id, ChangeCause.RELINKED, by=new.id, supersedes=new.id)
        draft.link(successor.id, LinkKind.SUPERSEDES, new.id)
        before = new.supersedes
        if predecessor is not None:
            self._relink_successor(predecessor, successor)
            until = new.valid_from if predecessor.ended_at is None else min(new.valid_from, predecessor.ended_at)
            draft.set(
                predecessor.id,
                ChangeCause.RELINKED,
                by=new.id,
                superseded_by=new.id,
                ended_at=max(predecessor.valid_from, until),
            )
            draft.link(new.id, LinkKind.SUPERSEDES, predecessor.id)
            before = before or predecessor.id
        return self._stored(
            SlotOutcome.HISTORY,
            reason,
            status=MemoryStatus.SUPERSEDED,
            rivals=(successor,) if predecessor is None else (successor, predecessor),
            superseded_by=successor.id,
            supersedes=before,
            ended_at=ended,
            retired_at=draft.now,
            contested=False,
            review=None,
            review_note=None,
        )

    def _relink_successor(self, predecessor: Version, successor: Version) -> None:
        """Let the one that followed the predecessor until now name another that it follows, or none."""
        old = self.draft.get(predecessor.superseded_by)
        if old is None or old.id == successor.id or old.supersedes != predecessor.id:
            return
        left = [one for one in self.draft.all() if one.superseded_by == old.id and one.id != predecessor.id]
        other = max(left, key=lambda one: (one.stated_at, one.id), default=None)
        self.draft.set(old.id, ChangeCause.RELINKED, by=self.new.id, supersedes=None if other is None else other.id)

    def _merge(self, into: Version, reason: str, *, losing: Sequence[Version] = ()) -> Transition:
        """Count the statement as a repetition of a version; those that lose to what it says become history."""
        draft, new = self.draft, self.new
        parts = confidence.merged_parts(into.parts, new.parts)
        to: dict[str, Any] = {
            "parts": parts,
            "confidence": confidence.capped_score(parts, into.speech_act),
            "stated_at": max(into.stated_at, new.stated_at),
            "valid_until": _extended_end(into, new) or into.valid_until,
        }
        returns = into.status is MemoryStatus.EXPIRED and into.ended_at is None
        if returns:
            to["status"] = MemoryStatus.ACTIVE
        if losing:
            latest = max(losing, key=lambda one: (one.stated_at, one.id))
            to["supersedes"] = into.supersedes or latest.id
        if losing or (returns and into.contested):
            to["contested"] = False
            if is_moot_alone(into):
                to |= {"review": None, "review_note": None}
        draft.set(into.id, ChangeCause.RESTATED, by=new.id, reason=reason, **to)
        for one in losing:
            why = "the other side was stated again, and is trusted"
            draft.supersede(one.id, by=into.id, since=new.valid_from, reason=why)
        stored = self._as_history_of(into) if self.event.stored else None
        return draft.done(SlotOutcome.MERGED, reason, holder=draft.get(into.id), new=stored, rivals=losing)

    def _as_history_of(self, into: Version) -> Version:
        """Return a stored repetition as history of what it repeats."""
        self.draft.link(into.id, LinkKind.SUPERSEDES, self.new.id)
        return replace(
            self.new,
            status=MemoryStatus.SUPERSEDED,
            superseded_by=into.id,
            ended_at=self.new.valid_from,
            retired_at=self.draft.now,
            contested=False,
            review=None,
            review_note=None,
        )

    def _stored(self, outcome: SlotOutcome, reason: str, *, rivals: Sequence[Version] = (), **to: Any) -> Transition:  # noqa: ANN401 - fields of a Version
        new = replace(self.new, **to)
        return self.draft.done(outcome, reason, holder=new, new=new, rivals=rivals)


def _ends_ahead(one: Version, stated_at: datetime) -> bool:
    """Return whether a version that was replaced holds until something begins that is still to come."""
    if one.status is not MemoryStatus.SUPERSEDED or one.ended_at is None:
        return False
    return one.ended_at > max(one.valid_from, stated_at, one.retired_at or one.valid_from)


def _extended_end(into: Version, new: Version) -> datetime | None:
    """Return when a belief ends by a repetition of it that names an end of its own; None where it keeps what it has.

    A repetition without an end says nothing about it. One that was made earlier, whose time was over when it was
    made, or that is trusted less than what is held, repetition aside, by more than the tolerance, moves nothing.
    """
    until = new.valid_until
    if until is None or until <= into.valid_from or is_over(until, new.stated_at):
        return None
    once, held = replace(new.parts, mentions=1), replace(into.parts, mentions=1)
    trusted = confidence.score(once) >= confidence.score(held) - TOLERANCE
    return until if trusted and new.stated_at >= into.stated_at else None
