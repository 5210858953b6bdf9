"""Terms, numbers and short forms of names in texts, against which the grounding of a claim is checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Self

from app.english.word_lists import LEFT_OUT, NUMBERS, pattern
from app.lexical.bm25 import terms
from app.lexical.tokens import fold_accents, normalise, tokenize

_STEM: Final = 4
"""Least letters that two words of one family share: German, Germany."""

_ENDING: Final = 2
"""Most letters at their ends in which such words may differ."""

_SHORT_NAME: Final = 3
"""Least letters of a short form: Mel for Melanie."""

_NUMBER: Final = re.compile(r"(?<![\d.])\d{1,40}(?:[.,]\d{1,40}){0,8}(k\b)?", re.IGNORECASE)
_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_LATIN: Final = re.compile("[A-Za-z]")
_ACRONYM: Final = re.compile(r"\b[A-Z][A-Z0-9&.]{1,5}\b")
_HUNDRED: Final = 100
_LONGEST_FIGURE: Final = 9
"""Most digits before a scale, as in `2 million`."""

_SPELLED: Final[Mapping[str, int]] = MappingProxyType(
    {word: int(value) for word, value in NUMBERS.items() if value == int(value)}
    | {"a": 1, "half": 2, "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}
)
"""Words by which a number in figures counts as said."""

_WORDS: Final = re.compile(r"[a-z]{1,20}|\d[\d,.]{0,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundingTerms:
    """The words of texts: terms and tokens, also by their first letters, numbers and acronyms.

    `latin` means that any of the texts has Latin letters.
    """

    words: frozenset[str]
    families: Mapping[str, tuple[str, ...]]
    numbers: frozenset[str]
    acronyms: frozenset[str]
    latin: bool

    @classmethod
    def of(cls, texts: Sequence[str], language: str = "english") -> Self:
        """Return the terms of several texts; `language` is a Snowball algorithm."""
        parts = [_read_terms(text, language) for text in texts]
        words = frozenset[str]().union(*(one[0] for one in parts))
        families: dict[str, list[str]] = {}
        for word in words:
            if len(word) >= _STEM:
                families.setdefault(word[:_STEM], []).append(word)
        return cls(
            words=words,
            families={start: tuple(found) for start, found in families.items()},
            numbers=frozenset[str]().union(*(one[1] for one in parts)),
            acronyms=frozenset[str]().union(*(one[2] for one in parts)),
            latin=any(_LATIN.search(text) for text in texts),
        )

    def holds(self, term: str, *, named: bool = False) -> bool:
        """Return whether the texts have the term or a word of its family; for a name (`named`), also its short form."""
        if term in self.words or (named and len(term) > _SHORT_NAME and term[:_SHORT_NAME] in self.words):
            return True
        return any(_akin(term, other) for other in self.families.get(term[:_STEM], ()))

    def mentions(self, name: str, its_terms: Iterable[str]) -> bool:
        """Return whether the texts have one of a name's terms, or its acronym (VW: Volkswagen, NYC: New York City)."""
        if any(self.holds(term, named=True) for term in its_terms):
            return True
        initials = "".join(word[0] for word in name.split()).lower()
        whole = "".join(name.split()).lower()
        return any(
            one == initials or (len(name.split()) == 1 and one[0] == whole[:1] and _in_order(one, whole))
            for one in self.acronyms
        )


def numbers(text: str) -> frozenset[str]:
    """Return the numbers in figures of a text, in one form: `1,500` is `1500`, `10k` is `10000`."""
    found = set()
    for figure in _NUMBER.finditer(text):
        digits = figure[0].rstrip("kK")
        plain = digits.replace(",", "") if _GROUPED.fullmatch(digits) else digits.replace(",", ".")
        whole, _, rest = plain.partition(".")
        whole = whole.lstrip("0") or "0"
        fraction = rest.rstrip("0")
        if figure[1] and not fraction:
            whole += "000"
        found.add(f"{whole}.{fraction}" if fraction else whole)
    return frozenset(found)


_NOUN: Final = pattern("german", "noun")
_BEFORE_NOUN: Final = pattern("german", "before a noun")


def is_german_noun(word: str, before: str) -> bool:
    """Return whether its ending, or the word before it, shows that a German word is no name."""
    return " " not in word and (_NOUN.fullmatch(word) is not None or _BEFORE_NOUN.search(before) is not None)


@lru_cache(maxsize=16)
def _read_terms(text: str, language: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    plain = normalise(text)
    said = tokenize(plain)
    implied = " ".join(LEFT_OUT[word] for word in said if word in LEFT_OUT)
    words = frozenset((*terms(text, language), *map(fold_accents, said), *terms(implied, language), *implied.split()))
    acronyms = frozenset(one.lower().replace(".", "").replace("&", "") for one in _ACRONYM.findall(text))
    return words, numbers(text) | _spelled(plain), acronyms - {""}


def _spelled(plain: str) -> frozenset[str]:
    """Return the numbers in words: each word, and `twenty five` also as 25 and `three hundred` as 300."""
    found: set[int] = set()
    before = 0
    for word in _WORDS.findall(plain):
        value = _SPELLED.get(word)
        if value is None:
            before = int(word) if word.isdigit() and len(word) <= _LONGEST_FIGURE else 0
            continue
        found.add(value)
        if before:
            value = before * value if value >= _HUNDRED or word == "dozen" else before + value
            found.add(value)
        before = min(value, 10**12)
    return frozenset(map(str, found))


def _akin(term: str, other: str) -> bool:
    shorter = min(len(term), len(other))
    shared = next((place for place in range(shorter) if term[place] != other[place]), shorter)
    return shared >= max(_STEM, shorter - _ENDING)


def _in_order(letters: str, whole: str) -> bool:
    rest = iter(whole)
    return all(letter in rest for letter in letters)
