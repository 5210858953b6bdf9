"""The use case of an answer: recall, then a language model that may say only what the memories say, with citations."""

from __future__ import annotations

from dataclasses import dataclass

from app.errors import NotConfigured
from app.model import Actor
from app.providers.model_answer import AnswerWriter
from app.read.values import Hit, QueryRequest, QueryResult
from app.services.query import Queries

NOTHING_RELEVANT = "nothing that is remembered is relevant"
NOT_SAID = "what is remembered does not answer it"
UNGROUNDED = "the model's answer named no memory that it rests on"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundedAnswer:
    """An answer with the memories that it rests on; without a text, `abstained` says why."""

    text: str | None
    cited: tuple[Hit, ...] = ()
    abstained: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Answers from memories; `writer` is None without a language model."""

    queries: Queries
    writer: AnswerWriter | None

    @property
    def model(self) -> str:
        """Return the model's name; raise NotConfigured without one."""
        return self._configured().name

    async def recall(self, actor: Actor, request: QueryRequest) -> QueryResult:
        """Return what an answer may rest on; raise NotConfigured without a model."""
        self._configured()
        return await self.queries.query(actor, request)

    async def answer(self, request: QueryRequest, recalled: QueryResult) -> GroundedAnswer:
        """Return an answer that rests on what was recalled, or none with the reason; raise ProviderError.

        The model is not asked where nothing is relevant, and an answer that cites nothing is not given.
        """
        writer = self._configured()
        if not recalled.hits:
            return GroundedAnswer(text=None, abstained=NOTHING_RELEVANT)
        draft = await writer.answer(request.query, [_statement(hit, request) for hit in recalled.hits])
        if not draft.text:
            return GroundedAnswer(text=None, abstained=NOT_SAID)
        if not draft.rests_on:
            return GroundedAnswer(text=None, abstained=UNGROUNDED)
        return GroundedAnswer(text=draft.text, cited=tuple(recalled.hits[one] for one in draft.rests_on))

    def _configured(self) -> AnswerWriter:
        if self.writer is None:
            raise NotConfigured("answers take a language model: set TM_LLM_PROVIDER and TM_LLM_MODEL, or use /query")
        return self.writer


def _statement(hit: Hit, request: QueryRequest) -> str:
    memory = hit.memory
    when = f"{memory.stated_at.astimezone(request.now.tzinfo):%Y-%m-%d}"
    marks = [*hit.marks, *([str(memory.status)] if memory.status != "active" else [])]
    return f"({', '.join([when, *dict.fromkeys(marks)])}) {' '.join(memory.content.split())}"
