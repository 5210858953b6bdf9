"""Versions of a slot, the events that change them, and what an event changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from app.memory.lifecycle import is_over
from app.model import ConfidenceParts, LinkKind, MemoryStatus, ReviewReason, SpeechAct

TOLERANCE = 0.15
"""How much less a newer statement may be trusted and still replace the older one."""


class SlotVerdict(StrEnum):
    """A type's decision on a new claim to a slot that another value holds."""

    SUPERSEDE = "supersede"
    CONTRADICT = "contradict"
    HISTORY = "history"
    MERGE = "merge"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotClaim:
    """One side of a conflict: what is claimed for the slot, when it was stated, how far it is trusted."""

    value: str | None
    stated_at: datetime
    confidence: float
    speech_act: SpeechAct = SpeechAct.ASSERTION


ConflictPolicy = Callable[[SlotClaim, SlotClaim], SlotVerdict]
"""A type's rule: the older claim and the new one give the verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateBeforeFold:
    """The state of a memory before it was folded into a summary."""

    status: MemoryStatus
    ended_at: datetime | None
    retired_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A memory as far as its slot is concerned; without a slot it competes with nothing.

    `valid_from` and `valid_until` are when it says it is true, `ended_at` when something else ended it, `retired_at`
    when the service stopped believing it. `superseded_by` is the next version in the chain, `supersedes` the one
    before it. `unbelieved`: it waits for a person, and was not believed since it was recorded. `folded`: it was folded
    into the version that superseded it.
    """

    id: UUID
    type: str
    slot: str | None
    value: str | None
    status: MemoryStatus
    stated_at: datetime
    valid_from: datetime
    valid_until: datetime | None = None
    ended_at: datetime | None = None
    retired_at: datetime | None = None
    parts: ConfidenceParts
    confidence: float
    speech_act: SpeechAct = SpeechAct.ASSERTION
    contested: bool = False
    supersedes: UUID | None = None
    superseded_by: UUID | None = None
    review: ReviewReason | None = None
    review_note: str | None = None
    recorded_at: datetime | None = None
    unbelieved: bool = False
    folded: StateBeforeFold | None = None

    @property
    def active(self) -> bool:
        """Return whether it is believed now."""
        return self.status is MemoryStatus.ACTIVE

    @property
    def over_when_stated(self) -> bool:
        """Return whether its time was over when it was stated: it stands beside its slot's chain, and never held it."""
        expired = self.status is MemoryStatus.EXPIRED and self.ended_at is None
        return expired and is_over(self.valid_until, self.stated_at)

    @property
    def claim(self) -> SlotClaim:
        """Return what it claims for its slot."""
        return SlotClaim(
            value=self.value, stated_at=self.stated_at, confidence=self.confidence, speech_act=self.speech_act
        )


class ChangeCause(StrEnum):
    """The reason of a change of a version, as the audit log names it."""

    ADDED = "added"
    RESTATED = "restated"
    SUPERSEDED = "superseded"
    RELINKED = "relinked"
    ENDED = "ended"
    DOUBTED = "doubted"
    CLEARED = "cleared"
    UNCONTESTED = "uncontested"
    FORGOTTEN = "forgotten"
    PENDED = "pended"
    MOVED = "moved"
    REVIVED = "revived"
    REVERTED = "reverted"


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionChange:
    """A version before and after an event; `by` is the version that brought the change about, if one did."""

    before: Version
    after: Version
    cause: ChangeCause
    by: UUID | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotLink:
    """An edge between two versions that an event makes or takes away."""

    source: UUID
    kind: LinkKind
    target: UUID


class SlotOutcome(StrEnum):
    """The outcome of an event."""

    ADDED = "added"
    MERGED = "merged"
    ECHOED = "echoed"
    SUPERSEDED = "superseded"
    CONTRADICTED = "contradicted"
    HISTORY = "history"
    ENDED = "ended"
    DOUBTED = "doubted"
    CHANGED = "changed"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """The changes of an event.

    `holder` is the version that carries what was stated: `new`, or the one that it repeats. `new` is None when
    nothing is stored for it. `rivals` are the versions that the outcome names: superseded, contradicted, ended.
    `unlinks` are edges that go.
    """

    outcome: SlotOutcome
    reason: str
    holder: Version | None = None
    new: Version | None = None
    changes: tuple[VersionChange, ...] = ()
    links: tuple[SlotLink, ...] = ()
    unlinks: tuple[SlotLink, ...] = ()
    rivals: tuple[Version, ...] = ()

    def change_of(self, version: UUID) -> VersionChange | None:
        """Return how a version changes, None when it stays as it is."""
        return next((one for one in self.changes if one.before.id == version), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetition:
    """A version that says the same in other ways than by its slot: in its words, its meaning, or by a judge."""

    version: Version
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A statement reaches its slot: `new` is the version that it becomes if nothing stands in the way.

    `repetition` is what says the same besides the slot; `guards` are the active rules that it is about, `guard_note`
    their description for a reviewer. `lasting` are versions that a person decides about before another value takes
    their place. `importance` is the type's, 0..1. `reviewed`: a person has seen it, so it needs no second look.
    `replaces` are the versions that it is said to take the place of, whatever their slots; `disputes` those that stand
    all the same, which a person looks at. `stored`: it is a memory with an id of its own already (imported, adopted),
    so a repetition stays, as history of what it repeats.
    """

    new: Version
    repetition: Repetition | None = None
    guards: tuple[Version, ...] = ()
    guard_note: str | None = None
    lasting: frozenset[UUID] = frozenset()
    importance: float = 0.0
    reviewed: bool = False
    replaces: frozenset[UUID] = frozenset()
    disputes: frozenset[UUID] = frozenset()
    stored: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """Versions are stated to be no longer so, as of `at`, which may be ahead; `claim` has no value.

    `doubted` says why a person should look first; then nothing ends.
    """

    versions: frozenset[UUID]
    claim: SlotClaim
    at: datetime
    importance: float = 0.0
    doubted: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """It was decided that one version stands for others from `since` on; `reviewed`: its own review is done, too."""

    winner: UUID
    losers: tuple[UUID, ...]
    since: datetime
    reason: str
    reviewed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """A person has looked: versions are no longer under review."""

    versions: frozenset[UUID]


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """Versions are taken out of belief: forgotten, sent to review, or, without a status, deleted.

    With `unfolds`, what was folded into one that is forgotten or deleted is again what it was before.
    """

    versions: frozenset[UUID]
    status: MemoryStatus | None
    reason: str = ""
    unfolds: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Reverted:
    """A decision is undone: versions are again what they were before it; `to` has them as they were."""

    to: Mapping[UUID, Version]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Versions come into other slots, because entities or keys turn out to be one; `to` gives new slots and values.

    `review` and `reason` are why a person is asked about one that differs from the holder.
    """

    to: Mapping[UUID, tuple[str | None, str | None]]
    review: ReviewReason = ReviewReason.ENTITY_MERGE
    reason: str = "their subjects were merged"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedVersion:
    """A merged version's slot and value from before the merge; None where they stayed.

    `contested`: it came beside a holder; `asked`: a person was asked about it; `contradicts`: the holder that it was
    linked to.
    """

    slot: str | None
    value: str | None
    contested: bool
    asked: bool
    contradicts: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeMark:
    """The mark of an entity merge on a version; `here`: it was merged into the same entity as the one that returns."""

    entity: UUID
    memory: UUID
    here: bool
    contested: bool
    asked: bool
    contradicts: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmerged:
    """A merge is undone: `home` versions return to their own slots; `marks` are what merges did to those that stay."""

    home: Mapping[UUID, MergedVersion]
    marks: tuple[MergeMark, ...]
    merged_at: datetime


SlotEvent = Stated | Ended | Chosen | Cleared | Removed | Reverted | Moved | Unmerged


@dataclass(slots=True, kw_only=True)
class VersionDraft:
    """The versions as an event changes them, one at a time."""

    before: Mapping[UUID, Version]
    policy: ConflictPolicy
    now: datetime
    after: dict[UUID, Version] = field(default_factory=dict)
    causes: dict[UUID, tuple[ChangeCause, UUID | None, str]] = field(default_factory=dict)
    links: list[SlotLink] = field(default_factory=list)

    def all(self) -> list[Version]:
        """Return every version as it is by now."""
        return [self.after.get(key, one) for key, one in self.before.items()]

    def get(self, version: UUID | None) -> Version | None:
        """Return a version as it is by now, None when it is not among those given."""
        if version is None:
            return None
        return self.after.get(version, self.before.get(version))

    def set(self, version: UUID, cause: ChangeCause, *, by: UUID | None = None, reason: str = "", **to: Any) -> None:  # noqa: ANN401 - fields of a Version
        """Change fields of a version; the first cause of a change names it."""
        one = self.get(version)
        if one is not None:
            self.after[version] = replace(one, **to)
            self.causes.setdefault(version, (cause, by, reason))

    def link(self, source: UUID, kind: LinkKind, target: UUID) -> None:
        """Make an edge between two versions."""
        self.links.append(SlotLink(source=source, kind=kind, target=target))

    def supersede(self, loser: UUID, *, by: UUID, since: datetime, reason: str) -> None:
        """Make a version history: `by` took its place, from `since` on."""
        one = self.before[loser]
        self.set(
            loser,
            ChangeCause.SUPERSEDED,
            by=by,
            reason=reason,
            status=MemoryStatus.SUPERSEDED,
            superseded_by=by,
            ended_at=max(since, one.valid_from),
            retired_at=self.now,
            contested=False,
            review=None,
            review_note=None,
        )
        self.link(by, LinkKind.SUPERSEDES, loser)

    def done(
        self,
        outcome: SlotOutcome,
        reason: str,
        *,
        holder: Version | None = None,
        new: Version | None = None,
        rivals: Sequence[Version] = (),
    ) -> Transition:
        """Return what has changed."""
        changes = []
        for version, after in self.after.items():
            cause, by, why = self.causes[version]
            if after != self.before[version]:
                changes.append(
                    VersionChange(before=self.before[version], after=after, cause=cause, by=by, reason=why or reason)
                )
        return Transition(
            outcome=outcome,
            reason=reason,
            holder=holder,
            new=new,
            changes=tuple(changes),
            links=tuple(self.links),
            rivals=tuple(rivals),
        )
