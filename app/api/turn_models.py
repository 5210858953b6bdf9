"""The bodies and answers of the turns' routes."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self

from pydantic import Field, model_validator

from app.api.cursors import LONGEST
from app.api.fields import Fraction, Instant, Metadata, TimeZone
from app.api.models import AffectedOut, Out
from app.api.requests import MOST_RESULTS, In
from app.api.shapes import shown
from app.memory.candidate import Decided
from app.memory.extraction import Role, TurnStatus
from app.memory.kinds import Place
from app.memory.strings import Name, Sentence, UserId
from app.model import Category, ScopeKind, SpeechAct

MOST_TURNS = 500
"""Turns in one request."""


class TurnIn(In):
    """One message of a conversation."""

    role: Role = Field(default=Role.USER, description="Who produced it; it bounds how far it is trusted.")
    content: Sentence = Field(examples=["I moved from Boston to Berlin last month to work at Volkswagen."])
    speaker: Name | None = Field(default=None, description="Who said it, where a conversation has names: who `I` is.")
    occurred_at: Instant | None = Field(default=None, description="When it was said; now, unless given.")
    session_id: Name | None = None
    sequence_number: Place | None = None
    category: Category | None = Field(
        default=None, description="How all that it yields fades; by default as the types do, and what it says."
    )
    importance: Fraction | None = Field(default=None, description="Of all that it yields.")
    metadata: Metadata = Field(default_factory=dict)


_OWN = frozenset(TurnIn.model_fields) - {"session_id"}
"""The fields of one turn that a body may have right in itself."""


class TurnsBody(
    In,
    **shown(
        {
            "user_id": "bo",
            "session_id": "monday",
            "timezone": "Europe/Berlin",
            "turns": [
                {"role": "user", "content": "I moved from Boston to Berlin last month to work at Volkswagen."},
                {"role": "assistant", "content": "How do you like it there?"},
            ],
        }
    ),
):
    """Turns of one user or agent: a list, or one turn's fields right here."""

    turns: list[TurnIn] | None = Field(default=None, min_length=1, max_length=MOST_TURNS)
    role: Role | None = None
    content: Sentence | None = None
    speaker: Name | None = None
    occurred_at: Instant | None = None
    sequence_number: Place | None = None
    category: Category | None = None
    importance: Fraction | None = None
    metadata: Metadata | None = None
    session_id: Name | None = Field(default=None, description="The conversation; of every turn that names no other.")
    user_id: UserId | None = None
    agent_id: Name | None = None
    scope: ScopeKind | None = Field(
        default=None,
        description="Where memories go; by default the user's scope, else the agent's, that agent's with that user if "
        "both are named, else global.",
    )
    timezone: TimeZone | None = Field(default=None, description='Where "yesterday" is meant; UTC unless given.')

    @model_validator(mode="after")
    def _one_shape(self) -> Self:
        single = _OWN & self.model_fields_set
        if self.turns is None and self.content is None:
            raise ValueError("give `turns`, or one turn's `content`")
        if self.turns is not None and single:
            raise ValueError(f"give `turns` or one turn's fields, not both: {', '.join(sorted(single))}")
        return self

    @property
    def given(self) -> list[TurnIn]:
        """Return the turns, in either shape."""
        if self.turns is not None:
            return self.turns
        own = {name: getattr(self, name) for name in _OWN if getattr(self, name) is not None}
        return [TurnIn.model_construct(**own)]


class TurnQuery(In):
    """Which turns to list."""

    user_id: Name | None = None
    agent_id: Name | None = None
    session_id: Name | None = None
    status: TurnStatus | None = None
    limit: int = Field(default=50, ge=1, le=MOST_RESULTS)
    cursor: str | None = Field(default=None, min_length=1, max_length=LONGEST)


class CandidateOut(Out):
    """What was proposed of a turn, what was decided about it, and why."""

    type: str
    quote: str | None = Field(description="The words of the turn it relies on; null for the turn itself.")
    content: str | None
    speech_act: SpeechAct
    confidence: float | None
    decision: Decided
    reason: str
    memory_id: str | None
    affected: list[AffectedOut]


class DroppedOut(Out):
    """Something a stage did not let through."""

    what: str
    reason: str


class StageOut(Out):
    """What a stage saw, let through and dropped, and the milliseconds it took."""

    stage: str
    seen: int
    kept: int
    dropped: list[DroppedOut]
    notes: list[str]
    took_ms: float


class TurnOut(Out):
    """A turn and what became of it; `id` is null in a dry run."""

    id: str | None
    status: TurnStatus
    reason: str | None
    role: Role
    speaker: str | None
    content: str
    session_id: str | None
    sequence_number: int | None
    scope: ScopeKind
    user_id: str | None
    agent_id: str | None
    occurred_at: datetime
    timezone: str
    category: Category | None
    importance: float | None
    recorded_at: datetime | None
    processed_at: datetime | None
    metadata: dict[str, Any]
    candidates: list[CandidateOut]
    trace: list[StageOut]


class TurnsResult(Out):
    """Turns as far as they have come; `job_id` is the job that processes those that wait."""

    job_id: str | None
    turns: list[TurnOut]
    degraded: list[str]


class TurnPage(Out):
    """Some turns."""

    turns: list[TurnOut]
    next_cursor: str | None
