"""A lesson from a failure; `control` says how severe it is besides."""

from __future__ import annotations

from pydantic import Field

from app.memory.fields import Sentence
from app.memory.slots import accumulate
from app.memory.spec import Example, MemoryType, Payload
from app.model import Category, ScopeKind


class Reflection(Payload):
    """The text."""

    text: Sentence = Field(alias="content", description="A lesson learnt from something that went wrong.")

    def render(self) -> str:
        """Return the text."""
        return self.text


TYPE = MemoryType(
    name="reflection",
    definition="A lesson learnt from something that went wrong.",
    payload=Reflection,
    prior=0.1,
    half_life_days=60,
    category=Category.CONTROL,
    on_conflict=accumulate,
    group="Facts",
    hints=("lesson", "lessons", "reflection", "reflections"),
    default_scope=ScopeKind.GLOBAL,
    extracted=False,
    examples=(
        Example(
            utterance="The migration failed because the lock was taken too early.",
            payloads=({"content": "The migration failed because the lock was taken too early."},),
        ),
    ),
)
