"""English words for what people say of their own lives in other languages.

A typed fact says `drives`, whatever its user speaks, and the embedded model knows little of other languages. So a
question that nothing answers as it stands is asked once more by these words. They need not make a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from app.english.word_lists import lines
from app.lexical.bm25 import STOP_WORDS, text_language
from app.lexical.tokens import SPACELESS, SPACELESS_LETTER, fold_accents, normalise

_ENGLISH: Final = "english"
_NOTHING: Final = "_"
"""The entry of words that have no English one."""

_SHORTEST: Final = 3
"""Letters of the shortest word that may be a part of another."""

_TOKEN: Final = re.compile(rf"[{SPACELESS}]+|[^\W_{SPACELESS}]+")
_ENTRIES: Final = tuple((word, each) for word, given in lines("asked_abroad", "words") for each in given.split())
_WHOLE: Final[Mapping[str, str]] = {each: word for word, each in _ENTRIES if not each.endswith("*")}
_STEMS: Final[Mapping[str, str]] = {each[:-1]: word for word, each in _ENTRIES if each.endswith("*")}
_LONGEST: Final = max(len(each) for _, each in _ENTRIES)
_FUNCTION: Final = frozenset({"my", "i", "who", "where", "when", "which", "previously", _NOTHING})
"""Entries that say nothing of what is asked for."""


def in_english(text: str) -> str:
    """Return a question in English words, in its own order; empty where it is English, or none of its words is known.

    Words that are not known stay as they are, but for stop words: they may be names.
    """
    if (language := text_language(text)) == _ENGLISH and not SPACELESS_LETTER.search(text):
        return ""
    stop = STOP_WORDS.get(language, frozenset())
    said = [one for token in _TOKEN.findall(text) for one in _read(token, stop)]
    if all(not word or word in _FUNCTION for word, _ in said):
        return ""
    words = [word or token for word, token in said if word != _NOTHING]
    return " ".join(dict.fromkeys(" ".join(words).split())) + "?"


def _read(token: str, stop: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the English words for a word, empty where it is not known, each with what it stands for."""
    bare = fold_accents(normalise(token)).casefold()
    if SPACELESS_LETTER.match(token):
        yield from _runs(bare)
    elif found := _words(bare):
        yield from ((word, token) for word in found)
    elif normalise(token) not in stop and len(bare) > 1:
        yield "", token


def _words(bare: str) -> tuple[str, ...]:
    """Return the English words for a word and, of a compound such as `lieblingsfarbe`, for both of its parts."""
    if bare in _WHOLE:
        return (_WHOLE[bare],)
    for end in range(len(bare) - _SHORTEST, _SHORTEST - 1, -1):
        first = _WHOLE.get(bare[:end]) or _STEMS.get(bare[:end])
        if first and (second := _WHOLE.get(bare[end:]) or _stem(bare[end:])):
            return first, second
    stem = _stem(bare)
    return (stem,) if stem else ()


def _stem(bare: str) -> str:
    """Return the English word for the longest stem that a word begins with, empty where none does."""
    return next((_STEMS[bare[:end]] for end in range(len(bare), 0, -1) if bare[:end] in _STEMS), "")


def _runs(run: str) -> Iterator[tuple[str, str]]:
    """Yield the same of a script without spaces: the longest words first; what is between them stays."""
    at, unknown = 0, ""
    while at < len(run):
        found = next((run[at:end] for end in range(min(len(run), at + _LONGEST), at, -1) if run[at:end] in _WHOLE), "")
        if found:
            if len(unknown) > 1:
                yield "", unknown
            yield _WHOLE[found], found
            unknown = ""
        else:
            unknown += run[at]
        at += len(found) or 1
    if len(unknown) > 1:
        yield "", unknown
