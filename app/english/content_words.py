"""Comparison of two texts by the words that carry their content, and the roles that these have.

In a long text one word hardly moves the vector: cosines stay over .95 when `dog` takes the place of `cat`. So texts
that are near in meaning say the same only if they have the same content words, up to inflection, synonyms
(`synonyms.txt`), British and American spelling, compounds and words that say little, if these stand in roles that
agree (`tea over coffee` is not `coffee over tea`, `for the road` not `against the road`), and if no verb is in the past
in one of them and in the present in the other.

Reads English. Content words of other languages must be equal up to their endings.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise
from typing import Final

import Stemmer

from app.english.decisive_words import JOINERS, NEGATIONS, DecisiveWords
from app.english.verbs import form_of, looks_past
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

_AGENT: Final = "by"
_SPEAKERS: Final = frozenset({"i", "we", "you", "they"})
_HAVE: Final = frozenset({"has", "have", "had"})
_BE: Final = frozenset({"am", "is", "are", "was", "were"})
_DO: Final = frozenset({"do", "does", "did"})
_PAST: Final = frozenset({"was", "were", "did"})


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
_FILLERS: Final = words("synonyms", "fillers")
_USER: Final = "user"
_RELATIONS: Final = [frozenset(line.split()) for line in listed("synonyms", "relations")]
_RELATIONS_OF_THINGS: Final = [frozenset(line.split()) for line in listed("synonyms", "relations of things")]
_RELATING: Final = frozenset[str]().union(*_RELATIONS)


@dataclass(frozen=True, slots=True)
class _Step:
    """Two content words that follow one another, and the function words that relate them."""

    first: str
    between: tuple[str, ...]
    second: str


def same_content(first: str, second: str) -> bool:
    """Return whether two texts have the same content words in agreeing roles."""
    one, other = DecisiveWords(first), DecisiveWords(second)
    return (
        _SIGNS.findall(first) == _SIGNS.findall(second)
        and _covers(_content(one), _content(other))
        and _covers(_content(other), _content(one))
        and _same_tenses(one, other)
        and _same_roles(one, other)
    )


def swaps_roles(first: str, second: str) -> bool:
    """Return whether two texts give other roles to what both name: `user owes Ana`, `Ana owes user`."""
    return not _same_roles(DecisiveWords(first), DecisiveWords(second))


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
    return [word if word in _FUNCTION_WORDS or word in _FILLERS else _standing_for(word) for word in plain]


def _standing_for(word: str) -> str:
    """Return the stem that stands for a word, or the word where its stem would be one that says little: `quit`."""
    stem = _stem(word) if word.isalpha() else word
    found = _SYNONYMS.get(stem, stem)
    return word if found in _FILLERS else found


def _carries(word: str) -> bool:
    """Return whether a word carries content that is not compared as a number, a denial or a member of a class."""
    return word.isalpha() and word not in _FUNCTION_WORDS and word not in _FILLERS


def _covers(these: Sequence[str], those: Sequence[str]) -> bool:
    """Return whether each word is among the others, or makes one of them with its neighbour: `flash cards`."""
    found = {*those, *(_stem(first + second) for first, second in pairwise(those))}
    compounds = (pair for pair in pairwise(these) if _stem("".join(pair)) in found)
    return found.issuperset(these) or found.union(*compounds).issuperset(these)


def _same_roles(one: DecisiveWords, other: DecisiveWords) -> bool:
    mine, theirs = _steps(one), _steps(other)
    return _same_relations(one, other) and not _turned(mine, theirs) and not _crossed(mine, theirs)


def _steps(read: DecisiveWords, *, classed: bool = False) -> list[_Step]:
    found: list[_Step] = []
    last, between = None, list[str]()
    for word in _canonical(read):
        if _carries(word) or word == _USER or (classed and _is_classed(word)):
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


def _joins(step: _Step) -> bool:
    return bool(JOINERS.intersection(step.between)) and not NEGATIONS.intersection(step.between)


def _crossed(these: Sequence[_Step], those: Sequence[_Step]) -> bool:
    """Return whether two words have changed places and all others stayed: `the tall man saw the short one`.

    The items of a list may stand in any order, a word may move together with what relates it (`by bus to the coast`),
    and the agent of a passive comes last.
    """
    mine, theirs = _placed_words(these), _placed_words(those)
    if len(mine) != len(theirs) or any(_AGENT in between for _, between in set(mine) ^ set(theirs)):
        return False
    places = [place for place, (one, other) in enumerate(zip(mine, theirs, strict=True)) if one[0] != other[0]]
    if len(places) != 2 or places[0] + 1 == places[1]:  # noqa: PLR2004
        return False
    first, last = places
    crosswise = mine[first][0] == theirs[last][0] and mine[last][0] == theirs[first][0]
    along = mine[first] == theirs[last] and mine[last] == theirs[first] and mine[last][1]
    return crosswise and not along and not all(map(_joins, these[first:last]))


def _placed_words(steps: Sequence[_Step]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the content words in their order, each with the function words before it."""
    return [(one.first, ()) for one in steps[:1]] + [(one.second, one.between) for one in steps]


def _same_relations(one: DecisiveWords, other: DecisiveWords) -> bool:
    """Return whether what relates two words may say the same in both texts: `works at the bank`, `for the bank`.

    Nothing may stand for any relation: `on Monday`, `Monday`.
    """
    mine, theirs = _relations(one), _relations(other)
    return all(
        said & theirs[pair] or any(said & group and theirs[pair] & group for group in _interchangeable(pair[1]))
        for pair, said in mine.items()
        if pair in theirs
    )


def _interchangeable(related: str) -> Sequence[frozenset[str]]:
    return _RELATIONS if _is_classed(related) else [*_RELATIONS, *_RELATIONS_OF_THINGS]


def _is_classed(word: str) -> bool:
    return word.startswith("=")


def _relations(read: DecisiveWords) -> Mapping[tuple[str, str], set[str]]:
    """Return what relates each two content words, numbers or members of a class that follow one another."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for step in _steps(read, classed=True):
        relating = [word for word in step.between if word in _RELATING]
        if relating:
            found[step.first, step.second].add(relating[-1])
    return found


class _Tense(Enum):
    PRESENT = auto()
    PAST = auto()


def _same_tenses(one: DecisiveWords, other: DecisiveWords) -> bool:
    """Return whether no verb is in the past in one text and in the present in the other."""
    mine, theirs = _tenses(one.words), _tenses(other.words)
    return not any({found, theirs.get(verb)} == set(_Tense) for verb, found in mine.items())


def _tenses(words: Sequence[str]) -> Mapping[str, _Tense | None]:
    """Return the tense of each verb by its stem; None where it stands in both.

    What has been done may still be done, so the perfect counts for neither.
    """
    found: dict[str, set[_Tense]] = defaultdict(set)
    plain = [word for word in words if word not in _FILLERS]
    for before, word, after in zip(["", *plain], plain, [*plain[1:], ""], strict=False):
        tense = _tense(before, word, after)
        if tense is not None:
            found["be" if word in _BE else _stem(word)].add(tense)
    return {verb: next(iter(tenses)) if len(tenses) == 1 else None for verb, tenses in found.items()}


def _tense(before: str, word: str, after: str) -> _Tense | None:
    """Return the tense of a verb between its neighbours; none of a participle, nor of what is joined to another.

    Forms that the list of synonyms has say the same: `thinks`, `thought`.
    """
    if word in _BE:
        done = _is_past(after)
        return None if done else _Tense.PAST if word in _PAST else _Tense.PRESENT
    if before in _DO:
        return _Tense.PAST if before in _PAST else _Tense.PRESENT
    if before in _BE or before in _HAVE or before in JOINERS or word in _SYNONYMS:
        return None
    if _is_past(word):
        return _Tense.PAST
    form = form_of(word)
    present = word.endswith("s") if form is None else "s" in form.kinds or before in _SPEAKERS
    return _Tense.PRESENT if present else None


def _is_past(word: str) -> bool:
    """Return whether a word is the past of a verb, and not its base as well."""
    form = form_of(word)
    return looks_past(word) if form is None else bool({"past", "participle"} & form.kinds) and "base" not in form.kinds
