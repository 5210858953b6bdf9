"""What was measured, as plain values: spreads of times, checks against targets, tables."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

_OPERATORS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, "==": operator.eq}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How long something took, many times over: percentiles in milliseconds, and how many were done a second."""

    p50: float
    p95: float
    p99: float
    per_second: float
    seconds: tuple[float, ...]
    wall: float

    @classmethod
    def of(cls, seconds: Sequence[float], wall: float) -> Spread:
        """Return the spread of these durations, which together took `wall` seconds."""
        p50, p95, p99 = np.percentile(np.asarray(seconds), [50, 95, 99]) * 1000
        return cls(
            p50=float(p50),
            p95=float(p95),
            p99=float(p99),
            per_second=len(seconds) / wall,
            seconds=tuple(seconds),
            wall=wall,
        )

    @classmethod
    def joined(cls, spreads: Sequence[Spread]) -> Spread:
        """Return the spread of several rounds together."""
        return cls.of([one for spread in spreads for one in spread.seconds], sum(spread.wall for spread in spreads))

    def cells(self) -> tuple[str, ...]:
        """Return p50, p95, p99 and rate as text."""
        return (f"{self.p50:.2f}", f"{self.p95:.2f}", f"{self.p99:.2f}", f"{self.per_second:,.0f}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A number that has a target: a ratio or a count, never a time."""

    name: str
    value: float
    relation: str
    target: float

    @property
    def passed(self) -> bool:
        """Tell whether the target is met."""
        return bool(_OPERATORS[self.relation](self.value, self.target))


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table of the report."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(slots=True)
class Book:
    """Everything a run found out, in order."""

    tables: list[Table] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> None:
        """Add a table."""
        self.tables.append(
            Table(title=title, columns=tuple(columns), rows=tuple(tuple(row) for row in rows), note=note)
        )

    def check(self, name: str, value: float, relation: str, target: float) -> None:
        """Add a number that has a target."""
        self.checks.append(Check(name=name, value=value, relation=relation, target=target))
