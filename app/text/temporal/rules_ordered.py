"""Weekdays, and parts counted within a period: "the first week of October", "last Friday of May"."""

from __future__ import annotations

from datetime import timedelta

from app.text.temporal.days import (
    DAYS_IN_WEEK,
    MONTHS_IN_YEAR,
    SATURDAY,
    Grain,
    Range,
    after,
    first_week,
    month_start,
    months_range,
    week_start,
)
from app.text.temporal.holidays import nth_weekday
from app.text.temporal.nodes import Match, Node, Rule, made, rule, timed
from app.text.temporal.periods import Context, Period, Recurrence, aligned, month_of, one_day
from app.text.temporal.rules_dates import weekly
from app.text.temporal.rules_periods import ATTACH_YEAR
from app.text.temporal.rules_units import HALF_YEARS

MOST_PARTS = 400
"""More parts than the days of a year are never counted."""


@rule("mod:MOD (mod2:(PAST|COMING))? weekday:ANYWEEKDAY")
def _mod_weekday(m: Match) -> Node | None:
    mod, ctx, weekday = m.get("mod2") or m["mod"], m.ctx, m["weekday"].value
    if m["weekday"].tag == "WEEKDAY_LIKE" and m["mod"].tag == "THIS":
        return None
    monday = week_start(ctx.local)
    if mod.tag == "PAST":
        days = -((ctx.today.weekday() - weekday - 1) % DAYS_IN_WEEK + 1)
        return timed(m, one_day(ctx.today + timedelta(days=days)))
    if mod.tag == "COMING":
        return timed(m, one_day(ctx.today + timedelta(days=(weekday - ctx.today.weekday() - 1) % DAYS_IN_WEEK + 1)))
    return timed(m, one_day(monday + timedelta(days=weekday + DAYS_IN_WEEK * mod.value)))


def _unit_starts(bounds: Range, grain: Grain) -> list[Range]:
    """Return the weeks, weekends, months or quarters that a longer period holds, in order."""
    lower, upper = bounds
    starts: list[Range] = []
    if grain in {Grain.MONTH, Grain.QUARTER}:
        months = 1 if grain is Grain.MONTH else 3
        while lower < upper and len(starts) < MOST_PARTS:
            starts.append((lower, month_start(lower.year, lower.month + months)))
            lower = starts[-1][1]
        return starts
    length, start = {Grain.DAY: (1, lower), Grain.WEEK: (7, first_week(lower))}.get(
        grain, (2, lower + timedelta(days=(SATURDAY - lower.weekday()) % DAYS_IN_WEEK))
    )
    step = 1 if grain is Grain.DAY else DAYS_IN_WEEK
    middle = 3 if grain is Grain.WEEK else 0
    while start + timedelta(days=middle) < upper and len(starts) < MOST_PARTS:
        starts.append((start, after(start, days=length)))
        start += timedelta(days=step)
    return starts


@rule(
    "THE? nth:(ORDINAL|LAST) (count:COUNT)? unit:(UNIT|QUARTER) (OF|IN)? whole:PERIODS",
    "THE? nth:(ORDINAL|LAST) count:AMOUNT (OF|IN)? whole:PERIODS",
    "whole:PERIODS POSSESSIVE nth:(ORDINAL|LAST) unit:(UNIT|QUARTER)",
)
def _nth_unit(m: Match) -> Node | None:
    nth = m["nth"]
    several = m.get("count")
    grain = several.long.grain if several and several.amount else Grain(m["unit"].value)
    count = int(several.long.count if several.amount else several.num) if several else 1
    whole = m["whole"].when
    if grain >= whole.grain or grain is Grain.FORTNIGHT or grain < Grain.DAY or (several and nth.num not in {-1, 1}):
        return None
    index = -count if nth.tag == "LAST" else nth.value - 1

    def change(bounds: Range) -> Range:
        units = _unit_starts(bounds, grain)
        first, last = units[index], units[index + count - 1]
        return first[0], last[1]

    try:
        return timed(m, whole.map(change, grain if count == 1 else Grain.WEEK))
    except IndexError:
        return made(m, "DEAD")


@rule("THE? nth:(ORDINAL|LAST) weekday:ANYWEEKDAY ((OF|IN) (whole:PERIODS|THE unit:UNIT))?")
def _nth_weekday(m: Match) -> Node | None:
    nth, weekday = m["nth"], m["weekday"].value
    whole_node = m.get("whole")
    unit = m.get("unit")
    if (whole_node is None and unit is None and nth.tag == "LAST") or (unit and unit.value != Grain.MONTH):
        return None
    whole = whole_node.when if whole_node else this_month(m.ctx)
    if whole.grain not in {Grain.MONTH, Grain.YEAR}:
        return None

    def change(bounds: Range) -> Range:
        if whole.grain is Grain.MONTH:
            start = nth_weekday(bounds[0].year, bounds[0].month, nth.value, weekday)
        elif nth.value < 0:
            start = nth_weekday(bounds[0].year, MONTHS_IN_YEAR, nth.value, weekday)
        else:
            start = nth_weekday(bounds[0].year, 1, 1, weekday) + timedelta(days=DAYS_IN_WEEK * (nth.value - 1))
        return start, after(start, days=1)

    return timed(m, whole.map(change, Grain.DAY))


def this_month(ctx: Context) -> Period:
    """Return the current month, ready to be read as another."""
    at = Recurrence(
        lambda index: months_range(*month_of(index), 1), ctx.local.year * 12 + ctx.local.month - 1, Grain.MONTH
    )
    return Period(*aligned(Grain.MONTH, 0, ctx), Grain.MONTH, recur=at)


@rule(
    "THE? number:ORDINAL day:UNIT (OF|IN) (THE month:UNIT|whole:PERIODS)",
    "THE? last:LAST day:UNIT (OF|IN) (THE month:UNIT|whole:PERIODS)",
)
def _day_of(m: Match) -> Node | None:
    this = m.get("month")
    if m["day"].value != Grain.DAY:
        return None
    whole = m.get("whole")
    if this is not None:
        bounds = aligned(Grain(this.value), 0, m.ctx)
    elif whole is not None:
        bounds = (whole.when.begin, whole.when.finish)
    else:
        return None
    if m.get("last"):
        return timed(m, one_day(bounds[1] - timedelta(days=1)))
    found = after(bounds[0], days=m["number"].value - 1)
    return timed(m, one_day(found)) if found < bounds[1] else None


@rule("week:DATE_W (COMMA|OF|IN)? whole:PERIOD", "whole:PERIOD (ON|COMMA|POSSESSIVE)? week:DATE_W")
def _attach_week(m: Match) -> Node | None:
    whole = m["whole"].when
    if whole.grain not in {Grain.WEEK, Grain.WEEKEND}:
        return None
    return timed(m, m["week"].when.in_week(week_start(whole.begin), m.ctx))


@rule("weekday:WEEKDAY")
def _weekday(m: Match) -> Node | None:
    return timed(m, weekly(m.ctx, m["weekday"].value))


@rule("THE? weekday:DATE_W (BEFORE|AFTER) side:(LAST|NEXT)")
def _weekday_after_next(m: Match) -> Node | None:
    monday = after(week_start(m.ctx.local), days=2 * DAYS_IN_WEEK * m["side"].value)
    return timed(m, m["weekday"].when.in_week(monday, m.ctx))


@rule("weekday:WEEKDAY_LIKE")
def _weekday_like(m: Match) -> Node | None:
    before, word = m.before, m["weekday"].word
    if not word[:1].isupper() or before is None or before.tag not in {"ON", "LAST", "NEXT", "UNTIL", "SINCE", "BY"}:
        return None
    return timed(m, weekly(m.ctx, m["weekday"].value))


ORDERED: list[Rule] = [
    *HALF_YEARS,
    *_nth_unit,
    *_nth_weekday,
    *_day_of,
    *_mod_weekday,
    *_weekday,
    *_weekday_after_next,
    *_weekday_like,
    *ATTACH_YEAR,
    *_attach_week,
]
