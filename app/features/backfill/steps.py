"""The steps of a backfill, each in transactions of bounded size that go on from where the last one ended.

A preview scans the memories of the source types, stores those that the classifier flags as items, and decides them by
unit: flagged memories of one slot. A commit decides each unit again, and writes it if it comes to what the preview
told; an undo gives its memories their former state. A unit that has moved stays as it is, with the reason.

A preview is valid for one definition of each of its types: a definition of the same name that replaced it means
something else, so a backfill records the definitions it began with.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import takewhile
from typing import Any, Final
from uuid import UUID

from app import ids
from app.db import tenant_types
from app.db.apply.memories import A_MOMENT
from app.db.apply.scope import ScopeMoved, apply, retried
from app.db.memories import rivals
from app.db.memories.former import FormerState, read_former, unlink_made_at
from app.db.scopes import lock_scope, scope_of
from app.db.session import SNAPSHOT, Database, WriteSession
from app.errors import Conflict
from app.features.backfill import sql
from app.features.backfill.adopt import adopt, changed_meanwhile, changed_numbers, difference, found_item, public
from app.features.backfill.classify import confidence_of, stored
from app.features.backfill.sql import Backfill, BackfillItem, BackfillScanRow, StaleBackfill, Unit
from app.memory.audit import AuditAction
from app.memory.backfill import BackfillStatus, Classifier, ItemState
from app.memory.registry import Registry, Types
from app.memory.spec import AdoptedPayload
from app.memory.versions import SlotOutcome, Version
from app.model import Scope
from app.providers.model_tasks import BeliefClassifier
from app.write.rows import PendingRows, WriteContext, audit, revert

DEFINITIONS: Final = "definitions"
"""The key of a backfill's counts that holds the definitions of its types; callers are not shown it."""

SCAN_BATCH = 2_000
"""Memories that one scan reads."""

MODEL_BATCH = 100
"""Memories that one scan reads where a language model is asked about each."""

UNIT_BATCH = 400
"""Items that one transaction of a preview decides."""

BATCH = 100
"""Memories that one transaction changes: each is written again to every index, the vector index too."""

Definitions = Mapping[str, Sequence[str]]
"""The identities of each version of the named types, oldest first; a type that does not exist is missing."""

Progress = AsyncIterator[tuple[int, int | None]]
"""The number of memories done, and the total."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Locked:
    """The units of one scope that a transaction changes: a backfill and the scope, both locked, and the instant."""

    backfill: Backfill
    scope: Scope
    version: int
    units: Mapping[Unit, Sequence[BackfillItem]]
    at: datetime
    definitions: Definitions


Settled = Mapping[Unit, PendingRows | str]
"""What a transaction does to each unit: the changes that it comes to, or why it stays as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillSteps:
    """Takes a backfill further, as an actor. `classifier` is the language model's, if there is one."""

    database: Database
    types: Types
    clock: Callable[[], datetime]
    classifier: BeliefClassifier | None
    language: str
    actor: str

    async def run(self, tenant: UUID, backfill: UUID) -> Progress:
        """Run the current step of a backfill to its end; yield the number of memories done and the total.

        Raises Conflict where a preview's type was redefined since it began.
        """
        while True:
            async with self.database.read(tenant) as session:
                one = await sql.find(session, tenant, backfill)
            if one is None:
                return
            try:
                match one.status:
                    case BackfillStatus.PREVIEWING:
                        async for done in self._preview(one):
                            yield done
                    case BackfillStatus.COMMITTING | BackfillStatus.UNDOING:
                        while (here := await retried(partial(self._change, one))) is not None:
                            yield _done(here), int(here.counts.get("changed", 0))
                    case _:
                        return
            except StaleBackfill:
                continue

    async def _preview(self, one: Backfill) -> Progress:
        async with self.database.read(one.tenant_id) as session:
            present = await tenant_types.identities(session, one.tenant_id, [one.type])
        changed = target_changed(one, present)
        if changed is not None:
            raise Conflict(f"{changed} since the preview began: cancel it, and preview again")
        types = await self.types.of(one.tenant_id)
        while one.status is BackfillStatus.PREVIEWING:
            one = await (self._decide(one, types) if one.counts.get("scanned") else self._scan(one, types))
            yield int(one.counts.get("looked_at", 0)), None

    async def _scan(self, one: Backfill, types: Registry) -> Backfill:
        """Scan the next memories, and store those that the classifier flags as items."""
        limit = MODEL_BATCH if one.classifier is Classifier.MODEL else SCAN_BATCH
        async with self.database.read(one.tenant_id) as session:
            page, last = await sql.scan(session, one, after=one.cursor or UUID(int=0), limit=limit)
        adopted = {row["id"]: each async for row, each in self._classified(one, page, types)}
        seen = {row["id"]: row["updated_at"] for row in page}
        async with self.database.read(one.tenant_id) as session:
            whole = await sql.rows(session, one.tenant_id, adopted)
        items = [
            found_item(row, adopted[memory], one, types)
            if row["updated_at"] == seen[memory]
            else changed_meanwhile(row, adopted[memory])
            for memory, row in whole.items()
        ]
        async with self.database.write(one.tenant_id) as session:
            here = await sql.lock_current(session, one)
            await sql.add_items(session, here, items)
            counts = {**here.counts, "looked_at": here.counts.get("looked_at", 0) + len(page)}
            return await sql.change(
                session, here, counts=counts | ({"scanned": True} if last is None else {}), cursor=last or here.cursor
            )

    async def _classified(
        self, one: Backfill, page: Sequence[BackfillScanRow], types: Registry
    ) -> AsyncIterator[tuple[BackfillScanRow, AdoptedPayload]]:
        """Yield the memories that are flagged, with what they are as the new type.

        A language model is asked outside any transaction; a claim that the memory's text does not support is dropped.
        """
        target, beliefs = types.get(one.type), [stored(row) for row in page]
        if one.classifier is Classifier.MODEL:
            if self.classifier is None:
                raise Conflict("there is no language model to ask: set TM_LLM_PROVIDER, or let the rules classify")
            claims = await self.classifier.classify(beliefs, target) if beliefs else []

            def judge(place: int) -> AdoptedPayload | None:
                claim = claims[place]
                if claim is None:
                    return None
                return confidence_of(claim, beliefs[place], target, types, language=self.language)
        else:
            if target.adopts is None:
                raise Conflict(f"type {target.name} has no rule for what it adopts: ask the model")
            rule = target.adopts.rule

            def judge(place: int) -> AdoptedPayload | None:
                return rule(beliefs[place])

        judged = await asyncio.to_thread(lambda: [judge(place) for place in range(len(beliefs))])
        for row, adopted in zip(page, judged, strict=True):
            if adopted is not None:
                yield row, adopted

    async def _decide(self, one: Backfill, types: Registry) -> Backfill:
        """Decide the next units; at the end store the counts."""
        async with self.database.read(one.tenant_id, **SNAPSHOT) as session:
            units = await sql.next_units(session, one, ItemState.FOUND, limit=UNIT_BATCH)
            decided = await adopt(session, one, units, types, actor=self.actor, now=self.clock())
        async with self.database.write(one.tenant_id) as session:
            here = await sql.lock_current(session, one)
            if units:
                items = [item for unit in decided.values() for item in unit.items]
                await sql.replace_found(session, here, _flat(units.values()), items)
                return here
            counts = {**here.counts, **await sql.count_plan(session, here)}
            return await sql.change(
                session, here, status=BackfillStatus.PREVIEWED, counts=counts, previewed_at=self.clock()
            )

    async def _change(self, one: Backfill, _attempt: int) -> Backfill | None:
        """Commit or undo the next units of one scope; at the end finish the backfill and return None.

        Raises ScopeMoved when another write took a slot at the same moment.
        """
        tenant, commits = one.tenant_id, one.status is BackfillStatus.COMMITTING
        types = await self.types.of(tenant)
        async with self.database.write(tenant) as session:
            here = await sql.lock_current(session, one)
            taken = ItemState.PLANNED if commits else ItemState.COMMITTED
            units = _of_one_scope(await sql.next_units(session, here, taken, limit=BATCH))
            if not units:
                ends, stamp = ("committed", "committed_at") if commits else ("undone", "undone_at")
                await sql.change(session, here, status=BackfillStatus(ends), **{stamp: self.clock()})
                return None
            locked = await self._locked(session, here, units)
            settled = await (self._committed(session, locked, types) if commits else self._undone(session, locked))
            return await _write(session, locked, settled, commits=commits)

    async def _locked(
        self, session: WriteSession, one: Backfill, units: Mapping[Unit, Sequence[BackfillItem]]
    ) -> _Locked:
        definitions = await lock_definitions(session, one)
        [scope, *_] = {scope for scope, _ in units}
        version = await lock_scope(session, one.tenant_id, scope)
        rows = await sql.scopes(session, one.tenant_id, [scope])
        if version is None or not rows:
            raise ScopeMoved
        after = [item.applied_at + A_MOMENT for item in _flat(units.values()) if item.applied_at is not None]
        at = max([self.clock(), *after, *(row["written_at"] for row in rows if row["written_at"] is not None)])
        return _Locked(
            backfill=one, scope=scope_of(rows[0]), version=version, units=units, at=at, definitions=definitions
        )

    async def _committed(self, session: WriteSession, locked: _Locked, types: Registry) -> Settled:
        """Decide units as the preview did; one that comes to something else stays as it is."""
        one = locked.backfill
        changed = target_changed(one, locked.definitions)
        if changed is not None:
            return dict.fromkeys(locked.units, f"{changed} since the preview")
        decided = await adopt(session, one, locked.units, types, actor=self.actor, now=locked.at)
        return {
            unit: difference(items, decided[unit].items) or decided[unit].plan for unit, items in locked.units.items()
        }

    async def _undone(self, session: WriteSession, locked: _Locked) -> Settled:
        """Give memories their former state; a unit of which one has changed since stays as it is."""
        one, tenant = locked.backfill, locked.backfill.tenant_id
        former = await read_former(session, tenant, {item.memory_id for item in _flat(locked.units.values())})
        versions = await rivals.read_versions(session, tenant, former)
        settled: dict[Unit, PendingRows | str] = {}
        linked: dict[datetime, set[UUID]] = defaultdict(set)
        for unit, items in locked.units.items():
            plan = PendingRows(WriteContext(tenant=tenant, scope=unit[0], actor=self.actor, now=locked.at))
            why = source_changed(one, items, locked.definitions) or _revert(plan, one, items, former, versions)
            settled[unit] = why or plan
            for item in items if why is None else ():
                if item.applied_at is not None:
                    linked[item.applied_at] |= {UUID(hex=end) for link in item.links for end in (link[0], link[2])}
        for at, memories in linked.items():
            await unlink_made_at(session, tenant, memories, at)
        return settled


def _done(one: Backfill) -> int:
    return sum(int(one.counts.get(state, 0)) for state in ("committed", "skipped", "undone", "kept"))


def _flat(units: Iterable[Sequence[BackfillItem]]) -> list[BackfillItem]:
    return [item for items in units for item in items]


def _of_one_scope(units: Mapping[Unit, Sequence[BackfillItem]]) -> dict[Unit, Sequence[BackfillItem]]:
    """Return the units of the first scope."""
    first = next(iter(units), None)
    return dict(takewhile(lambda each: first is not None and each[0][0] == first[0], units.items()))


def _revert(
    plan: PendingRows,
    one: Backfill,
    items: Sequence[BackfillItem],
    former: Mapping[UUID, FormerState],
    versions: Mapping[UUID, Version],
) -> str | None:
    """Add the changes that undo a unit to the plan; return why it can't be undone, None if it can."""
    changed = {item.memory_id: item for item in items if item.after}
    for memory, item in changed.items():
        if memory not in former or former[memory].changed_at != item.applied_at:
            return f"{ids.public(ids.MEMORY, memory)} has changed since the commit"
    # The past of a memory doesn't hold its identity; the item does.
    before = {
        memory: replace(former[memory], columns={**former[memory].columns, **item.before})
        for memory, item in changed.items()
    }
    found = revert(plan, before, versions, reason="its reclassification was undone")
    if found.outcome is SlotOutcome.NOTHING:
        return f"{ids.public(ids.MEMORY, found.rivals[0].id)} has come into its slot since the commit"
    for change in found.changes:
        told: dict[str, object] = {"backfill": public(one), **changed_numbers(change.before, change.after)}
        if change.before.type != change.after.type:
            told |= {"from": change.before.type, "to": change.after.type}
        audit(plan, AuditAction.MEMORY_RECLASSIFICATION_UNDONE, change.before.id, told)
    return None


async def _write(session: WriteSession, locked: _Locked, settled: Settled, *, commits: bool) -> Backfill:
    """Write the changes of units as one, and the states of all items; return the backfill with its counts."""
    one, units = locked.backfill, locked.units
    state, refused = ("committed", "skipped") if commits else ("undone", "kept")
    plans = {unit: found for unit, found in settled.items() if isinstance(found, PendingRows)}
    stays: dict[str, list[BackfillItem]] = defaultdict(list)
    for unit, found in settled.items():
        if isinstance(found, str):
            stays[found] += units[unit]
    done = _flat(units[unit] for unit in plans)
    if done:
        whole = PendingRows(next(iter(plans.values())).around)
        for plan in plans.values():
            whole.join(plan)
        await apply(session, tenant=one.tenant_id, scope=locked.scope, version=locked.version, changes=whole.changes())
        await sql.mark(session, one, done, ItemState(state), None, whole.around.now)
    for why, items in stays.items():
        await sql.mark(session, one, items, ItemState(refused), why)
    numbers = {state: len(done), refused: len(_flat(stays.values()))}
    counts = {**one.counts, **{name: one.counts.get(name, 0) + number for name, number in numbers.items() if number}}
    return await sql.change(session, one, counts=counts)


async def record_definitions(session: WriteSession, tenant: UUID, names: Collection[str]) -> dict[str, Any]:
    """Return the identities of the types of a new backfill, as an entry for its counts."""
    present = await tenant_types.identities(session, tenant, names)
    return {DEFINITIONS: {name: versions[-1] for name, versions in present.items()}}


async def lock_definitions(session: WriteSession, one: Backfill) -> Definitions:
    """Return the current identities of a backfill's types, and lock the types until the transaction ends."""
    names = {one.type, *one.sources}
    await tenant_types.lock_named(session, one.tenant_id, names)
    return await tenant_types.identities(session, one.tenant_id, names)


def target_changed(one: Backfill, present: Definitions) -> str | None:
    """Return how the adopting type differs from the one that was previewed; None when it is the same."""
    versions = present.get(one.type)
    if not versions:
        return f"{one.type} was removed"
    return None if versions[-1] == _recorded_identity(one, one.type) else f"{one.type} was redefined"


def source_changed(one: Backfill, items: Sequence[BackfillItem], present: Definitions) -> str | None:
    """Return how a type that memories would go back to differs from the one they were of; None when all are the same.

    A newer version does no harm: memories are read by the version they were written with.
    """
    for name in sorted({str(item.before["type"]) for item in items if "type" in item.before}):
        versions = present.get(name)
        if not versions:
            return f"{name} was removed since the preview"
        if _recorded_identity(one, name) not in versions:
            return f"{name} was redefined since the preview"
    return None


def _recorded_identity(one: Backfill, name: str) -> str:
    """Return the recorded identity of a type; backfills of earlier releases have only built-in types, record none."""
    return str(one.counts.get(DEFINITIONS, {}).get(name, tenant_types.BUILT_IN))
