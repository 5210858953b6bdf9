"""Rules for times relative to now or to a date: "two weeks ago", "in the last 3 months", "3 days after 5 May"."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from app.english.dates.days import (
    DAYS_IN_WEEK,
    Amount,
    Unit,
    after,
    amount,
    elapsed,
    midnight,
    month_start,
    shift,
    week_start,
)
from app.english.dates.nodes import Match, Node, RuleList, time_node
from app.english.dates.periods import Period, ReferenceTime, aligned, fixed_period, one_day
from app.model import Precision

RELATIVE = RuleList()
WEEKDAYS = RuleList()
LASTING = RuleList()

ALIGNED = {Unit.QUARTER, Unit.DECADE, Unit.CENTURY, Unit.FORTNIGHT, Unit.WEEKEND}
PRECISIONS = {Unit.WEEK: Precision.WEEK, Unit.FORTNIGHT: Precision.WEEK, Unit.MONTH: Precision.MONTH}


def instant(lower: datetime, *, seconds: bool = False) -> Period:
    """Return a moment as a period of its smallest unit."""
    return Period(lower, lower + timedelta(seconds=1 if seconds else 60), Unit.MINUTE)


def shifted_date(ctx: ReferenceTime, start: datetime, by: Amount, sign: int) -> Period:
    """Return the moment or the day at an amount of time from `start`; for weekends counted from now, the weekend."""
    if by.grain is Unit.WEEKEND and by.count >= 1 and start == ctx.local:
        ahead = int(by.count) - (aligned(Unit.WEEKEND, 0, ctx)[0] > ctx.today)
        found_weekend = aligned(Unit.WEEKEND, ahead if sign > 0 else -int(by.count), ctx)
        return replace(fixed_period(found_weekend, Unit.WEEKEND), vague=by.vague)
    if by.grain < Unit.DAY:
        whole = shift(start, replace(by, seconds=0), sign)
        if start == ctx.local and whole == start:
            found = elapsed(ctx.now, sign * by.seconds)
        else:
            found = whole + sign * timedelta(seconds=by.seconds)
        return replace(instant(found), vague=by.vague, precision=Precision.APPROXIMATE if by.vague else None)
    found = midnight(shift(midnight(start), by, sign))
    return replace(one_day(found), wide=_wide(found, by), vague=by.vague, precision=_precision(by))


def _precision(by: Amount) -> Precision | None:
    if by.vague or by.grain > Unit.MONTH:
        return Precision.APPROXIMATE
    return PRECISIONS.get(by.grain)


def _wide(found: datetime, by: Amount) -> tuple[datetime, datetime] | None:
    """Return the range to search for "3 weeks ago": the week, month or year around the day; two days for a few."""
    if by.grain in {Unit.WEEK, Unit.FORTNIGHT}:
        monday = week_start(found)
        return monday, after(monday, days=DAYS_IN_WEEK)
    if by.grain in {Unit.MONTH, Unit.QUARTER}:
        return month_start(found.year, found.month), month_start(found.year, found.month + 1)
    if by.grain >= Unit.YEAR:
        return month_start(found.year, 1), month_start(found.year + 1, 1)
    return (found - timedelta(days=2), after(found, days=3)) if by.vague else None


@RELATIVE.rule(
    "weekday:DATE_W COMMA? by:AMOUNT (side:AGO|FROM NOW|(FROM|AFTER) what:DATE)",
    "by:AMOUNT (FROM NOW|(FROM|AFTER) what:DATE) ON weekday:DATE_W",
    "IN by:AMOUNT ON weekday:DATE_W",
)
def _weekday_near(m: Match) -> Node | None:
    by, what, weekday = m["by"].long, m.get("what"), m["weekday"].when
    when = shifted_date(m.ctx, what.when.begin if what else m.ctx.local, by, -1 if m.get("side") else 1)
    monday = week_start(when.begin)
    found = weekday.in_week(monday, m.ctx)
    if found and by.grain >= Unit.MONTH and found.begin < when.begin:
        found = weekday.in_week(monday + timedelta(days=DAYS_IN_WEEK), m.ctx)
    return time_node(m, found)


@RELATIVE.rule(
    "WITHIN (THE (NEXT|COMING))? by:AMOUNT (FROM|OF) what:DATES",
    "WITHIN (THE? (NEXT|COMING))? by:AMOUNT",
    "WITHIN THE (NEXT|COMING) unit:UNIT AND by:AMOUNT",
    "WITHIN day:PERIOD AND by:AMOUNT",
)
def _within_rule(m: Match) -> Node | None:
    by = m["by"].long
    if m.get("unit"):
        by = by + amount(1, Unit(m["unit"].value))
    if m.get("what"):
        start = m["what"].when.begin
        return time_node(m, fixed_period((start, shift(start, by, 1)), Unit.WEEK))
    return time_node(m, _within(m.ctx, by))


@RELATIVE.rule(
    "THE? count:(COUNT|COUPLE|FEW) mod:SHIFTMOD unit:(UNIT|QUARTER)", "mod:SHIFTMOD count:(COUPLE|FEW) OF? unit:UNIT"
)
def _rolling_inverted(m: Match) -> Node | None:
    count = m["count"]
    if not m["unit"].word.lower().endswith("s"):
        return None
    by = amount(count.num, Unit(m["unit"].value), vague=count.tag in {"COUPLE", "FEW"})
    return time_node(m, rolling(m.ctx, by, m["mod"].value))


@RELATIVE.rule("THE? mod:SHIFTMOD by:AMOUNT", "WITHIN? OVER? IN? THE? (LAST|PAST)? mod:SHIFTMOD by:AMOUNT")
def _rolling(m: Match) -> Node | None:
    if m.inside[0].tag == "LAST" and m.before is not None and m.before.word.lower() in _AUXILIARIES:
        return None  # "will last two hours"
    within = m.before is not None and m.before.tag == "WITHIN" and m["mod"].num > 0
    if within or (m.inside[0].tag == "WITHIN" and m["mod"].num > 0):
        return time_node(m, _within(m.ctx, m["by"].long))
    return time_node(m, rolling(m.ctx, m["by"].long, m["mod"].value))


@WEEKDAYS.rule("count:COUNT days:WEEKDAYS FROM NOW", "count:COUNT days:WEEKDAYS side:AGO")
def _weekdays_from(m: Match) -> Node | None:
    count, weekday, today = m["count"].value, m["days"].value, m.ctx.today
    if m.get("side"):
        days = -((today.weekday() - weekday - 1) % DAYS_IN_WEEK + 1) - DAYS_IN_WEEK * (count - 1)
    else:
        days = (weekday - today.weekday() - 1) % DAYS_IN_WEEK + 1 + DAYS_IN_WEEK * (count - 1)
    return time_node(m, one_day(today + timedelta(days=days)))


def rolling(ctx: ReferenceTime, by: Amount, sign: int) -> Period:
    """Return "the last 3 months" or "the next 3 days": whole days next to today, hours and less from now.

    Quarters, decades, fortnights and weekends are calendar units.
    """
    precision = Precision.APPROXIMATE if by.vague else None
    if by.grain in ALIGNED and by.count:
        count = int(by.count)
        bounds = aligned(by.grain, 1 if sign > 0 else -count, ctx, count)
        return replace(fixed_period(bounds, by.grain), precision=precision)
    if by.grain < Unit.DAY:
        other = shift(elapsed(ctx.now, sign * by.seconds), replace(by, seconds=0), sign)
        lower, upper = sorted((ctx.local, other))
        return Period(lower, upper, Unit.PART, precision=precision)
    today, tomorrow = ctx.today, after(ctx.today, days=1)
    if sign < 0:
        return Period(
            shift(today, by, -1), today, Unit.WEEK, wide=(shift(today, by, -1), tomorrow), precision=precision
        )
    return fixed_period((tomorrow, shift(tomorrow, by, 1)), Unit.WEEK)


_AUXILIARIES = frozenset(
    ("will", "would", "should", "could", "can", "may", "might", "must", "not", "t", "ll", "did", "does", "to")
)


@RELATIVE.rule("THE? mod:SHIFTMOD unit:UNIT")
def _rolling_one(m: Match) -> Node | None:
    grain = Unit(m["unit"].value)
    if grain >= Unit.DAY or m["unit"].word.lower().endswith("s"):
        return None
    if grain is Unit.MINUTE and m["mod"].tag == "LAST" and m.inside[0].tag in {"THE", "A"}:
        return None  # "at the last minute"
    return time_node(m, rolling(m.ctx, amount(1, grain), m["mod"].value))


@RELATIVE.rule(
    "(MORE THAN|LESS THAN|AROUND|OVER)? by:AMOUNT side:(AGO|HENCE|EARLIER)",
    "by:AMOUNT BEFORE NOW",
    "by:AMOUNT FROM NOW",
    "IN THE? by:AMOUNT POSSESSIVE TIMEWORD",
    "by:AMOUNT IN THE side:FUTURE",
)
def _ago(m: Match) -> Node | None:
    side = m.tag("side")
    by = m["by"].long
    if side == "FUTURE":
        return time_node(m, rolling(m.ctx, by, 1))
    tags = [node.tag for node in m.inside]
    sign = -1 if side in {"AGO", "EARLIER"} or "BEFORE" in tags else 1
    if (
        side == "AGO"
        and m.inside[-1].word.lower() == "back"
        and m.after is not None
        and m.after.tag in {"IN", "TO", "ON", "AT", "FROM", "WITHIN"}
    ):
        return None
    found = shifted_date(m.ctx, m.ctx.local, by, sign)
    if "LESS" in tags and found.lower and sign < 0:
        return time_node(m, fixed_period((found.lower, max(after(m.ctx.today, days=1), m.ctx.local)), Unit.WEEK))
    if ("MORE" in tags or tags[0] == "OVER") and found.lower:
        return time_node(m, Period(None, found.lower, Unit.WEEK) if sign < 0 else Period(found.lower, None, Unit.WEEK))
    return time_node(m, found)


@RELATIVE.rule(
    "more:(MORE|LESS) THAN by:AMOUNT side:(BEFORE|AFTER|FROM) what:DATES",
    "by:AMOUNT side:LAST TO what:(DATES|Y4|MOMENT|PERIOD)",
    "IN? by:AMOUNT side:(BEFORE|AFTER|FROM|SINCE) (THE UNIT)? what:(DATES|Y4|MOMENT|PERIOD)",
)
def _from_date(m: Match) -> Node | None:
    by, what = m["by"].long, m["what"]
    if m.before is not None and m.before.tag == "FOR" and m.tag("side") == "FROM":
        return None
    more = m.tag("more")
    base = (
        what.when
        if what.period
        else fixed_period((month_start(what.value, 1), month_start(what.value + 1, 1)), Unit.YEAR)
    )
    if base.recur:
        found = base.recur.resolve(replace(m.ctx, prefer="future" if m.tag("side") == "FROM" else m.ctx.prefer))
        base = fixed_period(found, base.grain) if found else base
    if by.grain < Unit.DAY and base.grain >= Unit.DAY:
        return None
    start = base.finish if base.grain > Unit.DAY and m.tag("side") == "AFTER" else base.begin
    sign = -1 if m.tag("side") in {"BEFORE", "LAST"} else 1
    found_period = shifted_date(m.ctx, start, by, sign)
    if more == "MORE":
        lower = found_period.begin
        return time_node(m, Period(None, lower, Unit.WEEK) if sign < 0 else Period(lower, None, Unit.WEEK))
    if more == "LESS":
        near, far = start, found_period.begin
        return time_node(m, fixed_period((min(near, far), max(near, far)), Unit.WEEK))
    return time_node(m, found_period)


def _within(ctx: ReferenceTime, by: Amount) -> Period:
    if by.grain < Unit.DAY:
        lower = ctx.local
        return Period(lower, shift(elapsed(ctx.now, by.seconds), replace(by, seconds=0), 1), Unit.PART)
    return fixed_period((ctx.today, shift(ctx.today, by, 1)), Unit.WEEK)


@RELATIVE.rule("IN by:AMOUNT")
def _in(m: Match) -> Node | None:
    if m.after is not None and m.after.tag in {"AFTER", "BEFORE", "FROM", "SINCE", "OF"}:
        return None
    return time_node(m, shifted_date(m.ctx, m.ctx.local, m["by"].long, 1))


@LASTING.rule(
    "FOR? by:AMOUNT COMMA? side:(STARTING|FROM) (FROM|ON)? what:(DATES|MOMENT)",
    "FOR by:AMOUNT COMMA? side:(STARTING|FROM) (FROM|ON)? what:(DATES|MOMENT)",
)
def _lasting(m: Match) -> Node | None:
    if m.tag("side") == "FROM" and m.inside[0].tag != "FOR":
        return None
    what, by = m["what"].when, m["by"].long
    if what.recur:
        what = what.in_year(m.ctx.local.year) or what
    return time_node(
        m, fixed_period((what.begin, shift(what.begin, by, 1)), Unit.PART if what.grain < Unit.DAY else Unit.WEEK)
    )
