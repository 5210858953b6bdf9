"""Calendar arithmetic on naive local datetimes, and holidays with a fixed or computable date, without lunar ones.

Results outside years 1..9999 raise ValueError or OverflowError.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum

from app.english.dates.lexicon import HOLIDAYS

DAYS_IN_WEEK = 7
MONTHS_IN_YEAR = 12
SATURDAY = 5
THURSDAY = 3
LAST_YEAR = 9999
END_OF_TIME = datetime.max  # noqa: DTZ901 - naive local time, as everywhere in this module
Range = tuple[datetime, datetime]


class Unit(IntEnum):
    """Units of time from the shortest to the longest."""

    SECOND = 1
    MINUTE = 2
    HOUR = 3
    PART = 4
    DAY = 5
    WEEKEND = 6
    WEEK = 7
    FORTNIGHT = 8
    MONTH = 9
    QUARTER = 10
    SEASON = 11
    YEAR = 12
    DECADE = 13
    CENTURY = 14


IN_SECONDS = {Unit.SECOND: 1, Unit.MINUTE: 60, Unit.HOUR: 3600}
IN_DAYS = {Unit.PART: 1, Unit.DAY: 1, Unit.WEEKEND: 2, Unit.WEEK: 7, Unit.FORTNIGHT: 14}
IN_MONTHS = {Unit.MONTH: 1, Unit.QUARTER: 3, Unit.SEASON: 3}
IN_YEARS = {Unit.YEAR: 1, Unit.DECADE: 10, Unit.CENTURY: 100}


@dataclass(frozen=True, slots=True)
class Amount:
    """A length of time; months and years stay calendar units until they are added to a date."""

    months: float = 0
    days: float = 0
    seconds: float = 0
    grain: Unit = Unit.DAY
    vague: bool = False
    workdays: bool = False
    count: float = 1
    length: timedelta = timedelta(0)
    """The length with a month of 30 days and a year of 365."""

    def __add__(self, other: Amount) -> Amount:
        return Amount(
            months=self.months + other.months,
            days=self.days + other.days,
            seconds=self.seconds + other.seconds,
            grain=min(self.grain, other.grain),
            vague=self.vague or other.vague,
            count=0,
            length=self.length + other.length,
        )


def amount(count: float, grain: Unit, *, vague: bool = False) -> Amount:
    """Return `count` units of `grain`."""
    months, years = IN_MONTHS.get(grain, 0), IN_YEARS.get(grain, 0)
    days, seconds = count * IN_DAYS.get(grain, 0), count * IN_SECONDS.get(grain, 0)
    return Amount(
        months=count * (months + MONTHS_IN_YEAR * years),
        days=days,
        seconds=seconds,
        grain=grain,
        vague=vague,
        count=count,
        length=timedelta(days=days + count * (30 * months + 365 * years), seconds=seconds),
    )


def midnight(moment: datetime) -> datetime:
    """Return the start of the day of `moment`."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)


def day(year: int, month: int, number: int) -> Range:
    """Return the day as a range; ValueError if there is no such day."""
    lower = datetime(year, month, number)  # noqa: DTZ001 - naive local time
    return lower, after(lower, days=1)


def after(moment: datetime, *, days: float) -> datetime:
    """Return `moment` plus days, at most the last representable time."""
    if days > 0 and END_OF_TIME - moment < timedelta(days=days):
        return END_OF_TIME
    return moment + timedelta(days=days)


def month_start(year: int, month: int) -> datetime:
    """Return the first of the month; `month` may lie outside 1..12 and carries into the year."""
    carried, index = divmod(month - 1, MONTHS_IN_YEAR)
    if year + carried == LAST_YEAR + 1 and index == 0:
        return END_OF_TIME
    return datetime(year + carried, index + 1, 1)  # noqa: DTZ001 - naive local time


def months_range(year: int, month: int, count: int) -> Range:
    """Return `count` whole months from `month` of `year`."""
    return month_start(year, month), month_start(year, month + count)


def add_months(moment: datetime, months: int) -> datetime:
    """Add calendar months; the 31st becomes the last day of a shorter month."""
    first = month_start(moment.year, moment.month + months)
    last = (after(month_start(first.year, first.month + 1), days=-1)).day
    return moment.replace(year=first.year, month=first.month, day=min(moment.day, last))


def shift(moment: datetime, by: Amount, sign: int) -> datetime:
    """Move a naive local moment by a signed amount: calendar months first, then days, then elapsed time."""
    whole = int(by.months)
    moved = add_months(moment, sign * whole) if whole else moment
    if by.workdays:
        return shift_workdays(moved, sign * int(by.days))
    return moved + sign * timedelta(days=by.days + 30 * (by.months - whole), seconds=by.seconds)


def shift_workdays(moment: datetime, count: int) -> datetime:
    """Move by days from Monday to Friday; ValueError beyond ten years."""
    if abs(count) > 260 * 10:
        raise ValueError("too many working days")
    step = 1 if count >= 0 else -1
    for _ in range(abs(count)):
        moment += timedelta(days=step)
        while moment.weekday() >= SATURDAY:
            moment += timedelta(days=step)
    return moment


def elapsed(now: datetime, seconds: float) -> datetime:
    """Return the naive local time `seconds` of real time after the aware `now`, across clock changes."""
    return (now.astimezone(UTC) + timedelta(seconds=seconds)).astimezone(now.tzinfo).replace(tzinfo=None)


def week_start(moment: datetime) -> datetime:
    """Return the Monday on or before the day of `moment`."""
    return midnight(moment) - timedelta(days=moment.weekday())


def first_week(start: datetime) -> datetime:
    """Return the Monday of the first week that has its Thursday on or after `start` (ISO 8601)."""
    ahead = (THURSDAY - start.weekday()) % DAYS_IN_WEEK
    return start + timedelta(days=ahead - THURSDAY)


def easter(year: int) -> datetime:
    """Return Easter Sunday of the Gregorian calendar (Meeus, Jones and Butcher)."""
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    n = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 22 * n) // 451
    month, number = divmod(h + n - 7 * m + 114, 31)
    return datetime(year, month, number + 1)  # noqa: DTZ001 - naive local time


_HOLIDAY_WORDS = sorted((tuple(name.split()) for name in HOLIDAYS), key=len, reverse=True)
_POSSESSIVE = {"'s", "\u2019s", "'", "\u2019", "."}
HOLIDAY_STARTS = frozenset(name[0] for name in _HOLIDAY_WORDS)
"""The first words of all holiday names."""


def nth_weekday(year: int, month: int, nth: int, weekday: int) -> datetime:
    """Return the nth weekday of a month, counted from its end when negative; ValueError if there is none."""
    if nth > 0:
        first = month_start(year, month)
        found = first + timedelta(days=(weekday - first.weekday()) % DAYS_IN_WEEK + DAYS_IN_WEEK * (nth - 1))
    else:
        last = month_start(year, month + 1) - timedelta(days=1)
        found = last - timedelta(days=(last.weekday() - weekday) % DAYS_IN_WEEK - DAYS_IN_WEEK * (nth + 1))
    if (found.year, found.month) != (year, month):
        raise ValueError("the month has fewer such weekdays")
    return found


def holiday(name: str, year: int) -> datetime:
    """Return the day of a known holiday in a year."""
    match HOLIDAYS[name]:
        case (month, nth, weekday, extra):
            return nth_weekday(year, month, nth, weekday) + timedelta(days=extra)
        case (month, number):
            return datetime(year, month, number)  # noqa: DTZ001 - naive local time
        case days:
            return easter(year) + timedelta(days=days[0])


def holiday_at(words: list[str], index: int) -> tuple[str, int] | None:
    """Return the longest holiday name that starts at words[index] and the count of words it takes.

    Words are in lower case; the possessive "'s" is a word of its own and is skipped.
    """
    for name in (one for one in _HOLIDAY_WORDS if one[0] == words[index]):
        position = index
        for word in name:
            while index < position < len(words) and words[position] in _POSSESSIVE:
                position += 1
            if position >= len(words) or words[position] != word:
                break
            position += 1
        else:
            return " ".join(name), position - index
    return None
