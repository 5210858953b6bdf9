"""Discovery of what the files of a package define: each one object, under the same name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from types import ModuleType
from typing import TypeVar

from app.errors import ConfigurationError

Defined = TypeVar("Defined")


def discover_in(
    package: ModuleType, attribute: str, kind: type[Defined], file_name: Callable[[Defined], str]
) -> list[Defined]:
    """Return what the files of a package define as `attribute`, in the order of the files.

    Raises ConfigurationError for a file that defines none, or one whose file should have another name.
    """
    found = []
    for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda one: one.name):
        loaded = importlib.import_module(f"{package.__name__}.{module.name}")
        one = getattr(loaded, attribute, None)
        path = f"{package.__name__.replace('.', '/')}/{module.name}.py"
        if not isinstance(one, kind):
            raise ConfigurationError(f"{path} defines no {attribute}: add {attribute} = {kind.__name__}(...)")
        if file_name(one) != module.name:
            raise ConfigurationError(f"{path} defines {file_name(one)!r}: name the file after it")
        found.append(one)
    return found
