"""Writers of questions: memories in, what someone would ask who looks for them later out (seed 001, stage 7)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.memory.spec import Payload

Questions = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A memory as a writer sees it: its sentence, and what it is made of."""

    content: str
    payload: Payload


class QuestionWriter(Protocol):
    """Writes the questions that memories answer."""

    async def write(self, memories: Sequence[Told]) -> list[Questions]:
        """Return up to three questions for each memory; none is a valid answer.

        Raises a ProviderError when there was no usable answer.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleQuestions:
    """Writes by each type's own rules, which are in English: a store in another language gets no questions."""

    language: str

    async def write(self, memories: Sequence[Told]) -> list[Questions]:
        """Return each payload's own questions."""
        if self.language != "english":
            return [()] * len(memories)
        return await asyncio.to_thread(lambda: [one.payload.questions() for one in memories])
