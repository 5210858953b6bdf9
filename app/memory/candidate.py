"""Candidates, which are proposed for storing, and the decisions about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from uuid import UUID

from app.memory.spec import MemoryType, Payload
from app.model import Category, Evidence, Memory, Scope, SpeechAct

DIRECT_SOURCE = 0.9
"""Source strength of a caller that states a memory itself (the seed's explicit first-person statement)."""

DIRECT_EXTRACTION = 0.9
"""Extractor confidence when nothing was extracted: the fields were given as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """That what a candidate's payload says is no longer so.

    `at` is when it stopped, aware; None where only that it has stopped is known, by when it was stated. `named`:
    the payload names the value; otherwise whichever is held there has ended.
    """

    at: datetime | None = None
    named: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One typed memory as it arrives, before any look at the store.

    `content` overrides the type's own sentence; `context` is the text that came just before, which is
    searched but never shown; times are aware; `zone` is the caller's time zone; `mentions` is how often it was said;
    `review` says why a person should look at it before it is believed. `category` is the caller's choice of how it
    fades, `nature` what extraction makes of what it says; without either the type decides. `reviewed`: a person has
    looked at what it says. With an `ending` it is nothing to store, but takes what it says out of what is believed.
    """

    type: MemoryType
    payload: Payload
    scope: Scope
    content: str | None = None
    context: str | None = None
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
    reviewed: bool = False
    ending: Ending | None = None


class WriteDecision(StrEnum):
    """What a write came to, in the words of the API."""

    ADDED = "added"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    CONTRADICTED = "contradicted"
    ENDED = "ended"
    REVIEW = "review"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedMemory:
    """Another memory that the write changed, and how."""

    id: UUID
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOutcome:
    """What was decided about a candidate and why; `memory` is None when it was rejected."""

    decision: WriteDecision
    reason: str
    memory: Memory | None
    affected: tuple[AffectedMemory, ...] = ()
