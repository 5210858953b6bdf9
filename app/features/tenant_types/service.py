"""Use cases of a tenant's own types: define a type or its next version, read it, remove it while it is unused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from app.amounts import amount
from app.db import tenant_types, tenants
from app.db.audit import AuditWriter, append
from app.db.session import Database, ReadSession
from app.db.tenant_types import StoredVersion, TypeCache
from app.errors import Conflict, NotFound
from app.memory.audit import AuditAction
from app.memory.registry import Registry, unknown
from app.memory.spec import MemoryType
from app.memory.tenant_types import compiler
from app.memory.tenant_types.definition import Definition, DefinitionError, InvalidDefinition, pointer
from app.model import Actor
from app.providers.prompt import described_size
from app.providers.schemas import choices_in

MOST: Final = 50
"""Most types that a tenant may define."""

MOST_VERSIONS: Final = 100

LARGEST_PROMPT: Final = 24_000
"""Most characters that a tenant's own types may add to the instructions of each extraction."""

MOST_CHOICES: Final = 500
"""Most enum values that a tenant's own types may add to the schema of an extraction."""

RESERVED: Final = frozenset({"query"})
"""Names that can't be types because routes have them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeDefinitionResult:
    """The result of a definition: `new` if it is a new version; `incompatible` lists what it removes."""

    type: MemoryType
    new: bool
    incompatible: tuple[DefinitionError, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptedType:
    """A version of a type that a definition of an export is here; `new` if it was stored for it."""

    version: int
    new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantTypeView:
    """A type with its versions, oldest first, and its number of memories; built-in types have neither."""

    type: MemoryType
    versions: Sequence[StoredVersion] = ()
    memories: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantTypes:
    """Tenants' own types; every method sees only the actor's tenant."""

    database: Database
    book: TypeCache
    clock: Callable[[], datetime]

    async def define(self, actor: Actor, definition: Definition, *, dry_run: bool = False) -> TypeDefinitionResult:
        """Create a type, or the next version of an existing one; an unchanged definition changes nothing.

        Raises InvalidDefinition with all faults. With `dry_run`, nothing is stored.
        """
        await asyncio.to_thread(compiler.compile_new, definition)
        return await self._define(actor, definition, dry_run=dry_run)

    async def _define(self, actor: Actor, definition: Definition, *, dry_run: bool = False) -> TypeDefinitionResult:
        tenant = actor.tenant_id
        if dry_run:
            async with self.database.read(tenant) as session:
                return await self._preview(session, tenant, definition)
        # The tenant's row is locked first: of two concurrent definitions, the second builds on the first.
        async with self.database.write(tenant, **tenants.AS_OPERATOR) as session:
            await tenant_types.lock(session, tenant)
            found = await self._preview(session, tenant, definition)
            if found.new:
                at, version = self.clock(), found.type.version
                await tenant_types.add(session, tenant, version, definition, at=at, by=actor.name)
                detail = {"type": definition.name, "version": version, "incompatible": len(found.incompatible)}
                ledger = AuditWriter(tenant=tenant, actor=actor.name, at=at)
                await append(session, [ledger.event(AuditAction.TYPE_DEFINED, detail)])
        await self.book.of(tenant)
        return found

    async def remove(self, actor: Actor, name: str) -> None:
        """Remove a type with all its versions.

        Raises Conflict while it has memories, or for a built-in type, and NotFound.
        """
        tenant = actor.tenant_id
        async with self.database.write(tenant, **tenants.AS_OPERATOR) as session:
            await tenant_types.lock(session, tenant)
            types = await self._types(session, tenant)
            if not await tenant_types.versions(session, tenant, name):
                raise _not_own(name, types)
            count = await tenant_types.memories(session, tenant, name)
            if count:
                raise Conflict(
                    f"the type {name} has {amount(count, 'memories')}: erase them or change their type; to stop the "
                    "extraction of more from turns, define the type with `extracted` false"
                )
            await tenant_types.remove(session, tenant, name)
            ledger = AuditWriter(tenant=tenant, actor=actor.name, at=self.clock())
            await append(session, [ledger.event(AuditAction.TYPE_REMOVED, {"type": name})])
        await self.book.of(tenant)

    async def get(self, actor: Actor, name: str) -> TenantTypeView:
        """Return a type by its name or an alias, or raise NotFound."""
        types = await self.book.of(actor.tenant_id)
        found = types.find(name)
        if found is None:
            raise unknown(name, types)
        if not found.version:
            return TenantTypeView(type=found)
        async with self.database.read(actor.tenant_id) as session:
            versions = await tenant_types.versions(session, actor.tenant_id, found.name)
            count = await tenant_types.memories(session, actor.tenant_id, found.name)
        return TenantTypeView(type=found, versions=versions, memories=count)

    async def adopt(self, actor: Actor, definition: Definition, *, after: int) -> AdoptedType | None:
        """Store a version of a definition from an export, and return which of this tenant's it is.

        An equal version that exists keeps its number. Otherwise the definition becomes the next version if its
        predecessor in the export is the latest version here: `after` is the predecessor's number here, 0 for the
        first. A definition that returns to an earlier one is stored likewise. Returns None if it does not follow, as
        the tenant has another type of that name. Raises InvalidDefinition.
        """
        async with self.database.read(actor.tenant_id) as session:
            known = await tenant_types.versions(session, actor.tenant_id, definition.name)
        same = [one.version for one in known if Definition.model_validate(one.definition) == definition]
        if after + 1 in same:
            return AdoptedType(version=after + 1, new=False)
        if max((one.version for one in known), default=0) != after:
            return AdoptedType(version=same[0], new=False) if same else None
        await asyncio.to_thread(compiler.compile_stored_text, definition)
        made = await self._define(actor, definition)
        return AdoptedType(version=made.type.version, new=made.new)

    async def _types(self, session: ReadSession, tenant: UUID) -> Registry:
        """Return the tenant's types as this transaction sees them."""
        kept = await tenant_types.read_definition(session, tenant)
        return await asyncio.to_thread(self.book.compile, kept)

    async def _preview(self, session: ReadSession, tenant: UUID, definition: Definition) -> TypeDefinitionResult:
        """Return the result of a definition, or raise InvalidDefinition when it exceeds a limit."""
        types = await self._types(session, tenant)
        known = await tenant_types.versions(session, tenant, definition.name)
        latest = Definition.model_validate(known[-1].definition) if known else None
        if latest == definition:
            return TypeDefinitionResult(type=types.get(definition.name), new=False)
        made = await asyncio.to_thread(compiler.compile_stored, definition.text(), len(known) + 1)
        faults = [*_names_taken(definition, types), *_too_many(made, types)]
        if faults:
            raise InvalidDefinition(faults)
        lost = () if latest is None else compiler.incompatibilities(latest, definition)
        return TypeDefinitionResult(type=made, new=True, incompatible=lost)


def _names_taken(definition: Definition, types: Registry) -> Iterator[DefinitionError]:
    given = [("/name", definition.name)]
    given += [(pointer("aliases", place), alias) for place, alias in enumerate(definition.aliases)]
    others = [one for one in types if one.version == 0 or one.name != definition.name]
    taken: Mapping[str, MemoryType] = {name: one for one in others for name in (one.name, *one.aliases)}
    for at, name in given:
        if name in RESERVED:
            yield DefinitionError(pointer=at, message=f"{name} is a route of its own: choose another name")
        elif name in taken:
            whose = "your own type" if taken[name].version else "the built-in type"
            yield DefinitionError(
                pointer=at, message=f"{name} is taken by {whose} {taken[name].name}: choose another name"
            )


def _too_many(made: MemoryType, types: Registry) -> Iterator[DefinitionError]:
    others = [one for one in types.own if one.name != made.name]
    if len(others) >= MOST:
        yield DefinitionError(
            pointer="/name", message=f"there are {len(others)} types of your own: at most {MOST} may be"
        )
    if made.version > MOST_VERSIONS:
        message = f"has {made.version - 1} versions: at most {MOST_VERSIONS} may be. Define it under another name"
        yield DefinitionError(pointer="/name", message=message)
    size = sum(described_size(one) for one in (*others, made) if one.extracted)
    if made.extracted and size > LARGEST_PROMPT:
        message = (
            f"with it, your own types are {size} characters of every extraction: at most {LARGEST_PROMPT} may be. "
            "Shorten definitions and examples, or set `extracted` to false where only callers write"
        )
        yield DefinitionError(pointer="/extracted", message=message)
    choices = sum(choices_in(one) for one in (*others, made) if one.extracted)
    if made.extracted and choices > MOST_CHOICES:
        message = (
            f"with it, your own types have {choices} values in enums: a model takes at most {MOST_CHOICES} of them"
        )
        yield DefinitionError(pointer="/extracted", message=message)


def _not_own(name: str, types: Registry) -> NotFound | Conflict:
    if types.find(name) is not None and not types.get(name).version:
        return Conflict(f"{types.get(name).name} is built in: it can't be removed")
    return unknown(name, types)
