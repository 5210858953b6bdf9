"""How many words a text has, in scripts with and without spaces."""

from __future__ import annotations

import re
from typing import Final

from app.text.tokens import SPACELESS

_RUN_CHARACTERS: Final = 2
"""Characters of a script without spaces that count as a word, as in `parts`."""

_SPACELESS_RUN: Final = re.compile(f"[{SPACELESS}]+")
_LETTER: Final = re.compile(r"[^\W_]")
_CONTRACTED: Final = re.compile(r"\w['\u2019](?:m|re|ve|ll|d|s|t)\b", re.IGNORECASE)


def count_words(text: str) -> int:
    """Return how many words there are: `I'm` is two, two characters of a script without spaces are one.

    What holds no letter or digit (an emoji, a dash) is no word.
    """
    words = 0
    for run in _SPACELESS_RUN.findall(text):
        words += -(-len(run) // _RUN_CHARACTERS)
    spaced = _SPACELESS_RUN.sub(" ", text) if words else text
    words += sum(_LETTER.search(piece) is not None for piece in spaced.split())
    return words + len(_CONTRACTED.findall(spaced))
