"""Work out changes as a dry run of the slot engine; counts; type versions.

What a backfill comes to, in numbers.

Whether the types of a backfill are still what they were when its preview began.

What a preview worked out is of one definition: under another of the same name it would say something else.

Working out what a backfill would change, a batch at a time, from wherever it was left; nothing is changed.

First every memory of the types that are looked through is passed over, and what the classifier flags is kept; then
what was flagged is settled with what competes with it for its slot. A unit, all that does, is changed whole or not at
all, so it is settled as one.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from app.db import backfill, backfill_scan, tenant_types
from app.db.backfill import Backfill, BackfillItem, Unit
from app.db.backfill_scan import BackfillScanRow
from app.db.memories import rivals as memories_rivals
from app.db.memories.rivals import RivalQuery
from app.db.session import SNAPSHOT, Database, ReadSession, WriteSession
from app.errors import Conflict
from app.memory.backfill import BackfillEffect, BackfillStatus, Classifier, ItemState
from app.memory.registry import Registry
from app.memory.spec import AdoptedPayload, MemoryType, Stored
from app.model import MemoryStatus
from app.providers.model_tasks import BeliefClassifier, ModelClassification
from app.write import lookup
from app.write.backfill import diff
from app.write.backfill.classify import AdoptedMemory, NotAdopted, confidence_of, flagged, reclassified_row, stored
from app.write.backfill.simulate import BackfillOutcome, Neighbours, simulate
from app.write.values import Existing


async def count_plan(session: ReadSession, one: Backfill) -> dict[str, Any]:
    """Return how many memories a preview flags, by reason and by what they are now, and what else it comes to."""
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    left: Counter[str] = Counter()
    for row in await backfill.counted(session, one.tenant_id, one.id):
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
    return {**{name: counts[name] for name in NAMES}, "by_reason": reasons, "by_source": sources, "left": left}


NAMES = (
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
"""Under which name a backfill's counts keep them; callers are not shown it."""

Present = Mapping[str, Sequence[str]]
"""What identifies each version of types by their names, the latest last; nothing of a type that is not there."""


async def record_definitions(session: WriteSession, tenant: UUID, names: Collection[str]) -> dict[str, Any]:
    """Return what a new backfill keeps of its types."""
    present = await tenant_types.identities(session, tenant, names)
    return {DEFINITIONS: {name: versions[-1] for name, versions in present.items()}}


async def lock_definitions(session: WriteSession, one: Backfill) -> Present:
    """Return the types of a backfill as they are, and keep them so until the transaction ends."""
    names = {one.type, *one.sources}
    await tenant_types.hold_named(session, one.tenant_id, names)
    return await tenant_types.identities(session, one.tenant_id, names)


def target_changed(one: Backfill, present: Present) -> str | None:
    """Return how the type that adopts is not the one that was previewed; None where it is."""
    versions = present.get(one.type)
    if not versions:
        return f"{one.type} was removed"
    return None if versions[-1] == _recorded(one, one.type) else f"{one.type} was redefined"


def source_changed(one: Backfill, items: Sequence[BackfillItem], present: Present) -> str | None:
    """Return how a type that memories would go back to is not the one they were of; None where all are.

    A next version does no harm: they are read by their own.
    """
    for name in sorted({str(item.before["type"]) for item in items if "type" in item.before}):
        versions = present.get(name)
        if not versions:
            return f"{name} was removed"
        if _recorded(one, name) not in versions:
            return f"{name} was redefined"
    return None


def _recorded(one: Backfill, name: str) -> str:
    """Return what was kept of a type; backfills of earlier releases kept nothing, and are good for built-in ones."""
    return str(one.counts.get(DEFINITIONS, {}).get(name, tenant_types.BUILT_IN))


PASSED = 2_000
"""Memories that one look passes over."""

ASKED = 100
"""The same where a language model is asked about each."""

SETTLED = 400
"""Memories that are settled in one batch."""

NEVER = UUID(int=0)

_MOVED = "it changed while the preview was made"


class StaleBackfill(Exception):
    """The backfill is not where this run believed it: somebody else has taken it further."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillPreview:
    """Previews. `classifier` is the language model's, where there is one."""

    database: Database
    types: Registry
    clock: Callable[[], datetime]
    classifier: BeliefClassifier | None = None
    language: str = "english"

    async def run(self, one: Backfill) -> AsyncIterator[tuple[int, int | None]]:
        """Take a preview to its end; yield how many memories were looked at.

        Raises Conflict where the type is not what it was when the preview began: what was flagged is not of it.
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
        while await self._settle(one, target):
            yield int(one.counts.get("looked_at", 0)), None

    async def _scan(self, one: Backfill, target: MemoryType) -> Backfill:
        """Look at the next memories, and keep those that the classifier flags."""
        by_model = one.classifier is Classifier.MODEL
        async with self.database.read(one.tenant_id) as session:
            page = await backfill_scan.page(
                session,
                one.tenant_id,
                types=one.sources,
                scopes=one.scopes,
                after=one.cursor or NEVER,
                limit=ASKED if by_model else PASSED,
            )
        if by_model:
            adopted = await self._judged(page.rows, target)
        else:
            adopted = await asyncio.to_thread(_ruled, page.rows, target)
        judged = {row["id"]: (row, each) for row, each in zip(page.rows, adopted, strict=True) if each is not None}
        async with self.database.read(one.tenant_id) as session:
            whole = await backfill_scan.rows(session, one.tenant_id, judged)
        items = _found(judged.values(), whole, target, self.types)
        async with self.database.write(one.tenant_id) as session:
            here = await at(session, one)
            await backfill.add_items(session, here, items)
            counts = {**here.counts, "looked_at": here.counts.get("looked_at", 0) + len(page.rows)}
            if page.last is None:
                counts["scanned"] = True
            return await backfill.change(session, here, counts=counts, cursor=page.last or here.cursor)

    async def _judged(self, rows: Sequence[BackfillScanRow], target: MemoryType) -> list[AdoptedPayload | None]:
        """Ask the language model, outside any transaction; what a belief does not say is not believed of it."""
        if self.classifier is None:
            raise Conflict("there is no language model to ask: set TM_LLM_PROVIDER, or let the rules classify")
        beliefs = [stored(row) for row in rows]
        claims = await self.classifier.classify(beliefs, target) if beliefs else []
        return await asyncio.to_thread(self._believed, beliefs, claims, target)

    def _believed(
        self, beliefs: Sequence[Stored], claims: Sequence[ModelClassification | None], target: MemoryType
    ) -> list[AdoptedPayload | None]:
        return [
            None if claim is None else confidence_of(claim, belief, target, self.types, language=self.language)
            for belief, claim in zip(beliefs, claims, strict=True)
        ]

    async def _settle(self, one: Backfill, target: MemoryType) -> bool:
        """Settle the next units; False, with all counted, when there are no more."""
        async with self.database.read(one.tenant_id, **SNAPSHOT) as session:
            units = await backfill.next_units(session, one, ItemState.FOUND, limit=SETTLED)
            items = await self._settled(session, one, units, target)
        async with self.database.write(one.tenant_id) as session:
            here = await at(session, one)
            if units:
                found = [item for unit in units.values() for item in unit]
                await backfill.save_results(session, here, found, items)
                return True
            counts = {**here.counts, **await count_plan(session, here)}
            await backfill.change(
                session, here, status=BackfillStatus.PREVIEWED, counts=counts, previewed_at=self.clock()
            )
            return False

    async def _settled(
        self, session: ReadSession, one: Backfill, units: Mapping[Unit, Sequence[BackfillItem]], target: MemoryType
    ) -> list[BackfillItem]:
        """Return what was found as what it comes to, with what it touches."""
        sought = [item.memory_id for unit in units.values() for item in unit]
        rows = await backfill_scan.rows(session, one.tenant_id, sought)
        items: list[BackfillItem] = []
        by_scope: dict[UUID, dict[Unit, list[AdoptedMemory]]] = defaultdict(lambda: defaultdict(list))
        for unit, found in units.items():
            for item in found:
                fresh = _again(item, rows.get(item.memory_id), target, self.types)
                if isinstance(fresh, AdoptedMemory):
                    by_scope[unit[0]][unit].append(fresh)
                elif fresh is not None:
                    items.append(fresh)
        for scope, its in by_scope.items():
            beside = await self._beside(session, one, scope, [each for unit in its.values() for each in unit])
            for unit, flags in its.items():
                settled = simulate(flags, beside, self.types)
                items += _items(unit, {item.memory_id: item for item in units[unit]}, settled, beside)
        return items

    async def _beside(
        self, session: ReadSession, one: Backfill, scope: UUID, found: Sequence[AdoptedMemory]
    ) -> Neighbours:
        """Read what the beliefs of a scope compete with, and what rules of their type may stand against."""
        active = [each for each in found if each.row["status"] == MemoryStatus.ACTIVE]
        rivals: dict[UUID, list[Existing]] = defaultdict(list)
        if not active:
            return Neighbours(rivals=rivals, rows={})
        target, guards = active[0].target, self.types.guards_of(one.type)
        wanted = [_wanted(each, guards, self.types) for each in active]
        for row in await memories_rivals.read_rivals(
            session, tenant=one.tenant_id, scope=scope, model=0, likeness=1.0, wanted=wanted
        ):
            rivals[active[row["place"]].row["id"]].append(lookup.existing_of(row))
        rows = await backfill_scan.rows(session, one.tenant_id, {each.id for all_ in rivals.values() for each in all_})
        guarded: Sequence[BackfillScanRow] = ()
        if target.guards:
            subjects = {each.row["subject_id"] for each in active} - {None}
            guarded = await backfill_scan.read_neighbours(
                session, one.tenant_id, scope, backfill=one.id, subjects=subjects, types=target.guards
            )
        return Neighbours(rivals=rivals, rows={**rows, **{row["id"]: row for row in guarded}}, guarded=guarded)


async def at(session: WriteSession, one: Backfill) -> Backfill:
    """Return the backfill locked, if it is where it was read to be, or raise Overtaken."""
    here = await backfill.lock(session, one.tenant_id, one.id)
    if here is None or (here.status, here.cursor) != (one.status, one.cursor):
        raise StaleBackfill
    return here


def _ruled(rows: Iterable[BackfillScanRow], target: MemoryType) -> list[AdoptedPayload | None]:
    """Return what the type's own rule makes of beliefs."""
    if target.adopts is None:
        raise Conflict(f"type {target.name} has no rule for what it adopts: ask the model")
    return [target.adopts.rule(stored(row)) for row in rows]


def _found(
    judged: Iterable[tuple[BackfillScanRow, AdoptedPayload]],
    whole: Mapping[UUID, BackfillScanRow],
    target: MemoryType,
    types: Registry,
) -> list[BackfillItem]:
    """Return the items of what was flagged, but for what is gone or has changed since it was looked at."""
    items = []
    for row, adopted in judged:
        fresh = whole.get(row["id"])
        if fresh is not None and fresh["updated_at"] == row["updated_at"]:
            try:
                items.append(diff.unchanged_item(flagged(fresh, adopted, target, types)))
            except NotAdopted as error:
                items.append(diff.stays(fresh, adopted.reason, str(error)))
        elif fresh is not None:
            items.append(diff.stays(fresh, adopted.reason, _MOVED))
    return items


def _again(
    item: BackfillItem, row: BackfillScanRow | None, target: MemoryType, types: Registry
) -> AdoptedMemory | BackfillItem | None:
    """Return what was found as it is now: None if it is gone, an item that stays if it has changed meanwhile."""
    if row is None or item.adopted is None:
        return None
    if row["updated_at"] != item.seen_at:
        return diff.stays(row, item.reason, _MOVED)
    payload = target.payload.model_validate(dict(item.adopted["payload"]))
    try:
        return flagged(row, AdoptedPayload(payload=payload, reason=item.reason or ""), target, types)
    except NotAdopted as error:
        return diff.stays(row, item.reason, str(error))


def _wanted(one: AdoptedMemory, guards: tuple[str, ...], types: Registry) -> RivalQuery:
    return RivalQuery(
        type=one.target.name,
        slot=one.slot,
        identity=reclassified_row(one, types)["identity"],
        stated_at=one.row["stated_at"],
        subject_id=one.row["subject_id"],
        embedding=None,
        guards=guards,
        guarded_at=one.payload.guarded_at(one.refs) if guards else (),
    )


def _items(
    unit: Unit, found: Mapping[UUID, BackfillItem], settled: BackfillOutcome, beside: Neighbours
) -> list[BackfillItem]:
    """Return what a unit comes to as items; each that was found rests on the rivals that it was settled with."""
    items = [diff.skipped_item(one, found[one.row["id"]]) for one in settled.left]
    for memory, change in settled.changes.items():
        met: Iterable[Any] = beside.rivals.get(memory, ())
        rests_on = {each.id.hex: beside.rows[each.id]["updated_at"].isoformat() for each in met}
        items.append(diff.changed_item(change, unit[1], found.get(memory), rests_on))
    return items
