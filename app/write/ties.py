"""What only people have: no cat has a boss, and no company a wife."""

from __future__ import annotations

import re
from typing import Final

from app.memory import normalise, vocabulary
from app.memory.belongings import ANIMALS, RELATED
from app.text.unnamed import is_person, unnamed_in
from app.write.named import PET

THINGS: Final = frozenset({"organization", "team", "project", "product", "app", "initiative", "place"})

_KIN: Final = frozenset(
    noun
    for nouns in (
        "wife husband spouse girlfriend boyfriend fiance fiancee ex-wife ex-husband married-to roommate flatmate",
        "mother mom mum father dad brother sister son daughter uncle aunt cousin niece nephew grandmother grandfather",
    )
    for noun in nouns.split()
)
"""What of people's no company has either, though it has a manager and a lawyer."""

_OF_ANIMALS: Final = frozenset({"vet", "owner", "trainer", "caretaker", "breeder", "person"})
"""People whom an animal has, too."""

_ROLES: Final = frozenset(
    role for words, known in RELATED.items() if not ANIMALS & {*words.split()} for role in (*words.split(), *known)
) - {"member-of", "team"}
"""Nouns and predicates of what people have; a dog can be a member of a family."""

_WORDS: Final = re.compile(r"\w+(?: [\w-]+){1,3}")


def tie(word: str) -> str:
    """Return what a predicate or relation type makes one have: the partner of `has-partner`."""
    role = vocabulary.relation(word) or normalise.key(word)
    return role.removeprefix("has-").removesuffix("-of")


def first_owned(text: str) -> str | None:
    """Return the noun for whoever is owned by what a text begins with: the boss of `Her new boss called`."""
    words = _WORDS.match(text)
    found = () if words is None else unnamed_in(words.group())
    return next((one.noun for one in found if one.start == 0 and one.owner is not None), None)


def may_have(kind: str, tie: str, *, things: bool) -> bool:
    """Return whether what is of an entity type can have this; `things`: it is spoken of as a thing is."""
    if kind == PET:
        return tie in _OF_ANIMALS or not (tie in _ROLES or is_person(tie))
    return tie not in _KIN or not (things or kind in THINGS)
