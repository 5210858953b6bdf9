"""One transaction of an import, which stores rows as they were exported, and updates counters; its summary."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from app import ids
from app.db.audit import AuditWriter, append, misstated_events
from app.db.erasure import receipts
from app.db.recounts import recount_mentions
from app.db.scopes import lock_memories
from app.db.session import PLANNED_BY_KEY, Database, WriteSession
from app.db.sql import Row, as_columns
from app.db.tables import Table, entities, metadata
from app.db.tables.foreign_keys import referring
from app.errors import InvalidInput
from app.features.portability.index_rows import ImportedMemory, ImportIndexer
from app.features.portability.records import KINDS, Line
from app.features.portability.sql import imports
from app.features.portability.sql.exports import RecordKind
from app.features.portability.sql.imports import refusals
from app.lexical.counts import ScopeCounts, total
from app.memory.audit import AuditAction
from app.memory.extraction import TurnStatus
from app.model import Actor, Scope
from app.services.limits import Quotas

WITHOUT_SUCCESSOR = "the one that replaced a memory is not there"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportContext:
    """The dependencies of imports. `drifted` and `crowded` are called with scopes whose index needs maintenance."""

    database: Database
    indexer: ImportIndexer
    model_id: int
    quotas: Quotas
    clock: Callable[[], datetime]
    drifted: Callable[[UUID, UUID], None]
    crowded: Callable[[UUID, UUID], None]


@dataclass(slots=True, kw_only=True)
class ImportBatchResult:
    """The counts of a batch, which are added to the summary after the commit."""

    imported: Counter[str] = field(default_factory=Counter)
    already_there: Counter[str] = field(default_factory=Counter)
    notices: Counter[str] = field(default_factory=Counter)
    erased: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportBatch:
    """Stores lines of one kind in one transaction; `file` is the digest of the file's header, which scopes keep."""

    context: ImportContext
    actor: Actor
    file: str
    averages: Mapping[UUID, float]

    async def rows(self, lines: Sequence[Line]) -> ImportBatchResult:
        """Store rows other than memories, and return their counts."""
        tenant, done, kind = self.actor.tenant_id, ImportBatchResult(), KINDS[lines[0].record]
        scopes = {} if kind.name in FREE else self._scopes(lines)
        with refusals():
            async with self.context.database.write(tenant, **PLANNED_BY_KEY) as session:
                await imports.lock_scopes(session, tenant, scopes, self.file)
                new = await self._new(session, lines)
                await self._check_scopes(session, kind.table, new)
                stored = (await imports.insert(session, self._rows(kind, new)))[kind.table.name]
                if kind.name == "audit_event" and stored:
                    about = {line.values["memory_id"] for line in new} - {None}
                    await lock_memories(session, tenant, about)
                    await append(session, await misstated_events(session, self._ledger(), about))
                if stored:
                    grown = dict.fromkeys(scopes, ScopeCounts())
                    await imports.grow(session, tenant, grown, self.averages, at=self.context.clock())
                await self._record(session, kind.name, stored, lines)
        done.imported[kind.name] += stored
        done.already_there[kind.name] += len(lines) - stored
        if kind.name == "turn" and (left := sum(line.values["status"] == TurnStatus.RECEIVED for line in new)):
            done.notices["turns that were not processed yet wait to be replayed"] += left
        return done

    async def memories(self, given: Sequence[ImportedMemory]) -> ImportBatchResult:
        """Store memories with their rows in other tables, and return their counts."""
        done = ImportBatchResult()
        if not given:
            return done
        tenant = self.actor.tenant_id
        scopes = self._scopes([one.line for one in given])
        with refusals():
            async with self.context.database.write(tenant, **PLANNED_BY_KEY) as session:
                locked = await imports.lock_scopes(session, tenant, scopes, self.file)
                averages = {
                    scope: locked[scope].lexical_average or self.averages.get(scope) or _average(mine)
                    for scope, mine in _by_scope(given).items()
                }
                there = await imports.existing(session, tenant, "memories", [one.id for one in given])
                new = [one for one in given if one.id not in there]
                gone = await self._fit_evidence(session, new, done)
                new = [one for one in new if one.id not in gone]
                await self._check_names(session, new)
                await imports.insert(session, self._memory_rows(new, locked, averages))
                # In one statement; the database would append them one by one at the commit.
                await append(session, await misstated_events(session, self._ledger(), [one.id for one in new]))
                named = {row["entity_id"] for one in new for row in one.line.inner["memory_entities"]}
                await recount_mentions(session, tenant, named)
                grown = {scope: _counts(mine) for scope, mine in _by_scope(new).items()}
                upkeep = await imports.grow(session, tenant, grown, averages, at=self.context.clock())
                await self._record(session, "memory", len(new), [one.line for one in given])
        for scope, needed in upkeep.items():
            if needed.drifted:
                self.context.drifted(tenant, scope)
            if needed.crowded:
                self.context.crowded(tenant, scope)
        done.imported["memory"] += len(new)
        done.notices[WITHOUT_SUCCESSOR] += sum(one.line.orphaned for one in new)
        done.already_there["memory"] += len(there)
        done.erased += len(gone)
        return done

    async def _new(self, session: WriteSession, lines: Sequence[Line]) -> list[Line]:
        """Return the lines without ids that exist; those of audit events are looked at as they are inserted."""
        if lines[0].id is None or lines[0].record == "audit_event":
            return list(lines)
        found = [line.id for line in lines if line.id is not None]
        there = await imports.existing(session, self.actor.tenant_id, KINDS[lines[0].record].table.name, found)
        return [line for line in lines if line.id not in there]

    async def _fit_evidence(
        self, session: WriteSession, given: Sequence[ImportedMemory], done: ImportBatchResult
    ) -> set[UUID]:
        """Remove turns that don't exist from evidence, and the words of erased ones.

        Returns the ids of the memories that rest on erased turns alone: had they been here, they were erased, too.
        """
        tenant = self.actor.tenant_id
        turns = {turn for one in given for each in one.evidence if (turn := each.get("turn_id")) is not None}
        there = await imports.existing(session, tenant, "turns", turns)
        missing = turns - there.keys()
        erased = await receipts.erased(session, tenant, missing) if missing else set()
        gone: set[UUID] = set()
        for one in given:
            if one.evidence and all(each.get("turn_id") in erased for each in one.evidence):
                gone.add(one.id)
            elif any(each.get("turn_id") in missing for each in one.evidence):
                one.evidence = [_without_turn(each, missing, erased, done) for each in one.evidence]
        return gone

    async def _check_names(self, session: WriteSession, given: Sequence[ImportedMemory]) -> None:
        """Raise IntegrityViolation for memories that name entities of another scope."""
        named = {entity for one in given for entity in one.line.named_entities}
        known = await imports.existing(session, self.actor.tenant_id, "entities", named)
        for one in given:
            mentioned = {each["entity_id"] for each in one.line.inner["memory_entities"]}
            for entity in one.line.named_entities:
                if known.get(entity, None if entity in mentioned else one.scope_id) != one.scope_id:
                    what = ids.public(ids.ENTITY, entity)
                    raise imports.IntegrityViolation(f"it mentions {what}, which is not in its scope")

    async def _check_scopes(self, session: WriteSession, table: Table, lines: Sequence[Line]) -> None:
        """Raise IntegrityViolation for rows, of one kind, that refer to entities of another scope."""
        columns = referring(table, entities)
        named = {entity for line in lines for name in columns if (entity := line.values.get(name)) is not None}
        stored = await imports.existing(session, self.actor.tenant_id, "entities", named)
        in_batch = {line.id: self._scope_id(line) for line in lines if line.is_entity}
        for line in lines:
            own = self._scope_id(line)
            for name in columns:
                entity = line.values.get(name)
                if own is not None and entity is not None and stored.get(entity, in_batch.get(entity, own)) != own:
                    raise imports.IntegrityViolation(f"{name}: is an entity of another scope")

    def _rows(self, kind: RecordKind, lines: Sequence[Line]) -> Iterator[tuple[str, list[Row]]]:
        """Yield the rows of lines by table; those within the lines last."""
        name = kind.table.name
        yield name, [self._row(name, line.values, self._scope_id(line)) for line in lines]
        for table, column in kind.inner:
            within = ((line, row) for line in lines for row in line.inner[table.name])
            yield table.name, [self._row(table.name, {**row, column: of.id}, self._scope_id(of)) for of, row in within]

    def _memory_rows(
        self,
        given: Sequence[ImportedMemory],
        locked: Mapping[UUID, imports.LockedScope],
        averages: Mapping[UUID, float],
    ) -> Iterator[tuple[str, list[Row]]]:
        """Yield every row of the memories, by table; the memories first."""
        yield "memories", [self._row("memories", one.row, one.scope_id) for one in given]
        index: list[Row] = []
        questions: list[Row] = []
        for one in given:
            here = {
                "tenant_id": self.actor.tenant_id,
                "scope_id": one.scope_id,
                "memory_id": one.id,
                "ann": locked[one.scope_id].ann,
            }
            index += [self._embedded(row) | here for row in one.index_rows(averages[one.scope_id])]
            questions += [self._embedded(question) | here for question in one.index.questions]
        yield "memory_index", index
        yield "hypothetical_embeddings", questions
        for table, column in KINDS["memory"].inner:
            name = table.name
            if name in {"memory_index", "hypothetical_embeddings"}:
                continue
            within = (
                (one, row) for one in given for row in (one.evidence if name == "evidence" else one.line.inner[name])
            )
            yield name, [self._row(name, {**row, column: one.id}, one.scope_id) for one, row in within]

    def _embedded(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row with its vector in the columns of this service's embedding model."""
        plain = dict(row)
        return plain | as_columns(self.context.model_id, plain.pop("embedding"))

    def _row(self, table: str, values: Mapping[str, Any], scope: UUID | None) -> dict[str, Any]:
        row = {"tenant_id": self.actor.tenant_id, **values}
        if table == "entities":
            row["mention_count"] = 0  # its memories are counted as they come
        if table in SCOPED:
            row["scope_id"] = scope
        return row

    def _scope_id(self, line: Line) -> UUID | None:
        return None if line.scope is None else line.scope.id(self.actor.tenant_id)

    def _scopes(self, lines: Sequence[Line]) -> dict[UUID, Scope]:
        return {one.id(self.actor.tenant_id): one for one in {line.scope for line in lines} if one is not None}

    async def _record(self, session: WriteSession, kind: str, stored: int, lines: Sequence[Line]) -> None:
        """Append the event of a batch that stored something."""
        if not stored:
            return
        detail = {"record": kind, "stored": stored, "lines": [lines[0].number, lines[-1].number]}
        await append(session, [self._ledger().event(AuditAction.IMPORT_BATCH, detail)])

    def _ledger(self) -> AuditWriter:
        return AuditWriter(tenant=self.actor.tenant_id, actor=self.actor.name, at=self.context.clock())


SCOPED = frozenset(name for name, table in metadata.tables.items() if "scope_id" in table.columns)
"""Tables whose rows name their scope."""

FREE = frozenset({"extraction_costs", "audit_event"})
"""Kinds of lines that change nothing in a scope, so that no scope is locked for them."""


def _by_scope(given: Sequence[ImportedMemory]) -> dict[UUID, list[ImportedMemory]]:
    found: dict[UUID, list[ImportedMemory]] = {}
    for one in given:
        found.setdefault(one.scope_id, []).append(one)
    return found


def _average(given: Sequence[ImportedMemory]) -> float:
    """Return the average length of the memories' own texts, as scopes count it."""
    counted = _counts(given)
    return max(1.0, counted.length / max(1, counted.documents))


def _counts(given: Sequence[ImportedMemory]) -> ScopeCounts:
    return total(one.index.counts for one in given)


def _without_turn(
    row: Mapping[str, Any], missing: Collection[UUID], erased: Collection[UUID], done: ImportBatchResult
) -> Mapping[str, Any]:
    """Return a row of evidence without a turn that does not exist, and without the words of an erased one."""
    turn = row.get("turn_id")
    if turn not in missing:
        return row
    if turn in erased:
        done.notices["evidence whose turn was erased here loses its words"] += 1
        return {**row, "turn_id": None, "statement": None, "quote": None}
    done.notices["evidence whose turn is not in the file keeps its words alone"] += 1
    return {**row, "turn_id": None, "statement": None}


MOST_ERRORS = 1_000
"""Most errors that a summary lists, the first lines'; the others are only counted."""


class ImportAbort(InvalidInput):
    """A strict import stopped at its first wrong line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportFailure:
    """A line that was not stored, and why."""

    line: int
    message: str


@dataclass(slots=True, kw_only=True)
class Summary:
    """The result of an import. `complete`: the file had its last line; `unaltered`: with the digest of the others."""

    strict: bool = False
    complete: bool = False
    unaltered: bool = False
    imported: Counter[str] = field(default_factory=Counter)
    already_there: Counter[str] = field(default_factory=Counter)
    erased: int = 0
    failed: int = 0
    errors: list[ImportFailure] = field(default_factory=list)
    notices: Counter[str] = field(default_factory=Counter)

    @property
    def as_exported(self) -> bool:
        """Return whether everything that was exported is stored."""
        return self.complete and self.unaltered and not (self.failed or self.erased)

    def fail(self, line: int, message: str) -> None:
        """Record that a line is wrong; raise ImportAbort in a strict import."""
        if self.strict:
            raise ImportAbort(f"line {line}: {message}. Lines before it may be stored: correct it and send it again")
        self.failed += 1
        bisect.insort(self.errors, ImportFailure(line=line, message=message), key=lambda one: one.line)
        del self.errors[MOST_ERRORS:]
