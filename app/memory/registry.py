"""The types there are, found by their files."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import app.memory.types as types_folder
from app.errors import ConfigurationError, InvalidInput
from app.memory.spec import MemoryType


@dataclass(frozen=True, slots=True)
class Registry:
    """Every memory type by name; iterates in the order of their names."""

    by_name: Mapping[str, MemoryType]

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
    def filters(self) -> Mapping[str, Callable[[str], str]]:
        """Return the fields of payloads that a listing can be narrowed by; see `MemoryType.filters`."""
        return {name: stored for one in self for name, stored in one.filters.items()}

    def filtered_by(self, field: str) -> tuple[str, ...]:
        """Return the types that are found under an index by a field of their payloads."""
        return tuple(one.name for one in self if one.indexed_filter == field)

    def guards_of(self, name: str) -> tuple[str, ...]:
        """Return the types whose memories guard against those of a type."""
        return tuple(one.name for one in self if name in one.guards)


def discover() -> Registry:
    """Return every type in `memory/types`; refuse a file without TYPE, or one that is named otherwise."""
    found: dict[str, MemoryType] = {}
    for module in sorted(pkgutil.iter_modules(types_folder.__path__), key=lambda one: one.name):
        loaded = importlib.import_module(f"{types_folder.__name__}.{module.name}")
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
