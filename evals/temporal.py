"""How well app.english.dates reads dates: scored against the Recognizers-Text English cases.

`python -m evals.temporal --data DIR` prints a table; the cases are not part of this repository.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from app.english.dates import TemporalSpan, find_spans
from evals.datasets import data_dir

FILES = ("DateParser", "DatePeriodParser", "DateTimePeriodParser", "DurationParser", "DateTimeModel")
ALL_TYPES = "DateTimeModel"
"""The file whose cases list the expressions of every type; each other file lists one type only."""
NO_REFERENCE = "2016-11-07T00:00:00"
MOMENT = timedelta(minutes=1)
NO_DATE = "0001-01-01"
Prefer = Literal["past", "future"]
Bounds = tuple[datetime | None, datetime | None]


@dataclass(frozen=True, slots=True)
class Reading:
    """One resolution of an expression, its values as the data writes them."""

    lower: str | None
    upper: str | None
    value: str | None


@dataclass(frozen=True, slots=True)
class Expected:
    """An expression the data expects to be found."""

    text: str
    start: int
    end: int
    type: str
    timex: str
    mod: str
    past: tuple[Reading, ...]
    future: tuple[Reading, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A text with its reference time and what should be found in it."""

    file: str
    text: str
    now: datetime
    expected: tuple[Expected, ...]
    unsupported: str


RESULT_RULES: dict[str, Callable[[Expected], bool]] = {
    "recurring set: names no single range": lambda e: e.type == "set",
    "time of day without a date: no range of a memory's time line": lambda e: e.type in {"time", "timerange"},
    "time zone": lambda e: e.type == "timezone",
    "the present ('now'): not a limit on when something happened": lambda e: e.timex == "PRESENT_REF",
    "points back to something said before ('the week', 'that weekend')": lambda e: (
        e.mod == "ref_undef" or re.fullmatch(r"the (day|week|month|year|fortnight)", e.text.lower()) is not None
    ),
    "bare number": lambda e: re.fullmatch(r"(the )?\d{1,2}", e.text) is not None,
    "the data gives no range (season, school year, no such day)": lambda e: not e.past,
    "approximate moment: the data gives one bound only": lambda e: e.mod == "approx",
    "holiday of the moon's calendar": lambda e: (
        re.search(r"\b(eid|ramadan|diwali|hanukkah|lunar|chinese new year|passover)\b", e.text.lower()) is not None
    ),
}
"""Why an expected expression is out of scope."""

CASE_RULES: dict[str, Callable[[Case], bool]] = {
    "the reference implementation does not support the case": lambda c: "dotnet" in c.unsupported,
    "no result of one type says nothing about the other types": lambda c: c.file != ALL_TYPES and not c.expected,
}
"""Why a whole case is out of scope; one whose every expression is, is too."""


def load(folder: Path) -> list[Case]:
    """Return the cases of all files present in `folder`."""
    cases: list[Case] = []
    for name in FILES:
        path = folder / f"{name}.json"
        if path.exists():
            cases += [_case(name, raw) for raw in json.loads(path.read_text(encoding="utf-8-sig"))]
    return cases


def _case(name: str, raw: dict[str, Any]) -> Case:
    reference = (raw.get("Context") or {}).get("ReferenceDateTime") or NO_REFERENCE
    now = datetime.fromisoformat(reference).replace(tzinfo=UTC)
    found = tuple(_expected(result) for result in raw["Results"])
    return Case(name, raw["Input"], now, found, str(raw.get("NotSupported", "")).lower())


def _expected(raw: dict[str, Any]) -> Expected:
    start = raw.get("Start", 0)
    end = start + raw["Length"] if "Length" in raw else raw.get("End", start + len(raw["Text"]) - 1) + 1
    value = raw.get("Value") or raw.get("Resolution") or {}
    if "values" in value:
        entries = value["values"]
        kind = entries[0]["type"]
        resolved = [reading for reading in map(_reading, entries) if reading]
        days = sorted({_day(reading) for reading in resolved})
        past = tuple(r for r in resolved if _day(r) == days[0])
        future = tuple(r for r in resolved if _day(r) == days[-1])
        timex, mod = entries[0].get("timex", ""), entries[0].get("Mod", "")
    else:
        kind, timex, mod = raw["Type"], value.get("Timex", ""), value.get("Mod", "")
        past, future = (
            tuple(filter(None, [_reading(value.get(side) or {})])) for side in ("PastResolution", "FutureResolution")
        )
    return Expected(raw["Text"], start, end, kind, timex, mod or "", past, future)


def _reading(raw: dict[str, str]) -> Reading | None:
    """Return a resolution, None when the data has none ("not resolved", or the year 1)."""

    def first(*keys: str) -> str | None:
        return next((raw[key] for key in keys if key in raw), None)

    lower, upper = first("start", "startDate", "startDateTime"), first("end", "endDate", "endDateTime")
    value = first("value", "date", "dateTime", "duration")
    values = [entry for entry in (lower, upper, value) if entry is not None]
    if not values or any(entry == "not resolved" or entry.startswith(NO_DATE) for entry in values):
        return None
    return Reading(lower, upper, value)


def _day(reading: Reading) -> str:
    return (reading.lower or reading.upper or reading.value or "")[:10]


def bounds(expected: Expected, reading: Reading) -> Bounds:
    """Return the half-open range of a resolution.

    A date is one day. A last second of 23:59:59 means midnight. "Rest of" is the one family whose end date is
    its last day. One-sided resolutions are open.
    """
    if reading.value is not None:
        value = _moment(reading.value)
        return value, value + (timedelta(days=1) if expected.type == "date" else MOMENT)
    lower = _moment(reading.lower) if reading.lower else None
    upper = _moment(reading.upper) if reading.upper else None
    if upper and (upper.hour, upper.minute, upper.second) == (23, 59, 59):
        upper += timedelta(seconds=1)
    elif upper and re.search(r"\b(rest|remain\w+)\b", expected.text.lower()):
        upper += timedelta(days=1)
    return lower, upper


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def fits(span: TemporalSpan, expected: Expected, readings: tuple[Reading, ...]) -> bool:
    """Tell whether a span has one of the readings: an open hour has two, before noon and after."""
    if expected.type == "duration":
        return span.duration is not None and any(
            span.duration == timedelta(seconds=float(reading.value or 0)) for reading in readings
        )
    for reading in readings:
        lower, upper = bounds(expected, reading)
        if span.lower != lower:
            continue
        moment = reading.value is not None and expected.type != "date"
        if span.upper == upper or (moment and span.upper and lower and span.upper - lower <= MOMENT):
            return True
    return False


def out_of_scope(case: Case) -> str | None:
    """Return the reason that keeps a whole case out, None if it is scored."""
    for reason, applies in CASE_RULES.items():
        if applies(case):
            return reason
    reasons = [result_out_of_scope(expected) for expected in case.expected]
    return reasons[0] if reasons and all(reasons) else None


def result_out_of_scope(expected: Expected) -> str | None:
    """Return the reason that keeps one expected expression out, None if it is scored."""
    return next((reason for reason, applies in RESULT_RULES.items() if applies(expected)), None)


def _overlaps(span: TemporalSpan, expected: Expected) -> bool:
    return span.start < expected.end and expected.start < span.end


def _shown(span: TemporalSpan) -> str:
    return f"{span.text!r} {span.duration or (str(span.lower), str(span.upper))}"


def problems(case: Case) -> Iterator[str]:
    """Yield what is wrong with a case's spans: an expression missed or misread, or one that is none."""
    prefers: tuple[Prefer, Prefer] = ("past", "future")
    for prefer in prefers:
        spans = find_spans(case.text, now=case.now, prefer=prefer)
        for expected in case.expected:
            readings = expected.past if prefer == "past" else expected.future
            if result_out_of_scope(expected) or not readings:
                continue
            if not any(_overlaps(span, expected) and fits(span, expected, readings) for span in spans):
                near = [_shown(span) for span in spans if _overlaps(span, expected)]
                yield f"{prefer}: {expected.text!r} wants {readings[0]} got {near}"
        if case.file == ALL_TYPES:
            for span in spans:
                if not any(_overlaps(span, expected) for expected in case.expected):
                    yield f"{prefer}: {span.text!r} is no expression"


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of one file, or of all."""

    cases: int
    scored: int
    right: int

    @property
    def accuracy(self) -> float:
        """The share of right cases among those scored."""
        return self.right / self.scored if self.scored else 0.0

    @property
    def share(self) -> float:
        """The share of cases in scope."""
        return self.scored / self.cases if self.cases else 0.0


def score(cases: list[Case]) -> tuple[dict[str, Score], list[str], Counter[str]]:
    """Return the scores by file and in total, the misses, and the counts of why cases are out of scope."""
    table: dict[str, Score] = {}
    misses: list[str] = []
    reasons: Counter[str] = Counter()
    for name in dict.fromkeys(case.file for case in cases):
        group = [case for case in cases if case.file == name]
        kept = [case for case in group if (reason := out_of_scope(case)) is None or reasons.update([reason])]
        right = 0
        for case in kept:
            wrong = list(problems(case))
            right += not wrong
            if wrong:
                misses.append(f"{name}: {case.text!r} @ {case.now:%Y-%m-%dT%H:%M}\n    " + "\n    ".join(wrong))
        table[name] = Score(len(group), len(kept), right)
    table["total"] = Score(*(sum(getattr(s, field) for s in table.values()) for field in ("cases", "scored", "right")))
    return table, misses, reasons


def main(arguments: list[str] | None = None) -> int:
    """Print the table; without data say so and succeed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder that holds temporal/*.json (default: TM_EVAL_DATA)")
    parser.add_argument("--misses", action="store_true", help="print every case that is wrong")
    options = parser.parse_args(arguments)
    folder = (options.data or data_dir()) / "temporal"
    cases = load(folder)
    if not cases:
        print(f"No cases in {folder}: nothing to score. Give --data or set TM_EVAL_DATA.")
        return 0
    table, misses, reasons = score(cases)
    if options.misses:
        print("\n".join(misses))
    print(f"{'file':<24}{'cases':>7}{'scored':>8}{'share':>8}{'right':>7}{'accuracy':>10}")
    for name, line in table.items():
        print(f"{name:<24}{line.cases:>7}{line.scored:>8}{line.share:>8.1%}{line.right:>7}{line.accuracy:>10.1%}")
    print("\nout of scope:")
    for reason, count in reasons.most_common():
        print(f"{count:>5}  {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
