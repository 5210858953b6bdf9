"""Language models behind Anthropic's `/messages`.

The answer is the input of a tool that the model is made to use: structured outputs compile a schema to a
grammar, which takes at most 16 fields that may be null, fewer than the memory types have. Models that will
not be forced while they think are asked not to think, and in the end to write the JSON as text.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final, Literal, Self

from pydantic import JsonValue, ValidationError

from app.errors import ProviderProtocolError, ProviderUnavailable
from app.memory.extraction import TokenUsage
from app.providers.chat import Adapting, ChatSpec, HttpChat, Prompt, Reply, ReplyPart, Stop, TokenCount, WireModel
from app.providers.http import Endpoint, HttpPolicy, ProviderClient
from app.providers.retries import Sleep

VERSION: Final = "2023-06-01"

_TOOL_WORDS: Final = ("tool_choice", "tools", "input_schema", "thinking")


@dataclass(frozen=True, slots=True, kw_only=True)
class _AnthropicDialect:
    """The newest models refuse a temperature, and some a forced tool while they think."""

    answer: Literal["tool", "tool without thinking", "text"] = "tool"
    temperature: bool = True

    @property
    def watch(self) -> Collection[str]:
        """Return the words by which a refusal can be told to be about one of these parts."""
        return ("temperature", *_TOOL_WORDS)

    def without(self, about: frozenset[str]) -> Self | None:
        """Return the next simpler dialect after a refusal about these words; None when there is none."""
        if self.temperature and "temperature" in about:
            return replace(self, temperature=False)
        if self.answer != "text" and not about.isdisjoint(_TOOL_WORDS):
            return replace(self, answer="tool without thinking" if self.answer == "tool" else "text")
        return None


class _Block(WireModel):
    type: str
    text: str = ""
    input: JsonValue = None


class _AnthropicTokens(WireModel):
    input_tokens: TokenCount = 0
    output_tokens: TokenCount = 0
    cache_creation_input_tokens: TokenCount = 0
    cache_read_input_tokens: TokenCount = 0

    @property
    def read(self) -> int:
        """Return all tokens that went in: `input_tokens` leaves out those of the cache."""
        return self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens


class _AnthropicAnswer(WireModel):
    content: tuple[_Block, ...]
    stop_reason: str | None = None
    usage: _AnthropicTokens | None = None


class _Delta(WireModel):
    text: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class _StreamStart(WireModel):
    usage: _AnthropicTokens | None = None


class _StreamEvent(WireModel):
    type: str
    message: _StreamStart = _StreamStart()
    delta: _Delta = _Delta()
    usage: _AnthropicTokens | None = None


class AnthropicMessages(HttpChat[_AnthropicDialect]):
    """A model behind `/messages`; see `ChatModel`."""

    def __init__(self, spec: ChatSpec, *, policy: HttpPolicy | None = None, sleep: Sleep = asyncio.sleep) -> None:
        """Open no connection yet; ConfigurationError if the URL or the key can't be one."""
        endpoint = Endpoint(
            label=spec.label,
            base_url=spec.base_url,
            settings=spec.settings,
            api_key=spec.api_key,
            key_header="x-api-key",
        )
        client = ProviderClient(endpoint, headers={"anthropic-version": VERSION}, policy=policy, sleep=sleep)
        super().__init__(client, Adapting(client, "/messages", _AnthropicDialect()), spec, f"anthropic:{spec.model}")

    def _body(self, prompt: Prompt, temperature: float, dialect: _AnthropicDialect) -> dict[str, object]:
        # The instructions are the same for every turn: cached, they cost a tenth.
        system = {"type": "text", "text": prompt.system, "cache_control": {"type": "ephemeral"}}
        body: dict[str, object] = {
            "model": self._spec.model,
            "max_tokens": self._spec.max_tokens,
            "system": [system],
            "messages": [{"role": one.role, "content": one.text} for one in prompt.messages],
        }
        if dialect.temperature:
            body["temperature"] = temperature
        if dialect.answer != "text":
            tool = {"name": prompt.name, "description": "Takes the answer.", "input_schema": prompt.schema}
            body["tools"] = [tool]
            body["tool_choice"] = {"type": "tool", "name": prompt.name, "disable_parallel_tool_use": True}
        if dialect.answer == "tool without thinking":
            body["thinking"] = {"type": "disabled"}
        return body

    def _read(self, answer: bytes) -> Reply:
        try:
            read = _AnthropicAnswer.model_validate_json(answer)
        except ValidationError:
            # Not chained: a validation error may carry what was answered.
            raise ProviderProtocolError(f"{self._spec.label} did not answer with a message") from None
        tokens = read.usage or _AnthropicTokens()
        return Reply(
            text=_text(read.content),
            stop=_stop(read.stop_reason),
            usage=TokenUsage(requests=1, input_tokens=tokens.read, output_tokens=tokens.output_tokens),
        )

    def _streaming(self, _: _AnthropicDialect) -> dict[str, object]:
        return {"stream": True}

    def _read_part(self, event: bytes) -> ReplyPart:
        try:
            read = _StreamEvent.model_validate_json(event)
        except ValidationError:
            raise ProviderProtocolError(f"{self._spec.label} broke off its answer") from None
        if read.type == "error":
            raise ProviderUnavailable(f"{self._spec.label} broke off its answer")
        tokens = read.message.usage or read.usage or _AnthropicTokens()
        reason = read.delta.stop_reason
        return ReplyPart(
            text=read.delta.text + read.delta.partial_json,
            stop=None if reason is None else _stop(reason),
            input_tokens=tokens.read,
            output_tokens=tokens.output_tokens,
        )


def _text(content: Collection[_Block]) -> str:
    """Return the tool's input as JSON, or what was written where no tool was used."""
    for block in content:
        if block.type == "tool_use":
            return json.dumps(block.input, ensure_ascii=False)
    return "".join(block.text for block in content if block.type == "text")


def _stop(reason: str | None) -> Stop:
    match reason:
        case "refusal":
            return Stop.REFUSED
        case "max_tokens" | "model_context_window_exceeded":
            return Stop.LENGTH
        case _:
            return Stop.FINISHED
