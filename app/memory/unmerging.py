"""Versions of two entities that shared slots while they were merged, and follow only their own again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from app.memory.versions import (
    ChangeCause,
    MergeMark,
    SlotLink,
    SlotOutcome,
    Transition,
    Unmerged,
    Version,
    VersionDraft,
)
from app.model import LinkKind, MemoryStatus

Place = tuple[str, str | None]
"""Type and slot."""


@dataclass(frozen=True, slots=True)
class Unmerging:
    """Undoes what was decided between versions that go back to their own slots and those that stay.

    Supersessions, contradictions and contests between the two sides end: each side is then as if alone.
    """

    draft: VersionDraft
    event: Unmerged
    unlinks: list[SlotLink] = field(default_factory=list)

    def decide(self) -> Transition:
        """Return what changes."""
        self._return()
        revived = self._divide_chains()
        self._relink()
        self._lift()
        self._contradict_holders()
        found = self.draft.done(SlotOutcome.CHANGED, "what had replaced it is about another entity", rivals=revived)
        return Transition(
            outcome=found.outcome,
            reason=found.reason,
            changes=found.changes,
            links=found.links,
            unlinks=tuple(self.unlinks),
            rivals=found.rivals,
        )

    @property
    def strangers(self) -> dict[UUID, Version]:
        """Return the versions that stay in the slots which others leave, as they were."""
        left = {_place(self.draft.before[one]) for one in self._leaving}
        before = self.draft.before.items()
        return {key: one for key, one in before if _place(one) in left and key not in self.event.home}

    @property
    def _leaving(self) -> list[UUID]:
        """Return the versions that go into another slot."""
        home, before = self.event.home, self.draft.before
        return [one for one, was in home.items() if was.slot is not None and was.slot != before[one].slot]

    def _return(self) -> None:
        """Give versions back their slots; the latest of those that claim one holds it."""
        before, home = self.draft.before, self.event.home
        claiming: dict[Place, list[Version]] = {}
        for key, was in home.items():
            one = before[key]
            if was.slot is not None and one.active and (was.contested or not one.contested):
                claiming.setdefault((one.type, was.slot), []).append(one)
        second = {one.id for claimants in claiming.values() for one in sorted(claimants, key=_latest_first)[1:]}
        for key, was in sorted(home.items()):
            one = before[key]
            to: dict[str, Any] = {
                "slot": was.slot or one.slot,
                "value": was.value or one.value,
                "contested": (one.contested and not was.contested) or key in second,
            }
            if was.asked:
                to |= {"review": None, "review_note": None}
            self.draft.set(key, ChangeCause.MOVED, **to)
            if was.contradicts is not None:
                self.unlinks.append(SlotLink(source=key, kind=LinkKind.CONTRADICTS, target=was.contradicts))

    def _divide_chains(self) -> list[Version]:
        """Let each version that one of the other side replaced be followed by its own, or be believed again.

        Return those that are.
        """
        draft, strangers, leaving = self.draft, self.strangers, set(self._leaving)
        crossing = []
        for key in sorted(leaving | strangers.keys()):
            one = draft.before[key]
            other = one.superseded_by
            if (key in leaving and other in strangers) or (key in strangers and other in leaving):
                crossing.append((one, self._next(one)))
        lost = [one for one, after in crossing if after is None and one.status is MemoryStatus.SUPERSEDED]
        taken = {_place(one) for one in draft.all() if _holds(one)}
        for one, after in crossing:
            if after is not None:
                until = max(after.valid_from, one.valid_from)
                draft.set(one.id, ChangeCause.RELINKED, by=after.id, superseded_by=after.id, ended_at=until)
                draft.link(after.id, LinkKind.SUPERSEDES, one.id)
            elif one not in lost:
                draft.set(one.id, ChangeCause.RELINKED, superseded_by=None)
        revived = []
        for one in sorted(lost, key=lambda one: (one.stated_at, one.id), reverse=True):
            now = draft.get(one.id) or one
            contested = now.contested or _place(now) in taken
            believed: dict[str, Any] = {"status": MemoryStatus.ACTIVE, "retired_at": None, "ended_at": None}
            draft.set(one.id, ChangeCause.REVIVED, superseded_by=None, contested=contested, **believed)
            taken.add(_place(now))
            revived.append(one)
        return revived

    def _next(self, one: Version) -> Version | None:
        """Return the next version of the chain that is in the slot which this one is in from now on."""
        slot = (self.draft.get(one.id) or one).slot
        seen: set[UUID] = set()
        at = self.draft.get(one.superseded_by)
        while at is not None and at.slot != slot and at.id not in seen:
            seen.add(at.id)
            at = self.draft.get(self.draft.before[at.id].superseded_by)
        return None if at is None or at.slot != slot else at

    def _relink(self) -> None:
        """Let versions that name one of the other side as the one before them name the last of their own."""
        draft, strangers, leaving = self.draft, self.strangers, set(self._leaving)
        for key in sorted(leaving | strangers.keys()):
            one = draft.get(key)
            if one is None or one.supersedes is None:
                continue
            if one.supersedes in (strangers if key in leaving else leaving):
                own = [other for other in draft.all() if other.superseded_by == key]
                last = max(own, key=lambda other: (other.stated_at, other.id), default=None)
                draft.set(key, ChangeCause.RELINKED, supersedes=None if last is None else last.id)

    def _lift(self) -> None:
        """Let the latest of those that a merge put beside a holder hold the slot, where that one has left."""
        draft = self.draft
        marks = {one.memory: one for one in self.event.marks if one.here and one.contested}
        for place in sorted({_place(self.draft.before[one]) for one in self._leaving}, key=str):
            standing = [one for one in draft.all() if one.active and _place(one) == place]
            if any(_holds(one) for one in standing):
                continue
            since = self.event.merged_at
            rising = [one for one in standing if one.id in marks or (one.recorded_at or since) >= since]
            if not rising:
                continue
            first = min(rising, key=_latest_first)
            mark = marks.get(first.id)
            asked = mark is not None and mark.asked
            to: dict[str, Any] = {"review": None, "review_note": None} if asked else {}
            draft.set(first.id, ChangeCause.UNCONTESTED, contested=False, **to)
            if mark is not None and mark.contradicts is not None:
                self.unlinks.append(SlotLink(source=first.id, kind=LinkKind.CONTRADICTS, target=mark.contradicts))

    def _contradict_holders(self) -> None:
        """Let what a merge put into contradiction with a version that leaves contradict who holds the slot now."""
        strangers, leaving = self.strangers, set(self._leaving)
        for mark in self.event.marks:
            one = self.draft.get(mark.memory) if mark.memory in strangers else None
            if one is None or mark.contradicts not in leaving or mark.contradicts is None:
                continue
            self.unlinks.append(SlotLink(source=one.id, kind=LinkKind.CONTRADICTS, target=mark.contradicts))
            if mark.here and mark.contested and not one.contested:
                continue  # it has just been lifted
            others = (other for other in self.draft.all() if _holds(other) and _place(other) == _place(one))
            holder = next((other for other in others if other.id != one.id and other.value != one.value), None)
            if holder is not None:
                self.draft.link(one.id, LinkKind.CONTRADICTS, holder.id)


def _place(one: Version) -> Place:
    return (one.type, one.slot)


def _holds(one: Version) -> bool:
    return one.active and one.slot is not None and not one.contested


def _latest_first(one: Version) -> tuple[float, UUID]:
    return (-one.stated_at.timestamp(), one.id)


def changed_marks(found: Transition, event: Unmerged) -> list[MergeMark]:
    """Return the marks that are other ones once a merge is undone, as they are then."""
    changed = []
    gone = {(one.source, one.target) for one in found.unlinks}
    new = {one.source: one.target for one in found.links if one.kind is LinkKind.CONTRADICTS}
    for mark in event.marks:
        change = None if mark.memory in event.home else found.change_of(mark.memory)
        lifted = change is not None and change.before.contested and not change.after.contested
        if lifted and mark.here and mark.contested:
            changed.append(replace(mark, contested=False, asked=False, contradicts=None))
        elif mark.contradicts is not None and (mark.memory, mark.contradicts) in gone:
            changed.append(replace(mark, contradicts=new.get(mark.memory)))
    return changed
