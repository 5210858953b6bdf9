"""Forms of one name: short and full, with initials, in another order, as an acronym."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from heapq import merge
from itertools import accumulate, groupby, islice
from typing import Final

from app.english.word_lists import entries
from app.lexical.bm25 import STOP_WORDS

MOST: Final = 25
"""Known names that are looked at for one name."""

_PART: Final = re.compile(r"[\s.,\-]+")
_ACRONYM: Final = re.compile(r"[a-z]{2,5}")
_TITLES: Final = frozenset({"dr", "miss", "mr", "mrs", "ms", "prof", "professor", "sir"})
_SILENT: Final = STOP_WORDS["english"] | _TITLES
_IN_USE: Final = frozenset(name.casefold() for kind in ("countries", "cities") for name in entries(kind))


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
        found[name] = [one for one in islice((one for one in near if one != name), MOST) if may_be_one(name, one)]
    return {name: near for name, near in found.items() if near}


def _cues(name: str) -> set[str]:
    """Return the parts of a name, and their forms, one of which a variant holds unless it is an acronym."""
    return {form for part in _parts(name) if len(part) > 1 for form in (part, *_short_forms().get(part, ()))}


def _holding(cue: str, text: str) -> Iterator[int]:
    """Yield where the names with a cue begin in the text of all, a line each: a scope may know thousands."""
    at = text.find(cue)
    while at >= 0:
        yield text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        at = text.find(cue, end) if end >= 0 else -1


def _line(text: str, start: int) -> str:
    end = text.find("\n", start)
    return text[start:] if end < 0 else text[start:end]


def _acronyms(name: str, known: Sequence[str], text: str) -> Iterator[int]:
    """Yield where the known names begin that a name is the acronym of, or that are its acronyms."""
    letters, parts = _initials(name), _parts(name)
    if len(parts) > 1:
        yield from (place for place in _holding(letters, text) if _parts(_line(text, place)) == [letters])
    elif parts and _ACRONYM.fullmatch(parts[0]):
        starts = accumulate((len(one) + 1 for one in known), initial=0)
        yield from (place for place, one in zip(starts, known, strict=False) if _initials(one) == parts[0])


@lru_cache(maxsize=100_000)
def _initials(name: str) -> str:
    return "".join(part[0] for part in _parts(name))


def _parts(name: str) -> list[str]:
    return [part for part in _PART.split(name) if part and part not in _SILENT]


def _is_acronym(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether either is made of the first letters of the other."""
    short, long = sorted((one, other), key=len)
    letters = "".join(part[0] for part in long)
    return len(short) == 1 and len(long) > 1 and letters == short[0] and bool(_ACRONYM.fullmatch(letters))


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
    if 1 in {len(part), len(other)}:
        return part[0] == other[0]
    return part == other or other in _short_forms().get(part, ())


@cache
def _short_forms() -> Mapping[str, frozenset[str]]:
    """Return for each given name the others of its groups."""
    found: dict[str, set[str]] = defaultdict(set)
    for group in (line.split() for line in entries("nicknames")):
        for name in group:
            found[name].update(group)
    return {name: frozenset(group) for name, group in found.items()}
