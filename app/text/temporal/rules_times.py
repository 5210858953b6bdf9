"""Hours of a day: "tomorrow at 8", "last night", "Friday afternoon between 1 and 4 pm"."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from app.text.temporal.days import Grain, Range, after
from app.text.temporal.nodes import UNKNOWN, Match, Node, Rule, rule, timed
from app.text.temporal.periods import Clock, Period, one_day
from app.text.temporal.rules_relative import instant

PART_HOURS = ((8, 12), (12, 16), (16, 20), (20, 24))
"""Morning, afternoon, evening, night: the strict reading."""
WIDE_HOURS = ((4, 12), (12, 18), (16, 24), (17, 30))
"""The hours to search; a night runs into the next morning."""
NOON = 12
HALF_DAY = timedelta(hours=12)


def spell(day: Period, index: int) -> Period:
    """Return the part of a day: 0 the morning to 3 the night."""

    def hours(bounds: Range, pair: tuple[int, int]) -> Range:
        return bounds[0] + timedelta(hours=pair[0]), after(bounds[0], days=pair[1] / 24)

    strict = day.map(lambda bounds: hours(bounds, PART_HOURS[index]), Grain.PART)
    return replace(strict, wide=hours((day.begin, day.finish), WIDE_HOURS[index]))


@rule("mod:(MOD|TONIGHT) part:PART?", "mod:(LAST|NEXT|THIS|PAST) part:PART")
def _this_part(m: Match) -> Node | None:
    part = m.get("part")
    if m.tag("mod") == "TONIGHT":
        return timed(m, spell(one_day(m.ctx.today), 3)) if part is None else None
    if part is None:
        return None
    return timed(m, spell(one_day(m.ctx.today + timedelta(days=m["mod"].value)), part.value))


@rule(
    "day:DATES (COMMA|DASH)? (IN THE? | AT | ON THE)? (late:(EARLY|LATE) DASH?)? part:PART",
    "(IN THE? | AT)? (late:(EARLY|LATE) DASH? (IN THE)?)? part:PART COMMA? (OF|ON)? day:DATES",
    "day:DATES COMMA? half:AMPM",
)
def _day_part(m: Match) -> Node | None:
    index = m["part"].value if m.get("part") else (0 if m["half"].value == 0 else 1)
    late = m.tag("late")
    period = spell(m["day"].when, index)
    return timed(m, _half_spell(period, late) if late else period)


def _half_spell(period: Period, late: str) -> Period:
    def cut(bounds: Range) -> Range:
        middle = bounds[0] + (bounds[1] - bounds[0]) / 2
        return (middle, bounds[1]) if late in {"LATE", "HENCE"} else (bounds[0], middle)

    return period.map(cut, Grain.PART)


@rule("late:(LATE|HENCE|EARLY|EARLIER) what:SPELL")
def _late_spell(m: Match) -> Node | None:
    return timed(m, _half_spell(m["what"].when, m.tag("late")))


def at_clock(day: Period, clock: Clock) -> Period:
    """Return the moment of a day, of every such day if it comes round."""
    period = day.map(lambda bounds: (clock.on(bounds[0]), clock.on(bounds[0]) + timedelta(minutes=1)), Grain.MINUTE)
    if clock.second is not None and period.lower and not period.recur:
        return instant(period.lower, seconds=True)
    return period


def in_spell(day: Period, clock: Clock) -> Clock:
    """Return the hour read by the part of the day it was said with: 8 in the evening is 20."""
    if day.grain is not Grain.PART or day.lower is None:
        return clock
    if day.lower.hour >= 20 and clock.hour < 5:  # noqa: PLR2004 - "tonight at 1" is said of the small hours
        return clock
    return clock.half(afternoon=day.lower.hour >= NOON)


def day_of(day: Period) -> Period:
    """Return the whole day that a part belongs to."""
    return day.map(lambda bounds: _whole_day(bounds[0]), Grain.DAY) if day.grain is Grain.PART else day


def _whole_day(moment: datetime) -> Range:
    start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return start, after(start, days=1)


_DAY = "day:(DATES|SPELL)"
_AT = "(AT|FOR|BY|COMMA|AROUND|ON)?"


@rule(
    f"{_DAY} COMMA? {_AT} AROUND? time:(TIME|DOTTED) (IN THE part:PART)?",
    f"{_DAY} COMMA? AT AROUND? time:N12 (IN THE part:PART)?",
    f"AT? time:TIME COMMA? (IN THE part:PART)? (ON|OF|IN|FOR)? {_DAY}",
    f"AT time:(N12|DOTTED) COMMA? (IN THE part:PART)? (ON|OF)? {_DAY}",
    f"time:N12 COMMA {_DAY}",
)
def _at(m: Match) -> Node | None:
    day, time = m["day"].when, m["time"]
    part = m.get("part")
    following = m.after
    if following is not None and following.tag in {"DASH", "TO", "UNTIL", "THROUGH"} and day.grain is not Grain.DAY:
        return None
    if time.tag == "N12" and following is not None and following.tag in {UNKNOWN, "DASH", "TO", "AND", "COLON", "UNIT"}:
        return None
    if time.tag == "N12" and m.inside[0] is time and day.grain is not Grain.PART:
        return None
    clock = time.hour
    if clock.minute > 59:  # noqa: PLR2004 - minutes
        return None
    clock = clock.half(afternoon=part.value > 0) if part else in_spell(day, clock)
    return timed(m, at_clock(day_of(day), clock))


_FROM = "(FROM|BETWEEN|AT|COMMA)?"
_ENDS = "a:(CLOCK|HOURNO|TIMEWORDS|DOTTED) (UPTO|AND) b:(CLOCK|HOURNO|TIMEWORDS|DOTTED)"


@rule(
    f"{_DAY} COMMA? {_FROM} {_ENDS} (day2:SPELL)?",
    f"{_FROM} {_ENDS} (ON|OF|IN|COMMA)? {_DAY}",
    f"(FROM|BETWEEN) a:(CLOCK|HOURNO) {_DAY} (UPTO|AND) b:(CLOCK|HOURNO)",
)
def _hours(m: Match) -> Node | None:
    a, b, day = m["a"], m["b"], m["day"].when
    marked = any(n.tag in {"FROM", "BETWEEN", "UNTIL"} for n in m.inside) or not (a.word.isdigit() and b.word.isdigit())
    joined = any(n.tag == "AND" for n in m.inside) and m.inside[0].tag != "BETWEEN" and not marked
    year_like = m.after is not None and m.after.tag in {"MONTH", "MONTH_LIKE", UNKNOWN} and not marked
    if m.inside[-1] is not m["day"] and m.after is not None and m.after.tag in {"DATE", "DATE_Y", "DATE_W", "SPELL"}:
        return None  # "from 4pm today to 5pm tomorrow"
    if joined or year_like or (a.num > 24 and a.tag != "CLOCK"):  # noqa: PLR2004 - hours in a day
        return None
    start, end = _pair(day, a.hour, b.hour)
    whole = day_of(day)

    def cut(bounds: Range) -> Range:
        lower, upper = start.on(bounds[0]), end.on(bounds[0])
        if upper <= lower:
            upper += HALF_DAY if not end.fixed else 2 * HALF_DAY
        return lower, upper

    return timed(m, whole.map(cut, Grain.PART))


def _pair(day: Period, a: Clock, b: Clock) -> tuple[Clock, Clock]:
    """Return both hours with the half of the day that one of them, or the day's part, settles."""
    if day.grain is Grain.PART:
        a, b = in_spell(day, a), in_spell(day, b)
    if b.fixed and not a.fixed and b.hour >= NOON:
        late = a.half(afternoon=True)
        a = late if (late.hour, late.minute) < (b.hour, b.minute) else a
    elif a.fixed and not b.fixed and a.hour >= NOON:
        b = b.half(afternoon=True)
    return a, b


@rule(
    "day:(DATES|SPELL) side:(BEFORE|AFTER|SINCE|UNTIL) time:TIME",
    "day:DATES (NO HENCE THAN|NO late:LATE THAN) time:(TIME|N12)",
    "day:DATES (more:HENCE|more:LATE) THAN time:(TIME|N12) (IN THE part:PART)?",
)
def _bounded(m: Match) -> Node | None:
    part = m.get("part")
    clock = m["time"].hour
    clock = clock.half(afternoon=part.value > 0) if part else in_spell(m["day"].when, clock)
    moment = at_clock(day_of(m["day"].when), clock)
    later = m.tag("side") in {"AFTER", "SINCE"} if m.get("side") else m.get("more")
    day = day_of(m["day"].when)
    if later:
        return timed(m, Period(moment.lower, None, Grain.WEEK, wide=(moment.lower, day.finish)))
    return timed(m, Period(None, moment.lower, Grain.WEEK, wide=(day.begin, moment.lower)))


@rule("day:(DATES|MOMENT) FROM? time:TIME? FOR by:AMOUNT")
def _hours_long(m: Match) -> Node | None:
    time, by, day = m.get("time"), m["by"].long, m["day"].when
    if by.grain >= Grain.DAY or (time is None and day.grain is Grain.DAY):
        return None
    start = at_clock(day, time.hour) if time else day

    def cut(bounds: Range) -> Range:
        return bounds[0], bounds[0] + timedelta(seconds=by.seconds)

    return timed(m, start.map(cut, Grain.PART))


@rule("BETWEEN NOW AND time:TIME", "FROM NOW (TO|UNTIL) time:TIME")
def _now_until(m: Match) -> Node | None:
    clock, now = m["time"].hour, m.ctx.local
    found = clock.on(m.ctx.today)
    while found <= now and not clock.fixed:
        found += HALF_DAY
    return timed(m, Period(now, found if found > now else after(found, days=1), Grain.PART))


@rule("what:(DATE_M|SPELL|MOMENT) (OF|IN|COMMA)? whole:PERIOD")
def _attach(m: Match) -> Node | None:
    what, whole = m["what"].when, m["whole"].when
    start = whole.begin
    if whole.grain is Grain.WEEK:
        return timed(m, what.in_week(start, m.ctx))
    if whole.grain is Grain.MONTH and what.recur and what.recur.unit is Grain.MONTH:
        return timed(m, what.at(start.year * 12 + start.month - 1))
    return timed(m, what.in_year(start.year)) if whole.grain is Grain.YEAR else None


@rule("THE part:PART BEFORE LAST")
def _part_before_last(m: Match) -> Node | None:
    return timed(m, spell(one_day(m.ctx.today - timedelta(days=2)), m["part"].value))


TIMES_FIRST: list[Rule] = [
    *_part_before_last,
    *_this_part,
    *_day_part,
    *_late_spell,
]
TIMES: list[Rule] = [*_now_until, *_hours_long, *_hours, *_bounded, *_at, *_attach]
