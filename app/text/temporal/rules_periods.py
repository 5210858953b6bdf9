"""Months and seasons, and the year that belongs to them: "in May", "last summer", "June of last year"."""

from __future__ import annotations

from dataclasses import replace

from app.text.temporal.days import Grain, Range, months_range
from app.text.temporal.nodes import UNKNOWN, Match, Node, Rule, rule, timed
from app.text.temporal.periods import Context, Period, fixed, recurring
from app.text.temporal.rules_dates import full_year

CENTURY = 100
SEASON_STARTS = (12, 3, 6, 9)


def month_range(ctx: Context, month: int) -> Period | None:
    """Return the month of every year."""
    return recurring(lambda year: months_range(year, month, 1), Grain.MONTH, ctx, Grain.YEAR)


def shifted_year(ctx: Context, period: Period | None, mod: Node) -> Period | None:
    """Return the reading of "last May" (of last year), "this May" and "next May" (of next year)."""
    if period is None:
        return None
    if mod.tag in {"PAST", "COMING"} and period.recur:
        found = replace(period.recur, today_counts=False).resolve(
            replace(ctx, prefer="past" if mod.tag == "PAST" else "future")
        )
        return replace(period, lower=found[0], upper=found[1], recur=None) if found else None
    return period.in_year(ctx.local.year + mod.value)


@rule("mod:MOD month:ANYMONTH")
def _mod_month(m: Match) -> Node | None:
    following = m.after
    if m["mod"].tag == "THIS" and m["month"].tag == "MONTH_LIKE" and following and following.tag == UNKNOWN:
        return None  # "this may be"
    return timed(m, shifted_year(m.ctx, month_range(m.ctx, m["month"].value), m["mod"]))


@rule("mod:MOD what:(PERIOD_Y|DATE_Y)")
def _mod_yearly(m: Match) -> Node | None:
    if m["what"].when.grain is Grain.DAY and m["mod"].tag in {"LAST", "NEXT"} and m["what"].when.recur:
        tag = "PAST" if m["mod"].tag == "LAST" else "COMING"
        return timed(m, shifted_year(m.ctx, m["what"].when, replace(m["mod"], tag=tag)))
    return timed(m, shifted_year(m.ctx, m["what"].when, m["mod"]))


@rule(
    "mod:MOD? season:SEASON ((OF|COMMA)? year:YEARNO)?",
    "THE? season:SEASON OF year:TWO",
    "THE season:SEASON (OF? year:YEARNO)?",
)
def _season(m: Match) -> Node | None:
    season = m["season"]
    mod, year = m.get("mod"), m.get("year")
    loose = m.before is None or m.before.tag not in {"IN", "DURING", "SINCE", "OVER", "UNTIL", "ALL", "EARLY", "LATE"}
    if mod is None and year is None and loose and not (m.inside[0].tag == "THE" and season.word.lower() == "summer"):
        return None
    if m.after is not None and m.after.tag == UNKNOWN and mod is None and year is None:
        return None
    start = SEASON_STARTS[season.value]

    def at(number: int) -> Range:
        return months_range(number - 1 if season.value == 0 else number, start, 3)

    period = recurring(at, Grain.SEASON, m.ctx, Grain.YEAR)
    if year is not None and period:
        bounds = months_range(full_year(year.value, digits=2), start, 3)
        return timed(m, fixed(bounds, Grain.SEASON))
    if mod is not None and period:
        want = {"PAST": -1, "LAST": -1, "NEXT": 1, "COMING": 1, "THIS": 0}[mod.tag]
        return timed(m, shifted_season(m.ctx, period, want))
    return timed(m, period)


def shifted_season(ctx: Context, period: Period, want: int) -> Period | None:
    """Return this year's season, or the nearest one wholly over or still to begin."""
    if want == 0 or period.recur is None:
        return period.in_year(ctx.local.year)
    near = period.recur.around(ctx.local)
    over, ahead = [r for r in near if r[1] <= ctx.local], [r for r in near if r[0] > ctx.local]
    chosen = over[-1:] if want < 0 else ahead[:1]
    return fixed(chosen[0], Grain.SEASON) if chosen else None


_MONTH_PLACES = {
    "IN", "SINCE", "UNTIL", "BY", "BEFORE", "AFTER", "DURING", "EARLY", "LATE", "MID", "LAST", "NEXT", "THROUGH",
    "WITHIN", "BETWEEN",
}  # fmt: skip
_HEADS = {"END", "STARTING", "START", "MID", "UNIT", "WEEKDAY", "QUARTER", "AMOUNT", "HALF"}
_MONTH_FOLLOWERS = {"TO", "UNTIL", "THROUGH", "DASH"}
_MONTHS = {"MONTH", "MONTH_LIKE", "PERIOD", "PERIOD_Y", "DATE", "DATEWORD", "NOW", "TODAY"}
_LINKS = {"FROM", "OF", "TO", "AND", "DASH", "OR"}


@rule("THE? UNIT OF month:ANYMONTH", "month:ANYMONTH")
def _month(m: Match) -> Node | None:
    month, before = m["month"], m.before
    if m.inside[0] is not month and not any(n.tag == "UNIT" and n.value == Grain.MONTH for n in m.inside):
        return None
    if month.tag == "MONTH_LIKE" and m.inside[0] is month:
        linked = before is not None and before.tag in _LINKS and month.word.lower() not in {"mar", "jan"}
        following = [node.tag for node in m.nodes[m.found.end() : m.found.end() + 2]]
        between_months = len(following) > 1 and following[0] in _MONTH_FOLLOWERS and following[1] in _MONTHS
        ahead = m.nodes[m.found.end() : m.found.end() + 2]
        ahead = ahead[1:] if ahead and ahead[0].tag == "OF" else ahead[:1]
        year_follows = bool(ahead) and ahead[0].tag == "PERIOD" and ahead[0].when.grain is Grain.YEAR
        lead = [node.tag for node in m.nodes[max(0, m.found.start() - 4) : m.found.start()]]
        joined = before is not None and (before.tag != "AND" or "BETWEEN" in lead)
        range_end = linked and joined and any(tag in _MONTHS for tag in lead[-3:])
        part_of = (
            before is not None
            and before.tag == "OF"
            and m.found.start() > 1
            and (m.nodes[m.found.start() - 2].tag in _HEADS)
        )
        placed = before is not None and before.tag in _MONTH_PLACES
        if not (placed or part_of or range_end or between_months or year_follows):
            return None
    return timed(m, month_range(m.ctx, month.value))


@rule(
    "what:YEARLY (COMMA|OF|IN|SEP|POSSESSIVE)? year:(Y4|YWORDS|PERIOD)",
    "year:(Y4|PERIOD) (SEP|COMMA|POSSESSIVE)? THE? what:YEARLY",
    "what:YEARLY OF year:TWO",
)
def _attach_year(m: Match) -> Node | None:
    node = m["year"]
    if node.period is not None:
        if node.when.grain is not Grain.YEAR:
            return None
        year = node.when.begin.year
    else:
        year = node.value if node.num >= CENTURY else node.value + (2000 if node.value < 40 else 1900)  # noqa: PLR2004
    return timed(m, m["what"].when.in_year(year))


ATTACH_YEAR: list[Rule] = _attach_year
PERIODS: list[Rule] = [
    *_mod_month,
    *_season,
    *_month,
    *_mod_yearly,
    *_attach_year,
]
