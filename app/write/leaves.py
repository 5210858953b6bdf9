"""The values of a proposed payload, one by one, as far as they can be looked up in what was said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, time
from typing import Final

from app.memory import normalise
from app.text.lexical import terms

MOST: Final = 100
"""Values of a payload that are looked at."""

_LABEL: Final = re.compile(r"(?:^|_)(?:type|key|predicate|precision|severity|category|class|kind|status)$")
"""Fields, by their wire names, whose values are chosen from a vocabulary rather than said."""

_ELSEWHERE: Final = re.compile(r"(?:^|_)(?:id|at|from|until|since|date|ttl|seconds|timezone)$|^sequence_number$")
"""Fields that hold times and ids: dates are resolved, not quoted, and ids come with the request."""

_MOST_BITS: Final = 128
"""Of a whole number: a longer one was never said, and Python refuses to write the longest."""

_ENDS_OF_EDGES: Final = frozenset({"from_entity", "to_entity"})
_HYPHENATED: Final = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)+")
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATES: Final = re.compile(
    rf"\b\d{{4}}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?)?\b|\b\d{{1,2}}:\d\d(?::\d\d)?\b|"
    rf"\b(?:mon|tues?|wednes|thurs?|fri|satur|sun)days?\b|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|"
    rf"rd|th)? (?:of )?{_MONTH}\b|\b(?:19|20)\d\d\b|"
    rf"\b(?:in|of|since|until|last|next|this) {_MONTH}(?!\w)",
    re.IGNORECASE,
)
_NAME: Final = re.compile(
    r"(?<![\w'])[^\W\d_a-z][\w'&.\u2019-]{0,40}(?: (?:(?:of|the|de|la|le|van|von|der|di|da|al|"
    r"el) ){0,2}[^\W\d_a-z][\w'&.\u2019-]{0,40}){0,5}"
)
"""Words that begin with a capital, together with what joins them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One value: its field by its wire name, its words without dates, their terms, and the names among them.

    `label`: chosen from a vocabulary. `detail`: from a map of attributes. `names` have terms of their own.
    """

    field: str
    text: str
    terms: tuple[str, ...]
    names: Mapping[str, tuple[str, ...]]
    label: bool
    detail: bool


def leaves(
    payload: Mapping[str, object], *, exempt: frozenset[str], language: str, chosen: frozenset[str] = frozenset()
) -> tuple[Leaf, ...]:
    """Return the values that say something, in their order; `exempt` are normalised names that need no saying.

    `chosen` are fields whose values are chosen from a vocabulary, besides those whose names say so.
    Numbers are no terms: they are compared as numbers.
    """
    found = []
    for field, value, detail in _walk(payload):
        text = " ".join(_DATES.sub(" ", value).split())
        if not any(map(str.isalnum, text)) or normalise.name(value) in exempt:
            continue
        picked = field in chosen or _LABEL.search(field) is not None
        label = not detail and (picked or _HYPHENATED.fullmatch(text) is not None)
        found.append(
            Leaf(
                field=field,
                text=text,
                terms=_terms(text.replace("-", " ") if label else text, exempt, language),
                names={} if label else {name: _terms(name, exempt, language) for name in _names(text, exempt)},
                label=label,
                detail=detail,
            )
        )
    return tuple(found)


def dates(payload: Mapping[str, object]) -> tuple[str, ...]:
    """Return the dates as they are written in the values of a payload."""
    return tuple(found[0] for _, value, _ in _walk(payload) for found in _DATES.finditer(value))


def _terms(text: str, exempt: frozenset[str], language: str) -> tuple[str, ...]:
    found = dict.fromkeys(one for one in terms(text, language) if not one[:1].isdigit())
    return tuple(one for one in found if one not in exempt)


def _names(text: str, exempt: frozenset[str]) -> Iterator[str]:
    """Yield the names in a value; its first word is one only when the whole value is: sentences begin with capitals."""
    for found in _NAME.finditer(text):
        name = found[0].rstrip(".")
        if found.start() == 0 and found.end() < len(text):
            name = name.partition(" ")[2]
        if name and name[:1].isupper() and normalise.name(name) not in exempt:
            yield name


def _walk(payload: Mapping[str, object]) -> Iterator[tuple[str, str, bool]]:
    """Yield field, value as text, and whether it is a detail, however the payload is nested."""
    waiting: list[tuple[str, object, bool]] = [(field, value, False) for field, value in list(payload.items())[::-1]]
    for _ in range(MOST):
        if not waiting:
            return
        field, value, detail = waiting.pop()
        if _ELSEWHERE.search(field) and field not in _ENDS_OF_EDGES and not detail:
            continue
        if isinstance(value, Mapping):
            waiting += [(str(key), one, True) for key, one in list(value.items())[::-1]]
        elif isinstance(value, list | tuple | set | frozenset):
            waiting += [(field, one, detail) for one in reversed(list(value))]
        elif value is not None and not isinstance(value, bool | date | time):
            absurd = isinstance(value, int) and value.bit_length() > _MOST_BITS
            yield field, "9" * MOST if absurd else str(value), detail
