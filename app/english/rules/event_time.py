"""Time of an event, from the words of its clause, the turn's moment and the speaker's time zone."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final

from app.english.dates import TemporalSpan, find_spans
from app.english.dates.periods import Prefer
from app.english.word_lists import pattern
from app.memory.calendar import EARLIEST_YEAR, LATEST_YEAR
from app.model import Precision

CUE: Final = pattern("event_time", "cue", re.IGNORECASE)
"""Something that may be a time; without one, no time is looked for."""

VAGUE: Final = re.compile(r"\b(?:recently|lately|the other day|not long ago|(?<!had )just)\b", re.IGNORECASE)
"""A time near the turn's own, but no date."""

_LEAD: Final = re.compile(
    r"(?:\s*,)?\s*\b(?:back\s+)?(?:on|in|at|during|over|around|about|by|from|until|since|of|early|late|later|earlier|just)?(?:\s+the)?\s*$",
    re.IGNORECASE,
)
_WEEKDAY: Final = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day\b", re.IGNORECASE)
_ANY: Final = re.compile(r"\b(?:an?|any|some|entire|whole|the|all|my|our|these|those)\s+$", re.IGNORECASE)
"""Before a weekday that is none in particular: `on a Friday`, `the Friday games`."""
DAY_ALONE: Final = re.compile(
    r"(?:on |from )?(?:the )?\d{1,2}(?:st|nd|rd|th)(?: to (?:the )?\d{1,2}(?:st|nd|rd|th))?", re.IGNORECASE
)
_THAN_UNSAID: Final = re.compile(r"(?:minute|hour|day|week|month|year)s?\s+(?:earl(?:y|ier)|later?)$", re.IGNORECASE)
"""Later or earlier than what another sentence names, or than planned."""
_NEXT_ONE: Final = re.compile(
    r"(?:the )?(?:next|following|previous) (?:day|morning|night|week|month|year)$", re.IGNORECASE
)
_SOME: Final = re.compile(r"\b(?:few|couple|some|several)\b", re.IGNORECASE)
_THE: Final = re.compile(r"\bThe $")
"""Before a year it makes a name: `The 1975`."""
_SOME_THING: Final = re.compile(r"\b(?:an?|my|our|some|\d+) (?:\w+ )?$", re.IGNORECASE)
SINCE: Final = re.compile(r"\bsince\s+", re.IGNORECASE)
_ATTACHED: Final = re.compile(r"\s*(?:'s\b|of\b|or\b|-\w|(?:day|week|weekend|month|year)\b)", re.IGNORECASE)
"""What makes a time a part of another thing: `the 10th of the month`, `last month's report`."""
_BOUNDS: Final = frozenset({"of", "from", "between", "until", "till", "through"})
_DAY_NAMED: Final = re.compile(
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b.*\d|\d.*[a-z]", re.IGNORECASE
)
_YEAR: Final = re.compile(r"\d{4}|\b(?:last|next|ago|this)\b", re.IGNORECASE)
_LAST_WEEKDAY: Final = re.compile(
    r"last (?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\b", re.IGNORECASE
)
_TOLD_APART: Final = re.compile(
    r"\b(?:today|tonight|this|next|last|coming|past)\b|\d(?:st|nd|rd|th)\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    re.IGNORECASE,
)
"""What says of which week a weekday is."""
_SMALL_HOURS: Final = range(1, 7)
_LATE_HOURS: Final = range(7, 12)
_IN_EVENINGS: Final = pattern("event_time", "in evenings", re.IGNORECASE)
"""What is rarely in the morning: `dinner at 8`."""
_SAID_IN_FULL: Final = re.compile(
    r"(?<!\d)0\d(?:[:h]|\.\d\d(?![.\d]))|\d\s?[ap]\.?m\b|\b(?:morning|night|midnight|dawn|ago|hours?|minutes?|now)\b",
    re.IGNORECASE,
)
"""What makes an hour of the first six sure, because `at 2` is rarely at night, or one of the morning."""
_FROM_DAY: Final = re.compile(
    r"(?!between\b).*?(?:\b\d{1,2}(?:st|nd|rd|th)?|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"(?:\s+(?:to|until|till|through)\s|\s?[-\u2013]\s?)",
    re.IGNORECASE,
)
"""The first day of several: `from May 5th to the 9th`."""
_YEARLESS: Final = timedelta(days=270)
"""A day without its year that is further away may be of another one."""
_HALF_A_YEAR: Final = timedelta(days=183)
"""How long ago `recently` may be."""
_FORTNIGHT: Final = timedelta(days=14)
_WEEK: Final = timedelta(days=7)
_DAY: Final = timedelta(days=1)
_YEAR_DAYS: Final = range(365, 367)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseTime:
    """A time as an event's payload has it, what to say of it in words, and where it stood in the text."""

    at: str | None
    precision: Precision
    words: str = ""
    """What the sentence keeps of it: `in 2019`, where the date itself would say too much."""
    spans: tuple[tuple[int, int], ...] = ()
    vague: bool = False
    """Told by `just` or `recently` alone."""

    @property
    def day(self) -> str | None:
        """Return the date alone."""
        return None if self.at is None else self.at[:10]

    @property
    def exact_day(self) -> str | None:
        """Return the date where it is known to the day."""
        return self.day if self.precision in {Precision.DAY, Precision.EXACT} else None


def find(text: str, now: datetime, *, prefer: Prefer = "past") -> ClauseTime | None:
    """Return the time the text names; None when it names none.

    `now` is aware and in the speaker's zone. A range that no precision covers is approximate, at its middle. Words
    that may mean another time than they say give a time without a date, and stay in the text.
    """
    spans = _spans(text, now, prefer)
    if not spans:
        vague = VAGUE.search(text)
        if vague is None:
            return None
        return ClauseTime(at=now.date().isoformat(), precision=Precision.APPROXIMATE, spans=(vague.span(),), vague=True)
    # "In March ... on the 10th": the day belongs to the month, which the words don't join.
    whole = [one for one in spans if not DAY_ALONE.fullmatch(one.text)] or spans
    best = min(whole, key=_narrowness)
    if not (_agree(whole) and _is_certain(text, best, now, prefer)) or _is_of_either_day(best, now):
        return ClauseTime(at=None, precision=Precision.UNKNOWN)
    best = _of_either_week(best, now) if prefer == "past" else best
    grounded = _grounded(best, text, now.date() if prefer == "past" else None)
    if grounded is None:
        return None
    return ClauseTime(
        at=grounded[0], precision=grounded[1], words=grounded[2],
        spans=tuple(_with_preposition(text, span) for span in spans),
    )  # fmt: skip


def _agree(spans: list[TemporalSpan]) -> bool:
    """Tell whether several times may be one: `last month, on the 3rd`, but not `in April or May`."""
    lowers = [one.window[0] for one in spans if one.window[0] is not None]
    uppers = [one.window[1] for one in spans if one.window[1] is not None]
    return not (lowers and uppers) or max(lowers) < min(uppers)


def _is_certain(text: str, span: TemporalSpan, now: datetime, prefer: Prefer) -> bool:
    """Tell whether a time dates the event: no bound of a longer time, no day of an unknown year, not too old."""
    lower, upper = span.window
    if _ATTACHED.match(text, span.end):
        return False
    if lower is None or upper is None:
        return True
    yearless = upper - lower <= _DAY and _DAY_NAMED.search(span.text) and not _YEAR.search(span.text)
    if yearless and not now - _YEARLESS < lower < now + _YEARLESS:
        return False
    if prefer == "future":
        return upper > now or any(map(str.isdigit, span.text))
    around = (*text[: span.start].lower().split()[-1:], *span.text.lower().split()[:1])
    lately = _FORTNIGHT if _LAST_WEEKDAY.match(span.text) else _HALF_A_YEAR if VAGUE.search(text) else now - lower
    return _BOUNDS.isdisjoint(around) and lower <= now and upper >= now - lately


def _is_of_either_day(span: TemporalSpan, now: datetime) -> bool:
    """Tell whether a weekday may be today or a week from it: `on Monday`, said on a Monday."""
    lower = span.window[0]
    named = _WEEKDAY.search(span.text) and not _TOLD_APART.search(span.text)
    return bool(named) and lower is not None and lower.date() == now.date()


def _of_either_week(span: TemporalSpan, now: datetime) -> TemporalSpan:
    """Return both days that `last Friday` may mean on a Sunday as one approximate time."""
    lower = span.window[0]
    if lower is None or not _LAST_WEEKDAY.fullmatch(span.text) or (lower + _WEEK).date() >= (now - _DAY).date():
        return span
    return replace(span, precision=Precision.APPROXIMATE, window=(lower, lower + _WEEK + _DAY))


def without(text: str, when: ClauseTime | None, *, offset: int = 0) -> str:
    """Return the text without the words that name the time; `offset` is where it begins in the text searched."""
    if when is None:
        return text
    for start, end in sorted(when.spans, reverse=True):
        first, last = start - offset, end - offset
        if last > 0:
            text = text[: max(0, first)] + " " + text[last:]
    return re.sub(r"\s+([,.;])", r"\1", " ".join(text.split()))


def _spans(text: str, now: datetime, prefer: Prefer) -> list[TemporalSpan]:
    if CUE.search(text) is None:
        return []
    found = find_spans(text, now=now, prefer=prefer)
    return [
        _gone(one, now) if prefer == "past" else one
        for one in found
        if one.kind != "duration" and not _is_no_time(text, one)
    ]


def _is_no_time(text: str, span: TemporalSpan) -> bool:
    indefinite = _WEEKDAY.match(span.text) and _ANY.search(text[max(0, span.start - 12) : span.start])
    next_one = _NEXT_ONE.match(span.text) and text[: span.start].lower().endswith("the ")
    part = span.text.lower() == "weekend"  # "the anniversary weekend"
    unsaid = indefinite or next_one or part or _THAN_UNSAID.search(span.text)
    return bool(unsaid) or _is_name(text, span)


def _is_name(text: str, span: TemporalSpan) -> bool:
    """Tell whether it is a name, or tells a thing from others: `The 1975`, `a rare 1967 pressing`."""
    if text.count('"', 0, span.start) % 2:
        return True
    before, after = text[max(0, span.start - 30) : span.start], text[span.end : span.end + 2]
    model = _SOME_THING.search(before) and after[1:].isalpha()
    return span.text.isdigit() and bool(model or _THE.search(before))


def _gone(span: TemporalSpan, now: datetime) -> TemporalSpan:
    """Return the weekend that is over: "over the weekend" of something done is not the coming one."""
    lower, upper = span.window
    if lower is None or upper is None or lower <= now or not span.text.lower().endswith("weekend"):
        return span
    return replace(span, window=(lower - _WEEK, upper - _WEEK))


def _narrowness(span: TemporalSpan) -> tuple[bool, timedelta]:
    lower, upper = span.window
    return (lower is None or upper is None, upper - lower if lower and upper else timedelta(0))


def _is_sure_hour(span: TemporalSpan, hour: int, text: str) -> bool:
    """Tell whether an hour is meant as it is said: before noon, unless the text makes it one of the evening."""
    doubtful = hour in _SMALL_HOURS or (hour in _LATE_HOURS and _IN_EVENINGS.search(text))
    return not doubtful or _SAID_IN_FULL.search(span.text) is not None


def _grounded(span: TemporalSpan, text: str, today: date | None) -> tuple[str, Precision, str] | None:
    """Return the date, its precision and its words; what has happened was no later than `today`."""
    lower, upper = span.window
    if lower is None or not EARLIEST_YEAR <= lower.year <= LATEST_YEAR:
        return None
    moment = span.lower or lower
    if span.kind == "moment" and _is_sure_hour(span, moment.hour, text):
        return moment.isoformat(), Precision.EXACT, ""
    if upper is None:
        return None
    first = lower.date()
    last = first if upper - lower <= _DAY else (upper - timedelta(microseconds=1)).date()
    precision = Precision.APPROXIMATE if span.precision is Precision.APPROXIMATE else _covering(first, last)
    if today is None and _FROM_DAY.match(span.text):
        return first.isoformat(), Precision.DAY, ""
    if precision is Precision.APPROXIMATE:
        gone = today if today is not None and first <= today < last else last
        return _middle(first, gone).isoformat(), precision, "" if _SOME.search(span.text) else _year_words(first, last)
    return first.isoformat(), precision, ""


def _covering(first: date, last: date) -> Precision:
    """Return the narrowest precision whose calendar unit holds both days."""
    if first == last:
        return Precision.DAY
    if last - first < _WEEK and first.isocalendar()[:2] == last.isocalendar()[:2]:
        return Precision.WEEK
    if (first.year, first.month) == (last.year, last.month):
        return Precision.MONTH
    return Precision.APPROXIMATE


def _middle(first: date, last: date) -> date:
    return first + (last - first) // 2


def _year_words(first: date, last: date) -> str:
    return f"in {first.year}" if (last - first).days + 1 in _YEAR_DAYS else ""


def _with_preposition(text: str, span: TemporalSpan) -> tuple[int, int]:
    lead = _LEAD.search(text[max(0, span.start - 24) : span.start])
    return (span.start - len(lead.group()) if lead else span.start), span.end
