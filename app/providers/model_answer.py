"""Answers to questions from remembered statements, by a language model; every answer names what it rests on."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from app.memory.extraction import TokenUsage
from app.providers.chat import Prompt, Reply, Stop, StreamingChat, metered, partial_value
from app.providers.model_tasks import ModelQuestion, ModelTask, UnusableAnswer, is_text
from app.providers.prompt import ONLY_DATA, Fence
from app.providers.schemas import closed

_KEY: Final = "answer"

_LONGEST: Final = 4_000

_SYSTEM: Final = f"""\
You answer a question from the notes of a memory store, and from nothing else. Each note has a number, the day on which
it was said, how often if more than once, and marks if it is not how things are now (replaced, ended, imagined, said by
a tool): such a note tells of the past or of what was said, and does not count as true today.
First give the numbers of the notes that the answer rests on, then the answer in one to three plain sentences, in the
language of the question. Bring in no name, number, date, place or reason that is not in those notes. If the notes do
not answer the question, the text is empty and there are no numbers: that is a good answer, a guess is not.
{ONLY_DATA}: {{"answer": {{"notes": [1], "text": "..."}}}}."""

_QUESTION: Final = ModelQuestion(
    purpose="answer",
    system=_SYSTEM,
    key=_KEY,
    answer=closed({"notes": {"type": "array", "items": {"type": "integer"}}, "text": {"type": "string"}}),
    failure="gave no usable answer",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDraft:
    """A model's answer, and the places of the statements that it rests on; empty where they do not answer.

    While it is being written `whole` is false, and `text` its beginning, empty until the statements are known. `usage`
    is what the model's server has reported, `written` all that it has sent.
    """

    text: str = ""
    rests_on: tuple[int, ...] = ()
    whole: bool = False
    usage: TokenUsage = field(default_factory=partial(TokenUsage, requests=1))
    written: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerWriter(ModelTask):
    """Answers questions from statements.

    The model names the notes before it writes: words that rest on nothing are never passed on.
    """

    chat: StreamingChat

    @staticmethod
    def prompt(question: str, statements: Sequence[str]) -> Prompt:
        """Return the prompt for an answer from the statements alone."""
        return _QUESTION.prompt(_blocks(question, statements))

    async def write(self, prompt: Prompt, statements: int) -> AsyncGenerator[AnswerDraft]:
        """Yield an answer from so many statements as it grows, the whole one last; raise ProviderError.

        It is one call; numbers that no statement has are left out.
        """
        with metered(self.observer, _QUESTION.purpose) as meter:
            reply = Reply(text="", stop=Stop.UNFINISHED, usage=TokenUsage(requests=1))
            written = self.chat.stream(prompt, temperature=0.0, expires_at=self.chat.expires_at())
            async with aclosing(written) as replies:
                async for reply in replies:
                    meter.usage = reply.usage
                    yield _partial_draft(reply, statements)
            text, notes = self.read(_QUESTION, reply, _fields)
        yield AnswerDraft(text=text.strip(), rests_on=_places(notes, statements), whole=True, usage=reply.usage)


def _blocks(question: str, statements: Sequence[str]) -> list[str]:
    fence = Fence.around([question, *statements])
    notes = "\n".join(f"{number}. {one}" for number, one in enumerate(statements, start=1))
    return [fence.block("notes", notes), fence.block("question", question)]


def _fields(answer: object) -> tuple[str, list[object]]:
    match answer:
        case {"text": text, "notes": list(notes)} if is_text(text) and len(text) <= _LONGEST:
            return text, notes
        case None:
            return "", []
        case _:
            raise UnusableAnswer("something other than a text with numbers of notes")


def _partial_draft(reply: Reply, statements: int) -> AnswerDraft:
    """Return the beginning of an answer, without a text until the notes are known."""
    begun = AnswerDraft(usage=reply.usage, written=reply.text)
    match partial_value(reply.text, _KEY):
        case {"text": text, "notes": list(notes)} if (
            is_text(text) and text.strip() and (places := _places(notes, statements))
        ):
            return replace(begun, text=text.lstrip(), rests_on=places)
        case _:
            return begun


def _places(notes: Sequence[object], statements: int) -> tuple[int, ...]:
    """Return the places of the statements with these numbers, each once."""
    numbers = [one for one in notes if isinstance(one, int) and not isinstance(one, bool)]
    return tuple(one - 1 for one in dict.fromkeys(numbers) if 0 < one <= statements)
