"""What becomes of beliefs that a type adopts, beside one another and beside what holds their slots already.

Each is decided on by the rule of ordinary writes, as if they were stated now in the order in which they were; but
nothing is written, and what they come to are changes of rows that are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import assert_never
from uuid import UUID

from pydantic import ValidationError

from app.db.memories import parts_of
from app.db.reclassifiable import Row
from app.db.scopes import scope_of
from app.memory import confidence
from app.memory.backfill import Effect
from app.memory.candidate import Candidate
from app.memory.lifecycle import is_over
from app.memory.registry import Registry
from app.model import ConfidenceParts, EntityRef, LinkKind, ReviewReason, SpeechAct, Status
from app.write.adopting import Flagged, becomes
from app.write.decide import decide
from app.write.guarding import guarded_by, review_of
from app.write.settled import Beside, Change, Left, Link, Settled
from app.write.values import (
    Add,
    Contradict,
    Doubt,
    End,
    Existing,
    History,
    Known,
    Merge,
    Pend,
    Prepared,
    Reject,
    Resolved,
    Supersede,
)
from app.write.world import PARTS, World

_PLAIN = {"contested": False, "review_reason": None, "review_note": None, "review_since": None}


def settle(unit: Sequence[Flagged], beside: Beside, types: Registry) -> Settled:
    """Return what becomes of the beliefs of a unit; those that are history already only change their type."""
    world = World(beside=beside)
    settling = _Settling(types=types, world=world)
    for one in sorted(unit, key=lambda one: (one.row["stated_at"], one.row["id"])):
        settling.take(one)
    settling.guard(unit)
    return Settled(changes=world.changes, left=tuple(settling.left))


@dataclass(slots=True, kw_only=True)
class _Settling:
    """The rules, one belief at a time; what they come to is in `world` and `left`."""

    types: Registry
    world: World
    left: list[Left] = field(default_factory=list)

    def take(self, one: Flagged) -> None:
        """Settle one belief."""
        row = one.row
        change = Change(row=row, effect=Effect.RECLASSIFIED, reason=one.reason, values=becomes(one, self.types))
        if row["status"] != Status.ACTIVE:
            self.world.changes[row["id"]] = change
            return
        resolved = self._resolved(one, change)
        decision = decide(resolved, self.world.existing(one))
        if isinstance(decision, Reject | Pend | Known | End | Doubt):
            self.left.append(Left(row=row, reason=decision.reason))
            return
        self.world.changes[row["id"]] = change
        self._carry_out(change, resolved, decision)

    def guard(self, unit: Sequence[Flagged]) -> None:
        """Link later statements to the rules that would have stood against them, and have a person look."""
        rules = [one for one in unit if self.world.status(one.row["id"]) == Status.ACTIVE and one.target.guards]
        for row in self.world.beside.guarded if rules else ():
            slots = self._guarded_at(row)
            broken = tuple(
                self.world.view(one.row["id"], "guard")
                for one in rules
                if _held_at(one.slot, slots) and _stood(self.world.changes[one.row["id"]], row["stated_at"])
            )
            if broken:
                change = self.world.change(row["id"], Effect.CONFLICTED, "a statement about what the rule rules")
                change.links += [_link(row["id"], LinkKind.CONFLICTS_WITH, rule.id) for rule in broken]
                if row["review_reason"] is None:
                    self._review(change, guarded_by(broken))

    def _guarded_at(self, row: Row) -> tuple[str, ...]:
        """Return the slots where a rule over a statement stands; none where its payload is of an older shape."""
        try:
            payload = self.types.get(row["type"]).read(row["payload"], row["type_version"])
            return payload.guarded_at(_entities(row))
        except (ValidationError, KeyError):
            return ()

    def _carry_out(
        self, change: Change, resolved: Resolved, decision: Add | Supersede | Contradict | Merge | History
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
            case History():
                self._into_history(change, decision)
            case _:
                assert_never(decision)
        if self.world.status(row["id"]) == Status.ACTIVE:
            change.links += [_link(row["id"], LinkKind.CONFLICTS_WITH, one.id) for one in resolved.breaks]

    def _review(self, change: Change, review: tuple[ReviewReason, str] | None) -> None:
        if review is not None and change.get("review_reason") is None:
            change.set({"review_reason": review[0], "review_note": review[1]}, stamp=["review_since"])

    def _retire(self, winner: Change, others: Sequence[Existing], reason: str) -> None:
        """Have a belief take the place of others, from when on it holds."""
        new = winner.row["id"]
        for old in others:
            change = self.world.change(old.id, Effect.SUPERSEDED, reason)
            ended = max(winner.row["valid_from"], change.row["valid_from"])
            values = {"status": Status.SUPERSEDED, "superseded_by": new, "ended_at": ended, **_PLAIN}
            change.set(values, stamp=["retired_at"])
            winner.links.append(_link(new, LinkKind.SUPERSEDES, old.id))
        if winner.get("supersedes") is None and others:
            winner.set({"supersedes": others[0].id})

    def _merge(self, change: Change, decision: Merge) -> None:
        """Have a belief go into one that says the same: that one counts it, and stands for both."""
        row, into = change.row, decision.into
        survivor = self.world.change(into.id, Effect.MERGED, decision.reason)
        parts = confidence.merged(_parts(survivor), _parts(change))
        survivor.set(
            {
                "source_strength": parts.source,
                "extractor_confidence": parts.extractor,
                "mentions": parts.mentions,
                "confidence": confidence.believed(parts, SpeechAct(survivor.row["speech_act"])),
                "stated_at": max(survivor.get("stated_at"), row["stated_at"]),
            }
        )
        if decision.settles:
            survivor.set(_PLAIN)
            self._retire(survivor, decision.settles, "the other side was stated again, and is trusted")
        values = {"status": Status.SUPERSEDED, "superseded_by": into.id, "ended_at": row["valid_from"], **_PLAIN}
        change.set(values, stamp=["retired_at"])
        change.links.append(_link(into.id, LinkKind.SUPERSEDES, row["id"]))

    def _into_history(self, change: Change, decision: History) -> None:
        row, successor = change.row, decision.successor
        later = self.world.change(successor.id, Effect.RELINKED, decision.reason)
        later.set({"supersedes": row["id"]})
        ended = max(later.row["valid_from"], row["valid_from"])
        values = {"status": Status.SUPERSEDED, "superseded_by": successor.id, "ended_at": ended, **_PLAIN}
        change.set(values, stamp=["retired_at"])
        change.links.append(_link(successor.id, LinkKind.SUPERSEDES, row["id"]))
        if decision.predecessor is not None:
            earlier = self.world.change(decision.predecessor.id, Effect.RELINKED, decision.reason)
            ended = max(row["valid_from"], earlier.row["valid_from"])
            earlier.set({"superseded_by": row["id"], "ended_at": ended})
            change.links.append(_link(row["id"], LinkKind.SUPERSEDES, earlier.row["id"]))
            if change.get("supersedes") is None:
                change.set({"supersedes": earlier.row["id"]})

    def _resolved(self, one: Flagged, change: Change) -> Resolved:
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


def _entities(row: Row) -> dict[str, EntityRef]:
    known = row["roles"] or {}
    return {role: EntityRef(id=UUID(id_), name=name, entity_type=kind) for role, (id_, name, kind) in known.items()}


def _stood(rule: Change, at: datetime) -> bool:
    """Return whether a rule was there when something was stated."""
    return rule.row["stated_at"] < at and not is_over(rule.row["valid_until"], at)


def _link(source: UUID, kind: LinkKind, target: UUID) -> Link:
    return source.hex, kind.value, target.hex


def _held_at(slot: str | None, where: Sequence[str]) -> bool:
    """Return whether a rule's slot is one of these, or begins with one."""
    return slot is not None and any(slot == one or slot.startswith(f"{one}|") for one in where)
