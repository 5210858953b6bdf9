"""Questions by a language model: those that memories answer, and other forms of a question that says little."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.errors import ProviderProtocolError
from app.memory.spec import MemoryType
from app.providers.model_tasks import ModelQuestion, ModelTask, UnusableAnswer, is_text
from app.providers.prompt import ONLY_DATA, Fence
from app.providers.protocols import QuestionInput, Questions, QuestionWriter

MOST: Final = 3
"""Most questions of a memory, and other forms of a question (seed 001)."""

LONGEST: Final = 250
SHORTEST_WORDS, LONGEST_WORDS = 3, 25

TOGETHER: Final = 20
"""Memories that are asked about in one request."""

_NUMBER: Final = re.compile(r"\d+")
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z]\w+")

_WRITE: Final = f"""\
You write the questions by which notes of a memory store will be looked for. For each numbered note write up to three
short questions, as its user would ask them later without knowing the note's words: each is answered by the note alone.
Of what the note calls "user" ask in the first person ("Where do I work?"). Bring in no name and no number that is not
in the note, and don't give the answer away. If a note answers no question that anybody would ask, write none.
{ONLY_DATA}. {{"questions": [["...", "..."], []]}} holds one list for each note, in their order."""

_REWRITE: Final = f"""\
You help to look things up in a memory store about its user. The question below says little. Write two or three other
ways to ask the same, each a whole question, with the plain words that notes about it would probably have. Ask for
nothing else; bring in no name, number, date or assumption that is not in the question.
{ONLY_DATA}. {{"forms": ["...", "..."]}}."""

_TEXTS: Final = {"type": "array", "items": {"type": "string"}}

_REWRITING: Final = ModelQuestion(
    purpose="rewrite", system=_REWRITE, key="forms", answer=_TEXTS, failure="could not rewrite a question"
)

_WRITING: Final = ModelQuestion(
    purpose="questions",
    system=_WRITE,
    key="questions",
    answer={"type": "array", "items": _TEXTS},
    failure="could not write questions",
)


class QuestionRewriter(ModelTask):
    """Writes other forms of a question."""

    async def rewrite(self, question: str) -> Questions:
        """Return at most three other forms, which bring in no name and no number; raise ProviderError."""
        blocks = [Fence.around([question]).block("question", question)]
        forms = usable(await self.ask(_REWRITING, blocks, _texts), question)
        return tuple(one for one in forms if one.casefold() != question.casefold())


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelQuestionWriter(ModelTask):
    """Writes the questions that memories answer with a chat model; see `QuestionWriter`.

    What the model writes is checked; where its answer can't be used at all, `fallback` writes.
    """

    fallback: QuestionWriter

    def covers(self, kind: MemoryType) -> bool:
        """Tell whether memories of the type get questions: all but what is kept word for word."""
        return kind.asked_by_questions or not (kind.verbatim or kind.quotes is not None)

    async def write(self, memories: Sequence[QuestionInput]) -> list[Questions]:
        """Return up to three questions for each memory, a request for twenty of them."""
        found: list[Questions] = []
        for first in range(0, len(memories), TOGETHER):
            found += await self._written(memories[first : first + TOGETHER])
        return found

    async def _written(self, memories: Sequence[QuestionInput]) -> list[Questions]:
        fence = Fence.around(one.content for one in memories)
        blocks = [fence.block(f"note {number}", one.content) for number, one in enumerate(memories, start=1)]
        try:
            answer = await self.ask(_WRITING, blocks, lambda value: _lists(value, len(memories)))
        except ProviderProtocolError:
            return await self.fallback.write(memories)
        return [usable(texts, one.content) for one, texts in zip(memories, answer, strict=True)]


def usable(texts: Sequence[str], source: str) -> Questions:
    """Return those of the texts that are questions and bring in no name and no number that the source lacks."""
    known, numbers = source.casefold(), {*_NUMBER.findall(source)}
    kept: dict[str, str] = {}
    for text in (" ".join(one.split()) for one in texts):
        words = text.split()
        brings_in = not numbers.issuperset(_NUMBER.findall(text)) or any(
            name.casefold() not in known for name in _NAME.findall(text)
        )
        fits = len(text) <= LONGEST and SHORTEST_WORDS <= len(words) <= LONGEST_WORDS
        if text.endswith("?") and fits and not brings_in:
            kept.setdefault(text.casefold(), text)
    return tuple(kept.values())[:MOST]


def _texts(answer: object) -> list[str]:
    if not isinstance(answer, list) or not all(map(is_text, answer)):
        raise UnusableAnswer("something other than texts")
    return answer


def _lists(answer: object, expected: int) -> list[list[str]]:
    if not isinstance(answer, list) or len(answer) != expected:
        raise UnusableAnswer("other lists than one for each note")
    return [_texts(one) for one in answer]
