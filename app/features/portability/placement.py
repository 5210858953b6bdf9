"""Placing imported memories in the slots that they claim, and in the chains of versions that are there.

The slot engine decides, as for a write; the changes that this makes to existing memories are gathered here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from app import ids
from app.db.apply.memories import RowChange, row_change, version_columns
from app.db.audit import AuditWriter
from app.db.memories.read import VERSION_COLUMNS, version_fields
from app.db.sql import Row
from app.features.portability.index_rows import ImportedMemory
from app.features.portability.sql.imports import Slot
from app.memory.audit import AuditAction
from app.memory.slots import transition
from app.memory.versions import (
    TOLERANCE,
    ChangeCause,
    Followed,
    SlotOutcome,
    Stated,
    Transition,
    Version,
    VersionChange,
)
from app.model import MemoryStatus, SpeechAct

CONFLICTS = {
    SlotOutcome.HISTORY: "history",
    SlotOutcome.SUPERSEDED: "replaced",
    SlotOutcome.CONTRADICTED: "contested",
    SlotOutcome.MERGED: "repeated",
}
"""Names in a summary for the outcomes of memories whose slots were taken."""

_REASON = "an import brought what came after it"


@dataclass(slots=True, kw_only=True)
class ImportPlacement:
    """Changes that imported memories make to existing ones: columns, links, audit events, and counts."""

    ledger: AuditWriter
    changed: dict[UUID, RowChange] = field(default_factory=dict)
    links: list[Row] = field(default_factory=list)
    events: list[Row] = field(default_factory=list)
    conflicts: Counter[str] = field(default_factory=Counter)

    def place(
        self, given: Sequence[ImportedMemory], known: Mapping[Slot, Sequence[Version]], own: Collection[UUID]
    ) -> None:
        """Place memories that claim slots, in their order; `known` are the existing versions of the slots.

        Among `own`, the memories of the file, its word stands: they compete with others only.
        """
        mine = {one.id: one for one in given}
        here = {slot: {one.id: one for one in versions} for slot, versions in known.items()}
        for one in given:
            slot = claimed_slot(one)
            if slot is None:
                continue
            spec = one.candidate.type
            event = Stated(new=_version(one.row), importance=spec.importance(one.candidate.payload), stored=True)
            rivals = [each for each in here[slot].values() if _competes(each, event.new, own)]
            found = transition(rivals, event, policy=spec.on_conflict, now=self.ledger.at)
            new = found.new or event.new
            one.row |= _differences(event.new, new, self.ledger)
            for change in found.changes:
                here[slot][change.before.id] = change.after
                self._change(change, new, mine.get(change.before.id))
            self._link(found)
            here[slot][new.id] = new
            if found.outcome in CONFLICTS:
                self.conflicts[CONFLICTS[found.outcome]] += 1

    def follow(self, given: Mapping[UUID, ImportedMemory], chains: Mapping[UUID, tuple[UUID, Version]]) -> None:
        """Supersede existing memories by the memories just stored that follow them in the export."""
        versions = {key: one for key, (_, one) in chains.items()}
        for key in sorted(given.keys() & chains.keys(), key=lambda key: (versions[key].stated_at, key)):
            new = versions[key]
            before = new.supersedes
            if before is None or before in given or before not in chains or new.status is MemoryStatus.PENDING:
                continue
            if chains[before][0] != chains[key][0]:
                continue
            policy = given[key].candidate.type.on_conflict
            found = transition(versions.values(), Followed(new=new), policy=policy, now=self.ledger.at)
            for change in found.changes:
                versions[change.before.id] = change.after
                self._change(change, new, None)

    def _change(self, change: VersionChange, new: Version, own: ImportedMemory | None) -> None:
        """Collect the change that an imported memory makes to another, existing or imported."""
        before, after = change.before, change.after
        if own is not None:
            own.row |= _differences(before, after, self.ledger)
            return
        gathered = self.changed.get(before.id)
        one = row_change(change, at=self.ledger.at)
        if gathered is not None:
            one = replace(one, values={**gathered.values, **one.values}, claims=one.claims or gathered.claims)
        self.changed[before.id] = one
        self.events += self._audit_events(change, new)

    def _audit_events(self, change: VersionChange, new: Version) -> list[Row]:
        before, after, by = change.before, change.after, ids.public(ids.MEMORY, new.id)
        match change.cause:
            case ChangeCause.SUPERSEDED:
                detail = {
                    "by": by,
                    "reason": _REASON,
                    "status": [before.status, after.status],
                    "confidence": before.confidence,
                    "by_confidence": new.confidence,
                    "tolerance": TOLERANCE,
                }
                return [self.ledger.event(AuditAction.MEMORY_SUPERSEDED, detail, memory=before.id)]
            case ChangeCause.RELINKED:
                detail = {"between": by, "reason": _REASON}
                return [self.ledger.event(AuditAction.MEMORY_RELINKED, detail, memory=before.id)]
            case _:
                detail = {
                    "reason": "an import brought the same statement",
                    "status": [before.status, after.status],
                    "confidence": [before.confidence, after.confidence],
                }
                return [self.ledger.event(AuditAction.MEMORY_MERGED, detail, memory=before.id)]

    def _link(self, found: Transition) -> None:
        self.links += [
            {
                "tenant_id": self.ledger.tenant,
                "from_memory": link.source,
                "kind": link.kind,
                "to_memory": link.target,
            }
            for link in found.links
        ]


def _competes(known: Version, new: Version, own: Collection[UUID]) -> bool:
    """Return whether a known version competes with one that claims its slot.

    Of the file's own only a second holder does, which no export has. A contested version is no successor.
    """
    holds = known.active and not known.contested
    if known.id in own:
        return holds
    return not known.contested or known.stated_at <= new.stated_at


def claimed_slot(one: ImportedMemory) -> Slot | None:
    """Return the slot that a memory claims, None unless it is active and uncontested in the export."""
    row = one.row
    if row["status"] != MemoryStatus.ACTIVE or row.get("slot") is None or row.get("contested"):
        return None
    return (one.scope_id, row["type"], row["slot"])


_DEFAULTS: Mapping[str, Any] = {
    **dict.fromkeys(VERSION_COLUMNS),
    "contested": False,
    "speech_act": SpeechAct.ASSERTION,
    "mentions": 1,
}


def _version(row: Mapping[str, Any]) -> Version:
    return Version(**version_fields({**_DEFAULTS, **row}))


def _differences(before: Version, after: Version, ledger: AuditWriter) -> dict[str, Any]:
    """Return the columns of an imported row that its placement in the slot changes."""
    old, new = version_columns(before, at=ledger.at), version_columns(after, at=ledger.at)
    return {name: value for name, value in new.items() if value != old[name]}
