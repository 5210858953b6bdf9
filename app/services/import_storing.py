"""What an import does with the lines it has read: batches, in an order in which each finds what it refers to.

A batch is stored whole; one that the database refuses is halved, until the lines at fault are found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from app.db import erasures, importing, merges
from app.db.audit import Ledger, append
from app.db.importing import Refused
from app.errors import Conflict, Dangling
from app.model import Actor
from app.services.import_batch import FREE, Batch, Done
from app.services.import_erased import Withheld
from app.services.import_means import Means
from app.services.import_order import Waiting, ready, without_successor
from app.services.import_report import Summary
from app.services.records import Line, Unreadable
from app.services.reviving import Imported, Revived

BATCH = 200
BATCH_BYTES = 4_000_000
"""Lines, and their bytes, that are stored in one transaction."""

WITHOUT_SUCCESSOR = "the one that replaced a memory is not there"

BEFORE = frozenset({"entity", "turn", "memory"})
"""Kinds of lines that what an erasure took is told by; all others come after them."""

ATTEMPTS = 3
"""Times a batch is tried that others stand in the way of."""

_DANGLING = "it refers to what is not here: to a line that failed, or that the file lacks, or to what was removed here"


@dataclass(slots=True, kw_only=True)
class Storing:
    """Stores the lines of one import. `vectors` says that theirs can be used; `averages` are lengths by scope."""

    means: Means
    actor: Actor
    summary: Summary
    types: Imported
    vectors: bool = False
    averages: dict[UUID, float] = field(default_factory=dict)
    batch: list[Line] = field(default_factory=list)
    size: int = 0
    waiting: Waiting = field(default_factory=Waiting)
    entities: set[UUID] = field(default_factory=set)
    fresh: set[UUID] = field(default_factory=set)
    withheld: Withheld = field(init=False)

    def __post_init__(self) -> None:
        self.withheld = Withheld(database=self.means.database, tenant=self.actor.tenant_id)

    async def add(self, line: Line, size: int) -> None:
        """Take the next line; `size` are its bytes."""
        if self.batch and (
            self.batch[0].record != line.record
            or len(self.batch) >= BATCH
            or self.size + size > BATCH_BYTES
            or any(one.id is not None and one.id == line.id for one in self.batch)
        ):
            await self._flush()
        self.batch.append(line)
        self.size += size

    async def end(self) -> None:
        """Store what is left."""
        await self._flush()
        await self._release()
        await self._withdraw()
        await self._unify()

    async def _flush(self) -> None:
        lines, self.batch, self.size = self.batch, [], 0
        if not lines:
            return
        if lines[0].record == "memory":
            await self._memories(lines)
            return
        if self.waiting:
            await self._release()
        if lines[0].record not in BEFORE:
            await self._withdraw()
        if lines[0].record == "entity":
            self.entities |= {line.id for line in lines if line.id is not None}
        await self._whole(lines)

    async def _memories(self, lines: Sequence[Line]) -> None:
        """Store those of the memories whose successors are there, and what waited for them."""
        lines = self._understood(lines)
        while lines:
            targets = {line.values["superseded_by"] for line in lines if line.values.get("superseded_by")}
            async with self.means.database.read(self.actor.tenant_id) as session:
                there = set(await importing.known(session, self.actor.tenant_id, "memories", targets))
            now = ready(lines, there)
            ids = {line.id for line in now}
            for line in lines:
                if line.id not in ids and not self.waiting.add(line):
                    self.summary.fail(line.number, "too many memories come before the ones that replaced them")
            await self._whole(now)
            lines = self.waiting.take(line.id for line in now)

    def _understood(self, lines: Sequence[Line]) -> list[Line]:
        """Return the lines whose types and payloads are known here; the others have failed."""
        fine = []
        for line in lines:
            try:
                self.means.reviving.understood(line, self.types)
            except Unreadable as error:
                self.summary.fail(line.number, error.message)
            else:
                fine.append(line)
        return fine

    async def _release(self) -> None:
        """Store what still waits: its successor is not in the file; what waits for itself is refused."""
        while self.waiting:
            lines = self.waiting.free()
            if not lines:
                for line in self.waiting.circles():
                    self.summary.fail(line.number, "superseded_by: its chain of versions runs in a circle")
                continue
            self.summary.notices[WITHOUT_SUCCESSOR] += len(lines)
            for at in range(0, len(lines), BATCH):
                await self._memories([without_successor(line) for line in lines[at : at + BATCH]])

    async def _whole(self, lines: Sequence[Line]) -> None:
        """Store a batch; one that the database refuses is halved, until the lines at fault are found."""
        lines = list(lines)
        if not lines:
            return
        failure = ""
        for _ in range(ATTEMPTS):
            try:
                await self._store(lines)
            except Dangling:
                failure = _DANGLING
            except Conflict as error:
                failure = error.message
            except Refused as refused:
                failure = str(refused)
                break
            else:
                return
        if len(lines) == 1:
            await self._alone(lines[0], failure)
            return
        middle = len(lines) // 2
        await self._whole(lines[:middle])
        await self._whole(lines[middle:])

    async def _alone(self, line: Line, failure: str) -> None:
        """Give up on a line; a memory whose successor was refused is stored without it."""
        successor = line.values.get("superseded_by") if line.record == "memory" else None
        if successor is not None:
            async with self.means.database.read(self.actor.tenant_id) as session:
                there = await importing.known(session, self.actor.tenant_id, "memories", [successor])
            if not there:
                self.summary.notices[WITHOUT_SUCCESSOR] += 1
                await self._whole([without_successor(line)])
                return
        self.summary.fail(line.number, failure)

    async def _store(self, lines: Sequence[Line]) -> None:
        batch = Batch(means=self.means, actor=self.actor, averages=self.averages)
        if lines[0].record == "memory":
            revived, there, gone = await self._revived(lines)
            done = await batch.memories(revived)
            done.already_there["memory"] += there
            done.erased += gone
        else:
            done = await self._rows(batch, lines)
        self.summary.imported.update(done.imported)
        self.summary.already_there.update(done.already_there)
        self.summary.conflicts.update(done.conflicts)
        self.summary.notices.update(done.notices)
        self.summary.erased += done.erased

    async def _rows(self, batch: Batch, lines: Sequence[Line]) -> Done:
        """Store rows that are no memories, without those of what was erased."""
        record = lines[0].record
        left = list(lines) if record == "entity" or record in FREE else await self.withheld.left(lines)
        done = await batch.rows(left) if left else Done()
        done.erased += len(lines) - len(left)
        if record == "entity":
            self.withheld.stored(lines, done.fresh)
            self.fresh |= done.fresh
        return done

    async def _withdraw(self) -> None:
        """Take back the entities that only what was erased names: they count as erased."""
        taken = await self.withheld.withdraw(self.means.clock())
        self.summary.imported["entity"] -= len(taken & self.fresh)
        self.summary.already_there["entity"] -= len(taken & (self.entities - self.fresh))
        self.summary.erased += len(taken & self.entities)
        self.entities -= taken

    async def _revived(self, lines: Sequence[Line]) -> tuple[list[Revived], int, int]:
        """Return memories made ready, without those that are there or were erased, and how many of these there are."""
        tenant, reviving = self.actor.tenant_id, self.means.reviving
        async with self.means.database.read(tenant) as session:
            found = [line.id for line in lines if line.id is not None]
            there = await importing.known(session, tenant, "memories", found)
            gone = await erasures.erased(session, tenant, found) - there.keys()
        self.withheld.erased(line for line in lines if line.id in gone)
        revived = [
            reviving.understood(line, self.types) for line in lines if line.id not in there and line.id not in gone
        ]
        await reviving.revive(revived, vectors=self.vectors, dimensions=reviving.embedder.dimensions)
        return revived, len(there), len(gone)

    async def _unify(self) -> None:
        """Make one of an imported entity and one that was here under its name, as callers can: it can be undone."""
        tenant = self.actor.tenant_id
        async with self.means.database.read(tenant) as session:
            pairs = await importing.namesakes(session, tenant, self.entities) if self.entities else []
        for entity, known, scope in pairs:
            async with self.means.database.write(tenant) as session:
                at = await merges.hold(session, tenant, known, now=self.means.clock())
                moved = await merges.unify(session, tenant, [(entity, known)], at=at)
                ledger = Ledger(tenant=tenant, actor=self.actor.name, at=at, scope=scope)
                await append(session, merges.told(ledger, moved, "imported"))
            self.summary.merged_entities += len(moved)
