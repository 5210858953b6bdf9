"""Preparation of texts for embedding: remove names, which dominate an embedding, and split long texts into parts.

Measured with the embedded model on LongMemEval S: parts of at most 40 words, matched by the best part, lift
turn recall@10 from .930 to .949.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Final

from app.lexical.tokens import SPACELESS

SHORT_FORM = 3
"""Least letters of a short form of a name: Mel for Melanie."""

_LONGEST_SHORT_FORM = 20
"""Most letters of a short form: each is an alternative of a pattern, and nobody shortens a word to more."""

_WORD = re.compile(r"\b(\w+)(?:['\u2019]s)?\b:?")


def without_names(names: frozenset[str], text: str) -> str:
    """Return a text without the names, their words and their short forms; the whole text if nothing would be left."""
    if not names:
        return text
    left = _by_word(names, text) if _by_word_alone(names, text) else pattern(names).sub(" ", text)
    return " ".join(left.split()) or text


@lru_cache(maxsize=256)
def pattern(names: frozenset[str]) -> re.Pattern[str]:
    """Return the pattern of the names in any case, and of their capitalised words and short forms in their own case."""
    short = _words_and_short_forms(names)
    whole = f"(?i:{_either(names)})"
    either = f"{whole}|{_either(short)}" if short else whole
    return re.compile(rf"\b(?:{either})(?:['\u2019]s)?\b:?")


def _by_word_alone(names: frozenset[str], text: str) -> bool:
    """Return whether comparing single words finds all matches of the pattern, whose compilation takes longer."""
    longer = _longer_names(names)
    if not longer:
        return longer is not None
    lower = text.lower()
    return all(lower.count(name.lower()) == text.count(name) for name in longer)


@lru_cache(maxsize=256)
def _longer_names(names: frozenset[str]) -> tuple[str, ...] | None:
    """Return the names of several capitalised words; None where a name has other words or signs."""
    parts = [name.split(" ") for name in names if not name.isalnum()]
    if not all(part.isalnum() and (len(each) == 1 or part[0].isupper()) for each in parts for part in each):
        return None
    return tuple(" ".join(each) for each in parts)


def _by_word(names: frozenset[str], text: str) -> str:
    words, whole = _words_and_short_forms(names), _in_lower_case(names)

    def left(found: re.Match[str]) -> str:
        word = found[1]
        return " " if word in words or word.lower() in whole else found[0]

    return _WORD.sub(left, text)


@lru_cache(maxsize=256)
def _in_lower_case(names: frozenset[str]) -> frozenset[str]:
    return frozenset(map(str.lower, names))


@lru_cache(maxsize=256)
def _words_and_short_forms(names: frozenset[str]) -> frozenset[str]:
    """Return the capitalised words of names, and their beginnings."""
    words = {word for name in names for word in name.split() if word[:1].isupper()}
    forms = (word[:length] for word in words for length in range(SHORT_FORM, min(len(word), _LONGEST_SHORT_FORM) + 1))
    return frozenset(forms) | words


def _either(names: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


MAX_PARTS: Final = 64

# Three characters of a script without spaces are about a word and a half; two a word errs to shorter parts.
_RUN_CHARACTERS: Final = 2

_PIECE: Final = re.compile(rf"[{SPACELESS}]{{1,{_RUN_CHARACTERS}}}+|[^\s{SPACELESS}]++")


def split_chunks(text: str, max_words: int = 40, *, max_parts: int = MAX_PARTS) -> tuple[str, ...]:
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
"""Words of the text before a short one that are indexed with it (enough, as measured on LoCoMo)."""


def lead(text: str) -> str:
    """Return the end of a text, as context of the text after it."""
    return " ".join(text.split()[-LEAD_WORDS:])
