"""Lines of an import that were erased here and so stay out: memories, turns, and what is only theirs.

Memories and turns are known by their ids, names are not: an erasure keeps none. So entities, which come before
the memories, are stored, and those that no memory mentions in the end are taken back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from app.db.erasure import receipts, rows
from app.db.portability import imports
from app.db.portability.imports import Suspects
from app.db.session import Database, ReadSession, stamped
from app.db.tables import entities, memories, turns
from app.db.tables.foreign_keys import referring
from app.db.tenants import lock_scope
from app.model import Scope
from app.services.portability.records import KINDS, Line

AT_ONCE = 1_000
"""Entities that are looked at in one transaction."""

_PATIENT = {"statement_timeout": "300000"}


@dataclass(slots=True, kw_only=True)
class ErasedFilter:
    """What one import leaves out. `entities` are those that it took back."""

    database: Database
    tenant: UUID
    entities: set[UUID] = field(default_factory=set)
    _scopes: set[UUID] = field(default_factory=set)
    _pending: set[UUID] = field(default_factory=set)
    _stored: defaultdict[UUID, set[UUID]] = field(default_factory=lambda: defaultdict(set))
    _named: defaultdict[UUID, set[UUID]] = field(default_factory=lambda: defaultdict(set))

    def stored(self, lines: Sequence[Line], new: Collection[UUID]) -> None:
        """Remember which entities are new here."""
        for line in lines:
            if line.id is not None and line.id in new and line.scope is not None:
                self._stored[line.scope.id(self.tenant)].add(line.id)

    def erased(self, lines: Iterable[Line]) -> None:
        """Remember memories and turns that were erased: where they lie, and whom they name."""
        for line in lines:
            scope = self._id(line.scope)
            if scope is not None:
                self._scopes.add(scope)
                self._pending.add(scope)
                self._named[scope] |= _named(line)

    async def left(self, lines: Sequence[Line]) -> list[Line]:
        """Return the lines that neither are nor refer to what was erased; all are of one kind."""
        async with self.database.read(self.tenant) as session:
            if lines[0].record == "pronoun_bindings":
                return await self._bound(session, lines)
            gone = await receipts.erased(session, self.tenant, {one for line in lines for one in _refers(line)})
        gone |= self.entities
        found = [line for line in lines if gone.isdisjoint(_refers(line))]
        if lines[0].record == "turn":
            self.erased(line for line in lines if line.id in gone)
        return found

    async def withdraw(self, now: datetime) -> set[UUID]:
        """Take back the entities that are only of what was erased, and return them: once all memories are stored."""
        if self._stored:
            async with self.database.read(self.tenant) as session:
                self._pending |= await imports.of_erased_users(session, self.tenant, self._stored.keys())
        taken: set[UUID] = set()
        for scope in sorted(self._pending):
            stored, named = self._stored[scope], self._named[scope]
            ordered = sorted(stored | named)
            for at in range(0, max(1, len(ordered)), AT_ONCE):
                some = frozenset(ordered[at : at + AT_ONCE])
                taken |= await self._from(scope, Suspects(stored=some & stored, named=some & named), now)
        self.entities |= taken
        for done in (self._pending, self._stored, self._named):
            done.clear()
        return taken

    async def _from(self, scope: UUID, suspects: Suspects, now: datetime) -> set[UUID]:
        """Take entities back from a scope, and the scope itself if that leaves nothing in it."""
        async with self.database.write(self.tenant, **stamped(now), **_PATIENT) as session:
            if await lock_scope(session, self.tenant, scope) is None:
                return set()
            gone = await imports.remove_names(session, self.tenant, scope, suspects)
            if await imports.holds_nothing(session, self.tenant, scope):
                await rows.scope(session, self.tenant, scope)
        return set(gone)

    async def _bound(self, session: ReadSession, lines: Sequence[Line]) -> list[Line]:
        """Return the bindings to names that are known, and those in scopes that nothing was erased from."""
        named = defaultdict[UUID, set[str]](set)
        for line in lines:
            if (scope := self._id(line.scope)) is not None:
                named[scope].add(_means(line))
        touched = self._scopes | await imports.of_erased_users(session, self.tenant, named.keys())
        for scope in touched & named.keys():
            named[scope] = await imports.names_of(session, self.tenant, scope, named[scope])
        return [line for line in lines if (scope := self._id(line.scope)) is None or _means(line) in named[scope]]

    def _id(self, scope: Scope | None) -> UUID | None:
        return None if scope is None else scope.id(self.tenant)


def _means(line: Line) -> str:
    return str(line.values["name"]).lower()


def _named(line: Line) -> set[UUID]:
    """Return the entities that a memory names; none of a turn."""
    found = {one["entity_id"] for one in line.inner.get("memory_entities", ())}
    found |= {one[end] for one in line.inner.get("relations", ()) for end in ("from_entity", "to_entity")}
    subject = line.values.get("subject_id")
    return found if subject is None else found | {subject}


def _refers(line: Line) -> set[UUID]:
    """Return the ids of memories, turns and entities that a line's row has, its own included."""
    table = KINDS[line.record].table
    names = {name for parent in (memories, turns, entities) for name in referring(table, parent)}
    found = {value for name in names if (value := line.values.get(name)) is not None}
    return found | {line.id} if line.id is not None else found
