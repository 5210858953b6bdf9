"""Recognition of misspelt names.

Similar spelling alone proves little: Iceland is not Ireland, and Martina is not Martin. A name counts as misspelt only
if the other name is well known and it is no name or word itself.
"""

from __future__ import annotations

import re
from typing import Final

from app.english.word_lists import MEN, WOMEN, entries
from app.lexical.bm25 import STOP_WORDS
from app.lexical.edits import one_edit_apart
from app.lexical.tokens import fold_accents

SHORTEST: Final = 7
"""Least letters of a word that can be recognised as misspelt, because short words are all similar."""

_PART: Final = re.compile(r"[\s.\-]+")
_WELL_KNOWN: Final = {fold_accents(name).casefold() for name in (*entries("organisations"), *entries("countries"))} - (
    MEN | WOMEN
)
_IN_USE: Final = MEN | WOMEN | STOP_WORDS["english"] | {*entries("cities"), *entries("look_alikes")}


def misspelt(first: str, second: str) -> bool:
    """Return whether one of two normalised names is a misspelling of the other: one letter of one part differs.

    One of the parts that differ is a well-known organisation or country, the other no known word, and they do not
    differ in their endings, as inflected names do.
    """
    parts, others = _PART.split(fold_accents(first)), _PART.split(fold_accents(second))
    if len(parts) != len(others):
        return False
    differing = [pair for pair in zip(parts, others, strict=True) if pair[0] != pair[1]]
    return len(differing) == 1 and _one_word(*differing[0])


def _one_word(first: str, second: str) -> bool:
    if min(len(first), len(second)) < SHORTEST or not (first + second).isalpha():
        return False
    unknown = second if first in _WELL_KNOWN else first
    return (
        (first in _WELL_KNOWN) != (second in _WELL_KNOWN)
        and unknown not in _IN_USE
        and first[0] == second[0]
        and first[-1] == second[-1]
        and one_edit_apart(first, second)
    )
