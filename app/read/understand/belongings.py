"""What a question calls its asker's own, `my sister`, and which of the entities it may mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from app.db.aliases import KnownEntity
from app.db.belonging import Belongings, Own
from app.memory import belongings, normalise, vocabulary
from app.memory.registry import Registry
from app.providers.rules.words.people import COLLEAGUES, DOCTORS, KIN, PETS
from app.read.values import Belonging, Reading, Span
from app.text.lexical import terms
from app.text.proper_names import gender_of
from app.text.unnamed import gender_of_noun

FEW: Final = 3
"""Entities that `my sister` may lead to, all of which are then meant; more are too many to know."""

RELATIONSHIP: Final = "relationship"
"""The attribute of an entity that says whose and what it is: `user's sister`."""

KIND: Final = "kind"
"""The attribute that says what kind of pet it is."""

_BROAD: Final = frozenset({"has-relative", "has-pet", "friend-of"})
"""Predicates that several nouns lead to that don't mean one another: an uncle is no cousin."""

_ANY_OF: Final = frozenset({"friend", "pet"})
"""Nouns that mean all of their predicate."""

NOUNS: Final = frozenset(
    (*(noun for words in belongings.RELATED for noun in words.split()), *KIN, *COLLEAGUES, *DOCTORS, *PETS)
)
"""What people call their own."""

_ONE_OF: Final = "|".join(re.escape(noun) for noun in sorted(NOUNS, key=lambda noun: (-len(noun), noun)))
_OWN: Final = re.compile(
    rf"""\b(?P<owner>my|our|(?:the\s+)?user's)\s+
        (?:(?:own|dear|older|younger|elder|big|little|twin|best|good|current|present|new|direct|family|pet)\s+){{0,2}}
        (?P<noun>{_ONE_OF})s?(?:'s|')?(?![\w'-])""",
    re.IGNORECASE | re.VERBOSE,
)
_OF_THE_USER: Final = re.compile(r"^(?:(?:the )?user's|my|our) | of (?:the )?user$")
_OF_ANOTHER: Final = re.compile(r"'s? | of ")


def found(text: str) -> tuple[Belonging, ...]:
    """Return what the text calls its asker's own, in its order."""
    return tuple(
        Belonging(
            alias=belongings.alias(said["noun"]),
            noun=normalise.name(said["noun"]),
            span=Span(start=said.start(), end=said.end()),
            owner=Span(start=said.start("owner"), end=said.end("owner")),
        )
        for said in _OWN.finditer(text)
    )


def asked(reading: Reading, types: Registry) -> Belongings:
    """Return what to look up: the user's own name, and what the question calls the user's own."""
    nouns = dict.fromkeys(one.noun for one in reading.belongings)
    under = {"predicate", "relation_type"}
    return Belongings(
        stated_by=tuple(one.name for one in types if one.held is not None and one.held.under in under),
        own=tuple(_own(noun, reading.language) for noun in nouns),
    )


def meant(belonging: Belonging, entities: Sequence[KnownEntity]) -> tuple[KnownEntity, ...]:
    """Return those of the entities, which the alias leads to, that are meant; none where that can't be told.

    What is so named stands beside what a statement makes it; a description counts where there is no statement, for
    statements end, and descriptions stay.
    """
    named = [one for one in entities if one.through == "name"]
    stated = [one for one in entities if one.through == "statement" and _may_be(one, belonging.noun)]
    described = [one for one in entities if one.through == "description" and _is_described(one, belonging.noun)]
    every = {one.ids: one for one in (*named, *(stated or described))}
    return tuple(every.values()) if len(every) <= FEW else ()


def _own(noun: str, language: str) -> Own:
    words = dict.fromkeys(term for word in (RELATIONSHIP, noun) for term in terms(word, language))
    return Own(
        alias=belongings.alias(noun),
        predicates=tuple((one, vocabulary.INVERSES.get(one)) for one in sorted(_predicates(noun))),
        described=" & ".join(f"'{word}'" for word in words),
    )


def _predicates(noun: str) -> set[str]:
    """Return what a memory may say of the user and what is theirs, as predicates and relation types are stored."""
    said = {*belongings.predicates(noun), f"has-{noun}"}
    known = {KIN.get(noun), COLLEAGUES.get(noun), "has-pet" if noun in PETS else None} - {None}
    stored = {vocabulary.predicate(one) for one in said} | {one for one in map(vocabulary.relation, said) if one}
    return said | stored | {one for one in known if one}


def _may_be(entity: KnownEntity, noun: str) -> bool:
    """Tell whether nothing that is known of the entity says that it is another noun than this one."""
    role = _role(entity.attributes.get(RELATIONSHIP, "")) or normalise.name(entity.attributes.get(KIND, ""))
    role = role if role in NOUNS else role.rpartition(" ")[2]
    gender = gender_of_noun(noun)
    return role == noun or not (
        _excludes(role, noun) or (gender is not None and gender_of(entity.name) not in {None, gender})
    )


def _is_described(entity: KnownEntity, noun: str) -> bool:
    role = _role(entity.attributes.get(RELATIONSHIP, ""))
    return role == noun or role.endswith(f" {noun}")


def _role(relationship: str) -> str:
    """Return what someone is to the user, by the attribute that says so; empty where it is to somebody else."""
    role = _OF_THE_USER.sub("", normalise.name(relationship.replace("\u2019", "'")))
    return "" if _OF_ANOTHER.search(role) else role


def _excludes(role: str, noun: str) -> bool:
    """Tell whether who is the one can't be called the other: a brother no sister, but a boss a manager."""
    shared = _kinds(role) & _kinds(noun)
    genders = {gender_of_noun(role), gender_of_noun(noun)} - {None}
    return bool(shared) and (len(genders) > 1 or (bool(shared & _BROAD) and noun not in _ANY_OF))


def _kinds(noun: str) -> set[str]:
    """Return the predicates that lead to the noun and to others, as memories have them."""
    found: Iterable[str | None] = (KIN.get(noun), COLLEAGUES.get(noun), "has-pet" if noun in PETS else None)
    return {one for one in found if one is not None}
