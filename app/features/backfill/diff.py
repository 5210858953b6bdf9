"""From simulated changes of memories to the records of a backfill: columns before and after, and audit events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from app import ids
from app.db import sql
from app.db.audit import AuditWriter
from app.db.sql import Row
from app.features.backfill.classify import AdoptedMemory
from app.features.backfill.simulate import BackfillChange, Skipped
from app.features.backfill.sql.backfills import Backfill, BackfillItem
from app.features.backfill.sql.memories import COLUMNS
from app.memory.audit import AuditAction
from app.memory.backfill import BackfillEffect, ItemState
from app.model import LinkKind

_PARTS = {"source": "source_strength", "extractor": "extractor_confidence", "prior": "prior", "mentions": "mentions"}

_ACTIONS = {
    BackfillEffect.SUPERSEDED: AuditAction.MEMORY_SUPERSEDED,
    BackfillEffect.MERGED: AuditAction.MEMORY_MERGED,
    BackfillEffect.RELINKED: AuditAction.MEMORY_RELINKED,
    BackfillEffect.CONFLICTED: AuditAction.MEMORY_CONFLICTED,
}

_TOLD_OF_OTHERS = {
    LinkKind.CONTRADICTS.value: AuditAction.MEMORY_CONTRADICTED,
    LinkKind.CONFLICTS_WITH.value: AuditAction.MEMORY_CONFLICTED,
}


def unchanged_item(one: AdoptedMemory) -> BackfillItem:
    """Return the item of a belief that a type adopts, before the conflicts with other beliefs are resolved."""
    return BackfillItem(
        memory_id=one.row["id"],
        scope_id=one.row["scope_id"],
        unit=one.unit,
        state=ItemState.FOUND,
        effect=BackfillEffect.RECLASSIFIED,
        source=one.row["type"],
        reason=one.reason,
        adopted={"payload": one.payload.stored(None), "slot": one.slot},
        seen_at=one.row["updated_at"],
    )


def stays(row: Row, reason: str | None, why: str) -> BackfillItem:
    """Return the item of a belief that fits the type, but keeps its own; `why` is the reason."""
    kept: Mapping[str, Any] = row
    return BackfillItem(
        memory_id=kept["id"],
        scope_id=kept["scope_id"],
        unit=str(kept["id"]),
        state=ItemState.LEFT,
        effect=BackfillEffect.RECLASSIFIED,
        source=kept["type"],
        reason=reason,
        why=why,
        seen_at=kept["updated_at"],
    )


def changed_item(
    change: BackfillChange, unit: str, before: BackfillItem | None, rests_on: Mapping[str, str]
) -> BackfillItem:
    """Return the item of a change; `before` is the memory's item so far, None where it is only affected by another."""
    row = change.row
    old, new = as_json(row), as_json({name: change.get(name) for name in COLUMNS})
    names = [name for name in COLUMNS if name in change.stamped or old[name] != new[name]]
    return BackfillItem(
        memory_id=row["id"],
        scope_id=row["scope_id"],
        unit=unit,
        state=ItemState.PLANNED,
        effect=change.effect,
        source=row["type"],
        reason=change.reason,
        note=None if before is None else before.note,
        adopted=None if before is None else before.adopted,
        before={name: old[name] for name in names},
        after={name: new[name] for name in names},
        stamped=tuple(sorted(change.stamped)),
        links=tuple(change.links),
        rests_on={} if before is None else rests_on,
        seen_at=row["updated_at"],
    )


def skipped_item(one: Skipped, item: BackfillItem) -> BackfillItem:
    """Return the item of an adopted belief that keeps its own type after conflicts were resolved."""
    return stays(one.row, item.reason, one.reason)


def as_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that a backfill may change, as JSON that the database can read back."""
    [decoded] = json.loads(sql.as_json([{name: row[name] for name in COLUMNS}]))
    return dict(decoded)


def applied(item: BackfillItem, at: datetime) -> dict[str, Any]:
    """Return the new columns of a memory, with the time of the commit where a column needs it."""
    return {**item.after, **{name: at.isoformat() for name in item.stamped}}


def events(backfill: Backfill, item: BackfillItem, ledger: AuditWriter) -> list[Row]:
    """Return the audit events of a memory that a commit changed, and of the memories it is linked to."""
    told = [_changed(backfill, item, ledger)]
    for _, kind, other in item.links if item.effect is BackfillEffect.RECLASSIFIED else ():
        if kind in _TOLD_OF_OTHERS:
            detail = {"by": ids.public(ids.MEMORY, item.memory_id), "backfill": public(backfill)}
            told.append(ledger.event(_TOLD_OF_OTHERS[kind], detail, memory=UUID(hex=other)))
    return told


def _changed(backfill: Backfill, item: BackfillItem, ledger: AuditWriter) -> Row:
    detail: dict[str, Any] = {"backfill": public(backfill), "reason": item.reason, **_pairs(item.before, item.after)}
    by = item.after.get("superseded_by")
    if by is not None:
        detail["by"] = ids.public(ids.MEMORY, UUID(by))
    if item.after.get("review_reason") is not None:
        detail["review"] = item.after["review_reason"]
    if item.effect is BackfillEffect.RECLASSIFIED:
        detail |= {"from": item.source, "to": backfill.type}
        return ledger.event(AuditAction.MEMORY_RECLASSIFIED, detail, memory=item.memory_id)
    if item.effect is BackfillEffect.MERGED:
        detail["parts"] = {
            part: [item.before[column], item.after[column]] for part, column in _PARTS.items() if column in item.after
        }
    if item.effect is BackfillEffect.CONFLICTED:
        detail["by"] = ", ".join(ids.public(ids.MEMORY, UUID(hex=other)) for _, _, other in item.links)
    if item.effect is BackfillEffect.RELINKED:
        placed = item.after.get("supersedes") or item.after.get("superseded_by")
        detail["between"] = ids.public(ids.MEMORY, UUID(placed))
    return ledger.event(_ACTIONS[item.effect], detail, memory=item.memory_id)


def undo_event(backfill: Backfill, item: BackfillItem, ledger: AuditWriter) -> Row:
    """Return the audit event of a memory that was restored."""
    detail: dict[str, Any] = {"backfill": public(backfill), **_pairs(item.after, item.before)}
    if item.effect is BackfillEffect.RECLASSIFIED:
        detail |= {"from": backfill.type, "to": item.source}
    return ledger.event(AuditAction.MEMORY_RECLASSIFICATION_UNDONE, detail, memory=item.memory_id)


def public(backfill: Backfill) -> str:
    """Return the public id of a backfill."""
    return ids.public(ids.BACKFILL, backfill.id)


def _pairs(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    return {name: [before[name], after[name]] for name in ("status", "confidence") if name in after}
