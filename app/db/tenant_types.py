"""Definitions of tenants' own types, and the cache of compiled types.

Definitions are read in one statement and written under the lock of the tenant's row. Types are compiled once a version
and are immutable. The first query of a hot path also returns `tenants.types_version`, so that a replica learns in the
same round trip that another one has changed the types, and reads them again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from cachetools import LRUCache

from app.db.session import Database, ReadSession, WriteSession, statement
from app.db.tables.base import NOBODY
from app.memory.registry import Registry
from app.memory.spec import MemoryType
from app.memory.tenant_types import compiler
from app.memory.tenant_types.definition import Definition

BUILT_IN: Final = "0"
"""The identity of a built-in type."""

READABLE: Final = r"""CAST(regexp_replace({definition}::text, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g') AS json)"""
"""SQL of a definition with U+FFFD for NUL characters, which earlier releases accepted but can't be exported."""

_DEFINITION: Final = READABLE.format(definition="v.definition")

_VERSION = statement("SELECT types_version FROM tenants WHERE id = :tenant")

_ALL = statement(
    f"""
    SELECT t.types_version, v.name, v.version, {_DEFINITION}::text AS definition
    FROM tenants t LEFT JOIN memory_type_versions v ON v.tenant_id = :tenant
    WHERE t.id = :tenant ORDER BY v.name, v.version
    """  # noqa: S608 - composed of constants
)

_OF = statement(
    f"""
    SELECT name, version, {_DEFINITION} AS definition, created_at, created_by FROM memory_type_versions v
    WHERE tenant_id = :tenant AND name = :name ORDER BY version
    """  # noqa: S608 - composed of constants
)

_IDENTITIES = statement(
    """
    SELECT t.name, CASE WHEN v.version IS NULL THEN :built_in
        ELSE v.version || ' ' || v.created_at || ' ' || md5(v.definition::text) END AS identity
    FROM memory_types t LEFT JOIN memory_type_versions v
        ON v.tenant_id = :tenant AND t.tenant_id = :tenant AND v.name = t.name
    WHERE t.tenant_id IN (:tenant, :nobody) AND t.name = ANY(:names) ORDER BY t.name, v.version NULLS FIRST
    """
)

_LOCK_NAMED = statement(
    "SELECT FROM memory_types WHERE tenant_id = :tenant AND name = ANY(:names) ORDER BY name FOR SHARE"
)

_MEMORIES = statement(
    "SELECT count(*) FROM memories WHERE tenant_id = :tenant AND type_tenant = :tenant AND type = :name"
)

_LOCK = statement("SELECT FROM tenants WHERE id = :tenant FOR NO KEY UPDATE")

_MOVE = statement("UPDATE tenants SET types_version = types_version + 1 WHERE id = :tenant")

_NAME = statement(
    """
    INSERT INTO memory_types (tenant_id, name, description, created_at, version)
    VALUES (:tenant, :name, :description, :at, :version) ON CONFLICT (tenant_id, name) DO UPDATE SET
        description = excluded.description, version = excluded.version
    """
)

_KEEP = statement(
    """
    INSERT INTO memory_type_versions (tenant_id, name, version, definition, created_at, created_by)
    VALUES (:tenant, :name, :version, CAST(:definition AS json), :at, :by)
    """
)

_REMOVE = statement("DELETE FROM memory_types WHERE tenant_id = :tenant AND name = :name")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDefinition:
    """A tenant's definitions as JSON, by name and version, and its `types_version`."""

    version: int
    definitions: Mapping[str, Mapping[int, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVersion:
    """One version of a definition, with its time and author."""

    name: str
    version: int
    definition: Mapping[str, object]
    created_at: datetime
    created_by: str


async def read_version(session: ReadSession, tenant: UUID) -> int:
    """Return the number of changes of the tenant's own types; 0 for an unknown tenant."""
    rows = await session.fetch(_VERSION, {"tenant": tenant})
    return int(rows[0][0]) if rows else 0


async def read_definition(session: ReadSession, tenant: UUID) -> StoredDefinition:
    """Return every definition of the tenant, from one snapshot."""
    rows = await session.fetch(_ALL, {"tenant": tenant})
    found: dict[str, dict[int, str]] = {}
    for row in rows:
        if row["name"] is not None:
            found.setdefault(row["name"], {})[row["version"]] = row["definition"]
    return StoredDefinition(version=int(rows[0]["types_version"]) if rows else 0, definitions=found)


async def versions(session: ReadSession, tenant: UUID, name: str) -> Sequence[StoredVersion]:
    """Return the versions of a type, oldest first; none for a type that the tenant does not have."""
    return [StoredVersion(**row) for row in await session.fetch(_OF, {"tenant": tenant, "name": name})]


async def memories(session: ReadSession, tenant: UUID, name: str) -> int:
    """Return the number of memories, of any status, of one of the tenant's own types."""
    [[count]] = await session.fetch(_MEMORIES, {"tenant": tenant, "name": name})
    return int(count)


async def identities(session: ReadSession, tenant: UUID, names: Collection[str]) -> dict[str, list[str]]:
    """Return the identity of each version of types, the latest last; a type that is defined again gets a new one."""
    here = {"tenant": tenant, "nobody": UUID(NOBODY), "names": list(names), "built_in": BUILT_IN}
    found: dict[str, list[str]] = {}
    for row in await session.fetch(_IDENTITIES, here):
        found.setdefault(row["name"], []).append(row["identity"])
    return found


async def lock_named(session: WriteSession, tenant: UUID, names: Collection[str]) -> None:
    """Lock some of the tenant's own types against changes until the transaction ends."""
    await session.fetch(_LOCK_NAMED, {"tenant": tenant, "names": list(names)})


async def lock(session: WriteSession, tenant: UUID) -> None:
    """Lock the tenant's types until the transaction ends; it must be opened with `tenants.AS_OPERATOR`."""
    await session.fetch(_LOCK, {"tenant": tenant})


async def add(
    session: WriteSession, tenant: UUID, version: int, definition: Definition, *, at: datetime, by: str
) -> None:
    """Store a version of a definition and make it the present one; the types must be locked."""
    here = {"tenant": tenant, "name": definition.name, "version": version, "at": at}
    await session.change(_NAME, {**here, "description": definition.definition})
    await session.change(_KEEP, {**here, "definition": definition.text(), "by": by})
    await session.change(_MOVE, {"tenant": tenant})


async def remove(session: WriteSession, tenant: UUID, name: str) -> None:
    """Remove a type with its versions; raise Conflict when it has memories. The types must be locked."""
    await session.change(_REMOVE, {"tenant": tenant, "name": name})
    await session.change(_MOVE, {"tenant": tenant})


MOST = 256
"""Most tenants whose own types are cached; the least recently used are evicted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCache:
    """Caches compiled types; see `Types`. A tenant without own types needs neither room nor a look-up."""

    database: Database
    built_in: Registry
    _held: LRUCache[UUID, Registry] = field(default_factory=lambda: LRUCache(MOST), repr=False)

    def known(self, tenant: UUID) -> Registry:
        """Return the tenant's types as last read by this process, the built-in types if never."""
        return self._held.get(tenant, self.built_in)

    async def of(self, tenant: UUID) -> Registry:
        """Return the tenant's types as they are now."""
        async with self.database.read(tenant) as session:
            version = await read_version(session, tenant)
        return await self.at(tenant, version)

    async def at(self, tenant: UUID, version: int) -> Registry:
        """Return the tenant's types of a version that was just read, or of a later one."""
        found = self.known(tenant)
        if found.version >= version:
            return found
        async with self.database.read(tenant) as session:
            kept = await read_definition(session, tenant)
        made = await asyncio.to_thread(self.compile, kept)
        # Of two concurrent reads the later version stays.
        if made.version > self.known(tenant).version:
            self._held[tenant] = made
        return made

    async def naming(self, tenant: UUID, names: Collection[str]) -> Registry:
        """Return the cached types if they have all these names, else the types as they are now."""
        known = self.known(tenant)
        return known if all(known.find(name) is not None for name in names) else await self.of(tenant)

    def compile(self, kept: StoredDefinition) -> Registry:
        """Compile a tenant's definitions and return them together with the built-in types."""
        return self.built_in.with_own((_type(versions) for versions in kept.definitions.values()), kept.version)


def _type(versions: Mapping[int, str]) -> MemoryType:
    latest = max(versions)

    def earlier(version: int) -> MemoryType | None:
        text = versions.get(version)
        return None if text is None else replace(compiler.compile_stored(text, version), past=True, earlier=earlier)

    return replace(compiler.compile_stored(versions[latest], latest), earlier=earlier)
