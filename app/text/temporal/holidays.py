"""Holidays with a fixed or computable date, as functions of the year. Lunar ones are left out."""

from __future__ import annotations

from datetime import datetime, timedelta

from app.text.temporal.days import DAYS_IN_WEEK, easter, month_start

# name -> (month, day), or (month, nth, weekday from Monday = 0, days to add), or days from Easter Sunday
Rule = tuple[int, int] | tuple[int, int, int, int] | int

MON, THU, SUN = 0, 3, 6

_RULES: dict[str, Rule] = {
    "christmas": (12, 25),
    "christmas day": (12, 25),
    "xmas": (12, 25),
    "christmas eve": (12, 24),
    "boxing day": (12, 26),
    "new year eve": (12, 31),
    "new year day": (1, 1),
    "new year": (1, 1),
    "halloween": (10, 31),
    "valentine day": (2, 14),
    "valentines day": (2, 14),
    "saint patrick": (3, 17),
    "saint patrick day": (3, 17),
    "st patrick day": (3, 17),
    "april fools": (4, 1),
    "april fool day": (4, 1),
    "april fools day": (4, 1),
    "earth day": (4, 22),
    "may day": (5, 1),
    "workers day": (5, 1),
    "international workers day": (5, 1),
    "independence day": (7, 4),
    "veterans day": (11, 11),
    "armistice day": (11, 11),
    "groundhog day": (2, 2),
    "juneteenth": (6, 19),
    "cinco de mayo": (5, 5),
    "bastille day": (7, 14),
    "women day": (3, 8),
    "international women day": (3, 8),
    "singles day": (11, 11),
    "martin luther king day": (1, 3, MON, 0),
    "mlk day": (1, 3, MON, 0),
    "presidents day": (2, 3, MON, 0),
    "mother day": (5, 2, SUN, 0),
    "mothers day": (5, 2, SUN, 0),
    "memorial day": (5, -1, MON, 0),
    "father day": (6, 3, SUN, 0),
    "fathers day": (6, 3, SUN, 0),
    "labor day": (9, 1, MON, 0),
    "labour day": (9, 1, MON, 0),
    "columbus day": (10, 2, MON, 0),
    "thanksgiving": (11, 4, THU, 0),
    "thanksgiving day": (11, 4, THU, 0),
    "black friday": (11, 4, THU, 1),
    "cyber monday": (11, 4, THU, 4),
    "easter": 0,
    "easter sunday": 0,
    "easter monday": 1,
    "good friday": -2,
    "ash wednesday": -46,
    "mardi gras": -47,
    "palm sunday": -7,
}

_BY_FIRST_WORD: dict[str, list[tuple[str, ...]]] = {}
for _name in sorted(_RULES, key=len, reverse=True):
    _words = tuple(_name.split())
    _BY_FIRST_WORD.setdefault(_words[0], []).append(_words)


HOLIDAY_STARTS = frozenset(_BY_FIRST_WORD)
"""The first words of all holiday names."""


def nth_weekday(year: int, month: int, nth: int, weekday: int) -> datetime:
    """Return the nth weekday of a month, counted from its end when negative; ValueError if there is none."""
    if nth > 0:
        first = month_start(year, month)
        found = first + timedelta(days=(weekday - first.weekday()) % DAYS_IN_WEEK + DAYS_IN_WEEK * (nth - 1))
    else:
        last = month_start(year, month + 1) - timedelta(days=1)
        found = last - timedelta(days=(last.weekday() - weekday) % DAYS_IN_WEEK - DAYS_IN_WEEK * (nth + 1))
    if (found.year, found.month) != (year, month):
        raise ValueError("the month has fewer such weekdays")
    return found


def holiday(name: str, year: int) -> datetime:
    """Return the day of a known holiday in a year."""
    rule = _RULES[name]
    if isinstance(rule, int):
        return easter(year) + timedelta(days=rule)
    if len(rule) == 2:  # noqa: PLR2004 - month and day
        return datetime(year, rule[0], rule[1])  # noqa: DTZ001 - naive local time
    month, nth, weekday, extra = rule
    return nth_weekday(year, month, nth, weekday) + timedelta(days=extra)


def holiday_at(words: list[str], index: int) -> tuple[str, int] | None:
    """Return the longest holiday name that starts at words[index] and the count of words it takes.

    Words are in lower case; the possessive "'s" is a word of its own and is skipped.
    """
    for name in _BY_FIRST_WORD.get(words[index], ()):
        position = index
        for word in name:
            while (
                position < len(words) and position > index and words[position] in {"'s", "\u2019s", "'", "\u2019", "."}
            ):
                position += 1
            if position >= len(words) or words[position] != word:
                break
            position += 1
        else:
            return " ".join(name), position - index
    return None
