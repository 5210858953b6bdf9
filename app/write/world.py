"""The store as it would be by now, while beliefs that a type adopts are settled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from app.db.memories import parts_of
from app.memory.backfill import Effect
from app.model import SpeechAct, Status
from app.write.adopting import Flagged
from app.write.settled import Beside, Change
from app.write.values import Existing

PARTS = ("source_strength", "extractor_confidence", "prior", "mentions")
"""Columns that the parts of a memory's confidence are kept in."""


@dataclass(slots=True, kw_only=True)
class World:
    """What is beside the beliefs, and what has become of it and of them; `changes` is by memory."""

    beside: Beside
    changes: dict[UUID, Change] = field(default_factory=dict)

    def change(self, memory: UUID, effect: Effect, reason: str) -> Change:
        """Return the change of a memory that another touches; what becomes of it itself is what counts."""
        found = self.changes.get(memory)
        if found is None:
            found = Change(row=self.beside.rows[memory], effect=effect, reason=reason)
            self.changes[memory] = found
        elif found.effect is not Effect.RECLASSIFIED:
            found.effect, found.reason = effect, reason
        return found

    def status(self, memory: UUID) -> str | None:
        """Return the status of a memory that changes, as it is by now; None for any other."""
        found = self.changes.get(memory)
        return None if found is None else str(found.get("status"))

    def existing(self, one: Flagged) -> list[Existing]:
        """Return what the belief meets, as it is by now; what has expired may not come back by a backfill."""
        found = [each for each in self.beside.rivals.get(one.row["id"], ()) if each.relation in {"next", "guard"}]
        mates = [
            memory
            for memory in {
                *self.changes,
                *(each.id for each in self.beside.rivals.get(one.row["id"], ()) if each.relation != "guard"),
            }
            if self.get(memory, "type") == one.target.name and self.get(memory, "slot") == one.slot
        ]
        if one.slot is None:
            return found
        found += [self.view(each, "holder") for each in mates if self.get(each, "status") == Status.ACTIVE]
        earlier = [
            each
            for each in mates
            if self.get(each, "status") == Status.SUPERSEDED
            and not self.get(each, "contested")
            and self.get(each, "stated_at") <= one.row["stated_at"]
        ]
        if earlier:
            last = max(earlier, key=lambda each: (self.get(each, "stated_at"), each))
            found.append(self.view(last, "previous"))
        return found

    def get(self, memory: UUID, column: str) -> Any:  # noqa: ANN401 - a column of any type
        """Return a column of a memory, as it is by now."""
        found = self.changes.get(memory)
        return self.beside.rows[memory][column] if found is None else found.get(column)

    def view(self, memory: UUID, relation: str) -> Existing:
        """Return a memory as a decision sees it, with what has become of it."""

        def now(column: str) -> Any:  # noqa: ANN401 - as above
            return self.get(memory, column)

        return Existing(
            relation=relation,
            id=memory,
            type=now("type"),
            type_version=now("type_version"),
            status=now("status"),
            content=now("content"),
            payload=now("payload"),
            slot=now("slot"),
            value=now("slot_value"),
            contested=now("contested"),
            stated_at=now("stated_at"),
            valid_from=now("valid_from"),
            valid_until=now("valid_until"),
            recorded_at=now("recorded_at"),
            confidence=now("confidence"),
            parts=parts_of({name: now(name) for name in PARTS}),
            speech_act=SpeechAct(now("speech_act")),
            topic=now("topic"),
            session_id=now("session_id"),
            sequence_number=now("sequence_number"),
            similarity=None,
            ended_at=now("ended_at"),
        )
