"""From one period to another, and one period taken as a bound."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from app.text.temporal.days import Grain, Range
from app.text.temporal.periods import Context, Period


def between(a: Period, b: Period, ctx: Context) -> Period | None:
    """Return the range from a's start to b's start; the search window takes b in whole.

    An end that comes round (no year, no week named) is placed next to the other end; when both do, the
    context's preference decides, but a range around the present wins.
    """
    if a.recur and b.recur:
        return _both_recur(a, b, ctx)
    if a.recur:
        before = [r for r in a.recur.around(b.begin) if r[0] < b.begin]
        a = _placed(a, before[-1]) if before else a
    elif b.recur:
        later = [r for r in b.recur.around(a.begin) if r[0] > a.begin]
        b = _placed(b, later[0]) if later else b
    return _joined(a, b)


def _placed(period: Period, bounds: Range) -> Period:
    return replace(period, lower=bounds[0], upper=bounds[1], recur=None, wide=None)


def _joined(a: Period, b: Period) -> Period | None:
    lower, upper = a.edge or a.begin, b.edge or b.begin
    if upper <= lower:
        return None
    exact = min(a.grain, b.grain) < Grain.DAY
    return Period(lower, upper, Grain.PART if exact else Grain.WEEK, wide=(lower, b.edge or b.search[1]))


def _both_recur(a: Period, b: Period, ctx: Context) -> Period | None:
    if a.recur is None or b.recur is None:
        return None
    found: list[Period] = []
    for start in a.recur.around(ctx.local):
        ends = [r for r in b.recur.around(start[0]) if r[0] > start[0]]
        joined = _joined(_placed(a, start), _placed(b, ends[0])) if ends else None
        if joined:
            found.append(joined)
    begun = [p for p in found if p.begin < ctx.local]
    if ctx.prefer == "past" or (begun and _open_now(begun[-1], b, ctx.local)):
        return begun[-1] if begun else None
    return next((p for p in found if p.begin >= ctx.local), None)


def _open_now(period: Period, last: Period, now: datetime) -> bool:
    end = period.finish if last.grain is Grain.DAY else period.search[1]
    return end is not None and now < end


def since(period: Period, *, strictly: bool = False) -> Period:
    """Return everything from the period on; strictly: once it is over (a day counts as a point)."""
    lower = period.begin
    if strictly and period.grain > Grain.DAY:
        lower = period.edge or period.finish
    return Period(lower, None, Grain.WEEK, wide=(lower, None))


def until(period: Period, *, included: bool = False) -> Period:
    """Return everything before the period; the search window may take the period in."""
    upper = period.edge or period.begin
    wide = period.edge or (period.search[1] if included else upper)
    return Period(None, upper, Grain.WEEK, wide=(None, wide))
