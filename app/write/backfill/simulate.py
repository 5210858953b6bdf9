"""Snapshot with neighbours and a dry run of the slot engine on it.

What settling works on: what was read beside beliefs that a type adopts, and what becomes of each.

The store as it would be by now, while beliefs that a type adopts are settled.

What becomes of beliefs that a type adopts, beside one another and beside what holds their slots already.

Each is decided on by the rule of ordinary writes, as if they were stated now in the order in which they were; but
nothing is written, and what they come to are changes of rows that are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, assert_never
from uuid import UUID

from pydantic import ValidationError

from app.db.backfill_scan import BackfillScanRow
from app.db.memories.read import parts_of
from app.db.tenants import scope_of
from app.memory import confidence
from app.memory.backfill import BackfillEffect
from app.memory.candidate import Candidate
from app.memory.lifecycle import is_over
from app.memory.registry import Registry
from app.model import ConfidenceParts, EntityRef, LinkKind, MemoryStatus, ReviewReason, SpeechAct
from app.write.backfill.classify import AdoptedMemory, reclassified_row
from app.write.conflict import decide, guard_review, review_of
from app.write.values import (
    Add,
    AddAsHistory,
    Contradict,
    End,
    EndForReview,
    Existing,
    Merge,
    Prepared,
    Reject,
    Repeat,
    Resolved,
    Review,
    Supersede,
)

Link = tuple[str, str, str]


@dataclass(slots=True, kw_only=True)
class Change:
    """What a memory comes to: columns with their new values, those that hold the instant of the change, new links."""

    row: BackfillScanRow
    effect: BackfillEffect
    reason: str
    values: dict[str, Any] = field(default_factory=dict)
    stamped: set[str] = field(default_factory=set)
    links: list[Link] = field(default_factory=list)

    def get(self, column: str) -> Any:  # noqa: ANN401 - a column of any type
        """Return a column as it will be."""
        return self.values.get(column, self.row[column])

    def set(self, values: Mapping[str, Any], *, stamp: Iterable[str] = ()) -> None:
        """Set columns; of those in `stamp` only that they hold the instant of the change."""
        self.stamped -= values.keys()
        self.values |= values
        for column in stamp:
            self.values[column] = None
            self.stamped.add(column)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A belief that stays what it is after all."""

    row: BackfillScanRow
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """What was read for one unit: rivals of each belief as the write rule reads them, and rows of all of them.

    `guarded` are statements that rules of the type may stand against.
    """

    rivals: Mapping[UUID, Sequence[Existing]]
    rows: Mapping[UUID, BackfillScanRow]
    guarded: Sequence[BackfillScanRow] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillOutcome:
    """What a unit comes to: changes by memory, and what stays."""

    changes: Mapping[UUID, Change]
    left: tuple[Skipped, ...]


PARTS = ("source_strength", "extractor_confidence", "prior", "mentions")
"""Columns that the parts of a memory's confidence are kept in."""


@dataclass(slots=True, kw_only=True)
class BackfillSnapshot:
    """What is beside the beliefs, and what has become of it and of them; `changes` is by memory."""

    beside: Neighbours
    changes: dict[UUID, Change] = field(default_factory=dict)

    def change(self, memory: UUID, effect: BackfillEffect, reason: str) -> Change:
        """Return the change of a memory that another touches; what becomes of it itself is what counts."""
        found = self.changes.get(memory)
        if found is None:
            found = Change(row=self.beside.rows[memory], effect=effect, reason=reason)
            self.changes[memory] = found
        elif found.effect is not BackfillEffect.RECLASSIFIED:
            found.effect, found.reason = effect, reason
        return found

    def status(self, memory: UUID) -> str | None:
        """Return the status of a memory that changes, as it is by now; None for any other."""
        found = self.changes.get(memory)
        return None if found is None else str(found.get("status"))

    def existing(self, one: AdoptedMemory) -> list[Existing]:
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
        found += [self.view(each, "holder") for each in mates if self.get(each, "status") == MemoryStatus.ACTIVE]
        earlier = [
            each
            for each in mates
            if self.get(each, "status") == MemoryStatus.SUPERSEDED
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


_PLAIN = {"contested": False, "review_reason": None, "review_note": None, "review_since": None}


def simulate(unit: Sequence[AdoptedMemory], beside: Neighbours, types: Registry) -> BackfillOutcome:
    """Return what becomes of the beliefs of a unit; those that are history already only change their type."""
    world = BackfillSnapshot(beside=beside)
    settling = _Simulation(types=types, world=world)
    for one in sorted(unit, key=lambda one: (one.row["stated_at"], one.row["id"])):
        settling.take(one)
    settling.guard(unit)
    return BackfillOutcome(changes=world.changes, left=tuple(settling.left))


@dataclass(slots=True, kw_only=True)
class _Simulation:
    """The rules, one belief at a time; what they come to is in `world` and `left`."""

    types: Registry
    world: BackfillSnapshot
    left: list[Skipped] = field(default_factory=list)

    def take(self, one: AdoptedMemory) -> None:
        """Settle one belief."""
        row = one.row
        change = Change(
            row=row, effect=BackfillEffect.RECLASSIFIED, reason=one.reason, values=reclassified_row(one, self.types)
        )
        if row["status"] != MemoryStatus.ACTIVE:
            self.world.changes[row["id"]] = change
            return
        resolved = self._resolved(one, change)
        decision = decide(resolved, self.world.existing(one))
        if isinstance(decision, Reject | Review | Repeat | End | EndForReview):
            self.left.append(Skipped(row=row, reason=decision.reason))
            return
        self.world.changes[row["id"]] = change
        self._carry_out(change, resolved, decision)

    def guard(self, unit: Sequence[AdoptedMemory]) -> None:
        """Link later statements to the rules that would have stood against them, and have a person look."""
        rules = [one for one in unit if self.world.status(one.row["id"]) == MemoryStatus.ACTIVE and one.target.guards]
        for row in self.world.beside.guarded if rules else ():
            slots = self._guarded_at(row)
            broken = tuple(
                self.world.view(one.row["id"], "guard")
                for one in rules
                if _held_at(one.slot, slots) and was_active(self.world.changes[one.row["id"]], row["stated_at"])
            )
            if broken:
                change = self.world.change(
                    row["id"], BackfillEffect.CONFLICTED, "a statement about what the rule rules"
                )
                change.links += [_link(row["id"], LinkKind.CONFLICTS_WITH, rule.id) for rule in broken]
                if row["review_reason"] is None:
                    self._review(change, guard_review(broken))

    def _guarded_at(self, row: BackfillScanRow) -> tuple[str, ...]:
        """Return the slots where a rule over a statement stands; none where its payload is of an older shape."""
        try:
            payload = self.types.get(row["type"]).read(row["payload"], row["type_version"])
            return payload.guarded_at(_entities(row))
        except (ValidationError, KeyError):
            return ()

    def _carry_out(
        self, change: Change, resolved: Resolved, decision: Add | Supersede | Contradict | Merge | AddAsHistory
    ) -> None:
        row = change.row
        match decision:
            case Add():
                self._review(change, review_of(resolved))
            case Supersede():
                self._review(change, review_of(resolved))
                self._retire(change, decision.old, decision.reason)
            case Contradict():
                asked = (ReviewReason.CONTRADICTION, decision.reason) if decision.needs_review else None
                change.set({"contested": True})
                self._review(change, review_of(resolved, asked))
                change.links += [_link(row["id"], LinkKind.CONTRADICTS, one.id) for one in decision.others]
            case Merge():
                self._merge(change, decision)
            case AddAsHistory():
                self._into_history(change, decision)
            case _:
                assert_never(decision)
        if self.world.status(row["id"]) == MemoryStatus.ACTIVE:
            change.links += [_link(row["id"], LinkKind.CONFLICTS_WITH, one.id) for one in resolved.breaks]

    def _review(self, change: Change, review: tuple[ReviewReason, str] | None) -> None:
        if review is not None and change.get("review_reason") is None:
            change.set({"review_reason": review[0], "review_note": review[1]}, stamp=["review_since"])

    def _retire(self, winner: Change, others: Sequence[Existing], reason: str) -> None:
        """Have a belief take the place of others, from when on it holds."""
        new = winner.row["id"]
        for old in others:
            change = self.world.change(old.id, BackfillEffect.SUPERSEDED, reason)
            ended = max(winner.row["valid_from"], change.row["valid_from"])
            values = {"status": MemoryStatus.SUPERSEDED, "superseded_by": new, "ended_at": ended, **_PLAIN}
            change.set(values, stamp=["retired_at"])
            winner.links.append(_link(new, LinkKind.SUPERSEDES, old.id))
        if winner.get("supersedes") is None and others:
            winner.set({"supersedes": others[0].id})

    def _merge(self, change: Change, decision: Merge) -> None:
        """Have a belief go into one that says the same: that one counts it, and stands for both."""
        row, into = change.row, decision.into
        survivor = self.world.change(into.id, BackfillEffect.MERGED, decision.reason)
        parts = confidence.merged_parts(_parts(survivor), _parts(change))
        survivor.set(
            {
                "source_strength": parts.source,
                "extractor_confidence": parts.extractor,
                "mentions": parts.mentions,
                "confidence": confidence.meets_floor(parts, SpeechAct(survivor.row["speech_act"])),
                "stated_at": max(survivor.get("stated_at"), row["stated_at"]),
            }
        )
        if decision.settles:
            survivor.set(_PLAIN)
            self._retire(survivor, decision.settles, "the other side was stated again, and is trusted")
        values = {"status": MemoryStatus.SUPERSEDED, "superseded_by": into.id, "ended_at": row["valid_from"], **_PLAIN}
        change.set(values, stamp=["retired_at"])
        change.links.append(_link(into.id, LinkKind.SUPERSEDES, row["id"]))

    def _into_history(self, change: Change, decision: AddAsHistory) -> None:
        row, successor = change.row, decision.successor
        later = self.world.change(successor.id, BackfillEffect.RELINKED, decision.reason)
        later.set({"supersedes": row["id"]})
        ended = max(later.row["valid_from"], row["valid_from"])
        values = {"status": MemoryStatus.SUPERSEDED, "superseded_by": successor.id, "ended_at": ended, **_PLAIN}
        change.set(values, stamp=["retired_at"])
        change.links.append(_link(successor.id, LinkKind.SUPERSEDES, row["id"]))
        if decision.predecessor is not None:
            earlier = self.world.change(decision.predecessor.id, BackfillEffect.RELINKED, decision.reason)
            ended = max(row["valid_from"], earlier.row["valid_from"])
            earlier.set({"superseded_by": row["id"], "ended_at": ended})
            change.links.append(_link(row["id"], LinkKind.SUPERSEDES, earlier.row["id"]))
            if change.get("supersedes") is None:
                change.set({"supersedes": earlier.row["id"]})

    def _resolved(self, one: AdoptedMemory, change: Change) -> Resolved:
        row = one.row
        scope = scope_of(row)
        act = SpeechAct(row["speech_act"])
        prepared = Prepared(
            candidate=Candidate(
                type=one.target,
                payload=one.payload,
                scope=scope,
                content=row["content"],
                speech_act=act,
                valid_from=row["valid_from"],
            ),
            content=row["content"],
            stated_at=row["stated_at"],
            parts=_parts(change),
            confidence=change.get("confidence"),
            event=None,
            mentions=one.payload.mentions(),
            identity=change.get("identity"),
            texts=(),
        )
        guards = (each for each in self.world.beside.rivals.get(row["id"], ()) if each.relation == "guard")
        breaks = tuple(each for each in guards if not is_over(each.valid_until, row["stated_at"]))
        return Resolved(prepared=prepared, refs=one.refs, slot=one.slot, value=change.get("slot_value"), breaks=breaks)


def _parts(change: Change) -> ConfidenceParts:
    return parts_of({name: change.get(name) for name in PARTS})


def _entities(row: BackfillScanRow) -> dict[str, EntityRef]:
    known = row["roles"] or {}
    return {role: EntityRef(id=UUID(id_), name=name, entity_type=kind) for role, (id_, name, kind) in known.items()}


def was_active(rule: Change, at: datetime) -> bool:
    """Return whether a rule was there when something was stated."""
    return rule.row["stated_at"] < at and not is_over(rule.row["valid_until"], at)


def _link(source: UUID, kind: LinkKind, target: UUID) -> Link:
    return source.hex, kind.value, target.hex


def _held_at(slot: str | None, where: Sequence[str]) -> bool:
    """Return whether a rule's slot is one of these, or begins with one."""
    return slot is not None and any(slot == one or slot.startswith(f"{one}|") for one in where)
