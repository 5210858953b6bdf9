"""Questions for where one lives and works and what one is called, and the turns that tell it, in several languages.

Where nothing was extracted from a turn, its words share nothing with such a question: "ya nos mudamos a Gijón" tells
where somebody lives. The embedded model knows little of languages other than English, and nothing of most scripts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from app.english.word_lists import pattern

HAS_NAME: Final = "has-name"
LIVES_IN: Final = "lives-in"
PREDICATES: Final = (LIVES_IN, "works-at", HAS_NAME)
"""The predicates that are known in other languages."""

_SAME: Final = {"has-role": "works-at"}
"""Predicates that answer the question for another one: what one does, and where."""

_ASKED: Final = {one: pattern("own_life", f"{one} asked", re.IGNORECASE) for one in PREDICATES}
_TOLD: Final = {one: pattern("own_life", f"{one} told", re.IGNORECASE) for one in PREDICATES}
_HOME: Final = pattern("own_life", "lives-in told beside a place", re.IGNORECASE)
_PLACE: Final = pattern("own_life", "place named", re.IGNORECASE)


def own_life_asked(text: str) -> frozenset[str]:
    """Return the predicates for which a question asks of the one who asks."""
    return frozenset(one for one in PREDICATES if _ASKED[one].search(text))


def own_life_told(text: str) -> frozenset[str]:
    """Return the predicates of which a text may tell, of whomever; some words of a home do beside a place alone."""
    told = {one for one in PREDICATES if _TOLD[one].search(text)}
    if LIVES_IN not in told and _HOME.search(text) and names_place(text):
        told.add(LIVES_IN)
    return frozenset(told)


def names_place(text: str) -> bool:
    """Tell whether a text may name a place where somebody is."""
    return _PLACE.search(text) is not None


def own_predicates(asked: Iterable[str]) -> tuple[str, ...]:
    """Return the predicates of beliefs that answer questions for some predicates of one's own life."""
    return tuple(one for each in asked for one in (each, *(same for same, what in _SAME.items() if what == each)))


def own_predicate(predicate: str) -> str:
    """Return the predicate of one's own life for which a question asks that this one answers."""
    return _SAME.get(predicate, predicate)
