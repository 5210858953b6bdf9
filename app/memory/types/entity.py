"""An identity with aliases: `Volkswagen AG (organization), also known as VW`."""

from __future__ import annotations

from typing import Self

from pydantic import Field

from app.memory import normalise
from app.memory.conflict import one_identity
from app.memory.spec import Example, MemoryType, Name, Payload, Refs, Sentence
from app.model import Category, Mention


class Entity(Payload):
    """A canonical name, what kind of thing it is, its other names and attributes."""

    canonical_name: Name = Field(examples=["Volkswagen AG"])
    entity_type: Name = Field(description="person, organization, place, project, ...", examples=["organization"])
    aliases: tuple[Name, ...] = Field(default=(), max_length=100, examples=[["VW", "Volkswagen"]])
    attributes: dict[Name, Sentence] = Field(default_factory=dict, max_length=100)

    def render(self) -> str:
        """Return who or what this is."""
        text = f"{self.canonical_name} is a {normalise.words(self.entity_type)}"
        if self.aliases:
            text += f", also known as {', '.join(self.aliases)}"
        details = "; ".join(f"{normalise.words(name)}: {value}" for name, value in self.attributes.items())
        return f"{text}; {details}" if details else text

    def mentions(self) -> tuple[Mention, ...]:
        """Return the identity itself, which this payload declares."""
        return (
            Mention(
                role="identity",
                name=self.canonical_name,
                entity_type=normalise.key(self.entity_type),
                declares=True,
                aliases=self.aliases,
                attributes=self.attributes,
            ),
        )

    def subject(self) -> str | None:
        """Return the canonical name."""
        return self.canonical_name

    def slot(self, refs: Refs) -> str | None:
        """Return the identity: naming it again merges."""
        return str(refs["identity"].id)

    def value(self, refs: Refs) -> str | None:
        """Return the identity."""
        return str(refs["identity"].id)

    def merged_with(self, newer: Self) -> Self:
        """Return both descriptions as one: aliases united, newer attributes win."""
        known = {normalise.name(self.canonical_name)}
        aliases = []
        for alias in (*self.aliases, newer.canonical_name, *newer.aliases):
            if normalise.name(alias) not in known:
                known.add(normalise.name(alias))
                aliases.append(alias)
        return self.model_copy(
            update={"aliases": tuple(aliases), "attributes": {**self.attributes, **newer.attributes}}
        )


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
