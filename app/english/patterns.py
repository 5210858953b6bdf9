"""Patterns over English, kept in data files, and the words that open a clause.

A section of a file under `data` is one pattern, an alternative a line; `<<NAME>>` stands for a line of its section
`fragments`.
"""

from __future__ import annotations

import re
from typing import Final

from app.english.word_lists import listed, pairs

LEAD: Final = (
    r"^(?:(?:so|ok|okay|now|well|and|but|just|please|then|hey|hi|hello|yes|yeah|yep|no|nope|oh|actually|also|right|"
    r"alright|btw|by the way|honestly|hmm?|um|uh|wait|sorry|instead|anyway)[,.!:;]{0,3} ){0,4}"
)
"""The beginning of a sentence, after at most four filler words."""

CLAUSE: Final = (
    r"(?:^|[.!?;:,\u2014\u2013(\"] ?| - |\band |\bso |\bbut |\bthen |\bnow |\bplease |\bokay |\bok |\bjust )"
)
"""The beginning of a clause, for imperative verbs."""

MINE: Final = r"(?:i|i'm|im|i've|i'd|i'll|my|we|we're|we've|our)\b"
"""A subject that is the speaker, or belongs to the speaker."""

_FRAGMENT: Final = re.compile(r"<<([A-Z_]+)>>")


def pattern(name: str, title: str, flags: int = 0) -> re.Pattern[str]:
    """Return the pattern of a section of a file."""
    return re.compile("|".join(expanded(name, line) for line in listed(name, title)), flags)


def expanded(name: str, text: str) -> str:
    """Return a line of a file with its fragments in place of their names."""
    fragments = pairs(name, "fragments")
    return _FRAGMENT.sub(lambda found: expanded(name, fragments[found[1]]), text)


def words(text: str) -> frozenset[str]:
    """Return the words of a list that is written as text."""
    return frozenset(text.split())
