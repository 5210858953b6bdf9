"""References that stand for a name: pronouns, `the company`, `my manager`; their possible entities and predicates.

Some relationships only people have: no cat has a boss, and no company a wife.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from app.english.descriptions import PET, descriptions_in, gender_of_noun, is_person
from app.english.names import Gender
from app.english.word_lists import pairs, pattern, words
from app.memory import normalise, vocabulary

RELATED: Final[Mapping[str, tuple[str, ...]]] = {
    nouns: tuple(known.split()) for nouns, known in pairs("pronouns", "related").items()
}
"""Synonymous nouns, and the predicates and relation types, besides `has-` and the noun, that state them."""

ANIMALS: Final = frozenset({"dog", "cat", "pet", "horse"})


def predicates(noun: str) -> tuple[str, ...]:
    """Return the predicates and relation types that state a relationship: `reports-to` for `manager`."""
    special = [known for words, known in RELATED.items() if noun in words.split()]
    return (*(one for known in special for one in known), f"has-{noun}", noun, *(("has-pet",) * (noun in ANIMALS)))


def alias(noun: str) -> str:
    """Return the normalised alias of a relative of the user without a name: `user's sister`."""
    return normalise.normalise_name(f"{vocabulary.USER}'s {noun}")


LONGEST = 40
"""Most characters of a reference."""

WORDS = 4
"""Most words of a reference."""

FIRST, SECOND = "first", "second"
"""Owners of `my manager` and `your manager`: the speaker and the listener."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Words that refer to a person or a thing that is named elsewhere.

    `key` names the ring of recent antecedents; `kinds` are the possible entity types, empty for any, and `things`
    excludes people. `reflexive` means the subject of the same clause. `owner` and `noun` are the parts of `her
    manager`: a key, FIRST or SECOND, and the relationship. `tie` is a relationship that the referent has, which may
    limit it to people.
    """

    words: str
    key: str
    kinds: frozenset[str] = frozenset()
    gender: Gender | None = None
    things: bool = False
    reflexive: bool = False
    owner: str | None = None
    noun: str | None = None
    tie: str | None = None

    @property
    def pronoun(self) -> bool:
        """Return whether the reference is a pronoun, without a noun."""
        return self.key in {"he", "she", "they", "it"}

    @property
    def somebody(self) -> bool:
        """Return whether the reference means a person."""
        return self.gender is not None or "person" in self.kinds


_PERSON = frozenset({"person"})
_PRONOUNS: Mapping[str, tuple[str, frozenset[str], Gender | None, bool]] = {
    "he him himself": ("he", _PERSON, Gender.MALE, False),
    "she her herself": ("she", _PERSON, Gender.FEMALE, False),
    "they them themselves themself": ("they", frozenset({"person", "organization", "team"}), None, False),
    "it itself": ("it", frozenset(), None, True),
}
_GENDERS: Final = {key: gender for key, _, gender, _ in _PRONOUNS.values()}
_POSSESSIVES = {"his": "he", "her": "she", "their": "they", "its": "it", "my": FIRST, "our": FIRST, "your": SECOND}
_DEFINITE = frozenset({"the", "this", "that", "our", "my"})
_SOLE: Final = words("pronouns", "sole")
"""Relationships of which people mostly have one."""


def _by_word() -> dict[str, Reference]:
    found = {}
    for pronouns, (key, kinds, gender, things) in _PRONOUNS.items():
        for word in pronouns.split():
            found[word] = Reference(
                words=word, key=key, kinds=kinds, gender=gender, things=things, reflexive="sel" in word
            )
    for nouns, told in pairs("pronouns", "nouns").items():
        key, _, types = told.partition(": ")
        for said in (f"{article} {noun}" for noun in nouns.split() for article in sorted(_DEFINITE)):
            kinds = frozenset(types.split())
            found[said] = Reference(words=said, key=key, kinds=kinds, gender=_GENDERS.get(key))
    return found


def _with_owners(found: dict[str, Reference]) -> dict[str, Reference]:
    """Add possessives such as `my manager`; `my company` may also mean the last company that was mentioned."""
    for nouns in RELATED:
        for noun in nouns.split():
            for word, owner in _POSSESSIVES.items():
                said = f"{word} {noun}"
                known = found.get(said)
                found[said] = Reference(
                    words=said,
                    key=noun if known is None else known.key,
                    kinds=frozenset() if noun in ANIMALS else _PERSON if known is None else known.kinds,
                    gender=gender_of_noun(noun),
                    owner=owner,
                    noun=noun,
                )
    return found


_REFERENCES = _with_owners(_by_word())
_OPENING = re.compile(r"(\w+)(?:['\u2019](?:s|d|ll|re|ve|m))?(?= )")
_SUBJECTS = frozenset({"he", "she", "they", "it"})
_OF_SOMEONE = frozenset({"his", "her", "their", "its"})


IMPERSONAL: Final = pattern("pronouns", "impersonal", re.IGNORECASE)
"""What follows an `it` that stands for nothing: `it is raining`, but not `it was founded`."""

OWN: Final = {"company": "organization", "team": "team", "project": "project"}
"""What a user who says `the` may well mean their own, with its entity type."""

RETOLD: Final = frozenset({"they", "them", "their", "theirs", "themself", "themselves"})
"""What a speaker's own `I` and `my` become when an extractor retells them."""


def parsed(text: str) -> Reference | None:
    """Return the reference that a text consists of, None if it is none."""
    return _REFERENCES.get(normalise.normalise_name(text)) if len(text) <= LONGEST else None


def parsed_or_retold(text: str) -> Reference | None:
    """Return the reference that a text consists of, also as the rules retell it: `user's sister` for `my sister`."""
    said = normalise.normalise_name(text[: LONGEST + 1])
    noun = said.removeprefix(f"{alias('')} ")
    found = None if noun == said else parsed(f"my {noun}")
    return found if found is not None and found.somebody else parsed(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A reference at the beginning of a sentence, its end, and whether it is possessive (`her laptop`)."""

    reference: Reference
    end: int
    possessive: bool


def sentence_opening(text: str) -> Opening | None:
    """Return the reference at the beginning of a sentence of several words."""
    words = text[: LONGEST * 2].split(" ")
    for count in range(min(WORDS, len(words) - 1), 1, -1):
        said = " ".join(words[:count])
        found = parsed_or_retold(said)
        if found is not None and said[-1:].isalpha():
            return Opening(reference=found, end=len(said), possessive=False)
    first = _OPENING.match(text)
    if first is None:
        return None
    word = first.group(1).casefold()
    if word in _OF_SOMEONE and first.end() == first.end(1):
        return Opening(reference=_REFERENCES[_SUBJECT_OF[word]], end=first.end(1), possessive=True)
    if word in _SUBJECTS:
        return Opening(reference=_REFERENCES[word], end=first.end(1), possessive=False)
    return None


_FORMS: Mapping[str, re.Pattern[str]] = {
    key: re.compile(rf"\b(?:{words.replace(' ', '|')}|{own})\b", re.IGNORECASE)
    for (words, (key, *_)), own in zip(_PRONOUNS.items(), ("his", "hers", "theirs?", "its"), strict=True)
}
_SUBJECT_OF = {word: key for word, key in _POSSESSIVES.items() if word in _OF_SOMEONE}


def of(key: str) -> Reference:
    """Return the reference of a pronoun: the owner of `her manager` is `she`."""
    return _REFERENCES[key]


def is_sole(noun: str) -> bool:
    """Return whether people mostly have one of them: a boss, a mother; but several brothers, friends and cats."""
    return noun in _SOLE


def forms(key: str) -> re.Pattern[str] | None:
    """Return the pattern of all forms of a pronoun, None where the key is of no pronoun."""
    return _FORMS.get(key)


def gender_by_role(role: str) -> Gender | None:
    """Return the gender that a role implies: someone's `has-wife` is a she."""
    return gender_of_noun(role.removeprefix("has-"))


def required_kind(texts: Iterable[str]) -> frozenset[str] | None:
    """Return the predicates that may resolve the references in texts, None without a reference."""
    found = [reference for text in texts if (reference := _in(text)) is not None]
    if not found:
        return None
    nouns = {one.noun or one.key for one in found if not one.pronoun or one.noun is not None}
    return frozenset(predicate for noun in nouns for predicate in predicates(noun))


def _in(text: str) -> Reference | None:
    whole = parsed_or_retold(text)
    if whole is not None:
        return whole
    begins = sentence_opening(text)
    return None if begins is None else begins.reference


THINGS: Final = frozenset({"organization", "team", "project", "product", "app", "initiative", "place"})
_KIN: Final = words("pronouns", "kin")
"""Relationships that companies don't have, although they have managers and lawyers."""

_OF_ANIMALS: Final = frozenset({"vet", "owner", "trainer", "caretaker", "breeder", "person"})
"""Relationships to people that animals have, too."""

_ROLES: Final = frozenset(
    role for words, known in RELATED.items() if not ANIMALS & {*words.split()} for role in (*words.split(), *known)
) - {"member-of", "team"}
"""Nouns and predicates of relationships of people; a dog can be a member of a family."""

_WORDS: Final = re.compile(r"\w+(?: [\w-]+){1,3}")


def relationship_of(word: str) -> str:
    """Return the relationship of a predicate or relation type: `partner` for `has-partner`."""
    role = vocabulary.relation(word) or normalise.normalise_key(word)
    return role.removeprefix("has-").removesuffix("-of")


def first_owned(text: str) -> str | None:
    """Return the noun after a possessive at the beginning of a text: `boss` of `Her new boss called`."""
    words = _WORDS.match(text)
    found = [] if words is None else descriptions_in(words.group())
    return next((one.noun for one in found if one.owner is not None), None)


def can_own(kind: str, tie: str, *, things: bool) -> bool:
    """Return whether an entity of a type can have a relationship; `things` means that the pronoun is a thing's."""
    if kind == PET:
        return tie in _OF_ANIMALS or not (tie in _ROLES or is_person(tie))
    return tie not in _KIN or not (things or kind in THINGS)
