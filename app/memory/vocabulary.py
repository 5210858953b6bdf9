"""The controlled vocabulary: relation types with inverses and synonyms, predicates with what they hold and weigh."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from app.memory import normalise
from app.section_files import read_sections

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

LASTING: Final = frozenset({*OF_HEALTH, "takes"} - {"has-diet"})
"""Predicates whose values a person decides about before another one replaces them."""

OF_ANSWERS: Final = ("instructions", "answers", "responses", "replies", "explanations", "language", "communication")
"""Domains of preferences that say how the assistant is to answer."""

MODALS: Final = frozenset({"may", "not", "must", "can", "cannot", "asks", "never", "always"})
"""Words of rules that don't say what they are about."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate:
    """The entry of a predicate: how many values it holds, its object, its weight, its nature.

    `entity` is the type of the entity that is its object, None where that is a plain value; `importance` is that of a
    contradiction, 0..1; `nature` is `core`, `passing`, `skill` or None.
    """

    one: bool
    entity: str | None
    importance: float | None
    nature: str | None
    synonyms: tuple[str, ...]


def _row(line: str) -> tuple[str, Predicate]:
    name, holds, entity, importance, nature, *synonyms = line.split()
    if holds not in {"one", "several"}:
        raise ValueError(f"predicate {name} holds one or several, not {holds!r}")
    return name, Predicate(
        one=holds == "one",
        entity=None if entity == "-" else entity,
        importance=None if importance == "-" else float(importance),
        nature=None if nature == "-" else nature,
        synonyms=tuple(synonyms),
    )


PREDICATES: Final[Mapping[str, Predicate]] = dict(
    _row(line) for lines in read_sections("app.english", "predicates").values() for line in lines
)
"""The known predicates of facts, and the relation types, by their canonical names."""

PREDICATE_SYNONYMS: Final[Mapping[str, str]] = {
    synonym: name for name, known in PREDICATES.items() for synonym in known.synonyms
}
"""Synonyms of predicates, which share a slot."""

ENTITY_PREDICATES: Final[Mapping[str, str]] = {
    name: known.entity for name, known in PREDICATES.items() if known.entity is not None
}
"""Predicates whose object is an entity rather than a value, and the entity's type."""

IMPORTANT_PREDICATES: Final[Mapping[str, float]] = {
    name: known.importance for name, known in PREDICATES.items() if known.importance is not None
}
"""The importance of a contradiction on a predicate, 0..1; .5 for others (seed 001, predicate importance)."""


def _of_nature(nature: str) -> frozenset[str]:
    return frozenset(name for name, known in PREDICATES.items() if known.nature == nature)


IDENTITY_PREDICATES: Final = _of_nature("core")
PASSING_PREDICATES: Final = _of_nature("passing")
SKILL_PREDICATES: Final = _of_nature("skill")

FIRST_PERSON = frozenset({"i", "me", "myself", "the user", "user"})
"""Names that refer to the user of the scope."""

USER = "user"

ASSISTANTS = frozenset({"assistant", "agent", "ai", "bot"})
"""Names of the one who answers, as a speaker."""

HELD_UNDER: Mapping[str, tuple[str, ...]] = {
    "owns": ("drives", "rides", "uses", "has", "has-pet"),
    "does": ("plays", "goes", "goes-to", "learning", "practices", "studies", "takes", "teaches", "uses", "drinks"),
}
"""Predicates of what may be sold, and of what may be given up; such an ending seldom repeats the predicate."""


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


def holds_one(predicate_name: str) -> bool | None:
    """Return whether a canonical predicate or relation type holds one value at a time; None if it is not known."""
    known = PREDICATES.get(predicate_name)
    return None if known is None else known.one


def synonyms_of(predicate_name: str) -> tuple[str, ...]:
    """Return the other names of a predicate: `has-birthday` is `born-on`."""
    return tuple(name for name, canonical in PREDICATE_SYNONYMS.items() if canonical == predicate_name)


def person(text: str) -> str:
    """Return a subject's name; all forms of the first person become `user`."""
    return USER if normalise.normalise_name(text) in FIRST_PERSON else text.strip()
