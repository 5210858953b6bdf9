"""Values of the date grammar: ranges of local time, recurrences (every Friday, every May), and the resulting spans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from app.english.dates.days import IN_YEARS, Range, Unit, after, midnight, month_start, week_start
from app.model import Precision

SpanKind = Literal["moment", "day", "period", "open", "duration"]

Prefer = Literal["past", "future", "ahead"]
"""Which of two readings: the latest that has begun, the next that has not, or the first that is not over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalSpan:
    """A date or time expression in a text, and the half-open range of time it names.

    `lower` and `upper` are the strict reading: "4 to 22 January" ends where the 22nd begins, "two months
    ago" is one day. `window` is what to search: the named end is included, "two months ago" is that month,
    "the last 3 days" reach to the end of today, an evening is as long as people mean it.
    """

    start: int
    """Character offsets of the expression: `text == source[start:end]`."""
    end: int
    text: str
    lower: datetime | None
    """Inclusive, aware, in the zone of `now`; None: open on that side."""
    upper: datetime | None
    """Exclusive; None: open on that side."""
    precision: Precision
    kind: SpanKind
    window: tuple[datetime | None, datetime | None]
    duration: timedelta | None = None
    """The length of a pure duration ("for 3 weeks"), whose bounds are both None."""


YEARS_TO_LOOK = 9
"""Years to search for a recurrence: 29 February can be eight years away."""

MONTHS_TO_LOOK = 60

NOON = 12


@dataclass(frozen=True, slots=True)
class ReferenceTime:
    """The moment that relative words count from: `now` aware, `local` the same as a naive local time."""

    now: datetime
    local: datetime
    prefer: Prefer

    @property
    def today(self) -> datetime:
        """The start of the present day."""
        return midnight(self.local)


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day; `fixed` when morning or afternoon is known."""

    hour: int
    minute: int
    second: int | None = None
    fixed: bool = False

    def on(self, day: datetime) -> datetime:
        """Return the moment on a day; hour 24 is the next midnight."""
        if self.hour == 24:  # noqa: PLR2004 - hours in a day
            return after(day, days=1)
        return day.replace(hour=self.hour, minute=self.minute, second=self.second or 0)

    def half(self, *, afternoon: bool) -> Clock:
        """Return the reading of an open hour in the morning or the afternoon."""
        if self.fixed or self.hour > NOON:
            return self
        return replace(self, hour=self.hour % NOON + (NOON if afternoon else 0), fixed=True)


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A range for every index (a year, a month or a week); `now` is the index of the present."""

    at: Callable[[int], Range]
    now: int
    unit: Unit
    today_counts: bool = False

    def try_at(self, index: int) -> Range | None:
        """Return the range of an index, None where there is none: no 30 February."""
        try:
            return self.at(index)
        except (ValueError, OverflowError):
            return None

    def around(self, moment: datetime) -> list[Range]:
        """Return the ranges close to a moment, in order."""
        if self.unit is Unit.YEAR:
            centre = moment.year
        elif self.unit is Unit.MONTH:
            centre = moment.year * 12 + moment.month - 1
        else:
            present = self.try_at(self.now)
            centre = self.now + (moment - present[0]).days // 7 if present else self.now
        found = [self.try_at(index) for index in range(centre - 2, centre + 3)]
        return [r for r in found if r]

    def resolve(self, ctx: ReferenceTime) -> Range | None:
        """Return the latest range that has begun, the earliest that has not, or the first not over, as preferred."""
        reach = MONTHS_TO_LOOK if self.unit is Unit.MONTH else YEARS_TO_LOOK
        if ctx.prefer == "past":
            found = (self.try_at(index) for index in range(self.now + 1, self.now - reach, -1))
            return next((r for r in found if r and r[0] < ctx.local), None)
        bar = ctx.today if self.today_counts else ctx.local
        found = (self.try_at(index) for index in range(self.now - 1, self.now + reach))
        if ctx.prefer == "ahead":
            return next((r for r in found if r and r[1] > ctx.local), None)
        return next((r for r in found if r and r[0] >= bar), None)


@dataclass(frozen=True, slots=True)
class Period:
    """A range of local time, open where a bound is None."""

    lower: datetime | None
    upper: datetime | None
    grain: Unit
    recur: Recurrence | None = None
    edge: datetime | None = None
    """The point that counts when the range is one end of a longer one ("from ... to the end of 2008")."""
    wide: tuple[datetime | None, datetime | None] | None = None
    """The range to search when it is wider than the strict one."""
    vague: bool = False
    precision: Precision | None = None
    present: bool = False

    @property
    def tag(self) -> str:
        """The grammar's tag: a moment, a part of a day, a date or a period, and the unit of its recurrence."""
        if self.grain < Unit.PART:
            return "MOMENT"
        if self.grain is Unit.PART:
            return "SPELL"
        if self.lower is None or self.upper is None:
            return "OPENED"
        kind = "DATE" if self.grain is Unit.DAY else "PERIOD"
        suffix = {Unit.YEAR: "_Y", Unit.MONTH: "_M", Unit.WEEK: "_W"}
        return kind + (suffix[self.recur.unit] if self.recur else "")

    @property
    def begin(self) -> datetime:
        """The lower bound; a period without one does not fit the rule that asked."""
        if self.lower is None:
            raise ValueError("open at its start")
        return self.lower

    @property
    def finish(self) -> datetime:
        """The upper bound; a period without one does not fit the rule that asked."""
        if self.upper is None:
            raise ValueError("open at its end")
        return self.upper

    @property
    def search(self) -> tuple[datetime | None, datetime | None]:
        """The range to search."""
        return self.wide or (self.lower, self.upper)

    def map(self, change: Callable[[Range], Range], grain: Unit) -> Period:
        """Return the period with its range changed, and each range of its recurrence likewise."""
        lower, upper = change((self.begin, self.finish))
        recur = self.recur
        if recur:
            at = recur.at
            recur = replace(recur, at=lambda index: change(at(index)))
        return Period(lower, upper, grain, recur=recur)

    def in_week(self, monday: datetime, ctx: ReferenceTime) -> Period | None:
        """Return a weekly recurrence in the week of a Monday."""
        if not self.recur or self.recur.unit is not Unit.WEEK:
            return None
        return self.at((monday - week_start(ctx.local)).days // 7)

    def in_year(self, year: int) -> Period | None:
        """Return a yearly recurrence in the given year."""
        if not self.recur or self.recur.unit is not Unit.YEAR:
            return None
        return self.at(year)

    def at(self, index: int) -> Period:
        """Return a recurrence at an index, as a period of one reading."""
        if self.recur is None:
            return self
        lower, upper = self.recur.at(index)
        wide = self.wide
        if wide:
            delta = lower - self.begin
            wide = (wide[0] + delta if wide[0] else None, wide[1] + delta if wide[1] else None)
        return replace(self, lower=lower, upper=upper, recur=None, wide=wide)


def fixed_period(bounds: Range, grain: Unit) -> Period:
    """Return a period of one reading."""
    return Period(bounds[0], bounds[1], grain)


def one_day(day: datetime) -> Period:
    """Return the day as a period."""
    return Period(midnight(day), after(midnight(day), days=1), Unit.DAY)


def recurring(
    at: Callable[[int], Range], grain: Unit, ctx: ReferenceTime, unit: Unit, *, today_counts: bool = False
) -> Period | None:
    """Return the reading of a recurrence that the context prefers, which keeps the recurrence for other readings."""
    now = {Unit.YEAR: ctx.local.year, Unit.MONTH: ctx.local.year * 12 + ctx.local.month - 1, Unit.WEEK: 0}[unit]
    recur = Recurrence(at, now, unit, today_counts)
    found = recur.resolve(ctx)
    return Period(found[0], found[1], grain, recur=recur) if found else None


def month_of(index: int) -> tuple[int, int]:
    """Return year and month of a month's running number."""
    return index // 12, index % 12 + 1


def aligned(grain: Unit, offset: int, ctx: ReferenceTime, count: int = 1) -> Range:
    """Return `count` calendar units, the first `offset` units after the present one."""
    today = ctx.today
    monday = week_start(today)
    if grain is Unit.DAY:
        return after(today, days=offset), after(today, days=offset + count)
    if grain is Unit.WEEKEND:
        saturday = monday + timedelta(days=5)
        return after(saturday, days=7 * offset), after(saturday, days=7 * (offset + count) - 5)
    if grain in {Unit.WEEK, Unit.FORTNIGHT}:
        days = 7 if grain is Unit.WEEK else 14
        return after(monday, days=days * offset), after(monday, days=days * (offset + count))
    if grain is Unit.MONTH:
        first = month_start(today.year, today.month + offset)
        return first, month_start(first.year, first.month + count)
    if grain is Unit.QUARTER:
        first = month_start(today.year, (today.month - 1) // 3 * 3 + 1 + 3 * offset)
        return first, month_start(first.year, first.month + 3 * count)
    years = IN_YEARS.get(grain)
    if years is None:
        raise ValueError("hours and seasons are no calendar units")
    year = today.year // years * years + offset * years
    return month_start(year, 1), month_start(year + count * years, 1)
