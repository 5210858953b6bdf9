"""The use case of an answer: recall, then a language model that may say only what the memories say, with citations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime

from app.db import quotas
from app.db.session import Database
from app.errors import NotConfigured, ProviderError
from app.memory.extraction import TokenUsage
from app.model import Actor
from app.providers.chat import Prompt, spent_tokens
from app.providers.factory import Prices
from app.providers.model_answer import AnswerDraft, AnswerWriter
from app.read.assemble import as_line, cut_line, estimate_tokens
from app.read.values import Hit, QueryRequest, QueryResult
from app.services.limits import Quotas
from app.services.query import Queries

NOTHING_RELEVANT = "nothing that is remembered is relevant"
NOT_SAID = "what is remembered does not answer it"
UNGROUNDED = "the model's answer named no memory that it rests on"

MOST_TOKENS = 12_000
"""Tokens of all that an answer may rest on."""

LONGEST_STATEMENT = 2_000
"""Tokens of one memory of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundedAnswer:
    """An answer with the memories that it rests on; without a text, `abstained` says why."""

    text: str | None
    cited: tuple[Hit, ...] = ()
    abstained: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Answers from memories; `writer` is None without a language model."""

    database: Database
    queries: Queries
    quotas: Quotas
    writer: AnswerWriter | None
    prices: Prices
    clock: Callable[[], datetime]

    @property
    def model(self) -> str:
        """Return the model's name; raise NotConfigured without one."""
        return self._configured().name

    async def recall(self, actor: Actor, request: QueryRequest, *, position: str | None = None) -> QueryResult:
        """Return what an answer may rest on, as `Queries.query` finds it.

        Raise NotConfigured without a model, QuotaExceeded without tokens left.
        """
        self._configured()
        await self.quotas.require_tokens(actor)
        return await self.queries.query(actor, request, position=position)

    async def answer(self, actor: Actor, request: QueryRequest, recalled: QueryResult) -> GroundedAnswer:
        """Return an answer that rests on what was recalled, or none with the reason; raise ProviderError."""
        given = GroundedAnswer(text=None, abstained=NOTHING_RELEVANT)
        async for one in self.stream(actor, request, recalled):
            if not isinstance(one, str):
                given = one
        return given

    async def stream(
        self, actor: Actor, request: QueryRequest, recalled: QueryResult
    ) -> AsyncGenerator[str | GroundedAnswer]:
        """Yield the words of an answer as they are written, then the answer; raise ProviderError.

        The model is not asked where nothing is relevant, and an answer that cites nothing is not given.
        """
        writer = self._configured()
        if not recalled.hits:
            yield GroundedAnswer(text=None, abstained=NOTHING_RELEVANT)
            return
        statements = _statements(recalled.hits, request)
        prompt, draft, sent, usage = writer.prompt(request.query, statements), AnswerDraft(), "", TokenUsage()
        try:
            async with aclosing(writer.write(prompt, len(statements))) as drafts:
                async for draft in drafts:
                    if not draft.whole and len(draft.text) > len(sent):
                        yield draft.text.removeprefix(sent)
                        sent = draft.text
            usage = draft.usage
        except ProviderError as error:
            usage = spent_tokens(error)
            raise
        except (asyncio.CancelledError, GeneratorExit):
            usage = _least_usage(prompt, draft)
            raise
        finally:
            if usage.requests:
                await asyncio.shield(self._count(actor, usage))
        yield _grounded(draft, recalled)

    async def _count(self, actor: Actor, usage: TokenUsage) -> None:
        async with self.database.write(actor.tenant_id) as session:
            await quotas.add_model_use(session, actor, self.clock().date(), usage, self.prices.cost(usage))

    def _configured(self) -> AnswerWriter:
        if self.writer is None:
            raise NotConfigured("answers take a language model: set TM_LLM_PROVIDER and TM_LLM_MODEL, or use /query")
        return self.writer


def _least_usage(prompt: Prompt, draft: AnswerDraft) -> TokenUsage:
    """Return the cost of an answer whose caller hung up: as reported by then, but at least as estimated."""
    sent = [prompt.system, *(one.text for one in prompt.messages)]
    return TokenUsage(
        requests=draft.usage.requests,
        input_tokens=draft.usage.input_tokens or sum(map(estimate_tokens, sent)),
        output_tokens=max(draft.usage.output_tokens, estimate_tokens(draft.written)),
    )


def _grounded(draft: AnswerDraft, recalled: QueryResult) -> GroundedAnswer:
    if not draft.text:
        return GroundedAnswer(text=None, abstained=NOT_SAID)
    if not draft.rests_on:
        return GroundedAnswer(text=None, abstained=UNGROUNDED)
    return GroundedAnswer(text=draft.text, cited=tuple(recalled.hits[one] for one in draft.rests_on))


def _statements(hits: Sequence[Hit], request: QueryRequest) -> list[str]:
    """Return what the best of the hits say, as far as it fits; each is cut to what one may have."""
    found, left = list[str](), MOST_TOKENS
    for hit in hits:
        said = _statement(hit, request)
        if estimate_tokens(said) > LONGEST_STATEMENT:
            said = cut_line(said, LONGEST_STATEMENT)
        left -= estimate_tokens(said)
        if left < 0:
            break
        found.append(said)
    return found


def _statement(hit: Hit, request: QueryRequest) -> str:
    memory = hit.memory
    when = f"{memory.stated_at.astimezone(request.now.tzinfo):%Y-%m-%d}"
    marks = [*hit.marks, *([str(memory.status)] if memory.status != "active" else [])]
    return f"({', '.join([when, *dict.fromkeys(marks)])}) {as_line(memory.content)}"
