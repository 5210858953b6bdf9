"""Frozen values between the stages; the Decision union.

The frozen values between the write stages: Candidate -> Prepared -> Resolved -> Decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.memory.candidate import Candidate
from app.memory.extraction import Proposal
from app.memory.spec import Payload
from app.model import ConfidenceParts, EntityRef, EventTime, Memory, Mention, ReviewReason, SpeechAct
from app.write.coreference.references import Binding


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedProposal:
    """A proposal that went no further, and why."""

    proposal: Proposal
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedCandidates:
    """What came of a turn's proposals: candidates, the episode last, what was refused, whom pronouns meant."""

    candidates: tuple[Candidate, ...] = ()
    refused: tuple[RejectedProposal, ...] = ()
    bindings: tuple[Binding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexText:
    """A text of a memory as it is searched: its embedding as text, and, once a memory, its terms."""

    kind: str
    embedding: str
    terms: tuple[str, ...] | None
    vector: NDArray[np.float32] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A candidate with everything that needs no store: sentence, confidence, event range, vectors."""

    candidate: Candidate
    content: str
    stated_at: datetime
    parts: ConfidenceParts
    confidence: float
    event: EventTime | None
    mentions: tuple[Mention, ...]
    identity: bytes
    texts: tuple[IndexText, ...]

    @property
    def begins(self) -> datetime:
        """Return from when on it holds: as given, or else when it was stated."""
        return self.candidate.valid_from or self.stated_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A prepared candidate whose names have become entities, and with them its slot and value.

    `breaks` are the active memories of a guarding type that stand in its way. `accepted` is the pending memory that
    a person believes, if it is one: it becomes this.
    """

    prepared: Prepared
    refs: Mapping[str, EntityRef]
    slot: str | None
    value: str | None
    unified: tuple[tuple[UUID, UUID], ...] = ()
    breaks: tuple[Existing, ...] = ()
    accepted: Memory | None = None

    @property
    def subject_id(self) -> UUID | None:
        """Return the entity the memory is about, if it is about one."""
        for role in ("subject", "from", "identity"):
            if role in self.refs:
                return self.refs[role].id
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Existing:
    """A stored memory as far as a decision needs it; `relation` says how it was found."""

    relation: str
    id: UUID
    type: str
    status: str
    content: str
    payload: Mapping[str, object]
    slot: str | None
    value: str | None
    contested: bool
    stated_at: datetime
    valid_from: datetime
    valid_until: datetime | None
    recorded_at: datetime
    confidence: float
    parts: ConfidenceParts
    speech_act: SpeechAct
    topic: str | None
    session_id: str | None
    sequence_number: int | None
    similarity: float | None
    type_version: int = 0
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """Store it beside what is there; `over`: as history that nothing replaced, for its time was over by then."""

    reason: str
    over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """The same belief again: it grows in confidence and evidence.

    `payload` is what both say together, where that is more than was known; `rewritten` is that, prepared. An `echo`
    only repeats to a user what they have said: it is kept as evidence, and counts for nothing.
    `settles` are those that contradicted it until now and that this statement would have superseded. `until` is when
    it ends by what is stated now, where that says so.
    """

    into: Existing
    payload: Payload | None
    reason: str
    until: datetime | None = None
    rewritten: Prepared | None = None
    echo: bool = False
    settles: tuple[Existing, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersede:
    """It takes the slot; `old` become history, first the one it took it from."""

    old: tuple[Existing, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradict:
    """It stands beside those it contradicts, weaker until a later statement settles it."""

    others: tuple[Existing, ...]
    needs_review: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddAsHistory:
    """It was stated before what is believed now: stored as already superseded, in its place in the chain."""

    successor: Existing
    predecessor: Existing | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """It is no longer so, and nothing new takes its place: these stopped being true at `at`."""

    old: tuple[Existing, ...]
    at: datetime
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndForReview:
    """It is said to have ended, but not so that it is believed: these stand, and `review` asks a person why."""

    others: tuple[Existing, ...]
    review: ReviewReason | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """It is not stored."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """It waits for a person: stored, and seen by nobody who asks. `into` is what says the same and waits already."""

    reason: str
    why: ReviewReason = ReviewReason.DOUBTFUL
    into: Existing | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """The same turn has said the same before, in a try that was cut off or in a replay: nothing is written."""

    memory: UUID
    reason: str


Decision = Add | Merge | Supersede | Contradict | AddAsHistory | End | EndForReview | Review | Repeat | Reject
