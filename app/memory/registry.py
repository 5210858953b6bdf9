"""The types there are, found by their files, and those that a tenant has of its own."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, Self
from uuid import UUID

from app.errors import ConfigurationError, InvalidInput
from app.memory import types
from app.memory.spec import MemoryType


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Registry:
    """Every memory type by name; iterates those that are built in by their names, then the tenant's own by theirs.

    `version` counts the changes of the tenant's own types; 0: it never had any. A registry by itself is a source of
    types, too: the same for every tenant.
    """

    by_name: Mapping[str, MemoryType]
    version: int = 0

    def __iter__(self) -> Iterator[MemoryType]:
        return iter(self.by_name.values())

    def get(self, name: str) -> MemoryType:
        """Return the type of that name or alias, or raise InvalidInput listing those there are."""
        found = self.find(name)
        if found is None:
            raise InvalidInput(f"unknown memory type {name!r}; use one of {', '.join(self.by_name)}", field="type")
        return found

    def find(self, name: str) -> MemoryType | None:
        """Return the type of that name or alias, or None."""
        if name in self.by_name:
            return self.by_name[name]
        return next((one for one in self if name in one.aliases), None)

    @property
    def own(self) -> tuple[MemoryType, ...]:
        """Return the tenant's own types."""
        return tuple(one for one in self if one.version)

    @property
    def filters(self) -> Mapping[str, Callable[[str], str]]:
        """Return the fields of payloads that a listing can be narrowed by; see `MemoryType.filters`."""
        return {name: stored for one in self for name, stored in one.filters.items()}

    def filtered_by(self, field: str) -> tuple[str, ...]:
        """Return the types that are found under an index by a field of their payloads."""
        return tuple(one.name for one in self if one.indexed_filter == field)

    def guards_of(self, name: str) -> tuple[str, ...]:
        """Return the types whose memories guard against those of a type."""
        return tuple(one.name for one in self if name in one.guards)

    def holds(self, one: MemoryType) -> bool:
        """Return whether a type is still what it was; a version that was asked for as a past one always is."""
        present = self.by_name.get(one.name)
        return one.past or (present is not None and present.version == one.version)

    def with_own(self, own: Iterable[MemoryType], version: int) -> Registry:
        """Return these types and a tenant's own, which stand in for those of the same name."""
        given = {one.name: one for one in own}
        return Registry({**{name: one for name, one in self.by_name.items() if name not in given}, **given}, version)

    def known(self, tenant: UUID) -> Self:  # noqa: ARG002
        """Return itself; see `Types`."""
        return self

    async def of(self, tenant: UUID) -> Self:  # noqa: ARG002
        """Return itself; see `Types`."""
        return self

    async def at(self, tenant: UUID, version: int) -> Self:  # noqa: ARG002
        """Return itself, for that version; see `Types`."""
        return replace(self, version=version)


class Types(Protocol):
    """Where the types of a tenant come from."""

    def known(self, tenant: UUID) -> Registry:
        """Return the types as they were last read here; those that are built in, if they never were."""
        ...

    async def of(self, tenant: UUID) -> Registry:
        """Return the types as they are now. Raises DatabaseUnavailable."""
        ...

    async def at(self, tenant: UUID, version: int) -> Registry:
        """Return the types of a version that was just read of the tenant, or of a later one."""
        ...


def discover() -> Registry:
    """Return every type in `memory/types`; refuse a file without TYPE, or one that is named otherwise."""
    found: dict[str, MemoryType] = {}
    for module in sorted(pkgutil.iter_modules(types.__path__), key=lambda one: one.name):
        loaded = importlib.import_module(f"{types.__name__}.{module.name}")
        one = getattr(loaded, "TYPE", None)
        if not isinstance(one, MemoryType):
            raise ConfigurationError(f"app/memory/types/{module.name}.py defines no TYPE: add TYPE = MemoryType(...)")
        if one.name != module.name:
            raise ConfigurationError(
                f"app/memory/types/{module.name}.py defines type {one.name!r}: name the file after it"
            )
        for name in (one.name, *one.aliases):
            if any(name in (other.name, *other.aliases) for other in found.values()):
                raise ConfigurationError(f"two memory types are called {name!r}: rename one of them")
        found[one.name] = one
    return Registry(found)
