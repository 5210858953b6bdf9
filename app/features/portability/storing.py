"""Storing the lines of an import: in batches, ordered so that every row that a line refers to is stored first.

A file fills scopes that nothing was written to; lines of other scopes are left out. A superseded memory is stored after
the one that superseded it. A batch is stored whole; a batch that the database
refuses is halved until the lines at fault are found. Type definitions are stored where the tenant has no type of that
name, or the version before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from uuid import UUID

from pydantic import ValidationError

from app.errors import Conflict, Dangling
from app.features.portability.batch import ImportBatch, ImportBatchResult, ImportContext, ImportFailure, Summary
from app.features.portability.index_rows import Imported, MemoryLine, imported
from app.features.portability.records import KINDS, Line, UnreadableLine
from app.features.portability.sql import imports
from app.features.portability.sql.imports import ERASED, HELD, IntegrityViolation
from app.features.tenant_types.service import TenantTypes
from app.memory.tenant_types.definition import Definition, InvalidDefinition
from app.model import Actor

SomeLine = TypeVar("SomeLine", bound=Line)

MOST_WAITING = 10_000
"""Most memories that may wait for their successors."""


@dataclass(slots=True)
class DeferredMemories:
    """Memories that wait until their successors are stored, by the successor's id."""

    _lines: dict[UUID, list[MemoryLine]] = field(default_factory=dict)
    _count: int = 0

    def __len__(self) -> int:
        """Return how many wait."""
        return self._count

    def add(self, line: MemoryLine) -> bool:
        """Add a memory that waits; return False if too many wait already."""
        if self._count >= MOST_WAITING:
            return False
        self._count += 1
        self._lines.setdefault(line.values["superseded_by"], []).append(line)
        return True

    def take(self, successors: Iterable[UUID | None]) -> list[MemoryLine]:
        """Remove and return the memories that wait for any of these successors."""
        found = [line for one in successors if one is not None for line in self._lines.pop(one, ())]
        self._count -= len(found)
        return found

    def free(self) -> list[MemoryLine]:
        """Remove and return the memories whose successors don't wait themselves."""
        waiting = {line.id for lines in self._lines.values() for line in lines}
        return self.take([one for one in self._lines if one not in waiting])

    def take_of_circle(self) -> MemoryLine:
        """Remove and return a memory whose chain of successors leads back to itself, where none is free."""
        after = {line.id: one for one, lines in self._lines.items() for line in lines}
        seen: set[UUID | None] = set()
        at = next(iter(after))
        while at not in seen:
            seen.add(at)
            at = after[at]
        [found] = [line for line in self._lines[after[at]] if line.id == at][:1]
        self._lines[after[at]].remove(found)
        self._count -= 1
        return found


def storable(lines: Sequence[SomeLine], there: set[UUID]) -> list[SomeLine]:
    """Return the lines of memories whose whole chain of successors is among `there` and `lines`."""
    by_id = {line.id: line for line in lines}
    known: dict[UUID | None, bool] = {}
    for line in lines:
        path: list[UUID | None] = [line.id]
        at: UUID | None = line.values.get("superseded_by")
        while at in by_id and at not in there and at not in known and at not in path:
            path.append(at)
            at = by_id[at].values.get("superseded_by")
        fine = at is None or at in there or known.get(at, False)
        known.update(dict.fromkeys(path, fine))
    return [line for line in lines if known[line.id]]


def without_successor(line: MemoryLine) -> MemoryLine:
    """Return a memory's line without its successor."""
    return replace(line, values={**line.values, "superseded_by": None}, orphaned=True)


def told_apart(lines: Sequence[SomeLine]) -> tuple[list[SomeLine], list[SomeLine]]:
    """Return the first line of each id, and those that repeat one."""
    first = {line.id: line for line in reversed(lines)}
    return [line for line in lines if first[line.id] is line], [line for line in lines if first[line.id] is not line]


BATCH = 500
"""Most lines that are stored in one transaction."""

_BREATHS = 4
"""Lines after which reading gives way to the batch that is being stored."""

BATCH_BYTES = 4_000_000
"""Most bytes of lines that are stored in one transaction, unless a single line is longer."""

LEFT_WAITING = "memories that were replaced by others, which the missing lines may hold, are not stored"

ATTEMPTS = 3
"""Attempts at a batch that conflicts with other transactions."""

_DANGLING = "it refers to a row that does not exist: its line failed or is not in the file, or the row was removed"


@dataclass(slots=True, kw_only=True)
class ImportStore:
    """Stores the lines of one import.

    `file` is the digest of the file's header. `vectors`: the file's vectors can be used; `averages`: text lengths by
    scope. `refused` says of each scope why it takes no lines, None where it does.
    """

    context: ImportContext
    actor: Actor
    summary: Summary
    types: Imported
    file: str = ""
    vectors: bool = False
    averages: dict[UUID, float] = field(default_factory=dict)
    batch: list[Line] = field(default_factory=list)
    size: int = 0
    waiting: DeferredMemories = field(default_factory=DeferredMemories)
    refused: dict[UUID, str | None] = field(default_factory=dict)
    _ids: set[UUID] = field(default_factory=set)
    _storing: asyncio.Task[None] | None = None

    async def add(self, line: Line, size: int) -> None:
        """Add the next line, of `size` bytes, and store the batch if it is full."""
        if self.batch and (
            self.batch[0].record != line.record
            or len(self.batch) >= BATCH
            or self.size + size > BATCH_BYTES
            or line.id in self._ids
        ):
            await self._flush()
        self.batch.append(line)
        self.size += size
        if line.id is not None:
            self._ids.add(line.id)
        if self._storing is not None and len(self.batch) % _BREATHS == 0:
            await asyncio.sleep(0)

    async def end(self, *, complete: bool) -> None:
        """Store the remaining lines; in a file that is not complete, memories go on waiting for their successors."""
        await self.catch_up()
        if complete:
            await self._release()
        elif self.waiting:
            self.summary.notices[LEFT_WAITING] += len(self.waiting)

    async def catch_up(self) -> None:
        """Store the lines that were read."""
        await self._flush()
        await self.settle()

    async def settle(self) -> None:
        """Wait until the batch that is being stored is stored; raise its error."""
        if self._storing is not None:
            # Shielded: of a batch that is cancelled as it commits, nobody knows what it stored.
            await asyncio.shield(self._storing)
            self._storing = None

    async def abort(self) -> None:
        """End an import that failed, once the batch that is being stored is stored."""
        if self._storing is not None:
            await asyncio.shield(asyncio.gather(self._storing, return_exceptions=True))

    async def _flush(self) -> None:
        """Let the batch be stored while the next one is read; it is prepared while the one before is stored."""
        lines, self.batch, self.size, self._ids = self.batch, [], 0, set()
        try:
            ready, wrong = await self._prepared(lines)
        finally:
            await self.settle()
        if wrong and self.summary.strict:
            before = [line for line in ready if line.number < wrong[0].line]
            if before:
                await self._store_batch(before)
        for one in wrong:
            self.summary.fail(one.line, one.message)
        if ready:
            self._storing = asyncio.create_task(self._store_batch(ready))

    async def _prepared(self, lines: Sequence[Line]) -> tuple[Sequence[Line], list[ImportFailure]]:
        """Return the lines to store, memories with indexes, and the failures of the others."""
        lines, wrong = await self._admitted(lines)
        if not lines or lines[0].record != "memory":
            return lines, wrong
        memories, unreadable = await asyncio.to_thread(self._read, lines)
        return await self._indexed(memories), sorted(wrong + unreadable, key=lambda one: one.line)

    async def _admitted(self, lines: Sequence[Line]) -> tuple[Sequence[Line], list[ImportFailure]]:
        """Return the lines of scopes that the file may fill, and the failures of those that were written to here.

        Lines of scopes that were erased here count as such, rows that are there as there already.
        """
        tenant = self.actor.tenant_id
        scopes = {one.id(tenant): one for one in {line.scope for line in lines} if one is not None}
        new = {scope: one for scope, one in scopes.items() if scope not in self.refused}
        if new:
            async with self.context.database.write(tenant) as session:
                self.refused |= await imports.claim_scopes(session, tenant, new, self.file)
        why = {line.number: self.refused[line.scope.id(tenant)] for line in lines if line.scope is not None}
        kept = [line for line in lines if why.get(line.number) is None]
        out = [line for line in lines if why.get(line.number) not in {None, ERASED}]
        self.summary.erased += len(lines) - len(kept) - len(out)
        there = await self._present(out)
        self.summary.already_there.update(line.record for line in out if line.number in there)
        return kept, [ImportFailure(line=line.number, message=HELD) for line in out if line.number not in there]

    async def _present(self, lines: Sequence[Line]) -> set[int]:
        """Return the numbers of those of these lines, all of one kind, whose rows exist."""
        if not lines:
            return set()
        tenant = self.actor.tenant_id
        own = [{"tenant_id": tenant, "scope_id": line.scope and line.scope.id(tenant)} for line in lines]
        async with self.context.database.read(tenant) as session:
            rows = [{**row, **line.values} for row, line in zip(own, lines, strict=True)]
            found = await imports.present(session, KINDS[lines[0].record].table, rows)
        return {lines[place].number for place in found}

    async def _indexed(self, lines: Sequence[MemoryLine]) -> list[MemoryLine]:
        """Return memories with indexes; those that exist already get none."""
        bare = [line for line in lines if line.index is None]
        if not bare:
            return list(lines)
        there = await self._there(line.id for line in bare)
        needed = [line for line in bare if line.id not in there]
        made = {line.id: line for line in await self.context.indexer.index(needed, vectors=self.vectors)}
        return [made.get(line.id, line) for line in lines]

    async def _there(self, memories: Iterable[UUID | None]) -> set[UUID]:
        """Return which of these memories exist."""
        asked = {one for one in memories if one is not None}
        if not asked:
            return set()
        async with self.context.database.read(self.actor.tenant_id) as session:
            return set(await imports.existing(session, self.actor.tenant_id, "memories", asked))

    async def _store_batch(self, lines: Sequence[Line]) -> None:
        memories = [line for line in lines if isinstance(line, MemoryLine)]
        if memories:
            await self._memories(memories)
            return
        if self.waiting:
            await self._release()
        await self._whole(lines)

    async def _memories(self, lines: Sequence[MemoryLine]) -> None:
        """Store the memories whose successors exist, and the memories that waited for them."""
        while lines:
            lines, again = told_apart(lines)
            now = storable(lines, await self._there(line.values.get("superseded_by") for line in lines))
            ids = {line.id for line in now}
            for line in lines:
                if line.id not in ids and not self.waiting.add(line):
                    self.summary.fail(line.number, "too many memories come before the ones that replaced them")
            await self._whole(now)
            lines = [*again, *self.waiting.take(line.id for line in now)]

    def _read(self, lines: Sequence[Line]) -> tuple[list[MemoryLine], list[ImportFailure]]:
        """Return the memories of known types with valid payloads, and the failures of the others."""
        fine, wrong = [], []
        for line in lines:
            try:
                fine.append(self.context.indexer.read(line, self.types))
            except UnreadableLine as error:
                wrong.append(ImportFailure(line=line.number, message=error.message))
        return fine, wrong

    async def _release(self) -> None:
        """Store memories that still wait, because their successors are not in the file; refuse cycles."""
        while self.waiting:
            lines = self.waiting.free()
            if not lines:
                line = self.waiting.take_of_circle()
                self.summary.fail(line.number, "superseded_by: its chain of versions runs in a circle")
            for at in range(0, len(lines), BATCH):
                await self._memories([without_successor(line) for line in lines[at : at + BATCH]])

    async def _whole(self, lines: Sequence[Line]) -> None:
        """Store a batch; halve one that the database refuses, until the lines at fault are found."""
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
            except IntegrityViolation as refused:
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
        """Record a line's failure; a memory whose successor was refused is stored without it."""
        successor = line.values.get("superseded_by")
        if isinstance(line, MemoryLine) and successor is not None and not await self._there([successor]):
            await self._whole([without_successor(line)])
            return
        self.summary.fail(line.number, failure)

    async def _store(self, lines: Sequence[Line]) -> None:
        batch = ImportBatch(context=self.context, actor=self.actor, file=self.file, averages=self.averages)
        memories = [line for line in lines if isinstance(line, MemoryLine)]
        done = await (self._stored(batch, memories) if memories else batch.rows(lines))
        self.summary.imported.update(done.imported)
        self.summary.already_there.update(done.already_there)
        self.summary.notices.update(done.notices)
        self.summary.erased += done.erased

    async def _stored(self, batch: ImportBatch, lines: Sequence[MemoryLine]) -> ImportBatchResult:
        """Store memories that don't exist."""
        lines = await self._indexed(lines)
        new = [one for line in lines if (one := imported(line, self.actor.tenant_id)) is not None]
        async with self.context.quotas.spending(self.actor, memories=len(new)) as spending:
            done = await batch.memories(new)
            spending.unused_memories = len(new) - done.imported["memory"]
        done.already_there["memory"] += len(lines) - len(new)
        return done


KIND = "memory_type"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeDefinitionImport:
    """Stores the type definitions of a file and maps the file's versions to the tenant's."""

    own_types: TenantTypes
    actor: Actor
    summary: Summary
    types: Imported

    async def take(self, values: Mapping[str, Any]) -> None:
        """Store a version of a definition, or raise UnreadableLine.

        If the tenant has another type of that name, the tenant's type stays, and the file's memories are read by it.
        """
        name, version = values["name"], values["version"]
        try:
            definition = Definition.model_validate(values["definition"])
            if definition.name != name:
                raise UnreadableLine(f"definition.name: is {definition.name}, in a line about {name[:80]}")
            after = self.types.versions.get((name, version - 1), 0)
            adopted = await self.own_types.adopt(self.actor, definition, after=after)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            raise UnreadableLine(f"definition.{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        except InvalidDefinition as error:
            raise UnreadableLine(f"definition{error.message}") from None
        self.types.types = await self.own_types.book.of(self.actor.tenant_id)
        if adopted is None:
            notice = f"the tenant has another definition of type {name}, which stays: its memories are read by that"
            self.summary.notices[notice] += 1
        else:
            self.types.versions[name, version] = adopted.version
        new = adopted is not None and adopted.new
        (self.summary.imported if new else self.summary.already_there)[KIND] += 1
