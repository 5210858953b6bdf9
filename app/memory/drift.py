"""Drift: slots that change too often, and shifts in a store's mix (docs/decisions/lifecycle.md).

Shares of types, decisions and reasons in the last 7 days are compared with those of the 28 days before by the
two-proportion z-test with pooled variance; mean confidences by Welch's test, with the normal distribution in place of
Student's, which the required counts allow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

FLIPS: Final = 4
"""Replacements of a slot's value within `FLIP_DAYS` that make the slot volatile."""

FLIP_DAYS: Final = 30

DEMOTION: Final = 0.8
"""The factor on the score of a volatile slot's memory, until it is reviewed or the slot is stable again."""

RECENT_DAYS: Final = 7
BEFORE_DAYS: Final = 28

LEAST_Z: Final = 4.0
"""Least z of a shift: chance exceeds it once in 16,000 comparisons, and each store has some forty a day."""

LEAST_SHIFT: Final = 0.05
"""Least change of a share, or of the mean confidence, that is reported."""

LEAST_RECENT: Final = 50
LEAST_BEFORE: Final = 200
"""Least number of memories, writes or turns in each of the two periods."""

CONFIDENCE: Final = "confidence"
SUM: Final = "sum"
SQUARES: Final = "squares"
SCALE: Final = 1_000
"""Confidences are summed in thousandths, their squares in millionths."""

COMPARED: Final = ("type", CONFIDENCE, "decision", "rejected", "turn", "skipped")
"""Kinds of daily rows that are compared."""

_LARGEST_Z: Final = 99.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DayRow:
    """A daily count: of `total` items of a kind on a day, `count` were `name`."""

    day: date
    kind: str
    name: str
    count: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A share or a mean, with the number of items."""

    value: float
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """A share (of a name among a kind) or a mean that has changed by `z` standard errors, positive for a rise."""

    kind: str
    name: str
    recent: Sample
    before: Sample
    z: float


@dataclass(slots=True)
class _Sums:
    """Counts of one kind by name over a period, and their total."""

    counts: dict[str, int]
    total: int = 0


def shifts(rows: Iterable[DayRow], today: date) -> list[Shift]:
    """Return the shifts of the days before `today`, the greatest z first."""
    middle = today - timedelta(days=RECENT_DAYS)
    first = middle - timedelta(days=BEFORE_DAYS)
    kept = [one for one in rows if first <= one.day < today and one.kind in COMPARED]
    recent = _summed(one for one in kept if one.day >= middle)
    before = _summed(one for one in kept if one.day < middle)
    found = [
        shift
        for kind in sorted(recent.keys() & before.keys())
        if recent[kind].total >= LEAST_RECENT and before[kind].total >= LEAST_BEFORE
        for shift in _compared(kind, recent[kind], before[kind])
        if abs(shift.recent.value - shift.before.value) >= LEAST_SHIFT and abs(shift.z) >= LEAST_Z
    ]
    return sorted(found, key=lambda one: (-abs(one.z), one.kind, one.name))


def _summed(rows: Iterable[DayRow]) -> dict[str, _Sums]:
    found: dict[str, _Sums] = {}
    totals: dict[tuple[str, date], int] = {}
    for row in rows:
        sums = found.setdefault(row.kind, _Sums({}))
        sums.counts[row.name] = sums.counts.get(row.name, 0) + row.count
        totals[row.kind, row.day] = row.total
    for (kind, _), total in totals.items():
        found[kind].total += total
    return found


def _compared(kind: str, recent: _Sums, before: _Sums) -> list[Shift]:
    if kind == CONFIDENCE:
        return [_means(recent, before)]
    names = sorted(recent.counts.keys() | before.counts.keys())
    return [_shares(kind, name, recent, before) for name in names]


def _shares(kind: str, name: str, recent: _Sums, before: _Sums) -> Shift:
    now, then = _share(recent.counts, name, recent.total), _share(before.counts, name, before.total)
    pooled = (now.value * now.of + then.value * then.of) / (now.of + then.of)
    error = math.sqrt(max(0.0, pooled * (1 - pooled)) * (1 / now.of + 1 / then.of))
    return Shift(kind=kind, name=name, recent=now, before=then, z=_z(now.value - then.value, error))


def _share(counts: Mapping[str, int], name: str, total: int) -> Sample:
    return Sample(value=counts.get(name, 0) / total, of=total)


def _means(recent: _Sums, before: _Sums) -> Shift:
    (now, spread), (then, earlier) = _mean(recent), _mean(before)
    error = math.sqrt(spread / now.of + earlier / then.of)
    return Shift(kind=CONFIDENCE, name="mean", recent=now, before=then, z=_z(now.value - then.value, error))


def _mean(sums: _Sums) -> tuple[Sample, float]:
    """Return the mean and the variance."""
    mean = sums.counts.get(SUM, 0) / SCALE / sums.total
    squares = sums.counts.get(SQUARES, 0) / SCALE**2 / sums.total
    return Sample(value=mean, of=sums.total), max(0.0, squares - mean**2)


def _z(difference: float, error: float) -> float:
    if difference == 0:
        return 0.0
    z = difference / error if error else math.copysign(_LARGEST_Z, difference)
    return max(-_LARGEST_Z, min(_LARGEST_Z, z))
