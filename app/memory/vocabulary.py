"""The controlled vocabulary: relation types with inverses and synonyms, and predicates with synonyms and weights."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from app.memory import normalise

_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")

INVERSES: Mapping[str, str | None] = {
    "reports-to": "manages",
    "manages": "reports-to",
    "works-with": "works-with",
    "member-of": None,
    "owns": None,
    "created": None,
    "uses": None,
    "located-at": None,
}
"""Every relation type (seed 000), with its inverse where it has one."""

OF_HEALTH: Final = (
    "allergic-to",
    "intolerant-to",
    "has-condition",
    "has-diet",
    "cannot-eat",
    "cannot-drink",
    "cannot-take",
    "may-not-eat",
    "may-not-drink",
)
"""Predicates of what somebody must not or does not eat, drink or take."""

OF_ANSWERS: Final = ("instructions", "answers", "responses", "replies", "explanations", "language", "communication")
"""Domains of preferences that say how the assistant is to answer."""

MODALS: Final = frozenset({"may", "not", "must", "can", "cannot", "asks", "never", "always"})
"""Words of rules that don't say what they are about."""

SINGLE_VALUED = frozenset({"reports-to", "located-at"})
"""Relations that an entity has one of at a time."""

SYNONYMS: Mapping[str, str] = {
    "works-under": "reports-to",
    "works-for": "reports-to",
    "is-managed-by": "reports-to",
    "managed-by": "reports-to",
    "reporting-to": "reports-to",
    "has-manager": "reports-to",
    "leads": "manages",
    "supervises": "manages",
    "is-manager-of": "manages",
    "manager-of": "manages",
    "runs": "manages",
    "collaborates-with": "works-with",
    "works-together-with": "works-with",
    "colleague-of": "works-with",
    "belongs-to": "member-of",
    "is-member-of": "member-of",
    "part-of": "member-of",
    "is-part-of": "member-of",
    "has": "owns",
    "is-owner-of": "owns",
    "built": "created",
    "made": "created",
    "wrote": "created",
    "founded": "created",
    "utilizes": "uses",
    "works-on-with": "uses",
    "located-in": "located-at",
    "based-in": "located-at",
    "based-at": "located-at",
    "is-located-at": "located-at",
    "is-in": "located-at",
}
"""Synonyms of relations, in hyphenated form."""

PREDICATE_SYNONYMS: Mapping[str, str] = {
    "works-for": "works-at",
    "employed-by": "works-at",
    "employed-at": "works-at",
    "is-employed-by": "works-at",
    "has-employer": "works-at",
    "employer": "works-at",
    "workplace": "works-at",
    "occupation": "has-role",
    "resides-in": "lives-in",
    "lives-at": "lives-in",
    "is-based-in": "lives-in",
    "has-title": "has-role",
    "has-job-title": "has-role",
    "has-position": "has-role",
    "job-title": "has-role",
    "role": "has-role",
    "named": "has-name",
    "is-named": "has-name",
    "name": "has-name",
    "works-as": "has-role",
    "has-job": "has-role",
    "is-allergic-to": "allergic-to",
    "has-allergy-to": "allergic-to",
    "suffers-from": "has-condition",
    "diagnosed-with": "has-condition",
    "is-married-to": "married-to",
    "has-wife": "married-to",
    "has-husband": "married-to",
    "has-spouse": "married-to",
    "has-son": "has-child",
    "has-daughter": "has-child",
    "has-brother": "has-sibling",
    "has-sister": "has-sibling",
    "has-friend": "friend-of",
    "has-dog": "has-pet",
    "has-cat": "has-pet",
    "is-from": "comes-from",
    "was-born-in": "born-in",
    "was-born-on": "born-on",
    "has-birthday": "born-on",
    "age": "has-age",
    "is-aged": "has-age",
}
"""Synonyms of predicates, which share a slot."""

ENTITY_PREDICATES: Mapping[str, str] = {
    "works-at": "organization",
    "member-of": "organization",
    "studies-at": "organization",
    "studied-at": "organization",
    "lives-in": "place",
    "located-at": "place",
    "born-in": "place",
    "married-to": "person",
    "reports-to": "person",
    "managed-by": "person",
    "friend-of": "person",
    "has-neighbour": "person",
    "lives-with": "person",
    "has-partner": "person",
    "has-child": "person",
    "has-mother": "person",
    "has-father": "person",
    "has-sibling": "person",
    "has-relative": "person",
    "has-pet": "pet",
    "comes-from": "place",
    "grew-up-in": "place",
}
"""Predicates whose object is an entity rather than a value, and the entity's type."""

FIRST_PERSON = frozenset({"i", "me", "myself", "the user", "user"})
"""Names that refer to the user of the scope."""

USER = "user"

ASSISTANTS = frozenset({"assistant", "agent", "ai", "bot"})
"""Names of the one who answers, as a speaker."""

IMPORTANT_PREDICATES: Mapping[str, float] = {
    "works-at": 0.8,
    "lives-in": 0.8,
    "has-name": 0.9,
    "has-role": 0.7,
    "allergic-to": 1.0,
    "has-condition": 1.0,
    "has-medical-condition": 1.0,
    "married-to": 0.9,
    "reports-to": 0.7,
    "born-in": 0.8,
    "born-on": 0.8,
    "takes": 0.9,
    "has-diet": 0.8,
    "has-child": 0.8,
}
"""The importance of a contradiction on a predicate, 0..1; .5 for others (seed 001, predicate importance)."""

IDENTITY_PREDICATES = frozenset(
    {
        "has-name",
        "has-age",
        "born-on",
        "has-gender",
        "has-pronouns",
        "has-relationship-status",
        "married-to",
        "has-partner",
        "has-nationality",
        "comes-from",
        "born-in",
        "allergic-to",
        "has-condition",
        "has-medical-condition",
        "has-child",
        "has-children",
        "has-mother",
        "has-father",
        "has-parent",
        "has-sibling",
        "has-relative",
        "has-role",
        "has-profession",
        "lives-in",
    }
)
"""Predicates of identity (seed 002, core): name, age, gender, relationship status, nationality, medical conditions,
family, profession, location. Not the employer: jobs end unannounced, and core never fades below .60."""

PASSING_PREDICATES = frozenset(
    {"works-at", "works-in", "works-on", "works-with", "reports-to", "member-of", "studies-at"}
)
"""Predicates that are never core, whatever an extractor proposes."""

HELD_UNDER: Mapping[str, tuple[str, ...]] = {
    "owns": ("drives", "rides", "uses", "has", "has-pet"),
    "does": ("plays", "goes", "goes-to", "learning", "practices", "studies", "takes", "teaches", "uses", "drinks"),
}
"""Predicates of what may be sold, and of what may be given up; such an ending seldom repeats the predicate."""

SKILL_PREDICATES = frozenset({"speaks", "plays", "good-at", "follows", "practises", "practices"})
"""Predicates of skills and methods (seed 002, procedural)."""


def _key(text: str) -> str:
    """Return a key in its hyphenated form; `worksAt` is `works-at`, and names in capitals stay whole."""
    return normalise.normalise_key(_HUMP.sub("-", text) if text[:1].islower() else text)


def relation(text: str) -> str | None:
    """Return the relation type of a phrase, by its synonyms, None if it is not in the vocabulary."""
    candidate = _key(text)
    candidate = SYNONYMS.get(candidate, candidate)
    return candidate if candidate in INVERSES else None


def predicate(text: str) -> str:
    """Return a predicate in its canonical hyphenated form."""
    candidate = _key(text)
    return PREDICATE_SYNONYMS.get(candidate, candidate)


def synonyms_of(predicate_name: str) -> tuple[str, ...]:
    """Return the other names of a predicate: `has-birthday` is `born-on`."""
    return tuple(name for name, canonical in PREDICATE_SYNONYMS.items() if canonical == predicate_name)


def person(text: str) -> str:
    """Return a subject's name; all forms of the first person become `user`."""
    return USER if normalise.normalise_name(text) in FIRST_PERSON else text.strip()
