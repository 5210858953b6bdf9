"""The words of the date grammar, from `data/date_words.txt`."""

from __future__ import annotations

from typing import Final

from app.english.word_lists import lines, pairs, words

_FILE: Final = "date_words"


def _entry(key: str) -> tuple[str, float]:
    """Return the tag and the number that a key names."""
    tag, _, number = key.partition(" ")
    return tag, float(number or 0)


WORDS: Final = {word: _entry(key) for key, listed in lines(_FILE, "words") for word in listed.split()}
"""A tag for each word, and a number whose meaning depends on the tag."""

CLASSES: Final = pairs(_FILE, "classes")
"""Names for sets of tags."""

HOLIDAYS: Final = {
    name: tuple(int(number) for number in numbers.split()) for name, numbers in pairs(_FILE, "holidays").items()
}
"""Month and day; month, nth, weekday and days after it; or days after Easter."""

SHORT_UNITS: Final = words(_FILE, "short units")
FUNCTION_WORDS: Final = words(_FILE, "function words")

ZONES: Final = pairs(_FILE, "zones")
"""Hours from UTC, or the zone, by the name that follows a time of day; `?` for names of several zones."""

MONTH_FIRST: Final = words(_FILE, "month first")
