"""Whether one name is another that was misspelt, as far as its letters can show it.

Spelling alone proves little: Iceland is not Ireland, and Martina is not Martin. A misspelling is plain only where one
of the names is well known and the other is no name or word that people use.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from app.english.word_lists import MEN, WOMEN, entries
from app.lexical.bm25 import STOP_WORDS
from app.lexical.tokens import fold_accents

SHORTEST: Final = 7
"""Letters of a word of which a misspelling is told: short ones are all near one another."""

_PART: Final = re.compile(r"[\s.\-]+")


def misspelt(first: str, second: str) -> bool:
    """Return whether two normalised names are one, misspelt: all parts are equal but one, and that by one letter.

    Of the parts that differ, one is a well-known organisation or country, the other no known word, and they do not
    differ in their endings, as names that are inflected do.
    """
    parts, others = _PART.split(fold_accents(first)), _PART.split(fold_accents(second))
    if len(parts) != len(others):
        return False
    differing = [pair for pair in zip(parts, others, strict=True) if pair[0] != pair[1]]
    return len(differing) == 1 and _one_word(*differing[0])


def _one_word(first: str, second: str) -> bool:
    if min(len(first), len(second)) < SHORTEST or not (first + second).isalpha():
        return False
    known = _well_known()
    unknown = second if first in known else first
    return (
        (first in known) != (second in known)
        and unknown not in _in_use()
        and first[0] == second[0]
        and first[-1] == second[-1]
        and _one_edit(first, second)
    )


def _one_edit(first: str, second: str) -> bool:
    """Return whether one letter is left out, put in or another, or two neighbours are swapped."""
    if len(first) > len(second):
        first, second = second, first
    same = next((place for place, letter in enumerate(first) if letter != second[place]), len(first))
    rest, other = first[same:], second[same:]
    if len(first) < len(second):
        return len(second) - len(first) == 1 and rest == other[1:]
    return rest[1:] == other[1:] or (rest[:2] == other[1::-1] and rest[2:] == other[2:])


@cache
def _well_known() -> frozenset[str]:
    names = {fold_accents(name).casefold() for name in (*entries("organisations"), *entries("countries"))}
    return frozenset(names - MEN - WOMEN)


@cache
def _in_use() -> frozenset[str]:
    return MEN | WOMEN | STOP_WORDS["english"] | {*entries("cities"), *entries("look_alikes")}
