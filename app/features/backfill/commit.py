"""The commit and the undo of a backfill, in transactions of bounded size.

A unit (memories that depend on one another) is changed whole or not at all. It is skipped where one of its memories, or
one that the preview compared it with, has changed since the preview, or where another memory has taken its slot. A
skipped item keeps the reason.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from app import ids
from app.db.apply.memories import A_MOMENT, bump_scopes
from app.db.apply.scope import retried
from app.db.audit import AuditWriter, append
from app.db.session import Database, WriteSession
from app.db.sql import Row
from app.features.backfill import diff, preview
from app.features.backfill.preview import Definitions, lock_current
from app.features.backfill.sql import backfills as backfill
from app.features.backfill.sql import memories as backfill_memories
from app.features.backfill.sql.backfills import Backfill, BackfillItem, Unit
from app.features.backfill.sql.memories import BackfillScanRow
from app.memory.backfill import BackfillEffect, BackfillStatus, ItemState
from app.model import MemoryStatus

BATCH = 100
"""Memories that one transaction changes: each is written again to every index, the vector index too."""

Slot = tuple[UUID, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """Commit or undo: the states of items before and after it, and the status of the backfill at its end."""

    takes: ItemState
    done: ItemState
    refused: ItemState
    ends: BackfillStatus
    stamp: str


COMMIT = Direction(
    takes=ItemState.PLANNED,
    done=ItemState.COMMITTED,
    refused=ItemState.SKIPPED,
    ends=BackfillStatus.COMMITTED,
    stamp="committed_at",
)
UNDO = Direction(
    takes=ItemState.COMMITTED,
    done=ItemState.UNDONE,
    refused=ItemState.KEPT,
    ends=BackfillStatus.UNDONE,
    stamp="undone_at",
)


@dataclass(slots=True, kw_only=True)
class _Batch:
    """The changes that one transaction collects before it writes them."""

    changes: dict[UUID, dict[str, Any]] = field(default_factory=dict)
    links: set[tuple[str, str, str]] = field(default_factory=set)
    scopes: set[UUID] = field(default_factory=set)
    events: list[Row] = field(default_factory=list)
    marks: list[tuple[BackfillItem, ItemState, str | None, datetime | None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillCommit:
    """Commits previewed backfills and undoes committed ones."""

    database: Database
    clock: Callable[[], datetime]

    async def run(self, one: Backfill, step: Direction, actor: str) -> AsyncIterator[tuple[int, int | None]]:
        """Commit or undo to the end; yield the number of memories done and the total."""
        async with self.database.read(one.tenant_id) as session:
            total = await backfill.remaining(session, one, step.takes)
        done = 0
        while count := await retried(lambda _: self._batch(one, step, actor)):
            done += count
            yield done, max(total, done)

    async def _batch(self, one: Backfill, step: Direction, actor: str) -> int:
        """Change the next units and return how many memories they have; at the end finish the backfill and return 0.

        Raises ScopeMoved when another write took a slot at the same moment.
        """
        async with self.database.write(one.tenant_id) as session:
            here = await lock_current(session, one)
            units = await backfill.next_units(session, here, step.takes, limit=BATCH)
            if not units:
                await backfill.change(session, here, status=step.ends, **{step.stamp: self.clock()})
                return 0
            present = await preview.lock_definitions(session, here)
            await self._apply(session, here, step, units, actor, present)
        return sum(map(len, units.values()))

    async def _apply(
        self,
        session: WriteSession,
        one: Backfill,
        step: Direction,
        units: Mapping[Unit, Sequence[BackfillItem]],
        actor: str,
        present: Definitions,
    ) -> None:
        tenant = one.tenant_id
        stamps = await backfill_memories.lock_scopes(session, tenant, {scope for scope, _ in units})
        locked = await backfill_memories.lock(
            session, tenant, {memory for unit in units.values() for memory in _ids_needed(step, unit)}
        )
        slots = {slot for unit in units.values() for item in unit for slot in _slots_taken_by(step, item, locked)}
        taken = await backfill_memories.slots_taken(session, tenant, slots)
        now = max(
            self.clock(),
            *(stamp for stamp in stamps.values() if stamp is not None),
            *(row["updated_at"] + A_MOMENT for row in locked.values()),
        )
        batch = _Batch()
        for unit, items in units.items():
            ledger = AuditWriter(tenant=tenant, actor=actor, at=now, scope=unit[0])
            why = _type_change(one, step, items, present) or _memory_change(step, items, locked, taken)
            if why is None:
                _add_unit(batch, one, step, items, ledger)
            else:
                batch.marks += [(item, step.refused, why, item.applied_at) for item in items]
        await self._write(session, one, step, batch, now)

    async def _write(self, session: WriteSession, one: Backfill, step: Direction, batch: _Batch, now: datetime) -> None:
        tenant = one.tenant_id
        if batch.changes:
            await backfill_memories.change(session, tenant, batch.changes, at=now)
        if step is COMMIT:
            await backfill_memories.link(session, tenant, batch.links, at=now)
        else:
            await backfill_memories.unlink(session, tenant, batch.links)
        await bump_scopes(session, tenant, batch.scopes, at=now)
        await append(session, batch.events)
        await backfill.mark(session, one, batch.marks)
        counts = dict(one.counts)
        for _, state, _, _ in batch.marks:
            counts[state] = counts.get(state, 0) + 1
        await backfill.change(session, one, counts=counts)


def _ids_needed(step: Direction, items: Iterable[BackfillItem]) -> set[UUID]:
    """Return the memories that a unit changes or refers to; for a commit also those it was compared with."""
    found = set()
    for item in items:
        values = item.after if step is COMMIT else item.before
        pointers = (values.get("supersedes"), values.get("superseded_by"))
        found |= {item.memory_id, *(UUID(one) for one in pointers if one is not None)}
        if step is COMMIT:
            found |= {UUID(one) for one in item.rests_on}
            found |= {UUID(hex=one) for source, _, target in item.links for one in (source, target)}
    return found


def _slots_taken_by(step: Direction, item: BackfillItem, locked: Mapping[UUID, BackfillScanRow]) -> list[Slot]:
    """Return the slot that the step gives to a memory, if another memory could hold it."""
    row = locked.get(item.memory_id)
    if row is None or item.effect is not BackfillEffect.RECLASSIFIED:
        return []
    values = {**row, **(item.after if step is COMMIT else item.before)}
    if values["status"] != MemoryStatus.ACTIVE or values["slot"] is None or values["contested"]:
        return []
    return [(item.scope_id, values["type"], values["slot"])]


def _type_change(one: Backfill, step: Direction, items: Sequence[BackfillItem], present: Definitions) -> str | None:
    """Return why a unit can't be changed because a type was removed or redefined; None when it can."""
    commit = step is COMMIT
    why = preview.target_changed(one, present) if commit else preview.source_changed(one, items, present)
    return None if why is None else f"{why} since the preview"


def _memory_change(
    step: Direction,
    items: Sequence[BackfillItem],
    locked: Mapping[UUID, BackfillScanRow],
    taken: Mapping[Slot, Sequence[BackfillScanRow]],
) -> str | None:
    """Return why a unit can't be changed because memories changed since; None when it can."""
    expected: dict[UUID, set[datetime | None]] = {item.memory_id: {_expected_stamp(step, item)} for item in items}
    if step is COMMIT:
        for other, stamp in (pair for item in items for pair in item.rests_on.items()):
            expected.setdefault(UUID(other), set()).add(datetime.fromisoformat(stamp))
    since = "preview" if step is COMMIT else "commit"
    for memory in sorted(_ids_needed(step, items) | expected.keys()):
        if memory not in locked:
            return f"{ids.public(ids.MEMORY, memory)} is gone since the {since}"
        if memory in expected and {locked[memory]["updated_at"]} != expected[memory]:
            return f"{ids.public(ids.MEMORY, memory)} has changed since the {since}"
    for item in items:
        for slot in _slots_taken_by(step, item, locked):
            rival = next((row for row in taken.get(slot, ()) if row["id"] not in expected), None)
            if rival is not None:
                return f"{ids.public(ids.MEMORY, rival['id'])} has come into its slot since the {since}"
    return None


def _expected_stamp(step: Direction, item: BackfillItem) -> datetime | None:
    """Return the `updated_at` that a memory must still have; a commit that only linked a memory left it as it was."""
    return item.seen_at if step is COMMIT or not item.after else item.applied_at


def _add_unit(
    batch: _Batch,
    one: Backfill,
    step: Direction,
    items: Sequence[BackfillItem],
    ledger: AuditWriter,
) -> None:
    """Add a unit's changes, links, audit events and item states to the batch."""
    for item in items:
        if item.after:
            batch.changes[item.memory_id] = diff.applied(item, ledger.at) if step is COMMIT else dict(item.before)
        batch.links |= set(item.links)
        if step is COMMIT:
            batch.events += diff.events(one, item, ledger)
        elif item.after:
            batch.events.append(diff.undo_event(one, item, ledger))
    batch.scopes.add(items[0].scope_id)
    batch.marks += [(item, step.done, None, ledger.at) for item in items]
