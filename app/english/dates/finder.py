"""The recogniser of date and time expressions, and of spelled numbers: "twenty-second", "nineteen eighty six"."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from app.english.dates.days import DAYS_IN_WEEK, END_OF_TIME, Unit, midnight
from app.english.dates.lexer import lex, number_tag
from app.english.dates.nodes import UNKNOWN, GrammarRule, Node, apply_rules
from app.english.dates.periods import Period, Prefer, ReferenceTime, SpanKind, TemporalSpan
from app.english.dates.rules_dates import FULL_DATES, LOOSE_DATES
from app.english.dates.rules_parts import ORDERED, PARTS, SETS
from app.english.dates.rules_periods import ATTACH_YEAR, HALF_YEARS, PERIODS, UNITS
from app.english.dates.rules_ranges import DAY_RANGES, OPEN, RANGES, YEARS
from app.english.dates.rules_relative import LASTING, RELATIVE, WEEKDAYS
from app.english.dates.rules_times import AMOUNTS, CLOCKS, TIMES, TIMES_FIRST
from app.english.dates.zones import NamedZone, named_zones, without_zones
from app.memory import normalise
from app.model import Precision

TEN, TWENTY, HUNDRED, THOUSAND = 10, 20, 100, 1000

CENTURIES = range(13, 21)
"""The first halves of years that are spoken in pairs; below thirteen the pair is a time of day."""

NUMBER_TAGS = frozenset({"CARD", "ORD", "SECOND"})

MAX_ORDINAL = 31


class _Reader:
    """Reads one spelled number that starts at a position."""

    def __init__(self, nodes: list[Node], position: int) -> None:
        self.nodes = nodes
        self.position = position
        self.ordinal = False

    def peek(self, offset: int = 0) -> Node | None:
        index = self.position + offset
        return self.nodes[index] if index < len(self.nodes) else None

    def small(self) -> int | None:
        """Read a number under a hundred, the last word of which may be an ordinal."""
        node = self.peek()
        if node is None or self.ordinal or node.tag not in NUMBER_TAGS:
            return None
        self.position += 1
        self.ordinal = node.tag != "CARD"
        value = node.value
        if self.ordinal or value < TWENTY:
            return value
        following = self.peek()
        hyphen = following is not None and following.tag == "DASH" and following.glued
        unit = self.peek(1) if hyphen else following
        if unit is not None and unit.tag in NUMBER_TAGS and 0 < unit.value < TEN and (not hyphen or unit.glued):
            self.position += 2 if hyphen else 1
            self.ordinal = unit.tag != "CARD"
            value += unit.value
        return value

    def scale(self, size: int) -> bool:
        node = self.peek()
        if node is None or node.tag != "SCALE" or node.value != size:
            return False
        self.position += 1
        return True

    def rest(self) -> int:
        """Read the rest after a hundred or a thousand: "and eighteen", "ninety three"."""
        node, following = self.peek(), self.peek(1)
        if node is not None and node.tag == "AND":
            if following is None or following.tag not in NUMBER_TAGS:
                return 0
            self.position += 1
        return self.small() or 0

    def number(self) -> int:
        value = self.small() or 0
        if self.ordinal:
            return value
        if self.scale(THOUSAND):
            value *= THOUSAND
            mark = self.position
            hundreds = self.small()
            if hundreds is not None and self.scale(HUNDRED):
                value += hundreds * HUNDRED
            else:
                self.position, self.ordinal = mark, False
            return value + self.rest()
        if self.scale(HUNDRED):
            return value * HUNDRED + self.rest()
        return self._year(value)

    def _year(self, first: int) -> int:
        if first not in CENTURIES or self.ordinal:
            return first
        mark = self.position
        second = self.small()
        if second is not None and second >= TEN and not self.ordinal:
            return first * HUNDRED + second
        self.position, self.ordinal = mark, False
        return first


def read_numbers(nodes: list[Node]) -> list[Node]:
    """Replace spelled numbers by one node each, tagged like figures; years in words get a tag of their own."""
    out: list[Node] = []
    index = 0
    while index < len(nodes):
        node = nodes[index]
        if node.tag not in NUMBER_TAGS or node.word.isdigit():
            out.append(node)
            index += 1
            continue
        reader = _Reader(nodes, index)
        value = reader.number()
        last = nodes[reader.position - 1]
        if reader.ordinal:
            single = node.tag == "SECOND"
            tag = "SECOND" if single else "ORD" if value <= MAX_ORDINAL else "ORDBIG"
        else:
            tag = "YWORDS" if value >= THOUSAND else number_tag(value)
        out.append(Node(tag, node.start, last.end, num=value, glued=node.glued))
        index = reader.position
    return out


GRAMMAR: list[GrammarRule] = [
    *AMOUNTS,
    *DAY_RANGES,
    *CLOCKS,
    *FULL_DATES,
    *HALF_YEARS,
    *UNITS,
    *PERIODS,
    *ATTACH_YEAR,
    *YEARS,
    *HALF_YEARS,
    *ORDERED,
    *ATTACH_YEAR,
    *WEEKDAYS,
    *SETS,
    *LOOSE_DATES,
    *RELATIVE,
    *PARTS,
    *TIMES_FIRST,
    *TIMES,
    *LASTING,
    *RANGES,
    *OPEN,
]
"""All rules in the order of application: each works on the results of those before it."""

PLAIN = frozenset({UNKNOWN, "DOT", "COMMA", "A", "THE", "AND", "OF", "IN", "TO", "FOR", "ON", "AT"})

DAYS_IN_MONTH = 31

_MAY_NAME = re.compile(
    r"\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|spring|summer|autumn|fall|winter|next|this|in|on|until|by)",
    re.IGNORECASE,
)
"""What nearly every text that names a time has; it saves reading most of the others."""

_WITHIN_WORD = re.compile(r"[\w-]")


def find_spans(text: str, *, now: datetime, prefer: Prefer = "past") -> tuple[TemporalSpan, ...]:
    """Return the date and time expressions of an English text, in order.

    `now` must be aware: its zone is the one all calendar arithmetic happens in (a day lasts from local
    midnight to local midnight) and the one of every bound. Expressions with two readings ("on Tuesday",
    "in March", "Oct 2") take the latest that has begun, the next, or the first that is not over, by `prefer`. Never
    raises on any text.

    "last" and "next" count calendar weeks that start on Monday: on a Thursday "last Friday" is the Friday of
    the week before, "past Friday" the nearest one; "last March" is March of last year. Times of day without a
    date, recurring times ("every Monday") and bare numbers are not spans. A time of day in a zone that the text names
    is of that zone; where the name may mean several, the day alone is known. Figures of a date are read by
    `month_and_day`.
    """
    zones = named_zones(text)
    nodes = read_numbers(lex(without_zones(text, zones)))
    if all(node.tag in PLAIN for node in nodes):
        return ()
    ctx = ReferenceTime(now, now.replace(tzinfo=None), prefer)
    read = (node for node in apply_rules(nodes, GRAMMAR, ctx) if node.period or node.amount)
    found = (_span(text, node, ctx) for node in read)
    return tuple(_in_zone(text, span, zones) for span in found if span is not None)


def last_named(text: str, *, now: datetime) -> datetime | None:
    """Return the end of the latest day, month or other time that a text said at `now` names; None without any.

    What may be past or ahead, as `in March`, counts as past. Digits within a word don't count, such as an identifier's.
    """
    spans = find_spans(text, now=now) if _MAY_NAME.search(text) else ()
    apart = (one for one in spans if not _WITHIN_WORD.search(f"{text[: one.start][-1:]} {text[one.end :][:1]}"))
    return max((end for span in apart if (end := span.upper or span.lower) is not None), default=None)


def _span(text: str, node: Node, ctx: ReferenceTime) -> TemporalSpan | None:
    if node.tag == "AMOUNT":
        return TemporalSpan(
            start=node.start, end=node.end, text=text[node.start : node.end], lower=None, upper=None,
            precision=Precision.APPROXIMATE if node.long.vague else Precision.EXACT,
            kind="duration", window=(None, None), duration=node.long.length,
        )  # fmt: skip
    period = node.period
    if period is None:
        return None
    lower, upper = _bound(period.lower, ctx), _bound(period.upper, ctx)
    if lower is None and upper is None:
        return None
    if lower and upper and lower.astimezone(UTC) >= upper.astimezone(UTC):  # inside a skipped hour
        upper = _bound(lower.replace(tzinfo=None) + timedelta(minutes=1), ctx)
    window = (_bound(period.search[0], ctx), _bound(period.search[1], ctx)) if period.wide else (lower, upper)
    if window[0] and window[1] and window[0].astimezone(UTC) >= window[1].astimezone(UTC):
        window = (lower, upper)
    return TemporalSpan(
        start=node.start, end=node.end, text=text[node.start : node.end], lower=lower, upper=upper,
        precision=_precision(period), kind=_kind(period, lower, upper), window=window,
    )  # fmt: skip


def _in_zone(text: str, span: TemporalSpan, zones: Sequence[NamedZone]) -> TemporalSpan:
    """Return the span with the zone that its time of day is said in, and the zone's words."""
    named = next((one for one in zones if span.start < one.start <= span.end), None)
    if named is None:
        return span
    end = max(span.end, *(one.end for one in zones if span.start < one.start <= span.end))
    span = replace(span, end=end, text=text[span.start : end])
    own = span.lower is not None and span.lower.tzname() == text[named.start : named.end].strip(" ,()")
    if named.local or own or span.kind not in {"moment", "period", "open"}:
        return span
    if named.zone is None:
        return _whole_days(span)
    zone = named.zone
    lower, upper, begin, finish = (_moved(one, zone) for one in (span.lower, span.upper, *span.window))
    return replace(span, lower=lower, upper=upper, window=(begin, finish))


def _moved(moment: datetime | None, zone: tzinfo) -> datetime | None:
    """Return the same time of day in another zone, as an instant in its own."""
    try:
        return None if moment is None else moment.replace(tzinfo=zone).astimezone(moment.tzinfo)
    except OverflowError:
        return moment


def _whole_days(span: TemporalSpan) -> TemporalSpan:
    """Return the span without its time of day: the days that it is in."""
    if span.lower is None or span.upper is None:
        return span
    lower = midnight(span.lower)
    upper = midnight(span.upper - timedelta(microseconds=1)) + timedelta(days=1)
    return replace(span, lower=lower, upper=upper, window=(lower, upper), precision=Precision.DAY, kind="day")


def _bound(moment: datetime | None, ctx: ReferenceTime) -> datetime | None:
    """Return a local time in the caller's zone; None, which is open, at or beyond the limits of datetime."""
    if moment is None or moment == END_OF_TIME:
        return None
    try:
        return moment.replace(tzinfo=ctx.now.tzinfo).astimezone(UTC).astimezone(ctx.now.tzinfo)
    except (OverflowError, ValueError):
        return None


def _kind(period: Period, lower: datetime | None, upper: datetime | None) -> SpanKind:
    if lower is None or upper is None:
        return "open"
    if period.grain < Unit.PART:
        return "moment"
    return "day" if period.grain is Unit.DAY else "period"


def _precision(period: Period) -> Precision:
    """Return the narrowest precision that covers the range."""
    if period.precision is not None:
        return period.precision
    if period.vague or period.lower is None or period.upper is None:
        return Precision.APPROXIMATE
    if period.grain < Unit.DAY:
        return Precision.EXACT
    days = (period.upper - period.lower).days
    for limit, precision in ((1, Precision.DAY), (DAYS_IN_WEEK, Precision.WEEK), (DAYS_IN_MONTH, Precision.MONTH)):
        if days <= limit:
            return precision
    return Precision.APPROXIMATE


_NAMED: Final = {
    name: number
    for number, month in enumerate(calendar.month_name)
    if month
    for name in (month.lower(), month[:3].lower())
} | {"sept": 9}
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_MONTH: Final = r"(?P<month>[a-z]{3,9})\.?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_FORMS: Final = tuple(
    re.compile(form)
    for form in (
        _YEAR,
        rf"{_YEAR}-(?P<month>\d\d)(?:-(?P<day>\d\d))?",
        rf"{_MONTH},? {_YEAR}",
        rf"(?:the )?{_DAY} (?:of )?{_MONTH}(?:,? {_YEAR})?",
        rf"{_MONTH} (?:the )?{_DAY}(?:,? {_YEAR})?",
    )
)
_LONGEST: Final = 40
_LAST_MONTH: Final = 12
_LAST_DAY: Final = 31


def same_date(precise: str, vague: str) -> bool:
    """Return whether both are dates and the first has all parts of the second: `4 May 1990` covers `1990`."""
    whole, part = _parts(precise), _parts(vague)
    return bool(part) and part.items() <= whole.items()


def _parts(text: str) -> dict[str, int]:
    """Return the year, month and day of a written date, as far as present; empty for another text."""
    plain = normalise.normalise_name(text[: _LONGEST + 1])
    if len(plain) > _LONGEST:
        return {}
    for form in _FORMS:
        found = form.fullmatch(plain)
        if found is not None:
            given = {name: _number(value) for name, value in found.groupdict().items() if value is not None}
            return given if _possible(given) else {}
    return {}


def _number(value: str) -> int:
    return int(value) if value.isdecimal() else _NAMED.get(value, 0)


def _possible(given: dict[str, int]) -> bool:
    return 1 <= given.get("month", 1) <= _LAST_MONTH and 1 <= given.get("day", 1) <= _LAST_DAY
