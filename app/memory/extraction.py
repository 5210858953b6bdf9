"""Turns, proposals, token usage, tenant policy.

What goes into extraction and what comes out: turns, and the memories proposed from them.

What a tenant decides about its own write pipeline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import Annotated, Self
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from app.memory.vocabulary import USER
from app.model import Category, Scope, SpeechAct

MOST_PROPOSALS = 5
"""Memories that one turn may propose (seed 003: extract 0 to 5)."""

ASSISTANT = "assistant"
"""The name under which the assistant itself is spoken of."""


class Role(StrEnum):
    """Who produced a turn; it caps how far what the turn says is trusted."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class TurnStatus(StrEnum):
    """How far a turn has come; those received are still to be processed."""

    RECEIVED = "received"
    PROCESSED = "processed"
    SKIPPED = "skipped"
    FAILED = "extraction_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of a conversation.

    `speaker` is the name of who said it, where a conversation has names; `zone` is the time zone in which its
    "yesterday" is meant; `occurred_at` is aware. `category` and `importance` (0..1) are the caller's, for all that
    it yields. `unread`: it came before, and nothing has been made of it yet, perhaps because its request was cut off.
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
    category: Category | None = None
    importance: float | None = None
    unread: bool = False

    @property
    def first_person(self) -> str:
        """Return whom the turn means by `I`."""
        if self.speaker is not None:
            return self.speaker
        return USER if self.role is Role.USER else ASSISTANT

    @property
    def second_person(self) -> str:
        """Return whom the turn means by `you`, as far as its role tells."""
        return ASSISTANT if self.role is Role.USER else USER


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A memory that an extractor proposes.

    `type` names a registered type, `payload` its fields by their wire names, not yet validated; `quote` is the
    span of the turn it relies on, word for word; `confidence` (how sure that the turn says so) and `importance`
    (how much it matters in the long run) are 0..1 and independent; `category` is how the extractor thinks it
    fades, None for as its type does; `consistency` is the share of the temperature sweep that produced it. `ends`: it
    proposes that this is no longer so, since `ended_at` (an ISO date or date and time) or, without one, since some
    time before the turn; the payload may then leave the value out. `valid_from` and `valid_until` (ISO,
    a date inclusive) bound when it holds, `ttl_days` for how long where the turn gives a length.
    """

    type: str
    payload: Mapping[str, object]
    quote: str
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


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBelief:
    """A stored memory that a turn may touch: its type, and the fields that say what is held and what it is about."""

    type: str
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityNames:
    """A stored entity that a turn names, with its other names."""

    name: str
    entity_type: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownExcerpt:
    """What a scope holds that a turn may touch, nearest first; `keys` are all that memories are held under, by type."""

    beliefs: tuple[KnownBelief, ...] = ()
    entities: tuple[EntityNames, ...] = ()
    keys: Mapping[str, frozenset[str]] = field(default_factory=dict)


NOTHING_KNOWN = KnownExcerpt()


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """What extraction cost: requests to the model, and tokens in and out; nothing without a model."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: TokenUsage) -> TokenUsage:
        """Return both together."""
        return TokenUsage(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What came of one turn: at most `MOST_PROPOSALS` proposals, in the order of the turn.

    `unusable` says of each memory that was proposed and can't be used where it stood in the answer and which field is
    wrong, without its content.
    `adoptable`: they are of the few types that the extractor was written for, so types that adopt from these are
    offered them; a language model knows every type, and its choice stands.
    """

    proposals: tuple[Proposal, ...] = ()
    unusable: tuple[str, ...] = ()
    usage: TokenUsage = field(default_factory=TokenUsage)
    adoptable: bool = False


def _distinct(values: object) -> object:
    if isinstance(values, list) and any(one in values[:place] for place, one in enumerate(values)):
        raise ValueError("must not hold the same value twice")
    return values


class PrefilterPolicy(BaseModel):
    """A tenant's own thresholds for what is worth extracting from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_words: int = Field(
        default=5,
        strict=True,
        ge=0,
        le=10_000,
        description="Fewest words of a turn; shorter ones pass when they state something of the speaker, or answer a "
        "question that someone else asked right before.",
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
        if self.min_words > self.max_words:
            raise ValueError("min_words must not be more than max_words: every turn would be dropped")
        return self


class TenantPolicy(BaseModel):
    """A tenant's own settings; what is left out is as the service has it."""

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
