"""A strategy that worked, in a sentence; `procedural` has steps and occasions besides."""

from __future__ import annotations

from pydantic import Field

from app.memory.fields import Sentence
from app.memory.slots import accumulate
from app.memory.spec import Example, MemoryType, Payload
from app.model import Category, ScopeKind


class Strategy(Payload):
    """The text."""

    text: Sentence = Field(alias="content", description="A strategy that worked and is worth using again.")

    def render(self) -> str:
        """Return the text."""
        return self.text


TYPE = MemoryType(
    name="strategy",
    definition="A strategy that worked and is worth using again.",
    payload=Strategy,
    prior=0.1,
    half_life_days=90,
    category=Category.PROCEDURAL,
    on_conflict=accumulate,
    group="Facts",
    hints=("strategy", "strategies"),
    default_scope=ScopeKind.GLOBAL,
    extracted=False,
    examples=(
        Example(
            utterance="Bisecting the failing batch finds the broken row fastest.",
            payloads=({"content": "Bisecting the failing batch finds the broken row fastest."},),
        ),
    ),
)
