"""Knowledge as a sentence, with or without a subject; repetitions merge with it."""

from __future__ import annotations

from pydantic import Field

from app import ids
from app.memory.fields import Name, Sentence
from app.memory.slots import accumulate
from app.memory.spec import Example, MemoryType, Payload
from app.model import Category, Mention, ScopeKind


class Semantic(Payload):
    """A sentence of knowledge, and its subject."""

    text: Sentence = Field(alias="content", description="What is known.")
    entity: Name | None = Field(
        default=None,
        alias="entity_id",
        description="The user, project or concept it is about, by name, by an id of your own, or by its id here "
        "(`ent_...`), which must be that of an entity in the scope the memory is written to.",
    )

    def render(self) -> str:
        """Return the sentence."""
        return self.text

    def mentions(self) -> tuple[Mention, ...]:
        """Return the subject."""
        if self.entity is None:
            return ()
        return (Mention(role="subject", name=self.entity, entity=ids.public_id(ids.ENTITY, self.entity)),)

    def subject(self) -> str | None:
        """Return the subject."""
        return self.entity

    def distinct_by(self) -> tuple[str, ...]:
        """Return the subject as written, because a sentence about another subject is no duplicate.

        It is not case-folded, as callers' own ids may differ in case only.
        """
        return () if self.entity is None else (self.entity,)


TYPE = MemoryType(
    name="semantic",
    definition="Something known for good, as a sentence; saying it again, or nearly so, merges.",
    payload=Semantic,
    prior=0.15,
    half_life_days=120,
    floor=0.02,
    category=Category.SEMANTIC,
    on_conflict=accumulate,
    group="Facts",
    hints=("knowledge",),
    default_scope=ScopeKind.GLOBAL,
    extracted=False,
    examples=(
        Example(
            utterance="User is a Python developer based in Manchester",
            payloads=({"content": "User is a Python developer based in Manchester", "entity_id": "user_123"},),
        ),
    ),
)
