"""The identity of names: forms and misspellings of one name, and ties by which people of one name are told apart.

Forms are short and full, with initials, in another order, or an acronym. Similar spelling alone proves little: Iceland
is not Ireland, and Martina is not Martin. A name counts as misspelt only if the other name is well known and it is no
name or word itself. By their ties `my sister Anna` is not `my cousin Anna`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from heapq import merge
from itertools import accumulate, groupby, islice
from typing import Final

from app.english.claims import presupposed
from app.english.word_lists import KIN, MEN, PETS, WOMEN, entries, word_set
from app.lexical.bm25 import STOP_WORDS
from app.lexical.tokens import fold_accents, one_edit_apart

_MOST_VARIANTS: Final = 25
"""Known names that are proposed for one name."""

_PART: Final = re.compile(r"[\s.,\-]+")
_ACRONYM: Final = re.compile(r"[a-z]{2,5}")
_TITLES: Final = frozenset({"dr", "miss", "mr", "mrs", "ms", "prof", "professor", "sir"})
_SILENT: Final = STOP_WORDS["english"] | _TITLES
_IN_USE: Final = frozenset(name.casefold() for kind in ("countries", "cities") for name in entries(kind))

_SHORTEST_MISSPELT: Final = 7
"""Least letters of a word that can be recognised as misspelt, because short words are all similar."""

_WORD: Final = re.compile(r"[\s.\-]+")
_WELL_KNOWN: Final = {fold_accents(name).casefold() for name in (*entries("organisations"), *entries("countries"))} - (
    MEN | WOMEN
)
_KNOWN_WORDS: Final = MEN | WOMEN | STOP_WORDS["english"] | {*entries("cities"), *entries("look_alikes")}

ANOTHER: Final = "another of this name"
"""The tie of somebody who is told of as someone else than the one known by this name."""

_ANOTHER: Final = re.compile(
    r"\b(?:another|a different|the other|a second)\s+(?:[a-z]+\s+(?:named|called)\s+)?(?P<name>[A-Z][\w'-]+)"
)

_OF_THE_USER: Final = re.compile(r"^(?:(?:the )?user's|my|our) | of (?:the )?user$", re.IGNORECASE)

_GENDERED: Final = word_set("son daughter sister brother")
_FORMS: Final[Mapping[str, str]] = {"grandma": "grandmother", "grandpa": "grandfather"}
_PARTNER: Final = frozenset({"married-to", "has-partner"})
_BROAD: Final = frozenset({"has-relative", "has-pet"})
"""Predicates that say less than their noun: a cousin is no aunt."""


def may_be_one(first: str, second: str) -> bool:
    """Return whether two normalised names may be forms of one: `sharma, priya` or `p. sharma`, and `priya sharma`.

    It proposes: half a village may share a first name.
    """
    one, other = sorted((_parts(first), _parts(second)), key=len)
    if not one or one == other:
        return bool(one)
    return _is_acronym(one, other) or _within(one, other)


def variants(names: Iterable[str], known: Sequence[str]) -> dict[str, list[str]]:
    """Return, for each normalised name that has any, the known ones that may be forms of it."""
    text = "\n".join(known)
    found: dict[str, list[str]] = {}
    for name in names:
        holding = (_holding(cue, text) for cue in _cues(name))
        places = (place for place, _ in groupby(merge(*holding, _acronyms(name, known, text))))
        near = (_line(text, place) for place in places)
        forms = (one for one in near if one != name and may_be_one(name, one))
        found[name] = list(islice(forms, _MOST_VARIANTS))
    return {name: near for name, near in found.items() if near}


def _cues(name: str) -> set[str]:
    """Return the parts of a name, and their forms, one of which a variant has unless it is an acronym."""
    return {form for part in _parts(name) if len(part) > 1 for form in (part, *_short_forms().get(part, ()))}


def _holding(cue: str, text: str) -> Iterator[int]:
    """Yield where the names with a cue as a part begin in the text of all, a line each: a scope may know thousands."""
    at = text.find(cue)
    while at >= 0:
        end = at + len(cue)
        if (at == 0 or _PART.match(text, at - 1)) and (end == len(text) or _PART.match(text, end)):
            yield text.rfind("\n", 0, at) + 1
            end = text.find("\n", end)
        at = text.find(cue, end) if end >= 0 else -1


def _line(text: str, start: int) -> str:
    end = text.find("\n", start)
    return text[start:] if end < 0 else text[start:end]


def _acronyms(name: str, known: Sequence[str], text: str) -> Iterator[int]:
    """Yield where the known names begin that a name is the acronym of, or that are its acronyms."""
    letters, parts = _initials(name), _parts(name)
    if len(parts) > 1:
        yield from (place for place in _holding(letters, text) if _parts(_line(text, place)) == (letters,))
    elif parts and _ACRONYM.fullmatch(parts[0]):
        starts = accumulate((len(one) + 1 for one in known), initial=0)
        yield from (place for place, one in zip(starts, known, strict=False) if _initials(one) == parts[0])


@lru_cache(maxsize=100_000)
def _initials(name: str) -> str:
    return "".join(part[0] for part in _parts(name))


@lru_cache(maxsize=100_000)
def _parts(name: str) -> tuple[str, ...]:
    return tuple(part for part in _PART.split(name) if part and part not in _SILENT)


def _is_acronym(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether either is made of the first letters of the other."""
    short, long = sorted((one, other), key=len)
    if len(short) != 1 or len(long) == 1:
        return False
    letters = "".join(part[0] for part in long)
    return letters == short[0] and bool(_ACRONYM.fullmatch(letters))


def _within(short: Sequence[str], long: Sequence[str]) -> bool:
    """Return whether each part of a name has its own in a longer one, and what is left over numbers nothing.

    A country or a city stays itself, whatever is called after it.
    """
    if " ".join(short) in _IN_USE:
        return False
    left, full = list(long), False
    for part in sorted(short, key=len, reverse=True):
        fitting = next((one for one in left if _is_form(part, one)), None)
        if fitting is None:
            return False
        left.remove(fitting)
        full = full or len(part) > 1 < len(fitting)
    return full and not any(map(str.isdigit, "".join(left)))


def _is_form(part: str, other: str) -> bool:
    """Return whether two parts of names are equal, one is the initial of the other, or they are forms of one name."""
    if part == other:
        return True
    if len(part) == 1 or len(other) == 1:
        return part[0] == other[0]
    return other in _short_forms().get(part, ())


@cache
def _short_forms() -> Mapping[str, frozenset[str]]:
    """Return for each given name the others of its groups."""
    found: dict[str, set[str]] = defaultdict(set)
    for group in (line.split() for line in entries("nicknames")):
        for name in group:
            found[name].update(group)
    return {name: frozenset(group) for name, group in found.items()}


def misspelt(first: str, second: str) -> bool:
    """Return whether one of two normalised names is a misspelling of the other: one letter of one part differs.

    One of the parts that differ is a well-known organisation or country, the other no known word, and they do not
    differ in their endings, as inflected names do.
    """
    parts, others = _WORD.split(fold_accents(first)), _WORD.split(fold_accents(second))
    if len(parts) != len(others):
        return False
    differing = [pair for pair in zip(parts, others, strict=True) if pair[0] != pair[1]]
    return len(differing) == 1 and _one_word(*differing[0])


def _one_word(first: str, second: str) -> bool:
    if min(len(first), len(second)) < _SHORTEST_MISSPELT or not (first + second).isalpha():
        return False
    unknown = second if first in _WELL_KNOWN else first
    return (
        (first in _WELL_KNOWN) != (second in _WELL_KNOWN)
        and unknown not in _KNOWN_WORDS
        and first[0] == second[0]
        and first[-1] == second[-1]
        and one_edit_apart(first, second)
    )


class TieMatch(StrEnum):
    """The answer to whether two ties may be those of one person."""

    SAME = "same"
    UNSURE = "unsure"
    OTHER = "other"


def ties_in(text: str, owner: str) -> Iterator[tuple[str, str]]:
    """Yield names with their tie to the owner, as a text takes them for granted: `Anna`, `user's sister`."""
    for noun, name in presupposed(text):
        yield name, f"{owner}'s {noun}"
    for found in _ANOTHER.finditer(text):
        yield found["name"], ANOTHER


def own_tie(tie: str) -> str:
    """Return a tie in the words for the user: `sister` for `user's sister`, and `Tom's sister` as it is."""
    return _OF_THE_USER.sub("", tie)


def compare_ties(first: str | None, second: str | None) -> TieMatch:
    """Return whether one person can have both ties; an unknown one may be any.

    Nobody is someone's sister and cousin, or sister and wife. Whoever is a sister is rarely told of as a friend or a
    boss, but may be one. Friends, colleagues and partners become one another.
    """
    if first is None or second is None or first == second:
        return TieMatch.SAME
    if ANOTHER in {first, second}:
        return TieMatch.OTHER
    (owner, noun), (other_owner, other) = _owner_and_noun(first), _owner_and_noun(second)
    if owner != other_owner:
        return TieMatch.SAME
    kin, other_kin = _kin(noun), _kin(other)
    if kin is None or other_kin is None:
        near = {kin, other_kin} <= {None, "partner"}
        return TieMatch.SAME if near else TieMatch.UNSURE
    if kin != other_kin:
        return TieMatch.OTHER
    return TieMatch.OTHER if noun != other and {noun, other} <= _GENDERED else TieMatch.SAME


def _owner_and_noun(tie: str) -> tuple[str, str]:
    """Return whose tie it is, and the noun of it."""
    owner, _, words = tie.casefold().rpartition("'s ")
    noun = (words.split() or [""])[-1]
    return owner, _FORMS.get(noun, noun)


def _kin(noun: str) -> str | None:
    """Return the family tie that a noun names, or the animal; None for friends, colleagues and all others."""
    predicate = "has-pet" if noun in PETS else KIN.get(noun)
    if predicate is None or predicate == "friend-of":
        return None
    if predicate in _PARTNER:
        return "partner"
    return noun if predicate in _BROAD else predicate
