"""What a query asks, and what it gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from app.model import Memory, Mode, Visibility


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRequest:
    """One question. `now` is aware, in the caller's time zone: windows such as "yesterday" go by it.

    `types` are canonical type names, empty for all. `min_confidence` None means the floor of the mode.
    `token_budget` bounds the context block. `as_of`: what was true then; `known_at`: what was believed then.
    """

    query: str
    now: datetime
    visibility: Visibility = field(default_factory=Visibility)
    session_id: str | None = None
    types: tuple[str, ...] = ()
    topic: str | None = None
    top_k: int = 10
    mode: Mode | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    min_confidence: float | None = None
    token_budget: int = 2000
    rerank: bool = False
    explain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmHit:
    """Where an arm placed a memory: rank from 1, raw score, score scaled to 0..1, what it added to fusion."""

    arm: str
    rank: int
    score: float
    scaled: float
    contribution: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that answers, with what its place is made of: score = retrieval x confidence x freshness^g."""

    memory: Memory
    score: float
    retrieval: float
    confidence: float
    freshness: float
    arms: tuple[ArmHit, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextGroup:
    """One of the six groups of the context block: its name and one line a memory."""

    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The block to paste into a prompt, its size in tokens, and its groups."""

    text: str
    tokens: int
    groups: tuple[ContextGroup, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """The answer: hits best first, the context made of them, and how the question was read."""

    hits: tuple[Hit, ...]
    context: Context
    understood: Mapping[str, object]
    plan: Mapping[str, object] | None
    took_ms: float
    degraded: tuple[str, ...] = ()
