"""A filter for imports that leaves out memories and turns that were erased here, and entities that only they name.

Erased memories and turns are recognised by their ids; an erasure keeps no names. Entities come before memories in a
file, so they are stored, and those that no memory mentions in the end are removed again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from app.db.erasure import receipts, rows
from app.db.scopes import lock_scope
from app.db.session import Database, ReadSession, stamped
from app.db.tables import entities, memories, turns
from app.db.tables.foreign_keys import referring
from app.features.portability.records import KINDS, Line
from app.features.portability.sql import imports
from app.features.portability.sql.imports import Suspects
from app.memory.writing import folded
from app.model import Scope

AT_ONCE = 1_000
"""Entities that are checked in one transaction."""

_PATIENT = {"statement_timeout": "300000"}


@dataclass(slots=True, kw_only=True)
class ErasedFilter:
    """The filter of one import. `entities` are those that it removed."""

    database: Database
    tenant: UUID
    entities: set[UUID] = field(default_factory=set)
    _scopes: set[UUID] = field(default_factory=set)
    _pending: set[UUID] = field(default_factory=set)
    _stored: defaultdict[UUID, set[UUID]] = field(default_factory=lambda: defaultdict(set))
    _named_entities: defaultdict[UUID, set[UUID]] = field(default_factory=lambda: defaultdict(set))

    def add_stored(self, lines: Sequence[Line], new: Collection[UUID]) -> None:
        """Record which entities the import created."""
        for line in lines:
            if line.id is not None and line.id in new and line.scope is not None:
                self._stored[line.scope.id(self.tenant)].add(line.id)

    def add_erased(self, lines: Iterable[Line]) -> None:
        """Record memories and turns that were erased, with their scopes and the entities that they name."""
        for line in lines:
            scope = self._id(line.scope)
            if scope is not None:
                self._scopes.add(scope)
                self._pending.add(scope)
                self._named_entities[scope] |= line.named_entities

    async def keep(self, lines: Sequence[Line]) -> list[Line]:
        """Return the lines, all of one kind, that neither are nor refer to erased rows."""
        async with self.database.read(self.tenant) as session:
            if lines[0].record == "pronoun_bindings":
                return await self._known_bindings(session, lines)
            gone = await receipts.erased(session, self.tenant, {one for line in lines for one in _refers(line)})
        gone |= self.entities
        found = [line for line in lines if gone.isdisjoint(_refers(line))]
        if lines[0].record == "turn":
            self.add_erased(line for line in lines if line.id in gone)
        return found

    async def withdraw(self, now: datetime) -> set[UUID]:
        """Remove the entities that only erased memories name, and return their ids; all memories must be stored."""
        if self._stored:
            async with self.database.read(self.tenant) as session:
                self._pending |= await imports.of_erased_users(session, self.tenant, self._stored.keys())
        taken: set[UUID] = set()
        for scope in sorted(self._pending):
            stored, named = self._stored[scope], self._named_entities[scope]
            ordered = sorted(stored | named)
            for at in range(0, max(1, len(ordered)), AT_ONCE):
                some = frozenset(ordered[at : at + AT_ONCE])
                taken |= await self._from(scope, Suspects(stored=some & stored, named=some & named), now)
        self.entities |= taken
        for done in (self._pending, self._stored, self._named_entities):
            done.clear()
        return taken

    async def _from(self, scope: UUID, suspects: Suspects, now: datetime) -> set[UUID]:
        """Remove entities from a scope, and the scope itself if it is empty then."""
        async with self.database.write(self.tenant, **stamped(now), **_PATIENT) as session:
            if await lock_scope(session, self.tenant, scope) is None:
                return set()
            gone = await imports.remove_names(session, self.tenant, scope, suspects, at=now)
            if await imports.holds_nothing(session, self.tenant, scope):
                await rows.scope(session, self.tenant, scope)
        return set(gone)

    async def _known_bindings(self, session: ReadSession, lines: Sequence[Line]) -> list[Line]:
        """Return the bindings to known names, and all bindings in scopes without erased rows."""
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
    return folded(str(line.values["name"]))


def _refers(line: Line) -> set[UUID]:
    """Return the ids of memories, turns and entities in a line's row, its own included."""
    table = KINDS[line.record].table
    names = {name for parent in (memories, turns, entities) for name in referring(table, parent)}
    found = {value for name in names if (value := line.values.get(name)) is not None}
    return found | {line.id} if line.id is not None else found
