"""A reviewer's decision as it is made, and what the audit log is told of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from app import ids
from app.db.contests import Settled
from app.memory.actions import Action as Happened
from app.memory.review import Action, Item
from app.memory.spec import Payload
from app.model import Memory
from app.write.plan import Surroundings
from app.write.ruling import Ruled


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A reviewer's decision: the version they saw, and the memory or the statement that the action names, if any."""

    action: Action
    version: str
    reason: str | None = None
    named: UUID | None = None
    statement: Payload | None = None
    statement_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the audit log is told of a decision: who, what, why, and the numbers before and after."""

    around: Surroundings
    item: Item
    choice: Choice
    named: Memory | None

    def events(
        self, ruled: Ruled, stored: Mapping[UUID, Memory], settled: Sequence[Settled]
    ) -> list[Mapping[str, object]]:
        """Return the events, the decision itself last."""
        memory = self.item.memory
        before = [memory, *(side.memory for side in self.item.sides), *([self.named] if self.named else [])]
        detail = {
            "action": self.choice.action,
            "outcome": ruled.outcome,
            "reason": self.choice.reason,
            "review": memory.review,
            "waiting_since": memory.review_since,
            "memory": None if ruled.memory is None else ids.public(ids.MEMORY, ruled.memory),
            "before": _numbers(before),
            "after": _numbers(stored.values()),
        }
        moot = {"reason": "nothing contradicts it any more", "review": ids.public(ids.REVIEW, memory.id)}
        ledger = self.around.ledger
        found = [ledger.event(Happened.REVIEW_SETTLED, moot, memory=one.id) for one in settled if one.cleared]
        return [*found, ledger.event(Happened.REVIEW_DECIDED, detail, memory=memory.id)]


def _numbers(found: Iterable[Memory]) -> dict[str, object]:
    return {
        ids.public(ids.MEMORY, one.id): {
            "status": one.status,
            "confidence": one.confidence,
            "mentions": one.parts.mentions,
            "contested": one.contested,
        }
        for one in found
    }
