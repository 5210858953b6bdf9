"""Review items with their competing memories, reviewers' actions and decisions, and the suggestions of rules."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from app import ids
from app.memory.spec import Payload
from app.model import LinkKind, Memory, MemoryStatus, ReviewReason


class ReviewAction(StrEnum):
    """An action of a reviewer on an item."""

    ACCEPT = "accept"
    REJECT = "reject"
    KEEP_BOTH = "keep_both"
    SUPERSEDE_WITH = "supersede_with"
    MERGE = "merge"
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSide:
    """A memory that conflicts with the item; `same_value` means that it has the same value.

    `relation` is `contradicts` or `conflicts-with`; only a contradicting one competes for the item's slot.
    """

    memory: Memory
    relation: LinkKind
    same_value: bool

    @property
    def competes(self) -> bool:
        """Return whether only one of the two can be true."""
        return self.relation is LinkKind.CONTRADICTS


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """A memory that waits for a decision, and its sides; `version` changes when any of them does."""

    memory: Memory
    sides: tuple[ReviewSide, ...]
    version: str

    @property
    def rivals(self) -> tuple[Memory, ...]:
        """Return the memories of the sides that compete with the item."""
        return tuple(side.memory for side in self.sides if side.competes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A suggested action and its reason; `other` is the memory that the action names, if any."""

    action: ReviewAction
    reason: str
    other: UUID | None = None


def version_of(stamps: Mapping[UUID, str]) -> str:
    """Return the version of an item, derived from the times of change of its memory and sides."""
    told = "\n".join(f"{memory.hex} {stamp}" for memory, stamp in sorted(stamps.items()))
    return hashlib.sha256(told.encode()).hexdigest()[:32]


def suggestion(item: ReviewItem) -> Suggestion:
    """Return the action that the rules suggest for an item, which depends on its state only."""
    memory = item.memory
    if memory.review is ReviewReason.ERASURE:
        return Suggestion(action=ReviewAction.ACCEPT, reason=f"{memory.review_note}: accepting erases it")
    match memory.status:
        case MemoryStatus.PENDING:
            found = _of_pending(memory)
        case MemoryStatus.ACTIVE:
            found = _of_sides(item) or _of_reason(memory)
        case _:
            found = _of_past(memory)
    if found.action is ReviewAction.REJECT and memory.supersedes is not None:
        replaced = ids.public(ids.MEMORY, memory.supersedes)
        return Suggestion(
            action=found.action,
            reason=f"{found.reason}; it had replaced {replaced}, which stays replaced unless it is stated again",
        )
    return found


def _of_pending(memory: Memory) -> Suggestion:
    why = memory.review_note or "nobody has looked at it yet"
    if memory.review is ReviewReason.DOUBTFUL:
        return Suggestion(action=ReviewAction.REJECT, reason=f"it was kept back because of what it says ({why})")
    if memory.review is ReviewReason.REPORTED_WRONG:
        return Suggestion(action=ReviewAction.REJECT, reason=f"somebody said that it is wrong ({why})")
    return Suggestion(action=ReviewAction.ACCEPT, reason=f"nothing in it is doubtful ({why})")


def _of_past(memory: Memory) -> Suggestion:
    """Return the suggestion for a memory that is no longer active and competes with none."""
    if memory.review is ReviewReason.REPORTED_WRONG and memory.status is not MemoryStatus.FORGOTTEN:
        return Suggestion(
            action=ReviewAction.REJECT, reason=f"it was reported to be wrong; it is {memory.status} already"
        )
    return Suggestion(
        action=ReviewAction.ACCEPT,
        reason=f"it is {memory.status} already and stays so: accepting only takes it off the queue",
    )


def _of_sides(item: ReviewItem) -> Suggestion | None:
    """Return the suggestion for competing sides: merge equal values, else keep the newest and most confident one."""
    memory = item.memory
    same = [side.memory for side in item.sides if side.same_value]
    if same:
        other = max(same, key=_standing)
        return Suggestion(action=ReviewAction.MERGE, reason="both say the same of the same thing", other=other.id)
    if not item.rivals:
        return None
    every = (memory, *item.rivals)
    newest, surest = max(every, key=_newness), max(every, key=_standing)
    if newest.id != surest.id:
        return Suggestion(
            action=ReviewAction.KEEP_BOTH,
            reason=f"the newer one is trusted less ({newest.confidence:.2f}) than the older ({surest.confidence:.2f})",
        )
    reason = f"it was stated last and is trusted most ({newest.confidence:.2f})"
    if newest.id == memory.id:
        return Suggestion(action=ReviewAction.ACCEPT, reason=reason)
    named = ids.public(ids.MEMORY, newest.id)
    return Suggestion(action=ReviewAction.SUPERSEDE_WITH, reason=f"{named}: {reason}", other=newest.id)


def _of_reason(memory: Memory) -> Suggestion:
    """Return the suggestion for an active memory without competing sides."""
    match memory.review:
        case ReviewReason.REPORTED_WRONG:
            return Suggestion(action=ReviewAction.REJECT, reason="it was reported to be wrong")
        case ReviewReason.VOLATILE:
            return Suggestion(action=ReviewAction.ACCEPT, reason="it changes often, and this is what was stated last")
        case ReviewReason.CONSTRAINT:
            return Suggestion(action=ReviewAction.KEEP_BOTH, reason="a rule and what breaks it may both be true")
        case ReviewReason.ENTITY_MERGE if memory.review_note is not None:
            reason = f"{memory.review_note}: merge the entities if they are one, and accept it in either case"
            return Suggestion(action=ReviewAction.ACCEPT, reason=reason)
        case ReviewReason.CONTRADICTION | ReviewReason.ENTITY_MERGE:
            return Suggestion(action=ReviewAction.ACCEPT, reason="nothing contradicts it any more")
        case _:
            return Suggestion(action=ReviewAction.ACCEPT, reason="nothing speaks against it")


def _newness(memory: Memory) -> tuple[datetime, UUID]:
    return memory.stated_at, memory.id


def _standing(memory: Memory) -> tuple[float, datetime, UUID]:
    return memory.confidence, memory.stated_at, memory.id


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDecision:
    """A reviewer's decision: the action, the version that they saw, and the memory or statement it names, if any.

    `since` is when an ended belief stopped being true, None for now. `reviewer` names the person, where several share
    a key.
    """

    action: ReviewAction
    version: str
    reason: str | None = None
    named: UUID | None = None
    statement: Payload | None = None
    statement_type: str | None = None
    since: datetime | None = None
    reviewer: str | None = None
