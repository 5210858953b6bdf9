"""A general-purpose note of an agent, in its own words."""

from __future__ import annotations

from pydantic import Field

from app.memory.fields import Sentence
from app.memory.slots import accumulate
from app.memory.spec import Example, MemoryType, Payload
from app.model import Category, ScopeKind


class Standard(Payload):
    """The text."""

    text: Sentence = Field(alias="content", description="Anything worth remembering that no other type fits.")

    def render(self) -> str:
        """Return the text."""
        return self.text


TYPE = MemoryType(
    name="standard",
    definition="Anything worth remembering that no other type fits.",
    payload=Standard,
    prior=0.1,
    half_life_days=30,
    category=Category.SEMANTIC,
    on_conflict=accumulate,
    group="Facts",
    hints=("note", "notes"),
    default_scope=ScopeKind.GLOBAL,
    extracted=False,
    examples=(
        Example(
            utterance="The staging server is rebuilt every night.",
            payloads=({"content": "The staging server is rebuilt every night."},),
        ),
    ),
)
