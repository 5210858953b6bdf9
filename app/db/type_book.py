"""The types of every tenant, as far as they were read here: built once a version, and never changed.

What a hot path reads first also returns the count of the tenant's types (`tenants.types_version`), so that a replica
knows in the same round trip that another has changed them, and reads them anew.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from app.db import own_types
from app.db.own_types import Kept
from app.db.session import Database
from app.memory.own import compiling
from app.memory.registry import Registry
from app.memory.spec import MemoryType

MOST = 256
"""Tenants with types of their own whose types are held; those that were not asked for the longest go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeBook:
    """See `Types`. A tenant that has no types of its own takes no room, and its types no look-up."""

    database: Database
    built_in: Registry
    _held: OrderedDict[UUID, Registry] = field(default_factory=OrderedDict, repr=False)

    def known(self, tenant: UUID) -> Registry:
        """Return the types as they were last read here; those that are built in, if they never were."""
        found = self._held.get(tenant)
        if found is None:
            return self.built_in
        self._held.move_to_end(tenant)
        return found

    async def of(self, tenant: UUID) -> Registry:
        """Return the types as they are now."""
        async with self.database.read(tenant) as session:
            version = await own_types.version(session, tenant)
        return await self.at(tenant, version)

    async def at(self, tenant: UUID, version: int) -> Registry:
        """Return the types of a version that was just read of the tenant, or of a later one."""
        found = self.known(tenant)
        if found.version >= version:
            return found
        async with self.database.read(tenant) as session:
            kept = await own_types.kept(session, tenant)
        made = await asyncio.to_thread(self.made, kept)
        # Two may have read at once: the later version stays.
        if made.version > self.known(tenant).version:
            self._held[tenant] = made
            self._held.move_to_end(tenant)
            while len(self._held) > MOST:
                self._held.popitem(last=False)
        return made

    async def naming(self, tenant: UUID, names: Collection[str]) -> Registry:
        """Return types that have all these names, if the tenant's do: those that are known, or else as they are now."""
        known = self.known(tenant)
        return known if all(known.find(name) is not None for name in names) else await self.of(tenant)

    def made(self, kept: Kept) -> Registry:
        """Return the types that a tenant's definitions come to, with those that are built in."""
        return self.built_in.with_own((_type(versions) for versions in kept.definitions.values()), kept.version)


def _type(versions: Mapping[int, str]) -> MemoryType:
    latest = max(versions)

    def earlier(version: int) -> MemoryType | None:
        text = versions.get(version)
        return None if text is None else replace(compiling.stored(text, version), past=True, earlier=earlier)

    return replace(compiling.stored(versions[latest], latest), earlier=earlier)
