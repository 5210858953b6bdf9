"""Cutting a long text into the parts that are embedded one by one, because one embedding of it all blurs.

Measured with the embedded model on LongMemEval S: parts of at most 40 words, matched by the best part, lift
turn recall@10 from .930 to .949.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from app.text.tokens import SPACELESS

MAX_PARTS: Final = 64

# Three characters of a script without spaces are about a word and a half; two a word errs to shorter parts.
_RUN_CHARACTERS: Final = 2
_PIECE: Final = re.compile(rf"[{SPACELESS}]{{1,{_RUN_CHARACTERS}}}+|[^\s{SPACELESS}]++")


def split_parts(text: str, max_words: int = 40, *, max_parts: int = MAX_PARTS) -> tuple[str, ...]:
    """Return the text in consecutive parts of nearly equal length, of at most `max_words` words each.

    Equal parts find more than whole sentences packed up to the limit, which leave short last parts
    (LongMemEval S, recall@10 of the semantic arm .825 against .800). Nothing is left out but surplus white
    space, and a text without words has no parts. A text that would make more than `max_parts` has longer
    ones: all of it stays reachable, if less sharply. Two characters of a script without spaces count as a word.
    """
    pieces = list(_PIECE.finditer(text))
    if not pieces:
        return ()
    count = min(max_parts, -(-len(pieces) // max_words))
    cuts = [round(place * len(pieces) / count) for place in range(count + 1)]
    return tuple(
        " ".join(text[pieces[first].start() : pieces[last - 1].end()].split()) for first, last in pairwise(cuts)
    )


LEAD_WORDS: Final = 20
"""Words of the text before that are searched along with a short one (measured on LoCoMo: enough)."""


def lead(text: str) -> str:
    """Return the end of a text, which gives the one after it its meaning."""
    return " ".join(text.split()[-LEAD_WORDS:])
