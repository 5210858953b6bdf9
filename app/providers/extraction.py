"""Extractors, turns in and proposed memories out, and judges of what two sentences or names mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from app.memory.extraction import Extraction, Turn
from app.memory.registry import Registry


class Extractor(Protocol):
    """Proposes memories from a turn: extraction, classification and grounding in one go."""

    @property
    def name(self) -> str:
        """What provenance records, such as `rules` or `openai:gpt-5-mini`."""
        ...

    async def extract(self, turn: Turn, context: Sequence[Turn] = (), *, types: Registry | None = None) -> Extraction:
        """Return what the turn says that is worth remembering; nothing is a valid answer.

        `types` are those that may be proposed; without them, those that it was made with.
        `context` are the turns of the session just before, oldest first: they give names to pronouns, and
        nothing is extracted from them. Raises ExtractionFailed when the answer could not be used even after
        a repair, and another ProviderError when there was no answer.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections and memory."""
        ...


class Judge(Protocol):
    """Answers what rules leave open; there is none without a model."""

    async def same(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """Return for each pair of sentences whether they convey the same information.

        Raises a ProviderError when there was no usable answer.
        """
        ...

    async def which(self, name: str, sentence: str, options: Sequence[str]) -> int | None:
        """Return which of the options the name in the sentence refers to, by its place; None for none.

        Raises a ProviderError when there was no usable answer.
        """
        ...
