"""Rules for single days: figures, "the 3rd of May 2021", weekdays, "the day after tomorrow", holidays."""

from __future__ import annotations

from datetime import datetime, timedelta

from app.english.dates.days import DAYS_IN_WEEK, Range, Unit, after, day, holiday, month_start, week_start
from app.english.dates.lexer import MAX_DAY, MAX_MONTH, PIVOT
from app.english.dates.nodes import UNKNOWN, Match, Node, RuleList, ends, make_node, names, time_node
from app.english.dates.periods import Period, ReferenceTime, fixed_period, month_of, one_day, recurring
from app.english.dates.zones import month_is_first

FULL_DATES = RuleList()
LOOSE_DATES = RuleList()

TWO_DIGITS = 99
EASY_FRACTIONS = {(1, 2), (1, 3), (2, 3), (1, 4), (3, 4), (1, 1), (24, 7)}
DEAD = "DEAD"


def full_year(number: int, *, digits: int = 4) -> int:
    """Return the year of two digits, or the number itself."""
    if number > TWO_DIGITS or digits > 2:  # noqa: PLR2004
        return number
    return number + (2000 if number < PIVOT else 1900)


def single_date(m: Match, year: int | None, month: int, number: int) -> Node:
    """Return a day node, a dead one for a day that does not exist, so that its parts are not read otherwise."""
    try:
        if year is not None:
            return time_node(m, fixed_period(day(year, month, number), Unit.DAY)) or make_node(m, DEAD)
        day(2000, month, number)
        return time_node(m, yearly_day(m.ctx, month, number)) or make_node(m, DEAD)
    except (ValueError, OverflowError):
        return make_node(m, DEAD)


def yearly_day(ctx: ReferenceTime, month: int, number: int) -> Period | None:
    """Return the day of every year."""
    return recurring(lambda year: day(year, month, number), Unit.DAY, ctx, Unit.YEAR)


def monthly_day(ctx: ReferenceTime, number: int, weekday: int | None = None) -> Period | None:
    """Return the day of every month, with a weekday only of months in which it falls on it."""

    def at(index: int) -> Range:
        found = day(*month_of(index), number)
        if weekday is not None and found[0].weekday() != weekday:
            raise ValueError("another weekday")
        return found

    return recurring(at, Unit.DAY, ctx, Unit.MONTH, today_counts=weekday is not None)


def weekly(ctx: ReferenceTime, weekday: int) -> Period | None:
    """Return the weekday of every week."""

    def at(index: int) -> Range:
        start = after(week_start(ctx.local), days=DAYS_IN_WEEK * index + weekday)
        return start, after(start, days=1)

    return recurring(at, Unit.DAY, ctx, Unit.WEEK, today_counts=True)


def month_and_day(node: Node, a: int, b: int, ctx: ReferenceTime) -> tuple[int, int]:
    """Return month and day of two figures: the day first where dots join them, else in the order of the asker's zone.

    The other order counts where only that is a date.
    """
    first = "." not in node.word and month_is_first(ctx.now.tzinfo)
    month, number = (a, b) if first else (b, a)
    return (month, number) if month <= MAX_MONTH else (number, month)


@FULL_DATES.rule("(ANYWEEKDAY COMMA? THE? OPEN?)? date:DMY")
def _figures(m: Match) -> Node | None:
    a, b, c = m["date"].nums
    if a > MAX_DAY or m["date"].word[:4].isdigit():  # the year comes first
        return single_date(m, a, b, c)
    month, number = month_and_day(m["date"], a, b, m.ctx)
    return single_date(m, full_year(c, digits=4 if c > TWO_DIGITS else 2), month, number)


@FULL_DATES.rule("BAD_YM")
def _no_month(m: Match) -> Node | None:
    return make_node(m, DEAD)


def _counts_other_units(m: Match) -> bool:
    """Return whether other units than days are counted: "the first week of May"."""
    return any(node.tag == "UNIT" and node.value != Unit.DAY for node in m.inside)


_WEEKDAY = "(THIS? ANYWEEKDAY (COMMA|DASH|OPEN|DOT)? THE?)?"
_YEAR = "(COMMA|SEP|OF|IN)? year:(YEARNO|YBIG)"
_DAY = "number:(DAYNO|ORDINAL)"


@FULL_DATES.rule(
    f"{_WEEKDAY} THE? {_DAY} (UNIT? OF THE? | SEP)? month:ANYMONTH {_YEAR}",
    f"{_WEEKDAY} month:ANYMONTH (SEP|COMMA)? THE? {_DAY} {_YEAR}",
    f"year:Y4 SEP month:ANYMONTH SEP {_DAY}",
    f"year:Y4 SEP {_DAY} SEP month:ANYMONTH",
    f"{_WEEKDAY} THE? {_DAY} (OF|SEP)? month:ANYMONTH OF year:TWO CLOSE?",
)
def _full(m: Match) -> Node | None:
    year = m["year"]
    if (year.tag == "YBIG" and names(m.after)) or _counts_other_units(m):
        return None
    return single_date(
        m, full_year(year.value, digits=4 if year.num > TWO_DIGITS else 2), m["month"].value, m["number"].value
    )


@FULL_DATES.rule(
    f"{_WEEKDAY} THE? {_DAY} (UNIT? OF THE? | SEP)? month:ANYMONTH CLOSE?",
    f"{_WEEKDAY} month:ANYMONTH (SEP|COMMA)? THE? {_DAY} CLOSE?",
)
def _yearless(m: Match) -> Node | None:
    if _counts_other_units(m) or any(node.tag == "DASH" and not node.glued for node in m.inside):
        return None
    number, following = m["number"], m.after
    if following and following.glued and following.tag in {"DASH", "SLASH"} and number.word:
        following = None
    if m["month"].tag == "MONTH_LIKE" and number.tag == "SECOND" and number.start > m["month"].start:
        return None
    bare = number is m.inside[-1] and number.word.isdigit() and number.tag != "ORD"
    if bare and m["month"].word.islower() and m["month"].tag == "MONTH_LIKE" and names(following):
        return None  # "may 2 people come", "march 5 miles"
    this_year = m.ctx.local.year if m.inside[0].tag == "THIS" else None
    return single_date(m, this_year, m["month"].value, number.value)


@FULL_DATES.rule(
    "(mod:THIS)? (weekday:ANYWEEKDAY COMMA?)? OPEN? date:(MD|DOTTED) CLOSE?",
    "weekday:ANYWEEKDAY a:N12 dash:DASH b:DAYNO",
)
def _month_day(m: Match) -> Node | None:
    date = m.get("date")
    pair = date.nums if date else (m["a"].value, m["b"].value)
    month, number = month_and_day(date or m["dash"], pair[0], pair[1], m.ctx)
    weekday = m.get("weekday")
    if date is None:
        nearby = datetime(m.ctx.local.year, month, number)  # noqa: DTZ001 - naive local time
        return single_date(m, None, month, number) if weekday and nearby.weekday() == weekday.value else None
    introduced = m.before is not None and m.before.tag in {"ON", "FROM", "SINCE", "UNTIL", "TO", "BY", "DASH"}
    if weekday is None and not introduced and (date.tag == "DOTTED" or pair in EASY_FRACTIONS):
        return None
    if date.tag == "DOTTED" and m.after is not None and m.after.tag in {"AMPM", "UNIT", "AMOUNT"}:
        return None
    return single_date(m, m.ctx.local.year if m.get("mod") else None, month, number)


@LOOSE_DATES.rule("THE number:(ORD|DAYNO)", "number:ORD")
def _day_of_month(m: Match) -> Node | None:
    number, following = m["number"], m.after
    if (m.before is not None and m.before.tag == "IN") or (m.inside[0] is number and not _month_follows(m)):
        return None  # "in the 4th" is of a game, not of a month
    if number.tag != "ORD":
        plain = following is None or following.tag in {"DOT", "FROM", "COMMA", "BETWEEN", "AT"}
        return time_node(m, monthly_day(m.ctx, number.value)) if plain and number.word else None
    if not (following is None or following.tag in _AFTER_DAY or _month_follows(m) or ends(following)):
        return None
    if not number.word and number.value <= _LOW and not (m.before is not None and m.before.tag in _BEFORE_DAY):
        return None  # "the third" is a date between others only, "the 3rd" and "the twenty-third" are
    return time_node(m, monthly_day(m.ctx, number.value))


_MORE_RANGE = {"MONTH", "MONTH_LIKE", "AMPM", "OF", "UNIT", "QUARTER", "IN"}


@FULL_DATES.rule(
    "year:Y4 (SEP|COMMA|OF)? month:ANYMONTH", "month:ANYMONTH (SEP|COMMA|OF|IN|POSSESSIVE)? (THE UNIT OF?)? year:YEARNO"
)
def _month_year(m: Match) -> Node | None:
    year, month = m["year"].value, m["month"].value
    return time_node(m, fixed_period((month_start(year, month), month_start(year, month + 1)), Unit.MONTH))


@LOOSE_DATES.rule("a:N12 DASH b:DAYNO")
def _dashed(m: Match) -> Node | None:
    if not (m.before is not None and m.before.tag == "ON") or (m.after is not None and m.after.tag in _MORE_RANGE):
        return None
    return single_date(m, None, m["a"].value, m["b"].value)


_LOW = 20


def _month_follows(m: Match) -> bool:
    """Return whether "of last month" or "of the month" follows."""
    tags = [node.tag for node in m.nodes[m.found.end() : m.found.end() + 3]]
    return tags[:2] == ["OF", "PERIOD"] or tags == ["OF", "THE", "UNIT"]


_AFTER_DAY = {
    "DOT", "COMMA", "CLOSE", "AT", "FROM", "BETWEEN", "AND", "OR", "TO", "UNTIL", "THROUGH", "DASH", "CLOCK", "FOR",
    "BEFORE", "AFTER", "THIS", "BY", "ON", "IN",
}  # fmt: skip
_BEFORE_DAY = {"FROM", "BETWEEN", "UNTIL", "SINCE", "TO", "AND", "THROUGH"}


@FULL_DATES.rule("pair:YM", "a:(Y4|ANYNO) (DASH|SLASH) b:(Y4|ANYNO)")
def _figures_month(m: Match) -> Node | None:
    pair = m["pair"].nums if m.get("pair") else (m["a"].value, m["b"].value)
    month, year = sorted(pair)
    if max(pair) <= TWO_DIGITS or month > MAX_MONTH * 100 or (m.get("a") and min(pair) > TWO_DIGITS):
        return None
    if not 1 <= month <= MAX_MONTH:
        return make_node(m, DEAD)
    return time_node(m, fixed_period((month_start(year, month), month_start(year, month + 1)), Unit.MONTH))


@FULL_DATES.rule("weekday:ANYWEEKDAY COMMA? the:THE? number:(ORDINAL|DAYNO)")
def _weekday_number(m: Match) -> Node | None:
    number, ctx, weekday = m["number"], m.ctx, m["weekday"].value
    if number.tag not in {"ORD", "SECOND"} and (
        (m.after is not None and m.after.tag in _MORE_RANGE | {"DASH", "TO", "OCLOCK", "AND", "N59", "COMMA"})
        or (m.after is not None and m.after.tag == UNKNOWN and not ends(m.after))
        or (number.num < 13 and not m.get("the"))  # noqa: PLR2004 - "Friday 6" is an hour
        or (not number.word and not m.get("the"))
    ):
        return None
    if m.get("the"):
        try:
            here = day(ctx.local.year, ctx.local.month, number.value)
        except ValueError:
            here = None
        if here and here[0].weekday() == weekday:
            return time_node(m, fixed_period(here, Unit.DAY))
    return time_node(m, monthly_day(ctx, number.value, weekday))


@FULL_DATES.rule("THE? UNIT AFTER today:TODAY", "THE? UNIT BEFORE today:TODAY", "today:TODAY")
def _today(m: Match) -> Node | None:
    offset = m["today"].value
    for node in m.inside:
        if node.tag in {"AFTER", "BEFORE"}:
            offset += 1 if node.tag == "AFTER" else -1
        if node.tag == "UNIT" and node.value != Unit.DAY:
            return None
    return time_node(m, one_day(m.ctx.today + timedelta(days=offset)))


@FULL_DATES.rule("THE unit:UNIT side:(BEFORE|AFTER)")
def _day_before(m: Match) -> Node | None:
    if m["unit"].value != Unit.DAY or not ends(m.after):
        return None
    return time_node(m, one_day(m.ctx.today + timedelta(days=1 if m.tag("side") == "AFTER" else -1)))


@FULL_DATES.rule("name:HOLIDAY")
def _holiday(m: Match) -> Node | None:
    name = m["name"].word
    if names(m.after) and not (m.before is not None and m.before.tag == "ON"):
        return None

    def at(year: int) -> Range:
        return day(*(found := holiday(name, year)).timetuple()[:2], found.day)

    return time_node(m, recurring(at, Unit.DAY, m.ctx, Unit.YEAR))
