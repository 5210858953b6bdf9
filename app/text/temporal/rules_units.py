"""Named calendar units: "last week", "Q3 2021", "the 90s", "week 12", "the weekend"."""

from __future__ import annotations

from dataclasses import replace

from app.text.temporal.days import DAYS_IN_WEEK, Grain, after, first_week, month_start, months_range
from app.text.temporal.nodes import UNKNOWN, Match, Node, Rule, ends, rule, timed
from app.text.temporal.periods import aligned, fixed, recurring

CENTURY, DECADE = 100, 10


_YEAR_NEARBY = frozenset({"Y4", "YWORDS", "PERIOD", "THIS", "LAST", "NEXT", "POSSESSIVE"})


@rule("number:QUARTER_NO", "number:ORDINAL QUARTER")
def _quarter(m: Match) -> Node | None:
    number = m["number"].value
    at = m.found.start()
    near = {node.tag for node in m.nodes[max(0, at - 2) : m.found.end() + 2]}
    if not 1 <= number <= 4 or (m["number"].tag != "QUARTER_NO" and not near & _YEAR_NEARBY):  # noqa: PLR2004
        return None  # "the fourth quarter" of a game
    return timed(m, recurring(lambda year: months_range(year, 3 * number - 2, 3), Grain.QUARTER, m.ctx, Grain.YEAR))


@rule(
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
    if whole is not None and whole.when.grain is not Grain.YEAR:
        return None
    year = whole.when.begin.year if whole else m["year"].value
    return timed(m, fixed(months_range(year, 6 * number - 5, 6), Grain.SEASON))


@rule("THE? number:ORDINAL unit:UNIT", "THE? number:ORDBIG unit:UNIT")
def _century(m: Match) -> Node | None:
    if m["unit"].value != Grain.CENTURY:
        return None
    first = (m["number"].value - 1) * CENTURY
    lower = month_start(max(first, 1), 1)
    return timed(m, fixed((lower, month_start(first + CENTURY, 1)), Grain.CENTURY))


_DECADE_PLACES = frozenset({"IN", "DURING", "SINCE", "OF", "FROM", "EARLY", "LATE", "MID", "DASH"})


@rule(
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
    odd = base.tag in {"N3", "N12"} or (base.tag == "DECADE" and not 10 < base.num < CENTURY and len(m.inside) < 3)  # noqa: PLR2004 - "the thousands"
    if odd or year == 0:
        return None
    if year < CENTURY:
        before = m.before is not None and m.before.tag in _DECADE_PLACES
        if not before and m.inside[0].tag != "THE":
            return None
        centuries = m.ctx.local.year // CENTURY * CENTURY
        ahead = year + centuries
        year = ahead if ahead <= m.ctx.local.year or m.ctx.prefer == "future" else ahead - CENTURY
    return timed(m, fixed((month_start(year, 1), month_start(year + DECADE, 1)), Grain.DECADE))


@rule("unit:UNIT number:COUNT (OF? year:Y4)?")
def _week_number(m: Match) -> Node | None:
    if m["unit"].value != Grain.WEEK or m["unit"].word.lower() != "week" or not 1 <= m["number"].num <= 53:  # noqa: PLR2004
        return None
    year = m.get("year")
    start = first_week(month_start(year.value if year else m.ctx.local.year, 1))
    start = after(start, days=DAYS_IN_WEEK * (m["number"].value - 1))
    return timed(m, fixed((start, after(start, days=DAYS_IN_WEEK)), Grain.WEEK))


@rule("mod:MOD (mod2:(PAST|COMING))? CALENDAR? unit:(UNIT|QUARTER)", "THE mod:MOD CALENDAR? unit:(UNIT|QUARTER)")
def _mod_unit(m: Match) -> Node | None:
    grain, offset = Grain(m["unit"].value), m["mod"].value
    mod2 = m.get("mod2")
    offset = mod2.value if mod2 else offset
    if m["unit"].word.lower().endswith("s") and m["unit"].tag == "UNIT":
        return None
    if grain < Grain.DAY or _part_follows(m):
        return None
    period = fixed(aligned(grain, offset, m.ctx), grain)
    rolls = m["mod"].tag == "PAST" or (m.before is not None and m.before.tag in {"THE", "WITHIN", "OVER", "DURING"})
    if offset < 0 and rolls and grain > Grain.WEEKEND:  # "over the past year" goes on to today
        period = replace(period, wide=(period.lower, after(m.ctx.today, days=1)))
    return timed(m, period)


_MODS = frozenset({"LAST", "PAST", "NEXT", "COMING", "THIS"})


def _part_follows(m: Match) -> bool:
    """Tell whether "last week" goes on as "of 2019" or "next day" as "and 5 hours"."""
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


@rule("THE? unit:UNIT (AFTER|BEFORE) side:(NEXT|LAST)")
def _after_next(m: Match) -> Node | None:
    grain = Grain(m["unit"].value)
    return timed(m, fixed(aligned(grain, 2 * m["side"].value, m.ctx), grain))


def _counted(before: Node | None) -> bool:
    return before is None or before.tag not in {"ON", "AT", "OVER", "DURING", "FOR", UNKNOWN}


@rule("THE unit:UNIT", "unit:UNIT")
def _weekend(m: Match) -> Node | None:
    if m["unit"].value not in {Grain.WEEKEND, Grain.FORTNIGHT} or m["unit"].word.lower().endswith("s"):
        return None
    if m.inside[0].tag == "UNIT" and (not ends(m.after) or m["unit"].value != Grain.WEEKEND or _counted(m.before)):
        return None
    if m.after is not None and m.after.tag in {"OF", "BEFORE", "AFTER", "STARTING", "THAT"}:
        return None
    grain = Grain(m["unit"].value)
    return timed(m, fixed(aligned(grain, 0, m.ctx), grain))


HALF_YEARS: list[Rule] = _half_year
UNITS: list[Rule] = [
    *_half_year,
    *_quarter,
    *_century,
    *_decade,
    *_week_number,
    *_after_next,
    *_mod_unit,
    *_weekend,
]
