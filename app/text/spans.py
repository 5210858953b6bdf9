"""Where words stand in a text: a quotation found whatever its typography, and the sentence around it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

from app.text.tokens import SPACELESS

_SAME: Final = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    }
)
_PASSED_OVER: Final = re.compile("\\s{2,}|[^\\S ]|[\u00ad\u200b-\u200f\u2060\ufeff*]+")
"""What typing, rendering and marking up add or leave out."""

_EDGES: Final = " \t\r\n\"'.,;:!?\u2026()[]"
_MOST_TRIES: Final = 100
_SPACELESS_RUN: Final = re.compile(f"[{SPACELESS}]")

_AROUND: Final = 600
"""Characters on either side of a quotation in which its sentence begins and ends."""

_BREAK: Final = re.compile(
    "(?<=[.!?\u2026])[\"')\\]\u201d\u2019]{0,3}\\s+|\\s*\n\\s*\n\\s*|\\s*\n(?=\\s*[^a-z\\s])|(?<=[\u3002\uff01\uff1f])"
)
_ABBREVIATED: Final = re.compile(
    r"\b(?:[A-Z]|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|vs|etc|e\.g|i\.e|approx|Inc|Ltd|Co|Corp|a\.m|p\.m|Jan|Feb|Mar|Apr|Jun|"
    r"Jul|Aug|"
    r"Sept?|Oct|Nov|Dec)\.$"
)


@dataclass(frozen=True, slots=True)
class _Flat:
    """A text made comparable, and where the places of its characters shift against the original."""

    text: str
    starts: tuple[int, ...]
    shifts: tuple[int, ...]

    def place(self, position: int) -> int:
        """Return where the character stands in the original."""
        return position + self.shifts[bisect_right(self.starts, position) - 1]


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """Return start and end of a quotation in a text, or None where it doesn't stand word for word.

    Case, spacing, emphasis, the forms of quotation marks and dashes, and punctuation at its ends don't matter.
    """
    wanted = _flat(quote).text.strip(_EDGES)
    if not wanted:
        return None
    flat = _flat(text)
    start = -1
    for _ in range(_MOST_TRIES):
        start = flat.text.find(wanted, start + 1)
        if start < 0:
            return None
        end = start + len(wanted)
        if not (_joined(flat.text, start) or _joined(flat.text, end)):
            return flat.place(start), flat.place(end - 1) + 1
    return None


def sentence_of(text: str, span: tuple[int, int]) -> tuple[str, str]:
    """Return the sentence that holds a span of the text, or the sentences it reaches over, and all that came before."""
    start, end = span
    lowest, highest = max(0, start - _AROUND), min(len(text), end + _AROUND)
    begins, ends = lowest, highest
    for found in _BREAK.finditer(text, lowest, highest):
        if _ABBREVIATED.search(text, max(lowest, found.start() - 8), found.start()):
            continue
        if found.end() <= start:
            begins = found.end()
        elif found.start() >= end:
            ends = found.start()
            break
    return text[begins:ends].strip(), text[:begins].rstrip()


def _flat(text: str) -> _Flat:
    folded = text.translate(_SAME)
    lowered = folded.lower()
    if len(lowered) != len(folded):
        lowered = "".join(one.lower() if len(one.lower()) == 1 else one for one in folded)
    pieces: list[str] = []
    starts, shifts = [0], [0]
    at = length = 0
    for found in _PASSED_OVER.finditer(lowered):
        kept = " " if found[0].isspace() else ""
        pieces += (lowered[at : found.start()], kept)
        length += found.start() - at + len(kept)
        at = found.end()
        starts.append(length)
        shifts.append(at - length)
    return _Flat("".join((*pieces, lowered[at:])), tuple(starts), tuple(shifts))


def _joined(text: str, place: int) -> bool:
    """Tell whether a word goes on across a place between two characters."""
    if place in {0, len(text)} or _SPACELESS_RUN.match(text[place]):
        return False
    return text[place - 1].isalnum() and text[place].isalnum()
