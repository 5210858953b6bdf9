"""Input and output of extraction: turns and proposed memories; and a tenant's policy for its write pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import Annotated, Final, Self
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from app.english.erasure_requests import ErasureRequest
from app.memory.instructions import ExtractionInstructions
from app.memory.vocabulary import USER
from app.model import Category, Scope, SpeechAct

MOST_PROPOSALS = 5
"""Most proposals of one turn (seed 003: extract 0 to 5)."""

ASSISTANT = "assistant"
"""The name of the assistant as a subject."""


class Role(StrEnum):
    """The role of a turn's author, which caps the source strength."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


NOT_PEOPLE: Final = frozenset({Role.ASSISTANT, Role.TOOL})
"""Roles of those who speak for no person."""


class TurnStatus(StrEnum):
    """The status of a turn; received turns wait to be processed."""

    RECEIVED = "received"
    PROCESSED = "processed"
    SKIPPED = "skipped"
    FAILED = "extraction_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of a conversation.

    `speaker` is the author's name, if the conversation has names; `user_id` is whom it was sent for, where its
    scope is nobody's; `zone` is the time zone of words such as "yesterday"; `occurred_at` is aware. `category`,
    `importance` (0..1) and `metadata` are the caller's, for all memories of the turn. `instructions` say what to
    extract: those of its request, and on its way through the pipeline the tenant's before them. `unread` means that it
    is an earlier turn that was not extracted yet, perhaps as its request was interrupted.
    """

    id: UUID
    scope: Scope
    role: Role
    content: str
    occurred_at: datetime
    zone: tzinfo = UTC
    session_id: str | None = None
    sequence_number: int | None = None
    speaker: str | None = None
    user_id: str | None = None
    category: Category | None = None
    importance: float | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    instructions: tuple[ExtractionInstructions, ...] = ()
    unread: bool = False

    @property
    def first_person(self) -> str:
        """Return the name that `I` refers to in the turn."""
        if self.speaker is not None:
            return self.speaker
        return USER if self.role is Role.USER else ASSISTANT

    @property
    def second_person(self) -> str:
        """Return the name that `you` refers to in the turn, according to its role."""
        return ASSISTANT if self.role is Role.USER else USER


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A memory that an extractor proposes.

    `type` names a registered type, `payload` has its fields by their wire names, not yet validated; `quote` is the span
    of the turn that supports it, word for word; `confidence` (that the turn says so) and `importance` (in the long run)
    are 0..1 and independent; `category` is the extractor's choice, None for the type's default; `consistency` is the
    share of the temperature sweep that produced it. `ends` means that this is no longer so, since `ended_at` (an ISO
    date or date and time) or, without one, since some time before the turn; the payload may then omit the value.
    `valid_from` and `valid_until` (ISO, a date inclusive) bound its validity; `ttl_days` is its length where the turn
    gives one. `sentence` says it in full, in the language of the turn. `several`: other values can be true beside
    this one, None where the extractor does not say.

    The ids are of stored memories that the extractor was shown: of those whose place it takes (`replaces`), that are no
    longer so because of it (`retires`), that say the same (`repeats`); `about` may also be entities, and only says who
    or what is meant.
    """

    type: str
    payload: Mapping[str, object]
    quote: str
    sentence: str | None = None
    speech_act: SpeechAct = SpeechAct.ASSERTION
    confidence: float = 0.9
    importance: float | None = None
    topic: str | None = None
    category: Category | None = None
    consistency: float = 1.0
    ends: bool = False
    ended_at: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    ttl_days: float | None = None
    several: bool | None = None
    replaces: tuple[UUID, ...] = ()
    retires: tuple[UUID, ...] = ()
    repeats: UUID | None = None
    about: tuple[UUID, ...] = ()

    @property
    def referred(self) -> tuple[UUID, ...]:
        """Return the ids of all that it refers to."""
        repeated = () if self.repeats is None else (self.repeats,)
        return tuple(dict.fromkeys((*self.replaces, *self.retires, *repeated, *self.about)))


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBelief:
    """A stored memory that a turn may touch: its type and fields, when it was said, and from when until when it holds.

    Times are aware; None of what is not known or not bounded. `speech_act` tells what is believed from what was only
    supposed, played or quoted; `version` is that of the type that it was written with.
    """

    type: str
    fields: Mapping[str, object]
    id: UUID | None = None
    said: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None
    speech_act: SpeechAct = SpeechAct.ASSERTION
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityNames:
    """A stored entity that a turn names, with its other names."""

    name: str
    entity_type: str
    aliases: tuple[str, ...] = ()
    id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownExcerpt:
    """Stored beliefs of a scope that a turn may touch, nearest first; `keys` are all keys of its memories, by type."""

    beliefs: tuple[KnownBelief, ...] = ()
    entities: tuple[EntityNames, ...] = ()
    keys: Mapping[str, frozenset[str]] = field(default_factory=dict)


NOTHING_KNOWN = KnownExcerpt()


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """The cost of extraction: requests to the model, and tokens in and out; zero without a model."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: TokenUsage) -> TokenUsage:
        """Return the sum of both."""
        return TokenUsage(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The result of extraction from one turn: at most `MOST_PROPOSALS` proposals, in the order of the turn.

    `unusable` has, for each proposed memory that can't be used, its place in the answer and the invalid field.
    `adoptable` means that the extractor knows a few types only, so that other types may adopt its proposals; a language
    model knows every type, and its choice is final. `erasures` are requests to forget something.
    """

    proposals: tuple[Proposal, ...] = ()
    erasures: tuple[ErasureRequest, ...] = ()
    unusable: tuple[str, ...] = ()
    usage: TokenUsage = field(default_factory=TokenUsage)
    adoptable: bool = False


def _distinct(values: object) -> object:
    if isinstance(values, list) and any(one in values[:place] for place, one in enumerate(values)):
        raise ValueError("must not hold the same value twice")
    return values


SHORT_TURN: Final = 5
"""Words from which a turn says something without what was said before it, as far as the built-in rules can tell."""


class PrefilterPolicy(BaseModel):
    """A tenant's own thresholds of the prefilter."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_words: int | None = Field(
        default=None,
        strict=True,
        ge=0,
        le=10_000,
        description="Fewest words of a turn; shorter ones pass when they state something of the speaker, or answer a "
        f"question that someone else asked right before. By default {SHORT_TURN} for the built-in rules, none for a "
        "language model, which reads turns of any length.",
    )
    max_words: int = Field(default=10_000, strict=True, ge=1, le=100_000, description="Most words of a turn.")
    chit_chat: bool = Field(
        default=True,
        strict=True,
        description="Drop turns that are nothing but thanks, greetings or assent; a bare yes or no is kept where it "
        "answers a question about the speaker.",
    )
    repeat_seconds: float = Field(
        default=60.0,
        strict=True,
        ge=0,
        le=86_400,
        description="Drop a turn that was said almost alike within so many seconds.",
    )
    repeat_similarity: float = Field(
        default=0.9,
        strict=True,
        ge=0,
        le=1,
        description="Least share of an earlier turn's words that a repetition of it keeps.",
    )
    excluded_roles: Annotated[frozenset[Role], BeforeValidator(_distinct)] = Field(
        default=frozenset({Role.SYSTEM}),
        description="Whose turns are not extracted from; by default the system's, which instruct rather than tell.",
    )

    @model_validator(mode="after")
    def _leaves_something(self) -> Self:
        if self.min_words is not None and self.min_words > self.max_words:
            raise ValueError("min_words must not be more than max_words: every turn would be dropped")
        return self


class TenantPolicy(BaseModel):
    """A tenant's own settings; settings that are left out have the service's defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prefilter: PrefilterPolicy = Field(default_factory=PrefilterPolicy)
    keep_episodes: bool | None = Field(
        default=None,
        strict=True,
        description="Keep each turn that passes the prefilter as an episodic memory too; "
        "by default, as TM_KEEP_EPISODES says.",
    )
    excluded_types: Annotated[frozenset[str], BeforeValidator(_distinct)] = Field(
        default=frozenset(),
        max_length=100,
        description="Memory types that nothing is extracted as; a language model isn't told of them, and costs less.",
        examples=[["medication"]],
    )
    extraction: ExtractionInstructions = Field(
        default_factory=ExtractionInstructions,
        description="What to remember and what never, in plain words; a request may add its own.",
    )

    def instructed(self, turn: Turn) -> Turn:
        """Return a turn with the tenant's instructions before those of its request."""
        return replace(turn, instructions=(self.extraction, *turn.instructions)) if self.extraction else turn
