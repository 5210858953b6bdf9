"""Working out what a backfill would change, a batch at a time, from wherever it was left; nothing is changed.

First every memory of the types that are looked through is passed over, and what the classifier flags is kept; then
what was flagged is settled with what competes with it for its slot. A unit, all that does, is changed whole or not at
all, so it is settled as one.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from app.db import backfill_items, backfills, beliefs, own_types, reclassifiable
from app.db.backfill_items import Item, Unit
from app.db.backfills import Backfill
from app.db.beliefs import Wanted
from app.db.reclassifiable import Row
from app.db.session import SNAPSHOT, Database, ReadSession, WriteSession
from app.errors import Conflict
from app.memory.backfill import Classifier, ItemState, Status
from app.memory.registry import Registry
from app.memory.spec import Adopted, MemoryType, Stored
from app.model import Status as Life
from app.providers.classifying import BeliefClassifier, Claim
from app.services import backfill_counts, backfill_types
from app.write import look, planning
from app.write.adopting import Flagged, Stays, becomes, believed, flagged, stored
from app.write.settled import Beside, Settled
from app.write.settling import settle
from app.write.values import Existing

PASSED = 2_000
"""Memories that one look passes over."""

ASKED = 100
"""The same where a language model is asked about each."""

SETTLED = 400
"""Memories that are settled in one batch."""

NEVER = UUID(int=0)

_MOVED = "it changed while the preview was made"


class Overtaken(Exception):
    """The backfill is not where this run believed it: somebody else has taken it further."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Previewing:
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
            present = await own_types.identities(session, one.tenant_id, [one.type])
        changed = backfill_types.target_changed(one, present)
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
            page = await reclassifiable.page(
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
            whole = await reclassifiable.rows(session, one.tenant_id, judged)
        items = _found(judged.values(), whole, target, self.types)
        async with self.database.write(one.tenant_id) as session:
            here = await at(session, one)
            await backfill_items.add(session, here, items)
            counts = {**here.counts, "looked_at": here.counts.get("looked_at", 0) + len(page.rows)}
            if page.last is None:
                counts["scanned"] = True
            return await backfills.change(session, here, counts=counts, cursor=page.last or here.cursor)

    async def _judged(self, rows: Sequence[Row], target: MemoryType) -> list[Adopted | None]:
        """Ask the language model, outside any transaction; what a belief does not say is not believed of it."""
        if self.classifier is None:
            raise Conflict("there is no language model to ask: set TM_LLM_PROVIDER, or let the rules classify")
        beliefs = [stored(row) for row in rows]
        claims = await self.classifier.classify(beliefs, target) if beliefs else []
        return await asyncio.to_thread(self._believed, beliefs, claims, target)

    def _believed(
        self, beliefs: Sequence[Stored], claims: Sequence[Claim | None], target: MemoryType
    ) -> list[Adopted | None]:
        return [
            None if claim is None else believed(claim, belief, target, self.types, language=self.language)
            for belief, claim in zip(beliefs, claims, strict=True)
        ]

    async def _settle(self, one: Backfill, target: MemoryType) -> bool:
        """Settle the next units; False, with all counted, when there are no more."""
        async with self.database.read(one.tenant_id, **SNAPSHOT) as session:
            units = await backfill_items.next_units(session, one, ItemState.FOUND, limit=SETTLED)
            items = await self._settled(session, one, units, target)
        async with self.database.write(one.tenant_id) as session:
            here = await at(session, one)
            if units:
                found = [item for unit in units.values() for item in unit]
                await backfill_items.settle(session, here, found, items)
                return True
            counts = {**here.counts, **await backfill_counts.planned(session, here)}
            await backfills.change(session, here, status=Status.PREVIEWED, counts=counts, previewed_at=self.clock())
            return False

    async def _settled(
        self, session: ReadSession, one: Backfill, units: Mapping[Unit, Sequence[Item]], target: MemoryType
    ) -> list[Item]:
        """Return what was found as what it comes to, with what it touches."""
        sought = [item.memory_id for unit in units.values() for item in unit]
        rows = await reclassifiable.rows(session, one.tenant_id, sought)
        items: list[Item] = []
        by_scope: dict[UUID, dict[Unit, list[Flagged]]] = defaultdict(lambda: defaultdict(list))
        for unit, found in units.items():
            for item in found:
                fresh = _again(item, rows.get(item.memory_id), target, self.types)
                if isinstance(fresh, Flagged):
                    by_scope[unit[0]][unit].append(fresh)
                elif fresh is not None:
                    items.append(fresh)
        for scope, its in by_scope.items():
            beside = await self._beside(session, one, scope, [each for unit in its.values() for each in unit])
            for unit, flags in its.items():
                settled = settle(flags, beside, self.types)
                items += _items(unit, {item.memory_id: item for item in units[unit]}, settled, beside)
        return items

    async def _beside(self, session: ReadSession, one: Backfill, scope: UUID, found: Sequence[Flagged]) -> Beside:
        """Read what the beliefs of a scope compete with, and what rules of their type may stand against."""
        active = [each for each in found if each.row["status"] == Life.ACTIVE]
        rivals: dict[UUID, list[Existing]] = defaultdict(list)
        if not active:
            return Beside(rivals=rivals, rows={})
        target, guards = active[0].target, self.types.guards_of(one.type)
        wanted = [_wanted(each, guards, self.types) for each in active]
        for row in await beliefs.existing(
            session, tenant=one.tenant_id, scope=scope, model=0, likeness=1.0, wanted=wanted
        ):
            rivals[active[row["place"]].row["id"]].append(look.as_existing(row))
        rows = await reclassifiable.rows(session, one.tenant_id, {each.id for all_ in rivals.values() for each in all_})
        guarded: Sequence[Row] = ()
        if target.guards:
            subjects = {each.row["subject_id"] for each in active} - {None}
            guarded = await reclassifiable.about(
                session, one.tenant_id, scope, backfill=one.id, subjects=subjects, types=target.guards
            )
        return Beside(rivals=rivals, rows={**rows, **{row["id"]: row for row in guarded}}, guarded=guarded)


async def at(session: WriteSession, one: Backfill) -> Backfill:
    """Return the backfill locked, if it is where it was read to be, or raise Overtaken."""
    here = await backfills.lock(session, one.tenant_id, one.id)
    if here is None or (here.status, here.cursor) != (one.status, one.cursor):
        raise Overtaken
    return here


def _ruled(rows: Iterable[Row], target: MemoryType) -> list[Adopted | None]:
    """Return what the type's own rule makes of beliefs."""
    if target.adopts is None:
        raise Conflict(f"type {target.name} has no rule for what it adopts: ask the model")
    return [target.adopts.rule(stored(row)) for row in rows]


def _found(
    judged: Iterable[tuple[Row, Adopted]], whole: Mapping[UUID, Row], target: MemoryType, types: Registry
) -> list[Item]:
    """Return the items of what was flagged, but for what is gone or has changed since it was looked at."""
    items = []
    for row, adopted in judged:
        fresh = whole.get(row["id"])
        if fresh is not None and fresh["updated_at"] == row["updated_at"]:
            try:
                items.append(planning.found(flagged(fresh, adopted, target, types)))
            except Stays as error:
                items.append(planning.stays(fresh, adopted.reason, str(error)))
        elif fresh is not None:
            items.append(planning.stays(fresh, adopted.reason, _MOVED))
    return items


def _again(item: Item, row: Row | None, target: MemoryType, types: Registry) -> Flagged | Item | None:
    """Return what was found as it is now: None if it is gone, an item that stays if it has changed meanwhile."""
    if row is None or item.adopted is None:
        return None
    if row["updated_at"] != item.seen_at:
        return planning.stays(row, item.reason, _MOVED)
    payload = target.payload.model_validate(dict(item.adopted["payload"]))
    try:
        return flagged(row, Adopted(payload=payload, reason=item.reason or ""), target, types)
    except Stays as error:
        return planning.stays(row, item.reason, str(error))


def _wanted(one: Flagged, guards: tuple[str, ...], types: Registry) -> Wanted:
    return Wanted(
        type=one.target.name,
        slot=one.slot,
        identity=becomes(one, types)["identity"],
        stated_at=one.row["stated_at"],
        subject_id=one.row["subject_id"],
        embedding=None,
        guards=guards,
        guarded_at=one.payload.guarded_at(one.refs) if guards else (),
    )


def _items(unit: Unit, found: Mapping[UUID, Item], settled: Settled, beside: Beside) -> list[Item]:
    """Return what a unit comes to as items; each that was found rests on the rivals that it was settled with."""
    items = [planning.left(one, found[one.row["id"]]) for one in settled.left]
    for memory, change in settled.changes.items():
        met: Iterable[Any] = beside.rivals.get(memory, ())
        rests_on = {each.id.hex: beside.rows[each.id]["updated_at"].isoformat() for each in met}
        items.append(planning.planned(change, unit[1], found.get(memory), rests_on))
    return items
