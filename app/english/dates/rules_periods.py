"""Rules for months and seasons ("in May", "June of last year") and calendar units ("last week", "Q3 2021")."""

from __future__ import annotations

from dataclasses import replace

from app.english.dates.days import DAYS_IN_WEEK, Range, Unit, after, first_week, month_start, months_range
from app.english.dates.nodes import UNKNOWN, Match, Node, RuleList, ends, time_node
from app.english.dates.periods import Period, ReferenceTime, aligned, fixed_period, recurring
from app.english.dates.rules_dates import full_year

PERIODS = RuleList()
ATTACH_YEAR = RuleList()
HALF_YEARS = RuleList()
UNITS = RuleList()

CENTURY = 100

SEASON_STARTS = (12, 3, 6, 9)


def month_range(ctx: ReferenceTime, month: int) -> Period | None:
    """Return the month of every year."""
    return recurring(lambda year: months_range(year, month, 1), Unit.MONTH, ctx, Unit.YEAR)


def shifted_year(ctx: ReferenceTime, period: Period | None, mod: Node) -> Period | None:
    """Return the reading of "last May" (of last year), "this May" and "next May" (of next year)."""
    if period is None:
        return None
    if mod.tag in {"PAST", "COMING"} and period.recur:
        found = replace(period.recur, today_counts=False).resolve(
            replace(ctx, prefer="past" if mod.tag == "PAST" else "future")
        )
        return replace(period, lower=found[0], upper=found[1], recur=None) if found else None
    return period.in_year(ctx.local.year + mod.value)


@PERIODS.rule("mod:MOD month:ANYMONTH")
def _mod_month(m: Match) -> Node | None:
    following = m.after
    if m["mod"].tag == "THIS" and m["month"].tag == "MONTH_LIKE" and following and following.tag == UNKNOWN:
        return None  # "this may be"
    return time_node(m, shifted_year(m.ctx, month_range(m.ctx, m["month"].value), m["mod"]))


@PERIODS.rule(
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
    if not ends(m.after) and m.after and m.after.tag == UNKNOWN and mod is None and year is None:
        return None
    start = SEASON_STARTS[season.value]

    def at(number: int) -> Range:
        return months_range(number - 1 if season.value == 0 else number, start, 3)

    period = recurring(at, Unit.SEASON, m.ctx, Unit.YEAR)
    if year is not None and period:
        bounds = months_range(full_year(year.value, digits=2), start, 3)
        return time_node(m, fixed_period(bounds, Unit.SEASON))
    if mod is not None and period:
        want = {"PAST": -1, "LAST": -1, "NEXT": 1, "COMING": 1, "THIS": 0}[mod.tag]
        return time_node(m, shifted_season(m.ctx, period, want))
    return time_node(m, period)


@PERIODS.rule("THE? UNIT OF month:ANYMONTH", "month:ANYMONTH")
def _month(m: Match) -> Node | None:
    month, before = m["month"], m.before
    if m.inside[0] is not month and not any(n.tag == "UNIT" and n.value == Unit.MONTH for n in m.inside):
        return None
    if month.tag == "MONTH_LIKE" and m.inside[0] is month:
        linked = before is not None and before.tag in _LINKS and month.word.lower() not in {"mar", "jan"}
        following = [node.tag for node in m.nodes[m.found.end() : m.found.end() + 2]]
        between_months = len(following) > 1 and following[0] in _MONTH_FOLLOWERS and following[1] in _MONTHS
        ahead = m.nodes[m.found.end() : m.found.end() + 2]
        ahead = ahead[1:] if ahead and ahead[0].tag == "OF" else ahead[:1]
        year_follows = bool(ahead) and ahead[0].tag == "PERIOD" and ahead[0].when.grain is Unit.YEAR
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
    return time_node(m, month_range(m.ctx, month.value))


def shifted_season(ctx: ReferenceTime, period: Period, want: int) -> Period | None:
    """Return this year's season, or the nearest one that is over or has not begun."""
    if want == 0 or period.recur is None:
        return period.in_year(ctx.local.year)
    near = period.recur.around(ctx.local)
    over, ahead = [r for r in near if r[1] <= ctx.local], [r for r in near if r[0] > ctx.local]
    chosen = over[-1:] if want < 0 else ahead[:1]
    return fixed_period(chosen[0], Unit.SEASON) if chosen else None


_MONTH_PLACES = {
    "IN", "SINCE", "UNTIL", "BY", "BEFORE", "AFTER", "DURING", "EARLY", "LATE", "MID", "LAST", "NEXT", "THROUGH",
    "WITHIN", "BETWEEN",
}  # fmt: skip

_HEADS = {"END", "STARTING", "START", "MID", "UNIT", "WEEKDAY", "QUARTER", "AMOUNT", "HALF"}

_MONTH_FOLLOWERS = {"TO", "UNTIL", "THROUGH", "DASH"}

_MONTHS = {"MONTH", "MONTH_LIKE", "PERIOD", "PERIOD_Y", "DATE", "DATEWORD", "NOW", "TODAY"}

_LINKS = {"FROM", "OF", "TO", "AND", "DASH", "OR"}


@PERIODS.rule("mod:MOD what:(PERIOD_Y|DATE_Y)")
def _mod_yearly(m: Match) -> Node | None:
    if m["what"].when.grain is Unit.DAY and m["mod"].tag in {"LAST", "NEXT"} and m["what"].when.recur:
        tag = "PAST" if m["mod"].tag == "LAST" else "COMING"
        return time_node(m, shifted_year(m.ctx, m["what"].when, replace(m["mod"], tag=tag)))
    return time_node(m, shifted_year(m.ctx, m["what"].when, m["mod"]))


@ATTACH_YEAR.rule(
    "what:YEARLY (COMMA|OF|IN|SEP|POSSESSIVE)? year:(Y4|YWORDS|PERIOD)",
    "year:(Y4|PERIOD) (SEP|COMMA|POSSESSIVE)? THE? what:YEARLY",
    "what:YEARLY OF year:TWO",
)
def _attach_year(m: Match) -> Node | None:
    node = m["year"]
    if node.period is not None:
        if node.when.grain is not Unit.YEAR:
            return None
        year = node.when.begin.year
    else:
        year = node.value if node.num >= CENTURY else node.value + (2000 if node.value < 40 else 1900)  # noqa: PLR2004
    return time_node(m, m["what"].when.in_year(year))


DECADE = 10

_YEAR_NEARBY = frozenset({"Y4", "YWORDS", "PERIOD", "THIS", "LAST", "NEXT", "POSSESSIVE"})


@UNITS.rule("number:QUARTER_NO", "number:ORDINAL QUARTER")
def _quarter(m: Match) -> Node | None:
    number = m["number"].value
    at = m.found.start()
    near = {node.tag for node in m.nodes[max(0, at - 2) : m.found.end() + 2]}
    if not 1 <= number <= 4 or (m["number"].tag != "QUARTER_NO" and not near & _YEAR_NEARBY):  # noqa: PLR2004
        return None  # "the fourth quarter" of a game
    return time_node(m, recurring(lambda year: months_range(year, 3 * number - 2, 3), Unit.QUARTER, m.ctx, Unit.YEAR))


@HALF_YEARS.rule(
    "number:HALF_NO OF? year:Y4",
    "year:Y4 DASH? number:HALF_NO",
    "THE? number:ORDINAL HALF OF? (year:Y4|whole:PERIOD)",
    "year:Y4 COMMA? THE? number:ORDINAL HALF",
)
def _half_year(m: Match) -> Node | None:
    number = m["number"].value
    if number > 2:  # noqa: PLR2004 - halves
        return None
    whole = m.get("whole")
    if whole is not None and whole.when.grain is not Unit.YEAR:
        return None
    year = whole.when.begin.year if whole else m["year"].value
    return time_node(m, fixed_period(months_range(year, 6 * number - 5, 6), Unit.SEASON))


@UNITS.rule("THE? number:ORDINAL unit:UNIT", "THE? number:ORDBIG unit:UNIT")
def _century(m: Match) -> Node | None:
    if m["unit"].value != Unit.CENTURY:
        return None
    first = (m["number"].value - 1) * CENTURY
    lower = month_start(max(first, 1), 1)
    return time_node(m, fixed_period((lower, month_start(first + CENTURY, 1)), Unit.CENTURY))


_DECADE_PLACES = frozenset({"IN", "DURING", "SINCE", "OF", "FROM", "EARLY", "LATE", "MID", "DASH"})


@UNITS.rule(
    "THE? base:(Y4|YSHORT) (POSSESSIVE|end:UNIT)",
    "THE? base:(N3|TWO) (POSSESSIVE|end:UNIT)",
    "THE hundreds:TWO DASH? base:DECADE",
    "THE thousands:YWORDS AND? base:DECADE",
    "THE base:DECADE",
    "base:DECADE",
)
def _decade(m: Match) -> Node | None:
    base = m["base"]
    end = m.get("end")
    year = base.value
    if base.tag != "DECADE" and (year % DECADE or (end is not None and end.word.lower() != "s")):
        return None
    if m.get("hundreds"):
        year = m["hundreds"].value * max(base.value, CENTURY) + (base.value if base.value < CENTURY else 0)
    elif m.get("thousands"):
        year += m["thousands"].value
    odd = base.tag in {"N3", "N12"} or (
        base.tag == "DECADE" and not DECADE < base.num < CENTURY and len(m.inside) < 3  # noqa: PLR2004 - "the thousands"
    )
    if odd or year == 0:
        return None
    if year < CENTURY:
        before = m.before is not None and m.before.tag in _DECADE_PLACES
        if not before and m.inside[0].tag != "THE":
            return None
        centuries = m.ctx.local.year // CENTURY * CENTURY
        ahead = year + centuries
        year = ahead if ahead <= m.ctx.local.year or m.ctx.prefer != "past" else ahead - CENTURY
    return time_node(m, fixed_period((month_start(year, 1), month_start(year + DECADE, 1)), Unit.DECADE))


@UNITS.rule("unit:UNIT number:COUNT (OF? year:Y4)?")
def _week_number(m: Match) -> Node | None:
    if m["unit"].value != Unit.WEEK or m["unit"].word.lower() != "week" or not 1 <= m["number"].num <= 53:  # noqa: PLR2004
        return None
    year = m.get("year")
    start = first_week(month_start(year.value if year else m.ctx.local.year, 1))
    start = after(start, days=DAYS_IN_WEEK * (m["number"].value - 1))
    return time_node(m, fixed_period((start, after(start, days=DAYS_IN_WEEK)), Unit.WEEK))


@UNITS.rule("THE? unit:UNIT (AFTER|BEFORE) side:(NEXT|LAST)")
def _after_next(m: Match) -> Node | None:
    grain = Unit(m["unit"].value)
    return time_node(m, fixed_period(aligned(grain, 2 * m["side"].value, m.ctx), grain))


_MODS = frozenset({"LAST", "PAST", "NEXT", "COMING", "THIS"})


def _part_follows(m: Match) -> bool:
    """Return whether the match continues: "last week" by "of 2019", "next day" by "and 5 hours"."""
    tags = [node.tag for node in m.nodes[m.found.end() : m.found.end() + 2]]
    if len(tags) > 1 and tags[0] == "AND" and tags[1] == "AMOUNT":
        return m["mod"].tag != "LAST"
    if len(tags) > 1 and tags[0] in {"BEFORE", "AFTER"} and tags[1] in {"DATE", "DATE_Y"}:
        return m["mod"].tag == "LAST"
    return (
        m["mod"].tag == "LAST"
        and len(tags) > 1
        and tags[0] == "OF"
        and tags[1] in {"Y4", "YWORDS", "MONTH", "MONTH_LIKE", "PERIOD", *_MODS}
    )


@UNITS.rule("mod:MOD (mod2:(PAST|COMING))? CALENDAR? unit:(UNIT|QUARTER)", "THE mod:MOD CALENDAR? unit:(UNIT|QUARTER)")
def _mod_unit(m: Match) -> Node | None:
    grain, offset = Unit(m["unit"].value), m["mod"].value
    mod2 = m.get("mod2")
    offset = mod2.value if mod2 else offset
    if m["unit"].word.lower().endswith("s") and m["unit"].tag == "UNIT":
        return None
    if grain < Unit.DAY or _part_follows(m):
        return None
    period = fixed_period(aligned(grain, offset, m.ctx), grain)
    rolls = m["mod"].tag == "PAST" or (m.before is not None and m.before.tag in {"THE", "WITHIN", "OVER", "DURING"})
    if offset < 0 and rolls and grain > Unit.WEEKEND:  # "over the past year" goes on to today
        period = replace(period, wide=(period.lower, after(m.ctx.today, days=1)))
    return time_node(m, period)


def _counted(before: Node | None) -> bool:
    return before is None or before.tag not in {"ON", "AT", "OVER", "DURING", "FOR", UNKNOWN}


@UNITS.rule("THE unit:UNIT", "unit:UNIT")
def _weekend(m: Match) -> Node | None:
    if m["unit"].value not in {Unit.WEEKEND, Unit.FORTNIGHT} or m["unit"].word.lower().endswith("s"):
        return None
    if m.inside[0].tag == "UNIT" and (not ends(m.after) or m["unit"].value != Unit.WEEKEND or _counted(m.before)):
        return None
    if m.after is not None and m.after.tag in {"OF", "BEFORE", "AFTER", "STARTING", "THAT"}:
        return None
    grain = Unit(m["unit"].value)
    return time_node(m, fixed_period(aligned(grain, 0, m.ctx), grain))
