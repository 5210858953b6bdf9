"""Comparison of two written dates of different precision: `May 4th`, `4 May 1990`, `1990`."""

from __future__ import annotations

import calendar
import re
from typing import Final

from app.memory import normalise

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
