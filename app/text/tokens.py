"""From text to raw tokens: what a word is, before stop words and stems.

A token is a run of letters, digits and their combining marks, together with what joins it to the next run
when the two make one name (`pg_trgm`, `user@example.com`, `cve-2024-1234`, `don't`, `10:30`), or a run of a
script that writes no spaces between words, or an issue number (`#42`).
"""

from __future__ import annotations

import re
import sys
import unicodedata
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

# Other spellings of one sign; the soft hyphen and the zero-width joiners stand inside words, unseen.
_SAME: Final = {
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
    return unicodedata.normalize("NFKC", text).lower().translate(_SAME)


def fold_accents(term: str) -> str:
    """Return the term without Latin, Greek and Cyrillic accents: people leave them out when they ask."""
    if term.isascii():
        return term
    bare = _COMBINING.sub("", unicodedata.normalize("NFD", term))
    return unicodedata.normalize("NFC", bare)


def tokenize(normalised: str) -> list[str]:
    """Return the tokens of a text that `normalise` returned, in order."""
    pattern = _pattern_of("[a-z0-9]++") if normalised.isascii() else _pattern_of(_unicode_word())
    return pattern.findall(normalised)


@cache
def _pattern_of(word: str) -> re.Pattern[str]:
    # Possessive classes: no text, however odd, makes it backtrack. Groups repeat greedily, because Python
    # before 3.11.4 takes a lookbehind inside a possessive group wrongly (it cut words short).
    joined = rf"(?:(?:_++|[.@&'\-+]|(?<=\d):(?=\d)|(?<=\d),(?=\d{{3}}(?!\d))){word})*"
    return re.compile(rf"[{SPACELESS}]++|\#\d++|{word}{joined}(?:\+\+|\#(?!\w))?")


@cache
def _unicode_word() -> str:
    # `\w` leaves out the vowel signs of Indic scripts and Arabic points, which are marks inside words.
    spaceless = re.compile(f"[{SPACELESS}]")
    marks = "".join(
        character
        for character in map(chr, range(0x300, min(sys.maxunicode, 0xFE00)))
        if unicodedata.category(character) in {"Mn", "Mc"} and not spaceless.match(character)
    )
    return rf"(?:[^\W_{SPACELESS}]++[{marks}]*+)+"
