"""The preview of a backfill: what it would change, worked out in batches, without changing a memory.

First the memories of the source types are scanned, and those that the classifier flags are stored as items. Then each
unit (flagged memories that depend on one another) is simulated together with the memories that compete for its slots,
because the commit changes a unit whole or not at all.

A preview is valid for one definition of each of its types: a definition of the same name that replaced it means
something else, so a backfill records the definitions it began with.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from app.db import tenant_types
from app.db.memories import rivals as memories_rivals
from app.db.memories.rivals import RivalQuery
from app.db.session import SNAPSHOT, Database, ReadSession, WriteSession
from app.errors import Conflict
from app.features.backfill import diff
from app.features.backfill.classify import AdoptedMemory, NotAdopted, confidence_of, flagged, reclassified_row, stored
from app.features.backfill.simulate import BackfillOutcome, Neighbours, simulate
from app.features.backfill.sql import backfills as backfill
from app.features.backfill.sql import memories as backfill_memories
from app.features.backfill.sql.backfills import Backfill, BackfillItem, Unit
from app.features.backfill.sql.memories import BackfillScanRow
from app.memory.backfill import BackfillEffect, BackfillStatus, Classifier, ItemState
from app.memory.registry import Registry
from app.memory.spec import AdoptedPayload, MemoryType, StoredBelief
from app.model import MemoryStatus
from app.providers.model_tasks import BeliefClassifier, ModelClassification
from app.write import lookup
from app.write.values import Existing

COUNT_NAMES = (
    "flagged",
    "changed",
    "others_changed",
    "collisions",
    "superseded",
    "contradicting",
    "conflicting",
    "reviewed",
    "links",
)


DEFINITIONS: Final = "definitions"
"""The key of a backfill's counts that holds the definitions of its types; callers are not shown it."""


SCAN_BATCH = 2_000
"""Memories that one scan reads."""


MODEL_BATCH = 100
"""Memories that one scan reads where a language model is asked about each."""


UNIT_BATCH = 400
"""Items that one batch simulates."""


FIRST = UUID(int=0)


_CHANGED_MEANWHILE = "it changed while the preview was made"


Definitions = Mapping[str, Sequence[str]]
"""The identities of each version of the named types, oldest first; a type that does not exist is missing."""


class StaleBackfill(Exception):
    """Another run has taken the backfill further than this one believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillPreview:
    """Runs previews. `classifier` is the language model's, if there is one."""

    database: Database
    types: Registry
    clock: Callable[[], datetime]
    classifier: BeliefClassifier | None = None
    language: str = "english"

    async def run(self, one: Backfill) -> AsyncIterator[tuple[int, int | None]]:
        """Run a preview to its end; yield the number of memories scanned.

        Raises Conflict where the type was redefined since the preview began, because the flags are of the old
        definition.
        """
        async with self.database.read(one.tenant_id) as session:
            present = await tenant_types.identities(session, one.tenant_id, [one.type])
        changed = target_changed(one, present)
        if changed is not None:
            raise Conflict(f"{changed} since the preview began: cancel it, and preview again")
        target = self.types.get(one.type)
        while not one.counts.get("scanned"):
            one = await self._scan(one, target)
            yield int(one.counts.get("looked_at", 0)), None
        while await self._simulate_batch(one, target):
            yield int(one.counts.get("looked_at", 0)), None

    async def _scan(self, one: Backfill, target: MemoryType) -> Backfill:
        """Scan the next memories, and store those that the classifier flags as items."""
        by_model = one.classifier is Classifier.MODEL
        async with self.database.read(one.tenant_id) as session:
            page = await backfill_memories.page(
                session,
                one.tenant_id,
                types=one.sources,
                scopes=one.scopes,
                after=one.cursor or FIRST,
                limit=MODEL_BATCH if by_model else SCAN_BATCH,
            )
        if by_model:
            adopted = await self._classify_by_model(page.rows, target)
        else:
            adopted = await asyncio.to_thread(_classify_by_rule, page.rows, target)
        judged = {row["id"]: (row, each) for row, each in zip(page.rows, adopted, strict=True) if each is not None}
        async with self.database.read(one.tenant_id) as session:
            whole = await backfill_memories.rows(session, one.tenant_id, judged)
        items = _flagged_items(judged.values(), whole, target, self.types)
        async with self.database.write(one.tenant_id) as session:
            here = await lock_current(session, one)
            await backfill.add_items(session, here, items)
            counts = {**here.counts, "looked_at": here.counts.get("looked_at", 0) + len(page.rows)}
            if page.last is None:
                counts["scanned"] = True
            return await backfill.change(session, here, counts=counts, cursor=page.last or here.cursor)

    async def _classify_by_model(
        self, rows: Sequence[BackfillScanRow], target: MemoryType
    ) -> list[AdoptedPayload | None]:
        """Ask the language model, outside any transaction; drop a claim that the memory's text does not support."""
        if self.classifier is None:
            raise Conflict("there is no language model to ask: set TM_LLM_PROVIDER, or let the rules classify")
        beliefs = [stored(row) for row in rows]
        claims = await self.classifier.classify(beliefs, target) if beliefs else []
        return await asyncio.to_thread(self._check_claims, beliefs, claims, target)

    def _check_claims(
        self, beliefs: Sequence[StoredBelief], claims: Sequence[ModelClassification | None], target: MemoryType
    ) -> list[AdoptedPayload | None]:
        return [
            None if claim is None else confidence_of(claim, belief, target, self.types, language=self.language)
            for belief, claim in zip(beliefs, claims, strict=True)
        ]

    async def _simulate_batch(self, one: Backfill, target: MemoryType) -> bool:
        """Simulate the next units; at the end store the counts and return False."""
        async with self.database.read(one.tenant_id, **SNAPSHOT) as session:
            units = await backfill.next_units(session, one, ItemState.FOUND, limit=UNIT_BATCH)
            items = await self._simulate_units(session, one, units, target)
        async with self.database.write(one.tenant_id) as session:
            here = await lock_current(session, one)
            if units:
                found = [item for unit in units.values() for item in unit]
                await backfill.save_results(session, here, found, items)
                return True
            counts = {**here.counts, **await count_plan(session, here)}
            await backfill.change(
                session, here, status=BackfillStatus.PREVIEWED, counts=counts, previewed_at=self.clock()
            )
            return False

    async def _simulate_units(
        self, session: ReadSession, one: Backfill, units: Mapping[Unit, Sequence[BackfillItem]], target: MemoryType
    ) -> list[BackfillItem]:
        """Return the items of simulated units, including other memories that they would change."""
        sought = [item.memory_id for unit in units.values() for item in unit]
        rows = await backfill_memories.rows(session, one.tenant_id, sought)
        items: list[BackfillItem] = []
        by_scope: dict[UUID, dict[Unit, list[AdoptedMemory]]] = defaultdict(lambda: defaultdict(list))
        for unit, found in units.items():
            for item in found:
                fresh = _reread(item, rows.get(item.memory_id), target, self.types)
                if isinstance(fresh, AdoptedMemory):
                    by_scope[unit[0]][unit].append(fresh)
                elif fresh is not None:
                    items.append(fresh)
        for scope, its in by_scope.items():
            beside = await self._neighbours(session, one, scope, [each for unit in its.values() for each in unit])
            for unit, flags in its.items():
                settled = simulate(flags, beside, self.types)
                items += _unit_items(unit, {item.memory_id: item for item in units[unit]}, settled, beside)
        return items

    async def _neighbours(
        self, session: ReadSession, one: Backfill, scope: UUID, found: Sequence[AdoptedMemory]
    ) -> Neighbours:
        """Read the memories that compete with those of a scope, and those that their type's rules guard against."""
        active = [each for each in found if each.row["status"] == MemoryStatus.ACTIVE]
        rivals: dict[UUID, list[Existing]] = defaultdict(list)
        if not active:
            return Neighbours(rivals=rivals, rows={})
        target, guards = active[0].target, self.types.guards_of(one.type)
        wanted = [_rival_query(each, scope, guards, self.types) for each in active]
        for row in await memories_rivals.read_rivals(session, tenant=one.tenant_id, wanted=wanted):
            rivals[active[row["place"]].row["id"]].append(lookup.existing_of(row))
        rows = await backfill_memories.rows(
            session, one.tenant_id, {each.id for all_ in rivals.values() for each in all_}
        )
        guarded: Sequence[BackfillScanRow] = ()
        if target.guards:
            subjects = {each.row["subject_id"] for each in active} - {None}
            guarded = await backfill_memories.read_neighbours(
                session, one.tenant_id, scope, backfill=one.id, subjects=subjects, types=target.guards
            )
        return Neighbours(rivals=rivals, rows={**rows, **{row["id"]: row for row in guarded}}, guarded=guarded)


async def count_plan(session: ReadSession, one: Backfill) -> dict[str, Any]:
    """Return the counts of a preview: flagged memories by reason and source type, other changes, and items left out."""
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    left: Counter[str] = Counter()
    for row in await backfill.count_items(session, one.tenant_id, one.id):
        number, own = row["number"], row["effect"] == BackfillEffect.RECLASSIFIED
        if row["state"] == ItemState.LEFT:
            left[row["why"]] += number
            continue
        counts["changed"] += number
        counts["links"] += row["links"] or 0
        counts["reviewed"] += number * bool(row["reviewed"])
        counts["superseded"] += number * (row["becomes"] == MemoryStatus.SUPERSEDED)
        counts["contradicting"] += number * bool(row["contradicts"])
        counts["conflicting"] += number * bool(row["conflicts"])
        if own:
            counts["flagged"] += number
            counts["collisions"] += number * bool(row["collides"] or row["becomes"] is not None)
            reasons[row["reason"]] += number
            sources[row["source"]] += number
        else:
            counts["others_changed"] += number
    return {**{name: counts[name] for name in COUNT_NAMES}, "by_reason": reasons, "by_source": sources, "left": left}


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
            return f"{name} was removed"
        if _recorded_identity(one, name) not in versions:
            return f"{name} was redefined"
    return None


async def lock_current(session: WriteSession, one: Backfill) -> Backfill:
    """Return the backfill locked, or raise StaleBackfill if it is no longer where it was read."""
    here = await backfill.lock(session, one.tenant_id, one.id)
    if here is None or (here.status, here.cursor) != (one.status, one.cursor):
        raise StaleBackfill
    return here


def _recorded_identity(one: Backfill, name: str) -> str:
    """Return the recorded identity of a type; backfills of earlier releases have only built-in types, record none."""
    return str(one.counts.get(DEFINITIONS, {}).get(name, tenant_types.BUILT_IN))


def _classify_by_rule(rows: Iterable[BackfillScanRow], target: MemoryType) -> list[AdoptedPayload | None]:
    """Return what the type's own rule adopts from each memory."""
    if target.adopts is None:
        raise Conflict(f"type {target.name} has no rule for what it adopts: ask the model")
    return [target.adopts.rule(stored(row)) for row in rows]


def _flagged_items(
    judged: Iterable[tuple[BackfillScanRow, AdoptedPayload]],
    whole: Mapping[UUID, BackfillScanRow],
    target: MemoryType,
    types: Registry,
) -> list[BackfillItem]:
    """Return items for the flagged memories, without those that can't be adopted or have changed since the scan."""
    items = []
    for row, adopted in judged:
        fresh = whole.get(row["id"])
        if fresh is not None and fresh["updated_at"] == row["updated_at"]:
            try:
                items.append(diff.unchanged_item(flagged(fresh, adopted, target, types)))
            except NotAdopted as error:
                items.append(diff.stays(fresh, adopted.reason, str(error)))
        elif fresh is not None:
            items.append(diff.stays(fresh, adopted.reason, _CHANGED_MEANWHILE))
    return items


def _reread(
    item: BackfillItem, row: BackfillScanRow | None, target: MemoryType, types: Registry
) -> AdoptedMemory | BackfillItem | None:
    """Return the item's memory as it is now: None if it is gone, a skipped item if it has changed meanwhile."""
    if row is None or item.adopted is None:
        return None
    if row["updated_at"] != item.seen_at:
        return diff.stays(row, item.reason, _CHANGED_MEANWHILE)
    payload = target.payload.model_validate(dict(item.adopted["payload"]))
    try:
        return flagged(row, AdoptedPayload(payload=payload, reason=item.reason or ""), target, types)
    except NotAdopted as error:
        return diff.stays(row, item.reason, str(error))


def _rival_query(one: AdoptedMemory, scope: UUID, guards: tuple[str, ...], types: Registry) -> RivalQuery:
    return RivalQuery(
        scope_id=scope,
        type=one.target.name,
        slot=one.slot,
        identity=reclassified_row(one, types)["identity"],
        stated_at=one.row["stated_at"],
        subject_id=one.row["subject_id"],
        embedding=None,
        guards=guards,
        guarded_at=one.payload.guarded_at(one.refs) if guards else (),
    )


def _unit_items(
    unit: Unit, found: Mapping[UUID, BackfillItem], settled: BackfillOutcome, beside: Neighbours
) -> list[BackfillItem]:
    """Return the items of a simulated unit; each refers to the competing memories that it was simulated with."""
    items = [diff.skipped_item(one, found[one.row["id"]]) for one in settled.left]
    for memory, change in settled.changes.items():
        met: Iterable[Any] = beside.rivals.get(memory, ())
        rests_on = {each.id.hex: beside.rows[each.id]["updated_at"].isoformat() for each in met}
        items.append(diff.changed_item(change, unit[1], found.get(memory), rests_on))
    return items
