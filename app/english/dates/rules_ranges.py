"""Rules for ranges between dates, and open ranges: "between May and July", "since 2019", "before 3 June"."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from app.english.dates.days import Range, Unit, day, month_start
from app.english.dates.nodes import UNKNOWN, Match, Node, RuleList, make_node, time_node
from app.english.dates.periods import Period, ReferenceTime, fixed_period, one_day, recurring
from app.english.dates.rules_dates import monthly_day
from app.english.dates.rules_relative import instant

RANGES = RuleList()
DAY_RANGES = RuleList()
YEARS = RuleList()
OPEN = RuleList()


def between(a: Period, b: Period, ctx: ReferenceTime) -> Period | None:
    """Return the range from a's start to b's start; the search window includes all of b.

    A recurrent end (without a year or a week) is placed next to the other end; if both are recurrent, the context's
    preference decides, but a range around the present wins.
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
    exact = min(a.grain, b.grain) < Unit.DAY
    return Period(lower, upper, Unit.PART if exact else Unit.WEEK, wide=(lower, b.edge or b.search[1]))


def _both_recur(a: Period, b: Period, ctx: ReferenceTime) -> Period | None:
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
    bar = ctx.today if ctx.prefer == "ahead" else ctx.local
    return next((p for p in found if p.begin >= bar), None)


def _open_now(period: Period, last: Period, now: datetime) -> bool:
    end = period.finish if last.grain is Unit.DAY else period.search[1]
    return end is not None and now < end


def since(period: Period, *, strictly: bool = False) -> Period:
    """Return the range from the period on, `strictly` from its end on (a day counts as a point)."""
    lower = period.begin
    if strictly and period.grain > Unit.DAY:
        lower = period.edge or period.finish
    return Period(lower, None, Unit.WEEK, wide=(lower, None))


def until(period: Period, *, included: bool = False) -> Period:
    """Return the range before the period; the search window may include the period."""
    upper = period.edge or period.begin
    wide = period.edge or (period.search[1] if included else upper)
    return Period(None, upper, Unit.WEEK, wide=(None, wide))


NEAR_FUTURE = 20
"""Years ahead up to which a number without a preposition is a year; later ones are names ("Model 2077")."""

BELIEVABLE = range(1900, 2101)

_A, _B = "THE? a:(DAYNO|ORDINAL)", "THE? b:(DAYNO|ORDINAL)"


def _days_of(ctx: ReferenceTime, first: int, last: int, month: int, year: int | None) -> Period | None:
    if first >= last:
        return None

    def at(number: int) -> Range:
        return day(number, month, first)[0], day(number, month, last)[0]

    def wide(bounds: Range) -> tuple[None, None] | Range:
        return bounds[0], day(bounds[1].year, bounds[1].month, bounds[1].day)[1]

    if year is not None:
        bounds = at(year)
        return Period(*bounds, Unit.WEEK, wide=wide(bounds))
    period = recurring(at, Unit.WEEK, ctx, Unit.YEAR)
    return replace(period, wide=wide((period.begin, period.finish))) if period else None


@DAY_RANGES.rule(
    f"(FROM|BETWEEN)? {_A} JOIN {_B} (OF|SEP)? month:ANYMONTH ((COMMA|OF|IN)? year:YEARNO)?",
    f"(FROM|BETWEEN|ON)? month:ANYMONTH THE? {_A} JOIN {_B} ((COMMA|OF|IN)? year:YEARNO)?",
)
def _days_in_month(m: Match) -> Node | None:
    year, joins = m.get("year"), [n.tag for n in m.inside]
    if "AND" in joins and joins[0] != "BETWEEN":
        return None
    if m.after is not None and m.after.tag in {"AMPM", "OCLOCK", "N12", "N24", "N31", "ORD"} and year is None:
        return None
    return time_node(m, _days_of(m.ctx, m["a"].value, m["b"].value, m["month"].value, year.value if year else None))


@RANGES.rule("now:NOW")
def _now(m: Match) -> Node | None:
    before, following = m.before, m.after
    ends = before is not None and before.tag in {"AND", "UNTIL", "TO", "THROUGH", "DASH"}
    opens = before is not None and before.tag in {"BETWEEN", "FROM"} and following is not None
    if not (ends or opens) or (following is not None and following.tag == "AND" and not opens):
        return None
    return make_node(m, "NOW")


@RANGES.rule(
    f"(FROM|BETWEEN)? {_A} JOIN {_B} (OF|IN)? whole:PERIODS", f"whole:PERIODS COMMA? (FROM|BETWEEN) {_A} JOIN {_B}"
)
def _days_in_period(m: Match) -> Node | None:
    whole = m["whole"].when
    if whole.grain is not Unit.MONTH:
        return None
    lower = whole.begin
    return time_node(m, _days_of(m.ctx, m["a"].value, m["b"].value, lower.month, lower.year))


_YEAR_PLACES = {
    "IN", "SINCE", "UNTIL", "BY", "BEFORE", "AFTER", "DURING", "OF", "FROM", "UNIT", "THROUGH", "BETWEEN", "AROUND",
    "EARLY", "LATE", "MID", "THAN", "END", "START", "STARTING", "TO", "AND", "OR", "WITHIN", "DASH", "THE",
}  # fmt: skip


@YEARS.rule("THE? (CALENDAR? unit:UNIT) OF? year:YEARNO", "year:YEARNO")
def _year(m: Match) -> Node | None:
    year, before, following = m["year"], m.before, m.after
    unit = m.get("unit")
    if unit is not None and (unit.value != Unit.YEAR or unit.word.lower() != "year"):
        return None
    number = year.value
    placed = unit is not None or (before is not None and before.tag in _YEAR_PLACES)
    if unit is None and not _like_a_year(m, year, before, following, placed=placed):
        return None
    return time_node(m, fixed_period((month_start(number, 1), month_start(number + 1, 1)), Unit.YEAR))


def _like_a_year(m: Match, year: Node, before: Node | None, following: Node | None, *, placed: bool) -> bool:
    """Return whether a number from 1000 to 2999 is a year here, not a count, a code or a part of a name."""
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
    """Return whether a plural in lower case follows, as in "2000 pieces"."""
    word = following.word if following is not None and following.tag == UNKNOWN else ""
    return len(word) > 3 and word.isalpha() and word.islower() and word.endswith("s")  # noqa: PLR2004


@RANGES.rule(
    "whole:PERIOD COMMA? FROM a:DATE_W UPTO b:DATE_W",
    "(FROM|BETWEEN)? a:DATE_W JOIN b:DATE_W (OF|IN|COMMA)? whole:PERIOD",
)
def _weekdays_in_week(m: Match) -> Node | None:
    whole = m["whole"].when
    if whole.grain is not Unit.WEEK:
        return None
    a, b = m["a"].when.in_week(whole.begin, m.ctx), m["b"].when.in_week(whole.begin, m.ctx)
    return time_node(m, between(a, b, m.ctx)) if a and b else None


def _present(ctx: ReferenceTime, other: Node) -> Period:
    if other.period is not None and other.when.grain < Unit.DAY:
        return instant(ctx.local)
    return one_day(ctx.today)


_END = "(ON|THE)?"


@RANGES.rule(
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
    return time_node(m, between(first, last, ctx)) if last else None


def _same_month(first: Period, number: Node) -> Period | None:
    """Return the day of the first date's month, or of the month after: "April 27th to the 3rd"."""
    if first.grain is not Unit.DAY or (number.tag in {"N12", "N24", "N31"} and not number.word):
        return None

    def change(bounds: Range) -> Range:
        start, value = bounds[0], number.value
        if value > start.day:
            return day(start.year, start.month, value)
        following = month_start(start.year, start.month + 1)
        return day(following.year, following.month, value)

    return first.map(change, Unit.DAY)


@OPEN.rule(
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
        return time_node(m, replace(what, vague=True))
    side = m.get("side")
    if (m.before is not None and m.before.tag == "NO") or (
        side is m.inside[-1] and m.after is not None and m.after.tag == "THAN"
    ):
        return None
    after_it = side is not None and m["what"].start > side.start
    return time_node(m, since(what, strictly=after_it))


@OPEN.rule(
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
        return time_node(m, until(what))
    if m.inside[0].tag == "BY" and what.grain < Unit.DAY:
        return None
    return time_node(m, until(what, included=True))
