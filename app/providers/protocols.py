"""Protocols of providers: extractors of memories from turns, judges of sameness and names, writers of questions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.memory.extraction import NOTHING_KNOWN, Extraction, KnownExcerpt, TokenUsage, Turn
from app.memory.registry import Registry
from app.memory.spec import MemoryType, Payload


class Extractor(Protocol):
    """Proposes memories from turns: extraction, classification and grounding in one go."""

    @property
    def name(self) -> str:
        """The name that provenance records, such as `rules` or `openai:gpt-5-mini`."""
        ...

    @property
    def reads_known(self) -> bool:
        """True when it uses what is stored already; looking that up costs two reads."""
        ...

    @property
    def reads_instructions(self) -> bool:
        """True when it reads the words of a turn's instructions."""
        ...

    @property
    def window(self) -> int:
        """Most turns that it extracts from together."""
        ...

    async def extract(
        self,
        turns: Sequence[Turn],
        context: Sequence[Turn] = (),
        *,
        types: Registry | None = None,
        excluded: frozenset[str] = frozenset(),
        known: KnownExcerpt = NOTHING_KNOWN,
    ) -> Sequence[Extraction]:
        """Return what each turn of a session says that is worth remembering, in their order; nothing is a valid answer.

        `context` are the turns of the session just before the first one, oldest first: they give names to pronouns, and
        nothing is extracted from them. `known` is what is stored that the turns may touch: it tells how things are
        named, and is not remembered again. `types` are those that may be proposed, but for the `excluded` ones; without
        them, those it was made with. The cost of all is with the first turn.

        Raises ExtractionFailed when the answer could not be used even after a repair, and another ProviderError when
        there was no answer.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtfulClaim:
    """A proposal that the wording of its quote may not bear out: its turn, its quote, and what it says by fields."""

    turn: Turn
    quote: str
    claim: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """For each claim whether its quote says exactly this, None without an answer about it; and what asking cost."""

    verdicts: tuple[bool | None, ...] = ()
    usage: TokenUsage = field(default_factory=TokenUsage)


class Confirmer(Protocol):
    """Looks again at proposals; there is none without a model."""

    async def confirm(self, claims: Sequence[DoubtfulClaim]) -> Confirmation:
        """Return for each claim whether its quote says exactly this.

        Raises a ProviderError when there was no usable answer.
        """
        ...


Questions = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionInput:
    """A memory as a writer sees it: its sentence, and what it is made of."""

    content: str
    payload: Payload


class QuestionWriter(Protocol):
    """Writes the questions that memories answer."""

    def covers(self, kind: MemoryType) -> bool:
        """Tell whether memories of the type get questions."""
        ...

    async def write(self, memories: Sequence[QuestionInput]) -> list[Questions]:
        """Return up to three questions for each memory; none is a valid answer.

        Raises a ProviderError when there was no usable answer.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleQuestions:
    """Writes by each type's own rules, which are in English: a store in another language gets no questions."""

    language: str

    def covers(self, kind: MemoryType) -> bool:
        """Tell whether it was measured that questions by rules help memories of the type."""
        return kind.asked_by_questions

    async def write(self, memories: Sequence[QuestionInput]) -> list[Questions]:
        """Return each payload's own questions."""
        if self.language != "english":
            return [()] * len(memories)
        return await asyncio.to_thread(lambda: [one.payload.questions() for one in memories])
