"""Counted from now or from a date: "two weeks ago", "in the last 3 months", "3 days after 5 May"."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from app.model import Precision
from app.text.temporal.days import (
    DAYS_IN_WEEK,
    Amount,
    Grain,
    after,
    amount,
    elapsed,
    midnight,
    month_start,
    shift,
    week_start,
)
from app.text.temporal.nodes import Match, Node, Rule, rule, timed
from app.text.temporal.periods import Context, Period, aligned, fixed, one_day

ALIGNED = {Grain.QUARTER, Grain.DECADE, Grain.CENTURY, Grain.FORTNIGHT, Grain.WEEKEND}
PRECISIONS = {Grain.WEEK: Precision.WEEK, Grain.FORTNIGHT: Precision.WEEK, Grain.MONTH: Precision.MONTH}


def instant(lower: datetime, *, seconds: bool = False) -> Period:
    """Return a moment, as long as the smallest unit its time names."""
    return Period(lower, lower + timedelta(seconds=1 if seconds else 60), Grain.MINUTE)


def moved(ctx: Context, start: datetime, by: Amount, sign: int) -> Period:
    """Return the moment or the day that lies an amount from `start`; of weekends counted from now, the weekend."""
    if by.grain is Grain.WEEKEND and by.count >= 1 and start == ctx.local:
        ahead = int(by.count) - (aligned(Grain.WEEKEND, 0, ctx)[0] > ctx.today)
        found_weekend = aligned(Grain.WEEKEND, ahead if sign > 0 else -int(by.count), ctx)
        return replace(fixed(found_weekend, Grain.WEEKEND), vague=by.vague)
    if by.grain < Grain.DAY:
        whole = shift(start, replace(by, seconds=0), sign)
        if start == ctx.local and whole == start:
            found = elapsed(ctx.now, sign * by.seconds)
        else:
            found = whole + sign * timedelta(seconds=by.seconds)
        return replace(instant(found), vague=by.vague, precision=Precision.APPROXIMATE if by.vague else None)
    found = midnight(shift(midnight(start), by, sign))
    return replace(one_day(found), wide=_wide(found, by), vague=by.vague, precision=_precision(by))


def _precision(by: Amount) -> Precision | None:
    if by.vague or by.grain > Grain.MONTH:
        return Precision.APPROXIMATE
    return PRECISIONS.get(by.grain)


def _wide(found: datetime, by: Amount) -> tuple[datetime, datetime] | None:
    """Return what "3 weeks ago" may mean: the week, month or year around the day; a few days: two days around."""
    if by.grain in {Grain.WEEK, Grain.FORTNIGHT}:
        monday = week_start(found)
        return monday, after(monday, days=DAYS_IN_WEEK)
    if by.grain in {Grain.MONTH, Grain.QUARTER}:
        return month_start(found.year, found.month), month_start(found.year, found.month + 1)
    if by.grain >= Grain.YEAR:
        return month_start(found.year, 1), month_start(found.year + 1, 1)
    return (found - timedelta(days=2), after(found, days=3)) if by.vague else None


@rule(
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
        return timed(m, rolling(m.ctx, by, 1))
    tags = [node.tag for node in m.inside]
    sign = -1 if side in {"AGO", "EARLIER"} or "BEFORE" in tags else 1
    if (
        side == "AGO"
        and m.inside[-1].word.lower() == "back"
        and m.after is not None
        and m.after.tag in {"IN", "TO", "ON", "AT", "FROM", "WITHIN"}
    ):
        return None
    found = moved(m.ctx, m.ctx.local, by, sign)
    if "LESS" in tags and found.lower and sign < 0:
        return timed(m, fixed((found.lower, max(after(m.ctx.today, days=1), m.ctx.local)), Grain.WEEK))
    if ("MORE" in tags or tags[0] == "OVER") and found.lower:
        return timed(m, Period(None, found.lower, Grain.WEEK) if sign < 0 else Period(found.lower, None, Grain.WEEK))
    return timed(m, found)


@rule("IN by:AMOUNT")
def _in(m: Match) -> Node | None:
    if m.after is not None and m.after.tag in {"AFTER", "BEFORE", "FROM", "SINCE", "OF"}:
        return None
    return timed(m, moved(m.ctx, m.ctx.local, m["by"].long, 1))


@rule(
    "more:(MORE|LESS) THAN by:AMOUNT side:(BEFORE|AFTER|FROM) what:DATES",
    "by:AMOUNT side:LAST TO what:(DATES|Y4|MOMENT|PERIOD)",
    "IN? by:AMOUNT side:(BEFORE|AFTER|FROM|SINCE) (THE UNIT)? what:(DATES|Y4|MOMENT|PERIOD)",
)
def _from_date(m: Match) -> Node | None:
    by, what = m["by"].long, m["what"]
    if m.before is not None and m.before.tag == "FOR" and m.tag("side") == "FROM":
        return None
    more = m.tag("more")
    base = what.when if what.period else fixed((month_start(what.value, 1), month_start(what.value + 1, 1)), Grain.YEAR)
    if base.recur:
        found = base.recur.resolve(replace(m.ctx, prefer="future" if m.tag("side") == "FROM" else m.ctx.prefer))
        base = fixed(found, base.grain) if found else base
    if by.grain < Grain.DAY and base.grain >= Grain.DAY:
        return None
    start = base.finish if base.grain > Grain.DAY and m.tag("side") == "AFTER" else base.begin
    sign = -1 if m.tag("side") in {"BEFORE", "LAST"} else 1
    found_period = moved(m.ctx, start, by, sign)
    if more == "MORE":
        lower = found_period.begin
        return timed(m, Period(None, lower, Grain.WEEK) if sign < 0 else Period(lower, None, Grain.WEEK))
    if more == "LESS":
        near, far = start, found_period.begin
        return timed(m, fixed((min(near, far), max(near, far)), Grain.WEEK))
    return timed(m, found_period)


@rule(
    "weekday:DATE_W COMMA? by:AMOUNT (side:AGO|FROM NOW|(FROM|AFTER) what:DATE)",
    "by:AMOUNT (FROM NOW|(FROM|AFTER) what:DATE) ON weekday:DATE_W",
    "IN by:AMOUNT ON weekday:DATE_W",
)
def _weekday_near(m: Match) -> Node | None:
    by, what, weekday = m["by"].long, m.get("what"), m["weekday"].when
    when = moved(m.ctx, what.when.begin if what else m.ctx.local, by, -1 if m.get("side") else 1)
    monday = week_start(when.begin)
    found = weekday.in_week(monday, m.ctx)
    if found and by.grain >= Grain.MONTH and found.begin < when.begin:
        found = weekday.in_week(monday + timedelta(days=DAYS_IN_WEEK), m.ctx)
    return timed(m, found)


@rule("count:COUNT days:WEEKDAYS FROM NOW", "count:COUNT days:WEEKDAYS side:AGO")
def _weekdays_from(m: Match) -> Node | None:
    count, weekday, today = m["count"].value, m["days"].value, m.ctx.today
    if m.get("side"):
        days = -((today.weekday() - weekday - 1) % DAYS_IN_WEEK + 1) - DAYS_IN_WEEK * (count - 1)
    else:
        days = (weekday - today.weekday() - 1) % DAYS_IN_WEEK + 1 + DAYS_IN_WEEK * (count - 1)
    return timed(m, one_day(today + timedelta(days=days)))


def rolling(ctx: Context, by: Amount, sign: int) -> Period:
    """Return "the last 3 months" or "the next 3 days": whole days beside today, hours and less from now.

    Quarters, decades, fortnights and weekends keep to the calendar.
    """
    precision = Precision.APPROXIMATE if by.vague else None
    if by.grain in ALIGNED and by.count:
        count = int(by.count)
        bounds = aligned(by.grain, 1 if sign > 0 else -count, ctx, count)
        return replace(fixed(bounds, by.grain), precision=precision)
    if by.grain < Grain.DAY:
        other = shift(elapsed(ctx.now, sign * by.seconds), replace(by, seconds=0), sign)
        lower, upper = sorted((ctx.local, other))
        return Period(lower, upper, Grain.PART, precision=precision)
    today, tomorrow = ctx.today, after(ctx.today, days=1)
    if sign < 0:
        return Period(
            shift(today, by, -1), today, Grain.WEEK, wide=(shift(today, by, -1), tomorrow), precision=precision
        )
    return fixed((tomorrow, shift(tomorrow, by, 1)), Grain.WEEK)


_AUXILIARIES = frozenset(
    ("will", "would", "should", "could", "can", "may", "might", "must", "not", "t", "ll", "did", "does", "to")
)


@rule("THE? mod:SHIFTMOD by:AMOUNT", "WITHIN? OVER? IN? THE? (LAST|PAST)? mod:SHIFTMOD by:AMOUNT")
def _rolling(m: Match) -> Node | None:
    if m.inside[0].tag == "LAST" and m.before is not None and m.before.word.lower() in _AUXILIARIES:
        return None  # "will last two hours"
    within = m.before is not None and m.before.tag == "WITHIN" and m["mod"].num > 0
    if within or (m.inside[0].tag == "WITHIN" and m["mod"].num > 0):
        return timed(m, _within(m.ctx, m["by"].long))
    return timed(m, rolling(m.ctx, m["by"].long, m["mod"].value))


@rule("THE? count:(COUNT|COUPLE|FEW) mod:SHIFTMOD unit:(UNIT|QUARTER)", "mod:SHIFTMOD count:(COUPLE|FEW) OF? unit:UNIT")
def _rolling_inverted(m: Match) -> Node | None:
    count = m["count"]
    if not m["unit"].word.lower().endswith("s"):
        return None
    by = amount(count.num, Grain(m["unit"].value), vague=count.tag in {"COUPLE", "FEW"})
    return timed(m, rolling(m.ctx, by, m["mod"].value))


@rule("THE? mod:SHIFTMOD unit:UNIT")
def _rolling_one(m: Match) -> Node | None:
    grain = Grain(m["unit"].value)
    if grain >= Grain.DAY or m["unit"].word.lower().endswith("s"):
        return None
    if grain is Grain.MINUTE and m["mod"].tag == "LAST" and m.inside[0].tag in {"THE", "A"}:
        return None  # "at the last minute"
    return timed(m, rolling(m.ctx, amount(1, grain), m["mod"].value))


def _within(ctx: Context, by: Amount) -> Period:
    if by.grain < Grain.DAY:
        lower = ctx.local
        return Period(lower, shift(elapsed(ctx.now, by.seconds), replace(by, seconds=0), 1), Grain.PART)
    return fixed((ctx.today, shift(ctx.today, by, 1)), Grain.WEEK)


@rule(
    "WITHIN (THE (NEXT|COMING))? by:AMOUNT (FROM|OF) what:DATES",
    "WITHIN (THE? (NEXT|COMING))? by:AMOUNT",
    "WITHIN THE (NEXT|COMING) unit:UNIT AND by:AMOUNT",
    "WITHIN day:PERIOD AND by:AMOUNT",
)
def _within_rule(m: Match) -> Node | None:
    by = m["by"].long
    if m.get("unit"):
        by = by + amount(1, Grain(m["unit"].value))
    if m.get("what"):
        start = m["what"].when.begin
        return timed(m, fixed((start, shift(start, by, 1)), Grain.WEEK))
    return timed(m, _within(m.ctx, by))


@rule(
    "FOR? by:AMOUNT COMMA? side:(STARTING|FROM) (FROM|ON)? what:(DATES|MOMENT)",
    "FOR by:AMOUNT COMMA? side:(STARTING|FROM) (FROM|ON)? what:(DATES|MOMENT)",
)
def _lasting(m: Match) -> Node | None:
    if m.tag("side") == "FROM" and m.inside[0].tag != "FOR":
        return None
    what, by = m["what"].when, m["by"].long
    if what.recur:
        what = what.in_year(m.ctx.local.year) or what
    return timed(m, fixed((what.begin, shift(what.begin, by, 1)), Grain.PART if what.grain < Grain.DAY else Grain.WEEK))


RELATIVE: list[Rule] = [
    *_weekday_near,
    *_within_rule,
    *_rolling_inverted,
    *_rolling,
    *_rolling_one,
    *_ago,
    *_from_date,
    *_in,
]
WEEKDAYS: list[Rule] = _weekdays_from
LASTING: list[Rule] = _lasting
