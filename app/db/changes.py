"""What one write changes in one scope: the frozen values that `writing.apply` puts into the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.db.audit import Ledger
from app.db.rows import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Retired:
    """A memory whose slot was taken: by whom, and when in valid time and in ours."""

    id: UUID
    successor: UUID
    ended_at: datetime
    retired_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Relinked:
    """New neighbours in a chain of supersession; None leaves one as it is."""

    id: UUID
    supersedes: UUID | None
    superseded_by: UUID | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """A belief that was stated again: its new standing, and its new words if it gained any.

    With a `category`, it fades by that from now on. One that had expired is active again. `settles`: nothing
    contradicts it any more. With a `valid_until` it ends then; None leaves its end as it is. `named` are the ids of
    the entities that were named this time, by role: those counted already, where others of the memory are not.
    """

    id: UUID
    source_strength: float
    extractor_confidence: float
    mentions: int
    confidence: float
    stated_at: datetime
    payload: Mapping[str, object] | None
    content: str | None
    identity: bytes | None
    category: str | None = None
    half_life_days: float | None = None
    floor: float = 0.0
    settles: bool = False
    valid_until: datetime | None = None
    named: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A memory that stopped being true with no successor: when in valid time and in ours, and when that was stated."""

    id: UUID
    ended_at: datetime
    retired_at: datetime
    stated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubted:
    """A memory that a person should look at; one that waits for a person already keeps its reason."""

    id: UUID
    reason: str
    note: str
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Everything one write does to one scope, at its stamp; `unified` pairs are (merged entity, survivor).

    `touched` are the memories that it was decided on, with the status that they had.
    """

    at: datetime
    touched: Mapping[UUID, str]
    rows: Mapping[str, Sequence[Row]]
    retired: tuple[Retired, ...]
    relinked: tuple[Relinked, ...]
    merged: tuple[Merged, ...]
    ended: tuple[Ended, ...]
    doubted: tuple[Doubted, ...]
    unified: tuple[tuple[UUID, UUID], ...]
    added: int
    contexts: int
    lexical_documents: int
    lexical_length: int
    lexical_average: float
    ledger: Ledger
