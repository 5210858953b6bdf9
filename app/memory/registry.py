"""The registry of memory types: the built-in ones, discovered by their files, and a tenant's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, Self
from uuid import UUID

from pydantic import ValidationError

from app.discovery import discover_in
from app.errors import ConfigurationError, InvalidInput, NotFound
from app.memory import types
from app.memory.spec import MemoryType, Payload


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Registry:
    """Memory types by name; iterates the built-in types by name, then the tenant's own by name.

    `version` counts the changes of the tenant's own types, 0 if it never had any. A registry also implements `Types`,
    with the same types for every tenant.
    """

    by_name: Mapping[str, MemoryType]
    version: int = 0

    def __iter__(self) -> Iterator[MemoryType]:
        return iter(self.by_name.values())

    def get(self, name: str) -> MemoryType:
        """Return the type of that name or alias, or raise InvalidInput with the known names."""
        found = self.find(name)
        if found is None:
            raise InvalidInput(f"unknown memory type {name!r}; use one of {', '.join(self.by_name)}", field="type")
        return found

    def find(self, name: str) -> MemoryType | None:
        """Return the type of that name or alias, or None."""
        if name in self.by_name:
            return self.by_name[name]
        return next((one for one in self if name in one.aliases), None)

    def read(self, name: str, payload: Mapping[str, object], version: int) -> Payload | None:
        """Return a stored payload of that type; None where the type is gone, or has other fields now."""
        spec = self.find(name)
        try:
            return None if spec is None else spec.read(payload, version)
        except ValidationError:
            return None

    @property
    def own(self) -> tuple[MemoryType, ...]:
        """Return the tenant's own types."""
        return tuple(one for one in self if one.version)

    @property
    def filters(self) -> Mapping[str, Callable[[str], str]]:
        """Return the fields of payloads that listings can filter by; see `MemoryType.filters`."""
        return {name: stored for one in self for name, stored in one.filters.items()}

    def filtered_by(self, field: str) -> tuple[str, ...]:
        """Return the names of types that have an index on a field of their payloads."""
        return tuple(one.name for one in self if one.indexed_filter == field)

    def guards_of(self, name: str) -> tuple[str, ...]:
        """Return the names of types that guard against a type; see `MemoryType.guards`."""
        return tuple(one.name for one in self if name in one.guards)

    def holds(self, one: MemoryType) -> bool:
        """Return whether a type is current; a version that was requested as a past one always is."""
        present = self.by_name.get(one.name)
        return one.past or (present is not None and present.version == one.version)

    def with_own(self, own: Iterable[MemoryType], version: int) -> Registry:
        """Return these types and a tenant's own, which replace types of the same name."""
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
    """A source of tenants' types."""

    def known(self, tenant: UUID) -> Registry:
        """Return the tenant's types as last read by this process, the built-in types if never."""
        ...

    async def of(self, tenant: UUID) -> Registry:
        """Return the tenant's types as they are now. Raises DatabaseUnavailable."""
        ...

    async def at(self, tenant: UUID, version: int) -> Registry:
        """Return the tenant's types of a version that was just read, or of a later one."""
        ...


def discover() -> Registry:
    """Return the types in `memory/types`; raise ConfigurationError for a file without TYPE or with another's name."""
    found: dict[str, MemoryType] = {}
    for one in discover_in(types, "TYPE", MemoryType, lambda one: one.name):
        for name in (one.name, *one.aliases):
            if any(name in (other.name, *other.aliases) for other in found.values()):
                raise ConfigurationError(f"two memory types are called {name!r}: rename one of them")
        found[one.name] = one
    return Registry(found)


def unknown(name: str, types: Registry) -> NotFound:
    """Return the error for a type that the tenant does not have."""
    return NotFound(f"no memory type {name[:80]!r}; there are {', '.join(types.by_name)}")
