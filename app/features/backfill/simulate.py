"""Dry run of a type's adoption of stored beliefs: the slot engine over the rows around them.

Each belief reaches the slot of its new type as if it were stated now, in the order in which they were. Nothing is
written: what comes out are changes of rows that are there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from app.db.apply.memories import row_change
from app.db.memories.read import version_fields
from app.features.backfill.classify import AdoptedMemory, reclassified_row
from app.features.backfill.sql.memories import BackfillScanRow
from app.memory import confidence
from app.memory.backfill import BackfillEffect
from app.memory.lifecycle import is_over
from app.memory.registry import Registry
from app.memory.slots import transition
from app.memory.versions import ChangeCause, Stated, Transition, Version, VersionChange
from app.model import EntityRef, LinkKind, MemoryStatus, ReviewReason
from app.write.conflict import SLOT, guard_note
from app.write.values import Existing

Link = tuple[str, str, str]

STAMP = datetime.max.replace(tzinfo=UTC)
"""Stands for the instant at which the changes are made, which is not known yet."""


@dataclass(slots=True, kw_only=True)
class BackfillChange:
    """The change of a memory: columns with their new values, those that hold the instant of the change, new links."""

    row: BackfillScanRow
    effect: BackfillEffect
    reason: str
    values: dict[str, Any] = field(default_factory=dict)
    stamped: set[str] = field(default_factory=set)
    links: list[Link] = field(default_factory=list)

    def get(self, column: str) -> Any:  # noqa: ANN401 - a column of any type
        """Return a column as it will be."""
        return self.values.get(column, self.row[column])

    def set(self, values: Mapping[str, Any]) -> None:
        """Set columns; those whose value is the stamp hold the instant of the change."""
        self.stamped -= values.keys()
        self.stamped |= {name for name, value in values.items() if value == STAMP}
        self.values |= {name: None if value == STAMP else value for name, value in values.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A belief that stays what it is after all."""

    row: BackfillScanRow
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """The rows read for one unit: rivals of each belief as the write rule reads them, and rows of all of them.

    `guarded` are statements that rules of the type may stand against.
    """

    rivals: Mapping[UUID, Sequence[Existing]]
    rows: Mapping[UUID, BackfillScanRow]
    guarded: Sequence[BackfillScanRow] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillOutcome:
    """The outcome of a unit: changes by memory, and the unchanged."""

    changes: Mapping[UUID, BackfillChange]
    left: tuple[Skipped, ...]


def simulate(unit: Sequence[AdoptedMemory], beside: Neighbours, types: Registry) -> BackfillOutcome:
    """Return the outcome for the beliefs of a unit; those that are history already only change their type."""
    run = _Simulation(types=types, beside=beside)
    for one in sorted(unit, key=lambda one: (one.row["stated_at"], one.row["id"])):
        run.adopt(one)
    run.guard(unit)
    return BackfillOutcome(changes=run.changes, left=tuple(run.left))


_EFFECTS = {
    ChangeCause.RESTATED: BackfillEffect.MERGED,
    ChangeCause.SUPERSEDED: BackfillEffect.SUPERSEDED,
    ChangeCause.RELINKED: BackfillEffect.RELINKED,
}


@dataclass(slots=True, kw_only=True)
class _Simulation:
    """The unit, one belief at a time: `versions` are those that have changed, as they are by now."""

    types: Registry
    beside: Neighbours
    versions: dict[UUID, Version] = field(default_factory=dict)
    changes: dict[UUID, BackfillChange] = field(default_factory=dict)
    left: list[Skipped] = field(default_factory=list)

    def adopt(self, one: AdoptedMemory) -> None:
        """Let one belief reach the slot of its new type."""
        row, columns = one.row, reclassified_row(one, self.types)
        version = Version(**version_fields({**row, **columns}))
        if not version.active:
            self._record(one, version, version, columns)
        elif version.confidence < confidence.WRITE_FLOOR:
            why = f"confidence {version.confidence:.2f} is under the write floor {confidence.WRITE_FLOOR:.2f}"
            self.left.append(Skipped(row=row, reason=why))
        else:
            found = self._placed(one, version)
            self._record(one, version, found.new or version, columns)
            self._spread(row["id"], found)

    def _placed(self, one: AdoptedMemory, version: Version) -> Transition:
        near = self.beside.rivals.get(version.id, ())
        guards = tuple(
            each for each in near if each.relation == "guard" and not is_over(each.valid_until, version.stated_at)
        )
        event = Stated(
            new=version,
            guards=guards,
            guard_note=guard_note(guards) if guards else None,
            importance=one.target.importance(one.payload),
            stored=True,
        )
        known = {each.id: each for each in near if each.relation == SLOT} | self.versions
        # What has expired may not come back by a backfill.
        versions = (
            each for each in known.values() if each.status is not MemoryStatus.EXPIRED or each.ended_at is not None
        )
        return transition(versions, event, policy=one.target.on_conflict, now=STAMP)

    def _record(self, one: AdoptedMemory, before: Version, after: Version, columns: Mapping[str, Any]) -> None:
        change = BackfillChange(row=one.row, effect=BackfillEffect.RECLASSIFIED, reason=one.reason)
        change.set(columns)
        change.set(row_change(_changed(before, after), at=STAMP).values)
        self.changes[before.id], self.versions[before.id] = change, after

    def _spread(self, memory: UUID, found: Transition) -> None:
        """Record what a belief changes in others, and its links."""
        for one in found.changes:
            change = self._touched(one.before.id, _EFFECTS[one.cause], found.reason)
            change.set(row_change(one, at=STAMP).values)
            self.versions[one.before.id] = one.after
        self.changes[memory].links += [(one.source.hex, one.kind.value, one.target.hex) for one in found.links]

    def _touched(self, memory: UUID, effect: BackfillEffect, reason: str) -> BackfillChange:
        """Return the change of a memory that another touches; its own change counts first."""
        change = self.changes.get(memory)
        if change is None:
            change = BackfillChange(row=self.beside.rows[memory], effect=effect, reason=reason)
            self.changes[memory] = change
        elif change.effect is not BackfillEffect.RECLASSIFIED:
            change.effect, change.reason = effect, reason
        return change

    def guard(self, unit: Sequence[AdoptedMemory]) -> None:
        """Link later statements to the rules that would have stood against them, and have a person look."""
        adopted = [self.versions[one.row["id"]] for one in unit if one.target.guards and one.row["id"] in self.versions]
        rules = [one for one in adopted if one.active]
        for row in self.beside.guarded if rules else ():
            slots = self._guarded_at(row)
            broken = [one for one in rules if _held_at(one.slot, slots) and _stood_at(one, row["stated_at"])]
            if not broken:
                continue
            reason = "a statement about what the rule rules"
            change = self._touched(row["id"], BackfillEffect.CONFLICTED, reason)
            change.links += [(row["id"].hex, LinkKind.CONFLICTS_WITH.value, rule.id.hex) for rule in broken]
            if change.get("review_reason") is None:
                review = {"review_reason": ReviewReason.CONSTRAINT, "review_note": guard_note(broken)}
                change.set({**review, "review_since": STAMP})

    def _guarded_at(self, row: BackfillScanRow) -> tuple[str, ...]:
        """Return the slots where a rule over a statement stands; none where its payload is of an older shape."""
        try:
            payload = self.types.get(row["type"]).read(row["payload"], row["type_version"])
            return payload.guarded_at(_entities(row))
        except (ValidationError, KeyError):
            return ()


def _changed(before: Version, after: Version) -> VersionChange:
    return VersionChange(before=before, after=after, cause=ChangeCause.ADDED)


def _entities(row: BackfillScanRow) -> dict[str, EntityRef]:
    known = row["roles"] or {}
    return {role: EntityRef(id=UUID(id_), name=name, entity_type=kind) for role, (id_, name, kind) in known.items()}


def _stood_at(rule: Version, at: datetime) -> bool:
    """Return whether a rule was there when something was stated."""
    return rule.stated_at < at and not is_over(rule.valid_until, at)


def _held_at(slot: str | None, where: Sequence[str]) -> bool:
    """Return whether a rule's slot is one of these, or begins with one."""
    return slot is not None and any(slot == one or slot.startswith(f"{one}|") for one in where)
