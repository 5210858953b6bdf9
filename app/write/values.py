"""Frozen values between the write stages: Candidate -> Prepared -> Resolved -> Decision."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app import ids
from app.english.erasure_requests import ErasureRequest
from app.memory import normalise
from app.memory.candidate import AffectedMemory, Candidate, WriteDecision, WriteOutcome
from app.memory.extraction import Proposal
from app.memory.spec import Payload
from app.memory.versions import Transition, Version
from app.model import ConfidenceParts, EntityRef, EventTime, Memory, MemoryStatus, Mention, ReviewReason

_SPOKEN_BY = re.compile(r"^(?:speaker|subject|from|participant_\d+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """The resolved meaning of a reference, kept for the next one."""

    pronoun: str
    name: str
    entity_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedProposal:
    """A proposal that went no further, and why."""

    proposal: Proposal
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedCandidates:
    """The extraction of a turn: candidates, the episode last, refusals, the meaning of pronouns, erasures asked for."""

    candidates: tuple[Candidate, ...] = ()
    refused: tuple[RejectedProposal, ...] = ()
    bindings: tuple[Binding, ...] = ()
    erasures: tuple[ErasureRequest, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexText:
    """A text of a memory as it is searched: its embedding, and, once a memory, its terms."""

    kind: str
    embedding: NDArray[np.float32] = field(compare=False, repr=False)
    terms: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A candidate with everything that needs no store: sentence, confidence, event range, vectors.

    `accepted` is the pending memory that a person believes, if it is one: it becomes this.
    """

    candidate: Candidate
    content: str
    stated_at: datetime
    parts: ConfidenceParts
    confidence: float
    event: EventTime | None
    mentions: tuple[Mention, ...]
    identity: bytes
    texts: tuple[IndexText, ...]
    accepted: Memory | None = None

    @property
    def statement(self) -> bytes:
        """Return what tells it from the other statements of a turn; said to another scope, it is another one."""
        scope = self.candidate.scope
        return normalise.digest(self.identity.hex(), scope.kind, scope.user_id or "", scope.agent_id or "")

    @property
    def begins(self) -> datetime:
        """Return from when on it holds: as given, or else when it was stated."""
        return self.candidate.valid_from or self.stated_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A prepared candidate whose names have become entities, and with them its slot and value.

    `breaks` are the active memories of a guarding type that stand in its way.
    """

    prepared: Prepared
    refs: Mapping[str, EntityRef]
    slot: str | None
    value: str | None
    unified: tuple[tuple[UUID, UUID], ...] = ()
    breaks: tuple[Existing, ...] = ()

    @property
    def accepted(self) -> Memory | None:
        """Return the pending memory that it was made from, if a reviewer accepted one."""
        return self.prepared.accepted

    @property
    def subject_id(self) -> UUID | None:
        """Return the entity the memory is about, if it is about one."""
        for role in ("subject", "from", "identity"):
            if role in self.refs:
                return self.refs[role].id
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Existing(Version):
    """A stored memory as far as a decision needs it; `relation` says how it was found."""

    relation: str
    content: str
    payload: Mapping[str, object]
    topic: str | None
    session_id: str | None
    sequence_number: int | None
    similarity: float | None
    type_version: int = 0


def version_of(resolved: Resolved) -> Version:
    """Return the version that a candidate becomes if nothing stands in its way; one that was accepted keeps its id."""
    prepared, accepted = resolved.prepared, resolved.accepted
    return Version(
        id=ids.new() if accepted is None else accepted.id,
        type=prepared.candidate.type.name,
        slot=resolved.slot,
        value=resolved.value,
        status=MemoryStatus.ACTIVE,
        stated_at=prepared.stated_at,
        valid_from=prepared.begins,
        valid_until=prepared.candidate.valid_until,
        parts=prepared.parts,
        confidence=prepared.confidence,
        speech_act=prepared.candidate.speech_act,
        supersedes=None if accepted is None else accepted.supersedes,
    )


def stored_payload(resolved: Resolved, existing: Existing) -> Payload:
    """Return the payload of a memory of the candidate's type, read as the version that it was written with."""
    return resolved.prepared.candidate.type.read(existing.payload, existing.type_version)


@dataclass(frozen=True, slots=True, kw_only=True)
class Believe:
    """The statement is believed, or no longer, as the transition says.

    Of a repetition, `payload` is what both say together, where that is more than was known; `rewritten` is that,
    prepared.
    """

    transition: Transition
    payload: Payload | None = None
    rewritten: Prepared | None = None

    @property
    def reason(self) -> str:
        """Return why."""
        return self.transition.reason


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


Decision = Believe | Review | Repeat | Reject


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistResult:
    """The result of a decision in the words of the API; `memory` is the id of the one that now holds the belief."""

    decided: WriteDecision
    reason: str
    memory: UUID | None
    affected: tuple[AffectedMemory, ...] = ()

    def outcome(self, stored: Mapping[UUID, Memory]) -> WriteOutcome:
        """Return it with the memory as it is stored."""
        memory = None if self.memory is None else stored[self.memory]
        return WriteOutcome(decision=self.decided, reason=self.reason, memory=memory, affected=self.affected)


def spoken_names(mentions: Iterable[Mention]) -> frozenset[str]:
    """Return the names among these mentions that stay out of what is embedded: of whom it is said, and by whom."""
    return frozenset(one.name for one in mentions if _SPOKEN_BY.match(one.role))


def kept_refs(row: Mapping[str, Any], old: Payload, new: Payload) -> dict[str, EntityRef]:
    """Return whom the new payload names, as far as the old one named the same in the same role."""
    known: Mapping[str, Any] = row["roles"] or {}
    before = {one.role: normalise.normalise_name(one.name) for one in old.mentions()}
    return {
        one.role: EntityRef(id=UUID(known[one.role][0]), name=known[one.role][1], entity_type=known[one.role][2])
        for one in new.mentions()
        if one.role in known and before.get(one.role) == normalise.normalise_name(one.name)
    }
