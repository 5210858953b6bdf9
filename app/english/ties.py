"""Ties by which people of one name are told apart: `my sister Anna` is not `my cousin Anna`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from app.english.claims import presupposed
from app.english.word_lists import KIN, PETS, word_set

ANOTHER: Final = "another of this name"
"""The tie of somebody who is told of as someone else than the one known by this name."""

_ANOTHER: Final = re.compile(
    r"\b(?:another|a different|the other|a second)\s+(?:[a-z]+\s+(?:named|called)\s+)?(?P<name>[A-Z][\w'-]+)"
)

_GENDERED: Final = word_set("son daughter sister brother")
_FORMS: Final[Mapping[str, str]] = {"grandma": "grandmother", "grandpa": "grandfather"}
_PARTNER: Final = frozenset({"married-to", "has-partner"})
_BROAD: Final = frozenset({"has-relative", "has-pet"})
"""Predicates that say less than their noun: a cousin is no aunt."""


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


def compare_ties(first: str | None, second: str | None) -> TieMatch:
    """Return whether one person can have both ties; an unknown one may be any.

    Nobody is someone's sister and cousin, or sister and wife. Whoever is a sister is rarely told of as a friend or a
    boss, but may be one. Friends, colleagues and partners become one another.
    """
    if first is None or second is None or first == second:
        return TieMatch.SAME
    if ANOTHER in {first, second}:
        return TieMatch.OTHER
    (owner, noun), (other_owner, other) = _parts(first), _parts(second)
    if owner != other_owner:
        return TieMatch.SAME
    kin, other_kin = _kin(noun), _kin(other)
    if kin is None or other_kin is None:
        near = {kin, other_kin} <= {None, "partner"}
        return TieMatch.SAME if near else TieMatch.UNSURE
    if kin != other_kin:
        return TieMatch.OTHER
    return TieMatch.OTHER if noun != other and {noun, other} <= _GENDERED else TieMatch.SAME


def _parts(tie: str) -> tuple[str, str]:
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
