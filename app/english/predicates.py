"""The form of a predicate's words, and sentences made of them: `user's shoe size is 42`, `user is allergic to nuts`.

A predicate is a verb with what belongs to it (`works at`), what follows a form of `be` (`afraid of`), or what somebody
has (`shoe size`). One that can't be read as English stays as it is.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Final

from app.english.joins import join
from app.english.verbs import Form, form_of, looks_past
from app.english.word_lists import words
from app.lexical.bm25 import STOP_WORDS
from app.memory import normalise, vocabulary

AUXILIARIES: Final = frozenset(
    {"is", "are", "was", "were", "does", "do", "did", "can", "could", "will", "would", "should"}
)

_MODALS: Final = frozenset({"am", "been", "be", "had", "have", "cannot", "may", "might", "must", "shall", "used"})
_NEGATIONS: Final = frozenset({"not", "never", "no"})
_ADVERBS: Final = words("grammar", "adverbs")

ENDINGS: Final = frozenset({"about", "as", "at", "by", "for", "from", "in", "of", "on", "since", "than", "to", "with"})
"""Prepositions, and the like, that a predicate may end with."""

_VERBAL: Final = ("izes", "ises", "ifies")
"""Endings of verbs, by which they differ from plurals."""

_SHARED: Final = frozenset({"in", "on", "as"})
"""Those that other languages have, too: before them a word that is not known may be a verb of theirs."""

_FOREIGN: Final = frozenset().union(*STOP_WORDS.values()) - ENDINGS

_SINGLING: Final = words("grammar", "singling")
"""Words that pick out one of several."""

_SHORTEST_PLURAL: Final = 4


class PredicateForm(StrEnum):
    """The form of a predicate's words."""

    AUXILIARY = "auxiliary"
    HAS = "has"
    PAST = "past"
    PRESENT = "present"
    STATE = "state"
    """What follows a form of `be`: `allergic to`, `learning`."""
    NOUN = "noun"
    PLAIN = "plain"
    """Not known to be any of the others."""


def sentence(subject: str, predicate: str, value: str) -> str:
    """Return a statement of a hyphenated predicate as a sentence."""
    said = normalise.words(predicate)
    match predicate_form(predicate):
        case PredicateForm.NOUN:
            lead = f"{subject}'s {said} {'are' if _is_plural(said) else 'is'}"
        case PredicateForm.STATE:
            lead = f"{subject} {_form_of_be(predicate) or 'is'} {said}"
        case _:
            lead = f"{subject} {said}"
    return join(lead, value)


@lru_cache(maxsize=10_000)
def predicate_form(predicate: str) -> PredicateForm:
    """Return the form of a hyphenated predicate, by its first word that is no adverb and by its last one."""
    if _form_of_be(predicate) is not None:
        return PredicateForm.STATE
    said = normalise.words(predicate).split()
    qualified = len(said) > 1 and said[0] in _ADVERBS
    while len(said) > 1 and said[0] in _ADVERBS:
        said = said[1:]
    if not predicate.isascii() or not said or said[-1] in _FOREIGN - STOP_WORDS["english"]:
        return PredicateForm.PLAIN
    first = said[0]
    if first in _MODALS | _NEGATIONS or (qualified and first in AUXILIARIES | {"has"}):
        return PredicateForm.PLAIN
    if first in AUXILIARIES:
        return PredicateForm.AUXILIARY
    if first == "has":
        return PredicateForm.HAS
    known = form_of(first)
    return _of_unknown(said) if known is None else _of_verb(said, known)


def is_passive(predicate: str) -> bool:
    """Return whether what follows a form of `be` begins with a participle: `founded-in`, `originally-written-for`."""
    first = next((word for word in normalise.words(predicate).split() if word not in _ADVERBS), "")
    known = form_of(first)
    return looks_past(first) or first == "born" or (known is not None and "participle" in known.kinds)


def is_of_several(predicate: str) -> bool:
    """Return whether a predicate names things of which one has several: a plural, or a possession.

    A word such as `favourite` or `main` picks out one of them.
    """
    said, form = normalise.words(predicate), predicate_form(predicate)
    if form is PredicateForm.HAS:
        return _is_plural(said) or _SINGLING.isdisjoint(said.split())
    return form is PredicateForm.NOUN and _is_plural(said)


def _form_of_be(predicate: str) -> str | None:
    """Return the form of `be` that the vocabulary has before a predicate: `was` for `born-in`."""
    known = (vocabulary.PREDICATE_SYNONYMS, vocabulary.SYNONYMS)
    found = (be for be in ("is", "was") if any(one.get(f"{be}-{predicate}") == predicate for one in known))
    return next(found, None)


def _of_verb(said: list[str], first: Form) -> PredicateForm:
    """Return the form of a predicate that begins with a form of a known verb."""
    kinds, alone, ends = first.kinds, len(said) == 1, said[-1] in ENDINGS
    if "s" in kinds:
        return PredicateForm.PRESENT
    if "base" in kinds:
        verbal = alone or (ends and said[-1] != "of")
        return PredicateForm.PLAIN if verbal else PredicateForm.STATE if ends else PredicateForm.NOUN
    if "ing" in kinds:
        return PredicateForm.STATE if alone or ends or said[1] in ENDINGS else PredicateForm.NOUN
    if "past" not in kinds or said[-1] in {"by", "of"}:
        return PredicateForm.STATE if alone or ends else PredicateForm.NOUN
    described = said[0].endswith("ed") and not alone and not ends
    return PredicateForm.NOUN if described else PredicateForm.PAST


def _of_unknown(said: list[str]) -> PredicateForm:
    """Return the form of a predicate that begins with no known verb."""
    first, last, alone = said[0], said[-1], len(said) == 1
    third_person = first.endswith("s") and not first.endswith(("ss", "us", "is"))
    if last in {"of", "by"} and not third_person:
        return PredicateForm.STATE
    if last in ENDINGS and not alone:
        if third_person:
            return PredicateForm.PRESENT
        return PredicateForm.PLAIN if last in _SHARED and not first.endswith("ed") else PredicateForm.STATE
    if alone and first.endswith(_VERBAL):
        return PredicateForm.PRESENT
    return PredicateForm.PAST if alone and first.endswith("ed") else PredicateForm.NOUN


def _is_plural(noun: str) -> bool:
    """Return whether the head of a noun phrase is a plural: `hobbies`, `parents of the bride`."""
    said = noun.split()
    head = next((said[place - 1] for place, word in enumerate(said) if place and word in ENDINGS), said[-1])
    return head == "children" or (
        len(head) >= _SHORTEST_PLURAL and head.endswith("s") and not head.endswith(("ss", "us", "is"))
    )
