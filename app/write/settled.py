"""What settling works on: what was read beside beliefs that a type adopts, and what becomes of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from app.db.reclassifiable import Row
from app.memory.backfill import Effect
from app.write.values import Existing

Link = tuple[str, str, str]


@dataclass(slots=True, kw_only=True)
class Change:
    """What a memory comes to: columns with their new values, those that hold the instant of the change, new links."""

    row: Row
    effect: Effect
    reason: str
    values: dict[str, Any] = field(default_factory=dict)
    stamped: set[str] = field(default_factory=set)
    links: list[Link] = field(default_factory=list)

    def get(self, column: str) -> Any:  # noqa: ANN401 - a column of any type
        """Return a column as it will be."""
        return self.values.get(column, self.row[column])

    def set(self, values: Mapping[str, Any], *, stamp: Iterable[str] = ()) -> None:
        """Set columns; of those in `stamp` only that they hold the instant of the change."""
        self.stamped -= values.keys()
        self.values |= values
        for column in stamp:
            self.values[column] = None
            self.stamped.add(column)


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A belief that stays what it is after all."""

    row: Row
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What was read for one unit: rivals of each belief as the write rule reads them, and rows of all of them.

    `guarded` are statements that rules of the type may stand against.
    """

    rivals: Mapping[UUID, Sequence[Existing]]
    rows: Mapping[UUID, Row]
    guarded: Sequence[Row] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What a unit comes to: changes by memory, and what stays."""

    changes: Mapping[UUID, Change]
    left: tuple[Left, ...]
