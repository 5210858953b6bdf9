"""The recogniser: text in, spans of time out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from app.model import Precision
from app.text.temporal.days import DAYS_IN_WEEK, END_OF_TIME, Grain
from app.text.temporal.lexer import lex
from app.text.temporal.nodes import UNKNOWN, Node, Rule, apply_rules
from app.text.temporal.numerals import read_numbers
from app.text.temporal.periods import Context, Period
from app.text.temporal.rules_amounts import AMOUNTS, CLOCKS
from app.text.temporal.rules_dates import FULL_DATES, LOOSE_DATES
from app.text.temporal.rules_ordered import ORDERED
from app.text.temporal.rules_parts import PARTS, SETS
from app.text.temporal.rules_periods import PERIODS
from app.text.temporal.rules_ranges import DAY_RANGES, OPEN, RANGES, YEARS
from app.text.temporal.rules_relative import LASTING, RELATIVE, WEEKDAYS
from app.text.temporal.rules_times import TIMES, TIMES_FIRST
from app.text.temporal.rules_units import UNITS
from app.text.temporal.spans import Kind, Prefer, TemporalSpan

GRAMMAR: list[Rule] = [
    *AMOUNTS,
    *DAY_RANGES,
    *CLOCKS,
    *FULL_DATES,
    *UNITS,
    *PERIODS,
    *YEARS,
    *ORDERED,
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
"""All rules in the order they apply: each works on what those before it found."""
PLAIN = frozenset({UNKNOWN, "DOT", "COMMA", "A", "THE", "AND", "OF", "IN", "TO", "FOR", "ON", "AT"})
DAYS_IN_MONTH = 31


def find_spans(text: str, *, now: datetime, prefer: Prefer = "past") -> tuple[TemporalSpan, ...]:
    """Return the date and time expressions of an English text, in order.

    `now` must be aware: its zone is the one all calendar arithmetic happens in (a day lasts from local
    midnight to local midnight) and the one of every bound. Expressions with two readings ("on Tuesday",
    "in March", "Oct 2") take the latest that has begun, or the next, by `prefer`. Never raises on any text.

    "last" and "next" count calendar weeks that start on Monday: on a Thursday "last Friday" is the Friday of
    the week before, "past Friday" the nearest one; "last March" is March of last year. Times of day without a
    date, recurring times ("every Monday") and bare numbers are not spans. A time zone in the text is ignored.
    """
    nodes = read_numbers(lex(text))
    if all(node.tag in PLAIN for node in nodes):
        return ()
    ctx = Context(now, now.replace(tzinfo=None), prefer)
    read = (node for node in apply_rules(nodes, GRAMMAR, ctx) if node.period or node.amount)
    found = (_span(text, node, ctx) for node in read)
    return tuple(span for span in found if span is not None)


def _span(text: str, node: Node, ctx: Context) -> TemporalSpan | None:
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


def _bound(moment: datetime | None, ctx: Context) -> datetime | None:
    """Return a local time in the caller's zone; None, which is open, at the end of time or beyond what UTC holds."""
    if moment is None or moment == END_OF_TIME:
        return None
    try:
        return moment.replace(tzinfo=ctx.now.tzinfo).astimezone(UTC).astimezone(ctx.now.tzinfo)
    except (OverflowError, ValueError):
        return None


def _kind(period: Period, lower: datetime | None, upper: datetime | None) -> Kind:
    if lower is None or upper is None:
        return "open"
    if period.grain < Grain.PART:
        return "moment"
    return "day" if period.grain is Grain.DAY else "period"


def _precision(period: Period) -> Precision:
    """Return the narrowest precision that covers the range."""
    if period.precision is not None:
        return period.precision
    if period.vague or period.lower is None or period.upper is None:
        return Precision.APPROXIMATE
    if period.grain < Grain.DAY:
        return Precision.EXACT
    days = (period.upper - period.lower).days
    for limit, precision in ((1, Precision.DAY), (DAYS_IN_WEEK, Precision.WEEK), (DAYS_IN_MONTH, Precision.MONTH)):
        if days <= limit:
            return precision
    return Precision.APPROXIMATE
