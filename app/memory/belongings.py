"""What people call their own, `my sister`, `my manager`, `my dog`, and the predicates by which it is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.memory import normalise, vocabulary

RELATED: Final[Mapping[str, tuple[str, ...]]] = {
    "manager boss supervisor": ("reports-to", "has-manager", "has-boss", "managed-by", "has-supervisor"),
    "wife husband spouse partner": ("married-to", "has-spouse", "has-partner", "has-wife", "has-husband"),
    "colleague coworker teammate": ("works-with", "has-colleague"),
    "friend": ("friend-of", "has-friend", "has-best-friend"),
    "girlfriend boyfriend fiance fiancee roommate flatmate neighbour neighbor landlord": (),
    "mother mom mum father dad brother sister son daughter uncle aunt cousin grandmother grandfather": (),
    "doctor dentist therapist lawyer teacher mentor coach": (),
    "dog cat pet horse": (),
    "company employer": ("works-at", "has-employer"),
    "team": ("member-of",),
    "project": ("works-on",),
}
"""Nouns of one kind, and the predicates and relation types, besides `has-` and the noun, by which it is known."""

ANIMALS: Final = frozenset({"dog", "cat", "pet", "horse"})


def predicates(noun: str) -> tuple[str, ...]:
    """Return the predicates and relation types by which something of someone's is known: `manager`, `reports-to`."""
    special = [known for words, known in RELATED.items() if noun in words.split()]
    return (*(one for known in special for one in known), f"has-{noun}", noun, *(("has-pet",) * (noun in ANIMALS)))


def alias(noun: str) -> str:
    """Return the name, normalised, of the user's own that nobody has named yet: `user's sister`."""
    return normalise.name(f"{vocabulary.USER}'s {noun}")
