"""An identity with aliases: `Volkswagen AG (organization), also known as VW`."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints

from app.english.joins import with_article
from app.memory import normalise
from app.memory.fields import Name, storable
from app.memory.slots import one_identity
from app.memory.spec import Example, MemoryType, Payload, Refs
from app.model import UNKNOWN_TYPE, Category, Mention

MOST = 100
"""Most aliases, and most attributes, of one description."""

Detail = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300), AfterValidator(storable)
]


class Entity(Payload):
    """A canonical name, the entity's type, its other names and attributes."""

    canonical_name: Name = Field(examples=["Volkswagen AG"])
    entity_type: Name = Field(description="person, organization, place, project, ...", examples=["organization"])
    aliases: tuple[Name, ...] = Field(default=(), max_length=MOST, examples=[["VW", "Volkswagen"]])
    attributes: dict[Name, Detail] = Field(default_factory=dict, max_length=MOST)

    def render(self) -> str:
        """Return the description as a sentence."""
        text = self.canonical_name
        if normalise.normalise_key(self.entity_type) != UNKNOWN_TYPE:
            text = f"{text} is {with_article(_as_noun(normalise.words(self.entity_type)))}"
        if self.aliases:
            text += f", also known as {', '.join(self.aliases)}"
        details = "; ".join(f"{normalise.words(name)}: {value}" for name, value in self.attributes.items())
        return f"{text}; {details}" if details else text

    def mentions(self) -> tuple[Mention, ...]:
        """Return the entity that this payload declares."""
        return (
            Mention(
                role="identity",
                name=self.canonical_name,
                entity_type=normalise.normalise_key(self.entity_type),
                declares=True,
                aliases=self.aliases,
                attributes=self.attributes,
                tie=None if (tie := self.attributes.get("relationship")) is None else str(tie),
            ),
        )

    def subject(self) -> str | None:
        """Return the canonical name."""
        return self.canonical_name

    def slot(self, refs: Refs) -> str | None:
        """Return the entity, so that a second description merges."""
        return str(refs["identity"].id)

    def value(self, refs: Refs) -> str | None:
        """Return the entity."""
        return str(refs["identity"].id)

    def merged_with(self, newer: Self) -> Self:
        """Return both descriptions as one: all aliases, and newer attributes win, up to the limits."""
        known = {normalise.normalise_name(self.canonical_name)}
        aliases = []
        for alias in (*self.aliases, newer.canonical_name, *newer.aliases):
            if normalise.normalise_name(alias) not in known:
                known.add(normalise.normalise_name(alias))
                aliases.append(alias)
        return self.model_copy(
            update={
                "aliases": tuple(aliases[:MOST]),
                "attributes": dict(list({**newer.attributes, **self.attributes, **newer.attributes}.items())[:MOST]),
            }
        )


def _as_noun(kind: str) -> str:
    """Return a type in lower case, but for abbreviations such as `NGO`."""
    return " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in kind.split())


TYPE = MemoryType(
    name="entity",
    definition="Someone or something with an identity: a person, an organization, a place, a project.",
    payload=Entity,
    prior=0.12,
    half_life_days=365,
    category=Category.SEMANTIC,
    on_conflict=one_identity,
    group="Entities",
    hints=("entity", "entities"),
    dedup_by_meaning=False,
    examples=(
        Example(
            utterance="Volkswagen, or VW as everyone calls it, is a car maker in Wolfsburg.",
            payloads=(
                {
                    "canonical_name": "Volkswagen",
                    "entity_type": "organization",
                    "aliases": ["VW"],
                    "attributes": {"industry": "automotive", "headquarters": "Wolfsburg"},
                },
            ),
        ),
    ),
)
