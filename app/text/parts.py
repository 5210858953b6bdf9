"""Cutting a long text into the parts that are embedded one by one, because one embedding of it all blurs.

Measured with the embedded model on LongMemEval S: parts of at most 40 words, matched by the best part, lift
turn recall@10 from .930 to .949.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from app.text.tokens import SPACELESS

MAX_PARTS: Final = 64

# Three characters of a script without spaces are about a word and a half; two a word errs to shorter parts.
_RUN_CHARACTERS: Final = 2
_PIECE: Final = re.compile(rf"[{SPACELESS}]{{1,{_RUN_CHARACTERS}}}+|[^\s{SPACELESS}]++")
_FULL_STOP: Final = re.compile(r"[。！？]+[」』”’）)]*|[.!?…]+[\"'”’)\]]*(?=\s)|\n\s*")  # noqa: RUF001
_ABBREVIATION: Final = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|No|[A-Z])\.$")


def split_parts(text: str, max_words: int = 40, *, max_parts: int = MAX_PARTS) -> tuple[str, ...]:
    """Return the text in consecutive parts of at most `max_words` words, broken at sentence ends if possible.

    Sentences are packed greedily; one that is longer by itself is cut at `max_words`. Nothing is left out
    but surplus white space, and a text without words has no parts. A text that would make more than
    `max_parts` has them joined with their neighbours, evenly: all of it stays reachable, if less sharply.
    Two characters of a script without spaces count as a word.
    """
    parts: list[str] = []
    packed, room = "", max_words
    for sentence, words in _clauses(text, max_words):
        if packed and words > room:
            parts.append(packed)
            packed, room = "", max_words
        packed = f"{packed} {sentence}" if packed else sentence
        room -= words
    if packed:
        parts.append(packed)
    together = -(-len(parts) // max_parts)
    if together <= 1:
        return tuple(parts)
    return tuple(" ".join(parts[at : at + together]) for at in range(0, len(parts), together))


def _clauses(text: str, max_words: int) -> Iterator[tuple[str, int]]:
    """Yield each sentence, a long one in slices, and its number of words."""
    for sentence in _sentences(text):
        pieces = list(_PIECE.finditer(sentence))
        for at in range(0, len(pieces), max_words):
            slice_ = pieces[at : at + max_words]
            start, end = slice_[0].start(), slice_[-1].end()
            yield " ".join(sentence[start:end].split()), len(slice_)


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for stop in _FULL_STOP.finditer(text):
        if _is_abbreviated(text, start, stop.end()):
            continue
        yield text[start : stop.end()]
        start = stop.end()
    yield text[start:]


def _is_abbreviated(text: str, start: int, end: int) -> bool:
    return _ABBREVIATION.search(text, max(start, end - 8), end) is not None


LEAD_WORDS: Final = 20
"""Words of the text before that are searched along with a short one (measured on LoCoMo: enough)."""


def lead(text: str) -> str:
    """Return the end of a text, which gives the one after it its meaning."""
    return " ".join(text.split()[-LEAD_WORDS:])
