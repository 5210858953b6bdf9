"""Raw tokens and word counts of a text, in scripts with and without spaces; quotations and sentences located in it.

A token is a run of letters, digits and their combining marks, together with the signs that join it to the next run of
one name (`pg_trgm`, `user@example.com`, `cve-2024-1234`, `don't`, `10:30`), or a run of a script without spaces, or an
issue number (`#42`).
"""

from __future__ import annotations

import re
import sys
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from typing import Final

HAN: Final = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
"""Ideographs, as the inside of a regex class: each is a word or nearly one."""

SPACELESS: Final = (
    HAN
    + "\u0e01-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1050-\u108f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
    + "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uac00-\ud7a3"  # kana, Hangul
)
"""Scripts without spaces, and Hangul, whose particles stick to the word they follow."""

SPACELESS_LETTER: Final = re.compile(f"[{SPACELESS}]")

# Other spellings of one sign; the soft hyphen and the zero-width joiners stand inside words, unseen.
_SAME_TOKEN: Final = {
    0x2018: "'",
    0x2019: "'",
    0x02BC: "'",
    0x2010: "-",
    0x2011: "-",
    0x00AD: None,
    0x200C: None,
    0x200D: None,
}

_COMBINING: Final = re.compile("[\u0300-\u036f]+")


def normalise(text: str) -> str:
    """Return the text in NFKC and lower case, with one kind of apostrophe and hyphen."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).lower().translate(_SAME_TOKEN)


def fold_accents(term: str) -> str:
    """Return the term without Latin, Greek and Cyrillic accents, which people omit in questions."""
    if term.isascii():
        return term
    bare = _COMBINING.sub("", unicodedata.normalize("NFD", term))
    return unicodedata.normalize("NFC", bare)


def tokenize(normalised: str) -> list[str]:
    """Return the tokens of a text that `normalise` returned, in order."""
    pattern = _pattern_of("[a-z0-9]++") if normalised.isascii() else _pattern_of(_unicode_word(), f"[{SPACELESS}]++|")
    return pattern.findall(normalised)


@cache
def _pattern_of(word: str, spaceless: str = "") -> re.Pattern[str]:
    # Possessive classes: no text, however odd, makes it backtrack. Groups repeat greedily, because Python
    # before 3.11.4 takes a lookbehind inside a possessive group wrongly (it cut words short).
    # Looking at the next sign first saves a quarter of the time: after most words no sign joins.
    sign = r"(?=[_.@&'\-+:,])(?:_++|[.@&'\-+]|(?<=\d):(?=\d)|(?<=\d),(?=\d{3}(?!\d)))"
    return re.compile(rf"{spaceless}\#\d++|{word}(?:{sign}{word})*(?:\+\+|\#(?!\w))?")


@cache
def _unicode_word() -> str:
    # `\w` leaves out the vowel signs of Indic scripts and Arabic points, which are marks inside words.
    marks = "".join(
        character
        for character in map(chr, range(0x300, min(sys.maxunicode, 0xFE00)))
        if unicodedata.category(character) in {"Mn", "Mc"} and not SPACELESS_LETTER.match(character)
    )
    return rf"(?:[^\W_{SPACELESS}]++[{marks}]*+)+"


_SAME: Final = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    }
)

_PASSED_OVER: Final = re.compile("\\s{2,}|[^\\S ]|[\u00ad\u200b-\u200f\u2060\ufeff*]+")
"""Characters that typing, rendering and markup add or leave out."""

_EDGES: Final = " \t\r\n\"'.,;:!?\u2026()[]"

_MOST_TRIES: Final = 100


_AROUND: Final = 600
"""Characters on either side of a quotation within which its sentence must begin and end."""

_BREAK: Final = re.compile(
    "(?<=[.!?\u2026])[\"')\\]\u201d\u2019]{0,3}\\s+|(?<!\\s)(?:\\s*\n\\s*\n\\s*|\\s*\n(?=\\s*[^a-z\\s]))|(?<=[\u3002\uff01\uff1f])"
)

_ABBREVIATED: Final = re.compile(
    r"\b(?:[A-Z]|Dr|Mr|Mrs|Ms|Prof|Col|Capt|Gen|Sgt|Rev|St|Mt|Jr|Sr|vs|etc|e\.g|i\.e|approx|Inc|Ltd|Co|Corp|a\.m|p\.m|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.$"
)


@dataclass(frozen=True, slots=True)
class _Flat:
    """A normalised text, and the shifts of its positions against the original."""

    text: str
    starts: tuple[int, ...]
    shifts: tuple[int, ...]

    def place(self, position: int) -> int:
        """Return the position of a character in the original."""
        return position + self.shifts[bisect_right(self.starts, position) - 1]


def locate_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return start and end of a quotation in a text, None if it is not in it word for word.

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


def sentence_around(text: str, span: tuple[int, int]) -> tuple[str, str]:
    """Return the sentence, or the sentences, of a span of the text, and the text before them."""
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


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of each sentence of a text, in order, without the space around it."""
    ends = [
        (found.start(), found.end())
        for found in _BREAK.finditer(text)
        if not _ABBREVIATED.search(text, max(0, found.start() - 8), found.start())
    ]
    pieces = zip([0, *(end for _, end in ends)], [*(start for start, _ in ends), len(text)], strict=True)
    bare = ((start + len(text[start:end]) - len(text[start:end].lstrip()), start, end) for start, end in pieces)
    return [(first, start + len(text[start:end].rstrip())) for first, start, end in bare if text[start:end].strip()]


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
    """Return whether a position between two characters is inside a word."""
    if place in {0, len(text)} or SPACELESS_LETTER.match(text[place]):
        return False
    return text[place - 1].isalnum() and text[place].isalnum()


_RUN_CHARACTERS: Final = 2
"""Characters of a script without spaces that count as a word, as in `parts`."""

_SPACELESS_WORD: Final = re.compile(f"[{SPACELESS}]+")

_LETTER: Final = re.compile(r"[^\W_]")

_CONTRACTED: Final = re.compile(r"\w['\u2019](?:m|re|ve|ll|d|s|t)\b", re.IGNORECASE)


def count_words(text: str) -> int:
    """Return the number of words: `I'm` is two, two characters of a script without spaces are one.

    A token without a letter or digit (an emoji, a dash) is no word.
    """
    words = 0
    for run in _SPACELESS_WORD.findall(text):
        words += -(-len(run) // _RUN_CHARACTERS)
    spaced = _SPACELESS_WORD.sub(" ", text) if words else text
    words += sum(_LETTER.search(piece) is not None for piece in spaced.split())
    return words + len(_CONTRACTED.findall(spaced))


def one_edit_apart(first: str, second: str) -> bool:
    """Return whether the words differ by one missing, added or changed letter, or by two swapped neighbours."""
    if len(first) > len(second):
        first, second = second, first
    same = next((place for place, letter in enumerate(first) if letter != second[place]), len(first))
    rest, other = first[same:], second[same:]
    if len(first) < len(second):
        return len(second) - len(first) == 1 and rest == other[1:]
    return rest[1:] == other[1:] or (rest[:2] == other[1::-1] and rest[2:] == other[2:])
