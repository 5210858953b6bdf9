"""Statements in the driver's own words, for the paths that every request takes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_PARAMETER = re.compile(r"(?<!:):([a-z_]+)")


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL with numbered parameters, and the names under which their values are given, in that order."""

    sql: str
    names: tuple[str, ...]

    def arguments(self, values: Mapping[str, object]) -> list[object]:
        """Return the values in the order of the parameters."""
        return [values[name] for name in self.names]


def statement(text: str) -> Statement:
    """Return a statement of SQL whose parameters are written `:name`."""
    names = tuple(dict.fromkeys(_PARAMETER.findall(text)))
    places = {name: f"${place}" for place, name in enumerate(names, 1)}
    return Statement(_PARAMETER.sub(lambda found: places[found[1]], text), names)
