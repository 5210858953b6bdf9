"""Candidates, which are proposed for storing, and the outcomes of writing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from uuid import UUID

from app.memory.spec import MemoryType, Payload
from app.model import Category, EventTime, Evidence, Memory, Scope, SpeechAct

DIRECT_SOURCE = 0.9
"""Source strength of a typed write (the seed's explicit first-person statement)."""

DIRECT_EXTRACTION = 0.9
"""Extractor confidence of a typed write, which involves no extraction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Marks a candidate as a statement that something is no longer so.

    `of` are the stored memories that it is said of; without them, it is about those that say the same.
    `at` is when it ended, aware; None if it is only known that it ended before the statement. `named` means that the
    payload names the value that ended; otherwise any present value has ended.
    """

    at: datetime | None = None
    named: bool = True
    of: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A typed memory that is proposed for storing.

    `content` overrides the type's own sentence; `context` is the text that came just before, which is searched but
    never shown; times are aware; `zone` is the caller's time zone; `mentions` is the number of times it was said;
    `review` is the reason to hold it back for a reviewer, `doubt` where its wording disagrees with the extractor.
    `category` is the caller's choice of category, `nature` the one that extraction derives; without either the type's
    default is used. `reviewed` means that a reviewer has seen it. `ties` are what names were said to be to whom, by
    normalised name. `covers` is the time that it tells of, where its payload has none. `wording` is the extractor's
    sentence, which is shown and searched; its payload says the same. `said` is the sentence of its turn. It takes the
    place of the stored memories `replaces` and says the same as `repeats`; `disputes` stand, though it was said to take
    their place. With an `ending`, it is not stored but ends the memories that say the same.
    """

    type: MemoryType
    payload: Payload
    scope: Scope
    content: str | None = None
    wording: str | None = None
    context: str | None = None
    said: str | None = None
    stated_at: datetime | None = None
    zone: tzinfo = UTC
    source_strength: float = DIRECT_SOURCE
    extractor_confidence: float = DIRECT_EXTRACTION
    mentions: int = 1
    speech_act: SpeechAct = SpeechAct.ASSERTION
    importance: float | None = None
    topic: str | None = None
    category: Category | None = None
    nature: Category | None = None
    session_id: str | None = None
    sequence_number: int | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    evidence: tuple[Evidence, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    provenance: Mapping[str, object] = field(default_factory=dict)
    review: str | None = None
    doubt: str | None = None
    reviewed: bool = False
    covers: EventTime | None = None
    ties: Mapping[str, str] = field(default_factory=dict)
    ending: Ending | None = None
    replaces: tuple[UUID, ...] = ()
    disputes: tuple[UUID, ...] = ()
    repeats: UUID | None = None

    @property
    def sentence(self) -> str:
        """Return the sentence of the memory: the one that was given, the extractor's, or else its type's own."""
        return self.wording or self.stated

    @property
    def stated(self) -> str:
        """Return what it says and is compared by: the given sentence, or else its type's own."""
        return self.content or self.payload.render()


class WriteDecision(StrEnum):
    """The decision of a write, in the words of the API."""

    ADDED = "added"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    CONTRADICTED = "contradicted"
    ENDED = "ended"
    REVIEW = "review"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedMemory:
    """Another memory that a write changed, and the change."""

    id: UUID
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOutcome:
    """The decision on a candidate and its reason; `memory` is None when it was rejected."""

    decision: WriteDecision
    reason: str
    memory: Memory | None
    affected: tuple[AffectedMemory, ...] = ()
