"""From one date to another, and open ranges: "between May and July", "since 2019", "before 3 June"."""

from __future__ import annotations

from dataclasses import replace

from app.text.temporal.days import Grain, Range, day, month_start
from app.text.temporal.nodes import UNKNOWN, Match, Node, Rule, made, rule, timed
from app.text.temporal.periods import Context, Period, fixed, one_day, recurring
from app.text.temporal.rules_dates import monthly_day
from app.text.temporal.rules_relative import instant
from app.text.temporal.spanning import between, since, until

NEAR_FUTURE = 20
"""A later number that no preposition makes a year is taken for a name ("Model 2077")."""
BELIEVABLE = range(1900, 2101)
_A, _B = "THE? a:(DAYNO|ORDINAL)", "THE? b:(DAYNO|ORDINAL)"


def _days_of(ctx: Context, first: int, last: int, month: int, year: int | None) -> Period | None:
    if first >= last:
        return None

    def at(number: int) -> Range:
        return day(number, month, first)[0], day(number, month, last)[0]

    def wide(bounds: Range) -> tuple[None, None] | Range:
        return bounds[0], day(bounds[1].year, bounds[1].month, bounds[1].day)[1]

    if year is not None:
        bounds = at(year)
        return Period(*bounds, Grain.WEEK, wide=wide(bounds))
    period = recurring(at, Grain.WEEK, ctx, Grain.YEAR)
    return replace(period, wide=wide((period.begin, period.finish))) if period else None


@rule(
    f"(FROM|BETWEEN)? {_A} JOIN {_B} (OF|SEP)? month:ANYMONTH ((COMMA|OF|IN)? year:YEARNO)?",
    f"(FROM|BETWEEN|ON)? month:ANYMONTH THE? {_A} JOIN {_B} ((COMMA|OF|IN)? year:YEARNO)?",
)
def _days_in_month(m: Match) -> Node | None:
    year, joins = m.get("year"), [n.tag for n in m.inside]
    if "AND" in joins and joins[0] != "BETWEEN":
        return None
    if m.after is not None and m.after.tag in {"AMPM", "OCLOCK", "N12", "N24", "N31", "ORD"} and year is None:
        return None
    return timed(m, _days_of(m.ctx, m["a"].value, m["b"].value, m["month"].value, year.value if year else None))


@rule(f"(FROM|BETWEEN)? {_A} JOIN {_B} (OF|IN)? whole:PERIODS", f"whole:PERIODS COMMA? (FROM|BETWEEN) {_A} JOIN {_B}")
def _days_in_period(m: Match) -> Node | None:
    whole = m["whole"].when
    if whole.grain is not Grain.MONTH:
        return None
    lower = whole.begin
    return timed(m, _days_of(m.ctx, m["a"].value, m["b"].value, lower.month, lower.year))


@rule(
    "whole:PERIOD COMMA? FROM a:DATE_W UPTO b:DATE_W",
    "(FROM|BETWEEN)? a:DATE_W JOIN b:DATE_W (OF|IN|COMMA)? whole:PERIOD",
)
def _weekdays_in_week(m: Match) -> Node | None:
    whole = m["whole"].when
    if whole.grain is not Grain.WEEK:
        return None
    a, b = m["a"].when.in_week(whole.begin, m.ctx), m["b"].when.in_week(whole.begin, m.ctx)
    return timed(m, between(a, b, m.ctx)) if a and b else None


_YEAR_PLACES = {
    "IN", "SINCE", "UNTIL", "BY", "BEFORE", "AFTER", "DURING", "OF", "FROM", "UNIT", "THROUGH", "BETWEEN", "AROUND",
    "EARLY", "LATE", "MID", "THAN", "END", "START", "STARTING", "TO", "AND", "OR", "WITHIN", "DASH", "THE",
}  # fmt: skip


@rule("THE? (CALENDAR? unit:UNIT) OF? year:YEARNO", "year:YEARNO")
def _year(m: Match) -> Node | None:
    year, before, following = m["year"], m.before, m.after
    unit = m.get("unit")
    if unit is not None and (unit.value != Grain.YEAR or unit.word.lower() != "year"):
        return None
    number = year.value
    placed = unit is not None or (before is not None and before.tag in _YEAR_PLACES)
    if unit is None and not _like_a_year(m, year, before, following, placed=placed):
        return None
    return timed(m, fixed((month_start(number, 1), month_start(number + 1, 1)), Grain.YEAR))


def _like_a_year(m: Match, year: Node, before: Node | None, following: Node | None, *, placed: bool) -> bool:
    """Tell whether a number from 1000 to 2999 is a year here, not a count, a code or a part of a name."""
    lead = before.tag if before is not None else ""
    joined = year.glued and before is not None and lead in {UNKNOWN, "SLASH", "DOT"} and before.word != "="
    tied = following is not None and following.glued and following.tag == UNKNOWN
    if joined or (tied and following is not None and following.word not in _CLOSING_MARKS):
        return False
    if year.tag != "Y4":
        return lead in _SURE_PLACES or (year.tag == "YSHORT" and placed and lead != "THE")
    sure = lead in _SURE_PLACES | {"THE", "UNIT"}
    numbered = before is not None and before.word.lower() in _NUMBERED
    if numbered or (_counts_things(following) and not (sure and year.num in BELIEVABLE)):
        return False
    if placed:
        return year.num in BELIEVABLE or (sure and m.inside[0].tag != "THE")
    return BELIEVABLE.start <= year.num <= m.ctx.local.year + NEAR_FUTURE


_SURE_PLACES = frozenset({"IN", "SINCE", "DURING", "FROM", "UNTIL", "BETWEEN", "BEFORE", "AFTER"})
_NUMBERED = frozenset(
    (
        "page",
        "room",
        "number",
        "code",
        "pin",
        "order",
        "flight",
        "model",
        "version",
        "building",
        "section",
        "route",
        "id",
    )
)
_CLOSING_MARKS = frozenset("?!;\"'\u2019\u201d")


def _counts_things(following: Node | None) -> bool:
    """Tell whether a plural in small letters follows, as in "2000 pieces"."""
    word = following.word if following is not None and following.tag == UNKNOWN else ""
    return len(word) > 3 and word.isalpha() and word.islower() and word.endswith("s")  # noqa: PLR2004


@rule("now:NOW")
def _now(m: Match) -> Node | None:
    before, following = m.before, m.after
    ends = before is not None and before.tag in {"AND", "UNTIL", "TO", "THROUGH", "DASH"}
    opens = before is not None and before.tag in {"BETWEEN", "FROM"} and following is not None
    if not (ends or opens) or (following is not None and following.tag == "AND" and not opens):
        return None
    return made(m, "NOW")


def _present(ctx: Context, other: Node) -> Period:
    if other.period is not None and other.when.grain < Grain.DAY:
        return instant(ctx.local)
    return one_day(ctx.today)


_END = "(ON|THE)?"


@rule(
    f"(FROM|BETWEEN|IN|ON|STARTING)? {_END} a:ANYTIME COMMA? join:JOIN {_END} (mod:MOD)? b:(ANYTIME|DAYNO|ORDINAL)",
    f"(FROM|BETWEEN) THE? a:(DAYNO|ORD) join:JOIN {_END} b:(DATE_Y|DATE)",
    f"FROM {_END} a:ANYTIME join:TO b:DATEWORD",
    f"FROM {_END} a:ANYTIME join:(TO|UNTIL) (THIS|THE) b:DATEWORD",
)
def _range(m: Match) -> Node | None:
    head, a, b, ctx = m.inside[0].tag, m["a"], m["b"], m.ctx
    if m.tag("join") == "AND" and head != "BETWEEN":
        return None
    first = _present(ctx, b) if a.tag == "NOW" else a.period
    if first is None:
        number = a.value
        first = monthly_day(ctx, number)
    if b.tag in {"NOW", "DATEWORD"}:
        last: Period | None = _present(ctx, a)
    elif b.period is None:
        last = _same_month(first, b) if first else None
    else:
        last = b.when
    if first is None or last is None:
        return None
    mod = m.get("mod")
    if mod is not None:
        last = last.in_year(ctx.local.year + mod.value)
    return timed(m, between(first, last, ctx)) if last else None


def _same_month(first: Period, number: Node) -> Period | None:
    """Return the day of the first date's month, or of the month after: "April 27th to the 3rd"."""
    if first.grain is not Grain.DAY or (number.tag in {"N12", "N24", "N31"} and not number.word):
        return None

    def change(bounds: Range) -> Range:
        start, value = bounds[0], number.value
        if value > start.day:
            return day(start.year, start.month, value)
        following = month_start(start.year, start.month + 1)
        return day(following.year, following.month, value)

    return first.map(change, Grain.DAY)


@rule(
    "(AROUND|AS EARLY AS|STARTING|SINCE) (ON|FROM|THE)? what:ANYTIME",
    "what:PERIODS (OR|AND) side:(HENCE|MORE)",
    "(UNIT? side:MORE | side:HENCE | side:LATE) THAN what:ANYTIME",
    "FROM (ON|THE)? what:ANYTIME (ONWARD|ON)",
    "what:ANYTIME ONWARD",
    "NO (EARLIER|EARLY) THAN what:ANYTIME",
    "NO BEFORE what:ANYTIME",
    "ON OR AFTER THE? what:ANYTIME",
    "side:AFTER AROUND? THE? what:ANYTIME",
)
def _since(m: Match) -> Node | None:
    what = m["what"].when
    if m.inside[0].tag == "AROUND":
        return timed(m, replace(what, vague=True))
    side = m.get("side")
    if (m.before is not None and m.before.tag == "NO") or (
        side is m.inside[-1] and m.after is not None and m.after.tag == "THAN"
    ):
        return None
    after_it = side is not None and m["what"].start > side.start
    return timed(m, since(what, strictly=after_it))


@rule(
    "ON OR BEFORE THE? what:ANYTIME",
    "side:BEFORE THE? what:ANYTIME",
    "side:LAST TO THE? what:ANYTIME",
    "UP (TO|UNTIL) THE? what:ANYTIME",
    "(UNTIL|BY|AS LATE AS|NO HENCE THAN|NO LATE THAN|THROUGH) (THE|AROUND)? what:ANYTIME",
    "(side:LESS|side:EARLIER|side:EARLY) THAN what:ANYTIME",
    "what:PERIODS (OR|AND) (EARLIER|BEFORE)",
)
def _until(m: Match) -> Node | None:
    what, side = m["what"].when, m.get("side")
    if side and side.tag == "LAST" and side.word.lower() != "prior":
        return None
    if side:
        return timed(m, until(what))
    if m.inside[0].tag == "BY" and what.grain < Grain.DAY:
        return None
    return timed(m, until(what, included=True))


RANGES: list[Rule] = [
    *_now,
    *_days_in_period,
    *_weekdays_in_week,
    *_range,
]
DAY_RANGES: list[Rule] = _days_in_month
YEARS: list[Rule] = _year
OPEN: list[Rule] = [
    *_since,
    *_until,
]
