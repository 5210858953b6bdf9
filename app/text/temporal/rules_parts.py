"""Parts of periods ("early last week", "end of March", "rest of the year") and weeks around a date."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from app.text.temporal.days import DAYS_IN_WEEK, SATURDAY, Grain, Range, after, amount, month_start, shift, week_start
from app.text.temporal.nodes import Match, Node, Rule, made, rule, timed
from app.text.temporal.periods import Period, aligned, fixed

NOON = 12


def halves(bounds: Range, grain: Grain) -> datetime:
    """Return where the late half begins: Thursday, the 16th, July, else the middle."""
    lower, upper = bounds
    if grain is Grain.WEEK:
        return lower + timedelta(days=3)
    if grain is Grain.MONTH:
        return lower + timedelta(days=15)
    if grain is Grain.YEAR:
        return month_start(lower.year, 7)
    if grain > Grain.YEAR:
        return month_start((lower.year + upper.year) // 2, 1)
    return lower + (timedelta(days=(upper - lower).days // 2) if grain > Grain.WEEKEND else (upper - lower) / 2)


def thirds(bounds: Range, grain: Grain) -> tuple[datetime, datetime]:
    """Return where the middle third begins and ends: May to September, the 11th to the 21st."""
    lower, upper = bounds
    if grain is Grain.YEAR:
        return month_start(lower.year, 5), month_start(lower.year, 9)
    if grain is Grain.MONTH:
        return lower + timedelta(days=10), lower + timedelta(days=20)
    if grain is Grain.WEEK:
        return lower + timedelta(days=1), lower + timedelta(days=4)
    if grain > Grain.YEAR:
        years = (upper.year - lower.year) * 3 // 10
        return month_start(lower.year + years, 1), month_start(upper.year - years, 1)
    third = timedelta(days=max(1, (upper - lower).days // 3)) if grain > Grain.DAY else (upper - lower) / 3
    return lower + third, upper - third


def part(which: str, period: Period) -> Period:
    """Return the early, late, first, middle or last part of a period."""
    grain = period.grain

    def change(bounds: Range) -> Range:
        lower, upper = bounds
        middle_start, middle_end = thirds(bounds, grain)
        half = halves(bounds, grain)
        by_thirds = grain is Grain.YEAR and period.recur is None
        cut = {
            "EARLY": (lower, half),
            "LATE": (half, upper),
            "START": (lower, middle_start if by_thirds else half),
            "MID": (middle_start, middle_end),
            "END": (middle_end if by_thirds else half, upper),
        }
        return cut[which]

    result = period.map(change, Grain.PART if grain <= Grain.DAY else Grain.WEEK)
    edge = {
        "START": period.begin,
        "MID": (period.begin + (period.finish - period.begin) / 2).replace(hour=0, minute=0, second=0),
        "END": period.finish,
    }.get(which)
    return replace(result, edge=edge)


_WHICH = {"STARTING": "START", "START": "START", "END": "END", "MID": "MID", "EARLY": "EARLY", "LATE": "LATE"}


@rule("THE? which:(END|START|STARTING|MID) OF (THE unit:UNIT|what:(PERIODS|DATES))", "which:MID DASH? what:PERIODS")
def _part_of(m: Match) -> Node | None:
    unit = m.get("unit")
    if unit is not None and unit.value < Grain.DAY:
        return None
    what = fixed(aligned(Grain(unit.value), 0, m.ctx), Grain(unit.value)) if unit else m["what"].when
    which = _WHICH[m.tag("which")]
    if what.grain is Grain.DAY:
        if which != "END":
            return timed(m, part("EARLY" if which == "START" else which, what)) if which == "START" else None
        return timed(m, Period(what.finish - timedelta(seconds=1), what.finish, Grain.MINUTE))
    return timed(m, part(which, what))


@rule(
    "which:(EARLY|LATE|HENCE|EARLIER) (DASH|ON|IN)? (THE? day:UNIT|THIS day:UNIT)? ON? what:DATES",
    "which:(EARLY|LATE|HENCE|EARLIER) IN? (THE unit:UNIT|what:(PERIODS|DATES))",
)
def _early_late(m: Match) -> Node | None:
    unit = m.get("unit")
    day = m.get("day")
    if (day and day.value != Grain.DAY) or (unit and unit.value < Grain.DAY):
        return None
    what = fixed(aligned(Grain(unit.value), 0, m.ctx), Grain(unit.value)) if unit else m["what"].when
    word, today = m.tag("which"), m.ctx.today
    if word == "HENCE" and what.begin <= today < what.finish and what.grain > Grain.DAY:
        lower = max(part("LATE", what).begin, today)
        return timed(m, Period(lower, what.finish, Grain.WEEK))
    if what.grain is Grain.DAY and what.begin == today < m.ctx.local and not what.recur:
        if word == "EARLIER":
            return timed(m, Period(today, m.ctx.local, Grain.PART))
        if word == "HENCE":
            return timed(m, Period(max(m.ctx.local, part("LATE", what).begin), what.finish, Grain.PART))
    if word == "EARLIER" and what.begin < today < what.finish:
        return timed(m, Period(what.begin, today, Grain.WEEK, wide=(what.begin, after(today, days=1))))
    return timed(m, part("LATE" if word in {"LATE", "HENCE"} else "EARLY", what))


@rule("THE? REST OF? (THE|THIS)? unit:UNIT", "THE? REST OF? what:(PERIODS|DATE)")
def _rest(m: Match) -> Node | None:
    grain = Grain(m["unit"].value) if m.get("unit") else m["what"].when.grain
    if grain < Grain.DAY:
        return None
    what = fixed(aligned(grain, 0, m.ctx), grain) if m.get("unit") else m["what"].when
    start = m.ctx.local if grain is Grain.DAY else m.ctx.today
    lower = max(what.begin, start)
    if lower >= what.finish:
        return None
    return timed(m, Period(lower, what.finish, Grain.PART if grain is Grain.DAY else Grain.WEEK))


@rule("THE? unit:UNIT (OF|STARTING|FROM) (ON|FROM)? THE? what:DATES", "unit:WEEK_OF what:DATES")
def _week_of(m: Match) -> Node | None:
    unit = m["unit"]
    grain = Grain.WEEK if unit.tag == "WEEK_OF" else Grain(unit.value)
    if unit.word.lower().endswith("s") and unit.tag == "UNIT":
        return None

    def week(bounds: Range) -> Range:
        monday = week_start(bounds[0])
        return monday, after(monday, days=DAYS_IN_WEEK)

    if grain is Grain.WEEK:
        return timed(m, m["what"].when.map(week, Grain.WEEK))
    return timed(m, m["what"].when.map(weekend_near, Grain.WEEKEND)) if grain is Grain.WEEKEND else None


def weekend_near(bounds: Range) -> Range:
    """Return the weekend of the week, stretched to a Monday or Friday that the date itself is."""
    start = bounds[0]
    if start.weekday() == 0:
        return start - timedelta(days=2), after(start, days=1)
    saturday = week_start(start) + timedelta(days=SATURDAY)
    return min(saturday, start) if start.weekday() == SATURDAY - 1 else saturday, after(saturday, days=2)


@rule("what:(DATE|DATE_Y) unit:UNIT (year:(Y4|PERIOD))?")
def _holiday_weekend(m: Match) -> Node | None:
    if m["unit"].value != Grain.WEEKEND or m["what"].word:
        return None
    what: Period | None = m["what"].when
    year = m.get("year")
    if year is not None and what is not None:
        what = what.in_year(year.when.begin.year if year.period else year.value)
    return timed(m, what.map(weekend_near, Grain.WEEKEND)) if what else None


@rule(
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
    return made(m, "DEAD")


@rule("(THE|LAST) weekday:DATE_W side:(BEFORE|AFTER) THE? what:DATES")
def _weekday_beside(m: Match) -> Node | None:
    weekday, back = m["weekday"].when.begin.weekday(), m.tag("side") == "BEFORE"

    def change(bounds: Range) -> Range:
        apart = (bounds[0].weekday() - weekday if back else weekday - bounds[0].weekday()) % DAYS_IN_WEEK
        start = after(bounds[0], days=(-1 if back else 1) * (apart or DAYS_IN_WEEK))
        return start, after(start, days=1)

    return timed(m, m["what"].when.map(change, Grain.DAY))


@rule("THE? number:ORDINAL HALF OF what:PERIODS")
def _half_of(m: Match) -> Node | None:
    number = m["number"].value
    if number > 2 or m["what"].when.grain not in {Grain.MONTH, Grain.WEEK, Grain.YEAR}:  # noqa: PLR2004 - halves
        return None
    return timed(m, part("EARLY" if number == 1 else "LATE", m["what"].when))


@rule("(THE|LAST) unit:UNIT side:(BEFORE|AFTER) THE? what:DATES")
def _beside(m: Match) -> Node | None:
    grain, back = Grain(m["unit"].value), m.tag("side") == "BEFORE"
    if grain not in {Grain.DAY, Grain.WEEKEND, Grain.WEEK, Grain.MONTH, Grain.YEAR} or m["unit"].word.endswith("s"):
        return None
    by = amount(1, grain)

    def change(bounds: Range) -> Range:
        if grain is Grain.WEEKEND:
            saturday = week_start(bounds[0]) + timedelta(days=SATURDAY)
            week = 0 if (saturday < bounds[0]) == back else -1 if back else 1
            saturday += timedelta(days=DAYS_IN_WEEK * week)
            return saturday, after(saturday, days=2)
        return (shift(bounds[0], by, -1), bounds[0]) if back else (bounds[1], shift(bounds[1], by, 1))

    return timed(m, m["what"].when.map(change, grain))


@rule("THE? unit:UNIT TO DATEWORD", "YTD")
def _to_date(m: Match) -> Node | None:
    grain = Grain(m["unit"].value) if m.get("unit") else Grain.YEAR
    lower = aligned(grain, 0, m.ctx)[0]
    return timed(m, Period(lower, m.ctx.today, Grain.WEEK, wide=(lower, after(m.ctx.today, days=1))))


SETS: list[Rule] = _set
PARTS: list[Rule] = [
    *_to_date,
    *_weekday_beside,
    *_beside,
    *_half_of,
    *_rest,
    *_week_of,
    *_holiday_weekend,
    *_early_late,
    *_part_of,
]
