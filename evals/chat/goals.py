"""Goals of `make chat`, with what was reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from rich.console import Console
from rich.markup import escape

from evals import tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A figure, what it should be, and whether it is."""

    name: str
    value: float
    bound: float
    upper: bool

    @classmethod
    def least(cls, name: str, value: float, bound: float) -> Self:
        """Return a goal that a figure is at least a bound."""
        return cls(name=name, value=value, bound=bound, upper=False)

    @classmethod
    def most(cls, name: str, value: float, bound: float) -> Self:
        """Return a goal that a figure is at most a bound."""
        return cls(name=name, value=value, bound=bound, upper=True)

    @property
    def met(self) -> bool:
        """Whether the figure is within its bound."""
        return self.value <= self.bound if self.upper else self.value >= self.bound


def show(console: Console, goals: Sequence[Goal]) -> None:
    """Print a line a goal."""
    table = tables.figures("summary", "figure", ("measured", "goal", ""))
    for one in goals:
        sign = "<=" if one.upper else ">="
        verdict = "met" if one.met else "missed"
        table.add_row(escape(one.name), f"{one.value:.3g}", f"{sign} {one.bound:g}", verdict)
    console.print(table)
