"""Dry run of an adoption: what the last stages of a write make of stored beliefs that another type adopts.

Each belief reaches the slot of its new type as if it were stated now, in the order in which they were. What comes out
are the changes of a write: a preview tells of them, a commit applies them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from app import ids
from app.db.apply.memories import A_MOMENT, row_change
from app.db.memories import rivals
from app.db.memories.read import version_fields
from app.db.memories.rivals import RivalQuery
from app.db.session import ReadSession
from app.db.sql import as_json
from app.features.backfill import sql as backfills
from app.features.backfill.classify import AdoptedMemory, NotAdopted, flagged, reclassified_row
from app.features.backfill.sql import Backfill, BackfillItem, BackfillScanRow, Unit
from app.memory import confidence
from app.memory.audit import AuditAction
from app.memory.backfill import BackfillEffect, ItemState
from app.memory.lifecycle import is_over
from app.memory.registry import Registry
from app.memory.slots import transition
from app.memory.spec import AdoptedPayload
from app.memory.versions import ChangeCause, Stated, Transition, Version, VersionChange
from app.model import MemoryStatus
from app.write.conflict import SLOT, guard_note
from app.write.lookup import existing_of
from app.write.persist import tell_of_changes, tell_of_repetition
from app.write.rows import PendingRows, WriteContext, audit
from app.write.values import Existing

UNTOLD = frozenset({"retired_at", "review_since", "review_note"})
"""Columns that no preview tells: they hold the instant of a commit, or name memories that may be erased by then."""

_EFFECTS = {
    ChangeCause.RESTATED: BackfillEffect.MERGED,
    ChangeCause.SUPERSEDED: BackfillEffect.SUPERSEDED,
    ChangeCause.RELINKED: BackfillEffect.RELINKED,
}

_CHANGED_MEANWHILE = "it changed while the preview was made"


def found_item(row: BackfillScanRow, adopted: AdoptedPayload, one: Backfill, types: Registry) -> BackfillItem:
    """Return the item of a belief that a type adopts, or that stays, before it is decided with those of its slot."""
    try:
        found = flagged(row, adopted, types.get(one.type), types)
    except NotAdopted as error:
        return _left(row, adopted.reason, str(error))
    payload = {"payload": found.payload.stored(None), "slot": found.slot}
    return _item(row, found.unit, ItemState.FOUND, reason=found.reason, adopted=payload)


def changed_meanwhile(row: BackfillScanRow, adopted: AdoptedPayload) -> BackfillItem:
    """Return the item of a belief that has changed since it was classified."""
    return _left(row, adopted.reason, _CHANGED_MEANWHILE)


def _left(row: BackfillScanRow, reason: str | None, why: str) -> BackfillItem:
    return _item(row, str(row["id"]), ItemState.LEFT, reason=reason, why=why)


def _item(row: BackfillScanRow, unit: str, state: ItemState, **more: Any) -> BackfillItem:  # noqa: ANN401 - fields of an item
    return BackfillItem(
        memory_id=row["id"],
        scope_id=row["scope_id"],
        unit=unit,
        state=state,
        source=row["type"],
        seen_at=row["updated_at"],
        **{"effect": BackfillEffect.RECLASSIFIED, **more},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptedUnit:
    """A unit as it is decided: the changes of its write, and the items that tell of them."""

    plan: PendingRows
    items: tuple[BackfillItem, ...]


async def adopt(
    session: ReadSession,
    one: Backfill,
    units: Mapping[Unit, Sequence[BackfillItem]],
    types: Registry,
    *,
    actor: str,
    now: datetime,
) -> dict[Unit, AdoptedUnit]:
    """Return the outcome of units by what the store holds; nothing is written.

    Changes are stamped with `now`, or with a moment after the last change of what they change, if that is later.
    """
    sought = [item for items in units.values() for item in items if item.adopted is not None]
    rows = await backfills.rows(session, one.tenant_id, [item.memory_id for item in sought])
    fresh = {
        item.memory_id: _reread(item, rows[item.memory_id], one, types) for item in sought if item.memory_id in rows
    }
    near = await _rivals(session, one, [each for each in fresh.values() if isinstance(each, AdoptedMemory)], types)
    rows |= await backfills.rows(session, one.tenant_id, {each.id for found in near.values() for each in found})
    at = max([now, *(row["updated_at"] + A_MOMENT for row in rows.values())])
    done = {}
    for (scope, key), items in units.items():
        plan = PendingRows(WriteContext(tenant=one.tenant_id, scope=scope, actor=actor, now=at))
        draft = _UnitDraft(backfill=one, unit=key, rows=rows, near=near, plan=plan)
        left = draft.adopt([fresh[item.memory_id] for item in items if item.memory_id in fresh], types)
        done[scope, key] = AdoptedUnit(plan=plan, items=(*left, *draft.items()))
    return done


def _reread(item: BackfillItem, row: BackfillScanRow, one: Backfill, types: Registry) -> AdoptedMemory | BackfillItem:
    """Return a flagged memory as its new type, by what it is now; the item of one that stays what it is."""
    assert item.adopted is not None  # noqa: S101 - narrows for the type checker
    if row["updated_at"] != item.seen_at:
        return _left(row, item.reason, _CHANGED_MEANWHILE)
    target = types.get(one.type)
    payload = target.payload.model_validate(dict(item.adopted["payload"]))
    try:
        return flagged(row, AdoptedPayload(payload=payload, reason=item.reason or ""), target, types)
    except NotAdopted as error:
        return _left(row, item.reason, str(error))


async def _rivals(
    session: ReadSession, one: Backfill, adopted: Sequence[AdoptedMemory], types: Registry
) -> Mapping[UUID, Sequence[Existing]]:
    """Return the memories that compete with adopted ones that are believed, or rule what they say, by the adopted."""
    active = [each for each in adopted if each.row["status"] == MemoryStatus.ACTIVE]
    guards = types.guards_of(one.type)
    wanted = [
        RivalQuery(
            scope_id=each.row["scope_id"],
            type=each.target.name,
            slot=each.slot,
            identity=reclassified_row(each, types)["identity"],
            stated_at=each.row["stated_at"],
            subject_id=each.row["subject_id"],
            embedding=None,
            guards=guards,
            guarded_at=each.payload.guarded_at(each.refs) if guards else (),
        )
        for each in active
    ]
    found: dict[UUID, list[Existing]] = defaultdict(list)
    for row in await rivals.read_rivals(session, tenant=one.tenant_id, wanted=wanted) if wanted else ():
        found[active[row["place"]].row["id"]].append(existing_of(row))
    return found


@dataclass(slots=True, kw_only=True)
class _UnitDraft:
    """A unit, one belief at a time: `versions` are those that have changed, as they are by now."""

    backfill: Backfill
    unit: str
    rows: Mapping[UUID, BackfillScanRow]
    near: Mapping[UUID, Sequence[Existing]]
    plan: PendingRows
    versions: dict[UUID, Version] = field(default_factory=dict)
    told: dict[UUID, dict[str, Any]] = field(default_factory=dict)

    def adopt(self, found: Sequence[AdoptedMemory | BackfillItem], types: Registry) -> list[BackfillItem]:
        """Let beliefs reach the slot of their new type, and return the items of those that stay what they are."""
        left = [each for each in found if isinstance(each, BackfillItem)]
        adopted = [each for each in found if isinstance(each, AdoptedMemory)]
        for each in sorted(adopted, key=lambda each: (each.row["stated_at"], each.row["id"])):
            columns = reclassified_row(each, types)
            version = Version(**version_fields({**each.row, **columns}))
            if version.active and version.confidence < confidence.WRITE_FLOOR:
                low = f"confidence {version.confidence:.2f} is under the write floor {confidence.WRITE_FLOOR:.2f}"
                left.append(_left(each.row, each.reason, low))
            else:
                self._reclassify(each, version, columns)
        self.plan.touched.update({memory: self.rows[memory]["status"] for memory in self.plan.touched})
        return left

    def _reclassify(self, each: AdoptedMemory, version: Version, columns: Mapping[str, Any]) -> None:
        """Make a memory one of its new type; one that is history already only changes its type."""
        now = self.plan.around.now
        before = Version(**version_fields(each.row))
        found = self._placed(each, version) if version.active else None
        after = version if found is None or found.new is None else found.new
        self.plan.change(row_change(_as(before, version), at=now, more=columns))
        self.plan.change(row_change(_as(version, after), at=now))
        self.plan.touch(before)
        self.versions[version.id] = after
        payload = {"payload": each.payload.stored(None), "slot": each.slot}
        self.told[version.id] = {"effect": BackfillEffect.RECLASSIFIED, "reason": each.reason, "adopted": payload}
        self._tell(each, before, after)
        if found is not None:
            self._spread(found, version)

    def _placed(self, each: AdoptedMemory, version: Version) -> Transition:
        near = self.near.get(version.id, ())
        guards = tuple(
            one for one in near if one.relation == "guard" and not is_over(one.valid_until, version.stated_at)
        )
        event = Stated(
            new=version,
            guards=guards,
            guard_note=guard_note(guards) if guards else None,
            importance=each.target.importance(each.payload),
            stored=True,
        )
        known = {one.id: one for one in near if one.relation == SLOT} | self.versions
        # What has expired may not come back by a backfill.
        versions = (one for one in known.values() if one.status is not MemoryStatus.EXPIRED or one.ended_at is not None)
        return transition(versions, event, policy=each.target.on_conflict, now=self.plan.around.now)

    def _spread(self, found: Transition, by: Version) -> None:
        """Add what a belief changes in others, and its links."""
        self.plan.take(found)
        tell_of_changes(self.plan, found, by_confidence=by.confidence)
        for change in found.changes:
            if change.cause is ChangeCause.RESTATED:
                tell_of_repetition(self.plan, change.before, change.after, found.reason, rewritten=False)
            self.versions[change.before.id] = change.after
            told = self.told.get(change.before.id, {})
            if "adopted" not in told:
                self.told[change.before.id] = {"effect": _EFFECTS[change.cause], "reason": found.reason}

    def _tell(self, each: AdoptedMemory, before: Version, after: Version) -> None:
        told: dict[str, Any] = {"from": each.row["type"], "to": each.target.name, "reason": each.reason}
        told |= {"backfill": public(self.backfill), **changed_numbers(before, after)}
        if after.superseded_by is not None and after.superseded_by != before.superseded_by:
            told["by"] = ids.public(ids.MEMORY, after.superseded_by)
        if after.review is not None and after.review is not before.review:
            told["review"] = after.review
        audit(self.plan, AuditAction.MEMORY_RECLASSIFIED, after.id, told)

    def items(self) -> Iterator[BackfillItem]:
        """Yield the items of the memories that change: their columns before and after, as JSON, and new links."""
        links: dict[object, list[tuple[str, str, str]]] = defaultdict(list)
        for row in self.plan.rows["memory_links"]:
            source, target = (UUID(str(row[end])).hex for end in ("from_memory", "to_memory"))
            links[row["from_memory"]].append((source, str(row["kind"]), target))
        for memory, told in self.told.items():
            row = self.rows[memory]
            new = _plain(
                {name: value for name, value in self.plan.changed[memory].values.items() if name not in UNTOLD}
            )
            old = _plain({name: row[name] for name in new})
            names = sorted(name for name in new if old[name] != new[name])
            columns = {"before": {name: old[name] for name in names}, "after": {name: new[name] for name in names}}
            yield _item(row, self.unit, ItemState.PLANNED, links=tuple(sorted(links[memory])), **told, **columns)


def _as(before: Version, after: Version) -> VersionChange:
    return VersionChange(before=before, after=after, cause=ChangeCause.ADDED)


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns as JSON that the database can read back."""
    [decoded] = json.loads(as_json([values]))
    return dict(decoded)


def difference(was: Sequence[BackfillItem], now: Sequence[BackfillItem]) -> str | None:
    """Return how the outcome of a unit differs from its preview; None if it is the same."""
    old, new = ({item.memory_id: item for item in items} for items in (was, now))
    for memory in sorted(old.keys() | new.keys()):
        name = ids.public(ids.MEMORY, memory)
        if memory not in old:
            return f"{name} has come into its slot since the preview"
        if memory not in new:
            return f"{name} has left its slot since the preview"
        if new[memory].seen_at != old[memory].seen_at:
            return f"{name} has changed since the preview"
    same = all(_essence(old[memory]) == _essence(new[memory]) for memory in old)
    return None if same else "what becomes of it has changed since the preview"


def _essence(item: BackfillItem) -> tuple[object, ...]:
    after = {name: value for name, value in item.after.items() if name not in UNTOLD}
    return item.state, item.effect, after, sorted(item.links)


def changed_numbers(before: Version, after: Version) -> dict[str, object]:
    """Return what the audit log tells of a change of status or confidence: what it was, and what it is."""
    pairs = {name: [getattr(before, name), getattr(after, name)] for name in ("status", "confidence")}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def public(one: Backfill) -> str:
    """Return the public id of a backfill."""
    return ids.public(ids.BACKFILL, one.id)
