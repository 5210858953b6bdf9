"""Rules for weekdays, counted parts ("the first week of October") and parts of periods ("end of March")."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from app.english.dates.days import (
    DAYS_IN_WEEK,
    MONTHS_IN_YEAR,
    SATURDAY,
    Range,
    Unit,
    after,
    amount,
    first_week,
    month_start,
    months_range,
    nth_weekday,
    shift,
    week_start,
)
from app.english.dates.nodes import Match, Node, RuleList, make_node, time_node
from app.english.dates.periods import Period, Recurrence, ReferenceTime, aligned, fixed_period, month_of, one_day
from app.english.dates.rules_dates import weekly

ORDERED = RuleList()
SETS = RuleList()
PARTS = RuleList()

MOST_PARTS = 400
"""Most parts that are counted, more than the days of a year."""


@ORDERED.rule(
    "THE? nth:(ORDINAL|LAST) (count:COUNT)? unit:(UNIT|QUARTER) (OF|IN)? whole:PERIODS",
    "THE? nth:(ORDINAL|LAST) count:AMOUNT (OF|IN)? whole:PERIODS",
    "whole:PERIODS POSSESSIVE nth:(ORDINAL|LAST) unit:(UNIT|QUARTER)",
)
def _nth_unit(m: Match) -> Node | None:
    nth = m["nth"]
    several = m.get("count")
    grain = several.long.grain if several and several.amount else Unit(m["unit"].value)
    count = int(several.long.count if several.amount else several.num) if several else 1
    whole = m["whole"].when
    if grain >= whole.grain or grain is Unit.FORTNIGHT or grain < Unit.DAY or (several and nth.num not in {-1, 1}):
        return None
    index = -count if nth.tag == "LAST" else nth.value - 1

    def change(bounds: Range) -> Range:
        units = _unit_starts(bounds, grain)
        first, last = units[index], units[index + count - 1]
        return first[0], last[1]

    try:
        return time_node(m, whole.map(change, grain if count == 1 else Unit.WEEK))
    except IndexError:
        return make_node(m, "DEAD")


def _unit_starts(bounds: Range, grain: Unit) -> list[Range]:
    """Return the weeks, weekends, months or quarters of a longer period, in order."""
    lower, upper = bounds
    starts: list[Range] = []
    if grain in {Unit.MONTH, Unit.QUARTER}:
        months = 1 if grain is Unit.MONTH else 3
        while lower < upper and len(starts) < MOST_PARTS:
            starts.append((lower, month_start(lower.year, lower.month + months)))
            lower = starts[-1][1]
        return starts
    length, start = {Unit.DAY: (1, lower), Unit.WEEK: (7, first_week(lower))}.get(
        grain, (2, lower + timedelta(days=(SATURDAY - lower.weekday()) % DAYS_IN_WEEK))
    )
    step = 1 if grain is Unit.DAY else DAYS_IN_WEEK
    middle = 3 if grain is Unit.WEEK else 0
    while start + timedelta(days=middle) < upper and len(starts) < MOST_PARTS:
        starts.append((start, after(start, days=length)))
        start += timedelta(days=step)
    return starts


@ORDERED.rule("THE? nth:(ORDINAL|LAST) weekday:ANYWEEKDAY ((OF|IN) (whole:PERIODS|THE unit:UNIT))?")
def _nth_weekday(m: Match) -> Node | None:
    nth, weekday = m["nth"], m["weekday"].value
    whole_node = m.get("whole")
    unit = m.get("unit")
    if (whole_node is None and unit is None and nth.tag == "LAST") or (unit and unit.value != Unit.MONTH):
        return None
    whole = whole_node.when if whole_node else this_month(m.ctx)
    if whole.grain not in {Unit.MONTH, Unit.YEAR}:
        return None

    def change(bounds: Range) -> Range:
        if whole.grain is Unit.MONTH:
            start = nth_weekday(bounds[0].year, bounds[0].month, nth.value, weekday)
        elif nth.value < 0:
            start = nth_weekday(bounds[0].year, MONTHS_IN_YEAR, nth.value, weekday)
        else:
            start = nth_weekday(bounds[0].year, 1, 1, weekday) + timedelta(days=DAYS_IN_WEEK * (nth.value - 1))
        return start, after(start, days=1)

    return time_node(m, whole.map(change, Unit.DAY))


@ORDERED.rule(
    "THE? number:ORDINAL day:UNIT (OF|IN) (THE month:UNIT|whole:PERIODS)",
    "THE? last:LAST day:UNIT (OF|IN) (THE month:UNIT|whole:PERIODS)",
)
def _day_of(m: Match) -> Node | None:
    this = m.get("month")
    if m["day"].value != Unit.DAY:
        return None
    whole = m.get("whole")
    if this is not None:
        bounds = aligned(Unit(this.value), 0, m.ctx)
    elif whole is not None:
        bounds = (whole.when.begin, whole.when.finish)
    else:
        return None
    if m.get("last"):
        return time_node(m, one_day(bounds[1] - timedelta(days=1)))
    found = after(bounds[0], days=m["number"].value - 1)
    return time_node(m, one_day(found)) if found < bounds[1] else None


def this_month(ctx: ReferenceTime) -> Period:
    """Return the current month as a recurrence."""
    at = Recurrence(
        lambda index: months_range(*month_of(index), 1), ctx.local.year * 12 + ctx.local.month - 1, Unit.MONTH
    )
    return Period(*aligned(Unit.MONTH, 0, ctx), Unit.MONTH, recur=at)


@ORDERED.rule("mod:MOD (mod2:(PAST|COMING))? weekday:ANYWEEKDAY")
def _mod_weekday(m: Match) -> Node | None:
    mod, ctx, weekday = m.get("mod2") or m["mod"], m.ctx, m["weekday"].value
    if m["weekday"].tag == "WEEKDAY_LIKE" and m["mod"].tag == "THIS":
        return None
    monday = week_start(ctx.local)
    if mod.tag == "PAST":
        days = -((ctx.today.weekday() - weekday - 1) % DAYS_IN_WEEK + 1)
        return time_node(m, one_day(ctx.today + timedelta(days=days)))
    if mod.tag == "COMING":
        return time_node(m, one_day(ctx.today + timedelta(days=(weekday - ctx.today.weekday() - 1) % DAYS_IN_WEEK + 1)))
    return time_node(m, one_day(monday + timedelta(days=weekday + DAYS_IN_WEEK * mod.value)))


@ORDERED.rule("weekday:WEEKDAY")
def _weekday(m: Match) -> Node | None:
    return time_node(m, weekly(m.ctx, m["weekday"].value))


@ORDERED.rule("THE? weekday:DATE_W (BEFORE|AFTER) side:(LAST|NEXT)")
def _weekday_after_next(m: Match) -> Node | None:
    monday = after(week_start(m.ctx.local), days=2 * DAYS_IN_WEEK * m["side"].value)
    return time_node(m, m["weekday"].when.in_week(monday, m.ctx))


@ORDERED.rule("weekday:WEEKDAY_LIKE")
def _weekday_like(m: Match) -> Node | None:
    before, word = m.before, m["weekday"].word
    if not word[:1].isupper() or before is None or before.tag not in {"ON", "LAST", "NEXT", "UNTIL", "SINCE", "BY"}:
        return None
    return time_node(m, weekly(m.ctx, m["weekday"].value))


@ORDERED.rule("week:DATE_W (COMMA|OF|IN)? whole:PERIOD", "whole:PERIOD (ON|COMMA|POSSESSIVE)? week:DATE_W")
def _attach_week(m: Match) -> Node | None:
    whole = m["whole"].when
    if whole.grain not in {Unit.WEEK, Unit.WEEKEND}:
        return None
    return time_node(m, m["week"].when.in_week(week_start(whole.begin), m.ctx))


def halves(bounds: Range, grain: Unit) -> datetime:
    """Return the start of the late half: Thursday, the 16th, July, else the middle."""
    lower, upper = bounds
    if grain is Unit.WEEK:
        return lower + timedelta(days=3)
    if grain is Unit.MONTH:
        return lower + timedelta(days=15)
    if grain is Unit.YEAR:
        return month_start(lower.year, 7)
    if grain > Unit.YEAR:
        return month_start((lower.year + upper.year) // 2, 1)
    return lower + (timedelta(days=(upper - lower).days // 2) if grain > Unit.WEEKEND else (upper - lower) / 2)


def thirds(bounds: Range, grain: Unit) -> tuple[datetime, datetime]:
    """Return start and end of the middle third: May to September, the 11th to the 21st."""
    lower, upper = bounds
    if grain is Unit.YEAR:
        return month_start(lower.year, 5), month_start(lower.year, 9)
    if grain is Unit.MONTH:
        return lower + timedelta(days=10), lower + timedelta(days=20)
    if grain is Unit.WEEK:
        return lower + timedelta(days=1), lower + timedelta(days=4)
    if grain > Unit.YEAR:
        years = (upper.year - lower.year) * 3 // 10
        return month_start(lower.year + years, 1), month_start(upper.year - years, 1)
    third = timedelta(days=max(1, (upper - lower).days // 3)) if grain > Unit.DAY else (upper - lower) / 3
    return lower + third, upper - third


def part(which: str, period: Period) -> Period:
    """Return the early, late, first, middle or last part of a period."""
    grain = period.grain

    def change(bounds: Range) -> Range:
        lower, upper = bounds
        middle_start, middle_end = thirds(bounds, grain)
        half = halves(bounds, grain)
        by_thirds = grain is Unit.YEAR and period.recur is None
        cut = {
            "EARLY": (lower, half),
            "LATE": (half, upper),
            "START": (lower, middle_start if by_thirds else half),
            "MID": (middle_start, middle_end),
            "END": (middle_end if by_thirds else half, upper),
        }
        return cut[which]

    result = period.map(change, Unit.PART if grain <= Unit.DAY else Unit.WEEK)
    edge = {
        "START": period.begin,
        "MID": (period.begin + (period.finish - period.begin) / 2).replace(hour=0, minute=0, second=0),
        "END": period.finish,
    }.get(which)
    return replace(result, edge=edge)


_WHICH = {"STARTING": "START", "START": "START", "END": "END", "MID": "MID", "EARLY": "EARLY", "LATE": "LATE"}


@PARTS.rule("THE? unit:UNIT TO DATEWORD", "YTD")
def _to_date(m: Match) -> Node | None:
    grain = Unit(m["unit"].value) if m.get("unit") else Unit.YEAR
    lower = aligned(grain, 0, m.ctx)[0]
    return time_node(m, Period(lower, m.ctx.today, Unit.WEEK, wide=(lower, after(m.ctx.today, days=1))))


@PARTS.rule("(THE|LAST) weekday:DATE_W side:(BEFORE|AFTER) THE? what:DATES")
def _weekday_beside(m: Match) -> Node | None:
    weekday, back = m["weekday"].when.begin.weekday(), m.tag("side") == "BEFORE"

    def change(bounds: Range) -> Range:
        apart = (bounds[0].weekday() - weekday if back else weekday - bounds[0].weekday()) % DAYS_IN_WEEK
        start = after(bounds[0], days=(-1 if back else 1) * (apart or DAYS_IN_WEEK))
        return start, after(start, days=1)

    return time_node(m, m["what"].when.map(change, Unit.DAY))


@PARTS.rule("(THE|LAST) unit:UNIT side:(BEFORE|AFTER) THE? what:DATES")
def _beside(m: Match) -> Node | None:
    grain, back = Unit(m["unit"].value), m.tag("side") == "BEFORE"
    if grain not in {Unit.DAY, Unit.WEEKEND, Unit.WEEK, Unit.MONTH, Unit.YEAR} or m["unit"].word.endswith("s"):
        return None
    by = amount(1, grain)

    def change(bounds: Range) -> Range:
        if grain is Unit.WEEKEND:
            saturday = week_start(bounds[0]) + timedelta(days=SATURDAY)
            week = 0 if (saturday < bounds[0]) == back else -1 if back else 1
            saturday += timedelta(days=DAYS_IN_WEEK * week)
            return saturday, after(saturday, days=2)
        return (shift(bounds[0], by, -1), bounds[0]) if back else (bounds[1], shift(bounds[1], by, 1))

    return time_node(m, m["what"].when.map(change, grain))


@PARTS.rule("THE? number:ORDINAL HALF OF what:PERIODS")
def _half_of(m: Match) -> Node | None:
    number = m["number"].value
    if number > 2 or m["what"].when.grain not in {Unit.MONTH, Unit.WEEK, Unit.YEAR}:  # noqa: PLR2004 - halves
        return None
    return time_node(m, part("EARLY" if number == 1 else "LATE", m["what"].when))


def weekend_near(bounds: Range) -> Range:
    """Return the weekend of the week, extended to the date if that is a Monday or a Friday."""
    start = bounds[0]
    if start.weekday() == 0:
        return start - timedelta(days=2), after(start, days=1)
    saturday = week_start(start) + timedelta(days=SATURDAY)
    return min(saturday, start) if start.weekday() == SATURDAY - 1 else saturday, after(saturday, days=2)


@PARTS.rule("THE? REST OF? (THE|THIS)? unit:UNIT", "THE? REST OF? what:(PERIODS|DATE)")
def _rest(m: Match) -> Node | None:
    grain = Unit(m["unit"].value) if m.get("unit") else m["what"].when.grain
    if grain < Unit.DAY:
        return None
    what = fixed_period(aligned(grain, 0, m.ctx), grain) if m.get("unit") else m["what"].when
    start = m.ctx.local if grain is Unit.DAY else m.ctx.today
    lower = max(what.begin, start)
    if lower >= what.finish:
        return None
    return time_node(m, Period(lower, what.finish, Unit.PART if grain is Unit.DAY else Unit.WEEK))


@SETS.rule(
    "EVERY (OTHER|ORDINAL|COUNT)? (UNIT|QUARTER|PERIODS|DATES|SPELL|WEEKDAYS|PART|PARTS|HOLIDAY)",
    "ALL (UNIT|WEEKDAYS)",
    "ALL WEEKDAYS",
    "RECURRING",
    "(DATES|ORDINAL) OF EVERY UNIT",
    "(DATE|DATE_W) PARTS",
    "WEEKDAYS PARTS?",
    "EVERY AMOUNT",
)
def _set(m: Match) -> Node | None:
    if m.inside[0].tag == "ALL" and not m.inside[-1].word.lower().endswith("s"):
        return None
    return make_node(m, "DEAD")


@PARTS.rule("THE? unit:UNIT (OF|STARTING|FROM) (ON|FROM)? THE? what:DATES", "unit:WEEK_OF what:DATES")
def _week_of(m: Match) -> Node | None:
    unit = m["unit"]
    grain = Unit.WEEK if unit.tag == "WEEK_OF" else Unit(unit.value)
    if unit.word.lower().endswith("s") and unit.tag == "UNIT":
        return None

    def week(bounds: Range) -> Range:
        monday = week_start(bounds[0])
        return monday, after(monday, days=DAYS_IN_WEEK)

    if grain is Unit.WEEK:
        return time_node(m, m["what"].when.map(week, Unit.WEEK))
    return time_node(m, m["what"].when.map(weekend_near, Unit.WEEKEND)) if grain is Unit.WEEKEND else None


@PARTS.rule("what:(DATE|DATE_Y) unit:UNIT (year:(Y4|PERIOD))?")
def _holiday_weekend(m: Match) -> Node | None:
    if m["unit"].value != Unit.WEEKEND or m["what"].word:
        return None
    what: Period | None = m["what"].when
    year = m.get("year")
    if year is not None and what is not None:
        what = what.in_year(year.when.begin.year if year.period else year.value)
    return time_node(m, what.map(weekend_near, Unit.WEEKEND)) if what else None


@PARTS.rule(
    "which:(EARLY|LATE|HENCE|EARLIER) (DASH|ON|IN)? (THE? day:UNIT|THIS day:UNIT)? ON? what:DATES",
    "which:(EARLY|LATE|HENCE|EARLIER) IN? (THE unit:UNIT|what:(PERIODS|DATES))",
)
def _early_late(m: Match) -> Node | None:
    unit = m.get("unit")
    day = m.get("day")
    if (day and day.value != Unit.DAY) or (unit and unit.value < Unit.DAY):
        return None
    what = fixed_period(aligned(Unit(unit.value), 0, m.ctx), Unit(unit.value)) if unit else m["what"].when
    word, today = m.tag("which"), m.ctx.today
    if word == "HENCE" and what.begin <= today < what.finish and what.grain > Unit.DAY:
        lower = max(part("LATE", what).begin, today)
        return time_node(m, Period(lower, what.finish, Unit.WEEK))
    if what.grain is Unit.DAY and what.begin == today < m.ctx.local and not what.recur:
        if word == "EARLIER":
            return time_node(m, Period(today, m.ctx.local, Unit.PART))
        if word == "HENCE":
            return time_node(m, Period(max(m.ctx.local, part("LATE", what).begin), what.finish, Unit.PART))
    if word == "EARLIER" and what.begin < today < what.finish:
        return time_node(m, Period(what.begin, today, Unit.WEEK, wide=(what.begin, after(today, days=1))))
    return time_node(m, part("LATE" if word in {"LATE", "HENCE"} else "EARLY", what))


@PARTS.rule(
    "THE? which:(END|START|STARTING|MID) OF (THE unit:UNIT|what:(PERIODS|DATES))", "which:MID DASH? what:PERIODS"
)
def _part_of(m: Match) -> Node | None:
    unit = m.get("unit")
    if unit is not None and unit.value < Unit.DAY:
        return None
    what = fixed_period(aligned(Unit(unit.value), 0, m.ctx), Unit(unit.value)) if unit else m["what"].when
    which = _WHICH[m.tag("which")]
    if what.grain is Unit.DAY:
        if which != "END":
            return time_node(m, part("EARLY" if which == "START" else which, what)) if which == "START" else None
        return time_node(m, Period(what.finish - timedelta(seconds=1), what.finish, Unit.MINUTE))
    return time_node(m, part(which, what))
