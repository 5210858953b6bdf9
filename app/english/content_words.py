"""Comparison of two texts by the words that carry their content.

In a long text one word hardly moves the vector: cosines stay over .95 when `dog` takes the place of `cat`. So texts
that are near in meaning say the same only if they have the same content words, up to inflection, synonyms
(`synonyms.txt`), British and American spelling, compounds and words that say little, and if these stand in roles
that agree: `tea over coffee` is not `coffee over tea`.

Reads English. Words of other languages must be equal up to their endings.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import Stemmer

from app.english.decisive_words import DecisiveWords
from app.english.verbs import form_of
from app.english.word_lists import listed, words
from app.lexical.bm25 import STOP_WORDS

_SIGNS: Final = re.compile(r"[<>\u2264\u2265\u2260=\u00b1]|(?<=\w)[+#]+")
"""Signs that compare, and those that belong to a name: `C++`."""

_SPELLINGS: Final = (("our", "or"), ("ogu", "og"), ("tr", "ter"), ("is", "iz"), ("ys", "yz"))
"""Ends of British stems and of American ones."""

_FUNCTION_WORDS: Final = STOP_WORDS["english"] - {
    "above", "all", "below", "both", "can", "could", "few", "more", "most", "only", "other", "same", "should", "under",
    "would",
}  # fmt: skip
_SILENT: Final = frozenset({"a", "an", "the", "is", "are", "was", "were", "be", "been", "has", "have", "had"})
"""Function words that do not show the role of the word after them."""

_JOINERS: Final = frozenset({"and", "or", ","})
_AGENT: Final = "by"


def _stem(word: str) -> str:
    form = form_of(word)
    base = word if form is None or "base" in form.kinds else form.lemma
    found: str = Stemmer.Stemmer("english").stemWord(base)
    for british, american in _SPELLINGS:
        if found.endswith(british):
            return found.removesuffix(british) + american
    return found


def _synonyms() -> Mapping[str, str]:
    """Return the representative of each word or phrase with synonyms, also by its stem."""
    groups = [line.replace("_", "\0").split() for line in listed("synonyms", "same")]
    of = {form.replace("\0", " "): group[0].replace("\0", " ") for group in groups for form in group}
    return of | {_stem(form): _stem(first) for form, first in of.items() if form.isalpha()}


_SYNONYMS: Final = _synonyms()
_PHRASES: Final = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(_SYNONYMS, key=len, reverse=True)))})\b")
_FILLERS: Final = words("synonyms", "fillers") | {_stem(word) for word in words("synonyms", "fillers")}
"""Words that say little, and their stems."""


@dataclass(frozen=True, slots=True)
class _Step:
    """Two content words that follow one another, and the function words that relate them."""

    first: str
    between: tuple[str, ...]
    second: str


def same_content(first: str, second: str) -> bool:
    """Return whether two texts have the same content words in agreeing roles."""
    one, other = DecisiveWords(first), DecisiveWords(second)
    mine, theirs = _steps(one), _steps(other)
    return (
        _SIGNS.findall(first) == _SIGNS.findall(second)
        and _covers(_content(one), _content(other))
        and _covers(_content(other), _content(one))
        and not _turned(mine, theirs)
        and not _exchanged(mine, theirs)
    )


def swaps_content(first: str, second: str) -> bool:
    """Return whether each of two texts has content words that the other lacks: `mended the lamp`, `the kettle`."""
    one, other = _content(DecisiveWords(first)), _content(DecisiveWords(second))
    return not (_covers(one, other) or _covers(other, one))


def _content(read: DecisiveWords) -> list[str]:
    """Return the content words in their order, each in the form that stands for all that say the same."""
    return [word for word in _canonical(read) if _carries(word)]


def _canonical(read: DecisiveWords) -> list[str]:
    """Return all words in their order, content words in the form that stands for all that say the same."""
    kept = [f"={word}" if place in read.classed else word for place, word in enumerate(read.words)]
    plain = _PHRASES.sub(lambda found: _SYNONYMS[found[0]], " ".join(kept)).split()
    stems = [word if word in _FUNCTION_WORDS or not word.isalpha() else _stem(word) for word in plain]
    return [_SYNONYMS.get(stem, stem) for stem in stems]


def _carries(word: str) -> bool:
    """Return whether a word carries content that is not compared as a number, a denial or a member of a class."""
    return word.isalpha() and word not in _FUNCTION_WORDS and word not in _FILLERS


def _covers(these: Sequence[str], those: Sequence[str]) -> bool:
    """Return whether each word is among the others, or makes one of them with its neighbour: `flash cards`."""
    found = {*those, *(_stem(first + second) for first, second in pairwise(those))}
    compounds = (pair for pair in pairwise(these) if _stem("".join(pair)) in found)
    return found.issuperset(these) or found.union(*compounds).issuperset(these)


def _steps(read: DecisiveWords) -> list[_Step]:
    found: list[_Step] = []
    last, between = None, list[str]()
    for word in _canonical(read):
        if _carries(word):
            if last is not None:
                found.append(_Step(last, tuple(between), word))
            last, between = word, []
        elif word not in _SILENT:
            between.append(word)
    return found


def _turned(these: Sequence[_Step], those: Sequence[_Step]) -> bool:
    """Return whether two words have changed sides of what relates them: `tea over coffee`, `the dog bit the man`."""
    turned = {_Step(one.second, one.between, one.first) for one in those if one.first != one.second}
    if any(one.between and one in turned for one in these if not _joins(one)):
        return True
    acted = _clauses(these)
    return any((last, verb, first, by) in acted for first, verb, last, by in _clauses(those))


def _clauses(steps: Sequence[_Step]) -> set[tuple[str, str, str, bool]]:
    """Return three words that follow one another, and whether the last is the agent of the one before."""
    return {
        (before.first, after.first, after.second, _AGENT in after.between)
        for before, after in pairwise(steps)
        if not _joins(before) and not _joins(after) and before.first != after.second
    }


def _exchanged(these: Sequence[_Step], those: Sequence[_Step]) -> bool:
    """Return whether two words have changed places in what they belong to: `the old car hit the new bus`."""
    mine, theirs = set(these) - set(those), set(those) - set(these)
    before, after = defaultdict(list), defaultdict(list)
    for step in mine:
        before[step.first, step.between].append(step.second)
        after[step.second].append(step)
    return any(
        other.first != step.first and _Step(other.first, other.between, lost) in theirs
        for step in theirs
        for lost in before[step.first, step.between]
        for other in after[step.second]
    )


def _joins(step: _Step) -> bool:
    return bool(_JOINERS.intersection(step.between))
