"""Language models behind OpenAI's `/chat/completions`: OpenAI, Ollama, vLLM, llama.cpp, LM Studio, ..."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal, Self

from pydantic import BeforeValidator, ValidationError

from app.errors import ProviderProtocolError
from app.memory.extraction import TokenUsage
from app.providers.chat import Adapting, ChatSpec, HttpChat, Prompt, Reply, ReplyPart, Stop, TokenCount, WireModel
from app.providers.http import Endpoint, HttpPolicy, ProviderClient
from app.providers.openai_batches import OpenAIBatches
from app.providers.retries import Sleep

_SCHEMA_WORDS: Final = ("response_format", "json_schema", "json_object", "schema", "grammar", "structured output")
_USAGE: Final = "stream_options"
_LIMITS: Final = ("max_completion_tokens", "max_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class _OpenAIDialect:
    """OpenAI's newest models refuse a temperature and `max_tokens`; other servers know no JSON schemas.

    `usage` asks for the tokens at the end of a stream.
    """

    format: Literal["json_schema", "json_object"] | None = "json_schema"
    limit: Literal["max_completion_tokens", "max_tokens"] | None = "max_completion_tokens"
    temperature: bool = True
    usage: bool = True

    @property
    def watch(self) -> Collection[str]:
        """Return the words by which a refusal can be told to be about one of these parts."""
        return ("temperature", _USAGE, *_LIMITS, *_SCHEMA_WORDS)

    def without(self, about: frozenset[str]) -> Self | None:
        """Return the next simpler dialect after a refusal about these words; None when there is none."""
        if self.temperature and "temperature" in about:
            return replace(self, temperature=False)
        if self.usage and _USAGE in about:
            return replace(self, usage=False)
        if self.limit is not None and not about.isdisjoint(_LIMITS):
            return replace(self, limit="max_tokens" if self.limit == "max_completion_tokens" else None)
        if self.format is not None and not about.isdisjoint(_SCHEMA_WORDS):
            return replace(self, format="json_object" if self.format == "json_schema" else None)
        return None


def _joined(content: object) -> object:
    """Return the text of a content that comes in parts."""
    if not isinstance(content, list):
        return content
    texts = (one.get("text") if isinstance(one, dict) else one for one in content)
    return "".join(one for one in texts if isinstance(one, str))


class _Message(WireModel):
    """A message; some servers put all of a reasoning model's answer beside an empty content."""

    content: Annotated[str | None, BeforeValidator(_joined)] = None
    reasoning_content: str | None = None
    refusal: str | None = None


class _Choice(WireModel):
    message: _Message
    finish_reason: str | None = None


class _OpenAITokens(WireModel):
    prompt_tokens: TokenCount = 0
    completion_tokens: TokenCount = 0


class _Completion(WireModel):
    choices: tuple[_Choice, ...]
    usage: _OpenAITokens | None = None


class _StreamChoice(WireModel):
    delta: _Message = _Message()
    finish_reason: str | None = None


class _StreamChunk(WireModel):
    choices: tuple[_StreamChoice, ...]
    usage: _OpenAITokens | None = None


class OpenAIChat(HttpChat[_OpenAIDialect]):
    """A model behind `/chat/completions`; see `ChatModel`."""

    def __init__(self, spec: ChatSpec, *, policy: HttpPolicy | None = None, sleep: Sleep = asyncio.sleep) -> None:
        """Open no connection yet; ConfigurationError if the URL or the key can't be one."""
        endpoint = Endpoint(label=spec.label, base_url=spec.base_url, settings=spec.settings, api_key=spec.api_key)
        client = ProviderClient(endpoint, policy=policy, sleep=sleep)
        super().__init__(client, Adapting(client, "/chat/completions", _OpenAIDialect()), spec, f"openai:{spec.model}")

    @property
    def batches(self) -> OpenAIBatches:
        """The batch endpoint beside the chat's."""
        return OpenAIBatches(
            client=self._client,
            label=self._spec.label,
            body=lambda prompt: self._body(prompt, 0.0, self._server.dialect),
            read=self._read,
        )

    def _body(self, prompt: Prompt, temperature: float, dialect: _OpenAIDialect) -> dict[str, object]:
        said = [{"role": one.role, "content": one.text} for one in prompt.messages]
        body: dict[str, object] = {
            "model": self._spec.model,
            "messages": [{"role": "system", "content": prompt.system}, *said],
        }
        if dialect.temperature:
            body["temperature"] = temperature
        if dialect.limit is not None:
            body[dialect.limit] = self._spec.max_tokens
        if dialect.format == "json_schema":
            schema = {"name": prompt.name, "strict": True, "schema": prompt.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif dialect.format == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def _read(self, answer: bytes) -> Reply:
        try:
            completion = _Completion.model_validate_json(answer)
            choice = completion.choices[0]
        except (ValidationError, IndexError):
            # Not chained: a validation error may carry what was answered.
            raise ProviderProtocolError(f"{self._spec.label} did not answer with a chat completion") from None
        tokens = completion.usage or _OpenAITokens()
        return Reply(
            text=choice.message.content or choice.message.reasoning_content or "",
            stop=_stop(choice.message, choice.finish_reason),
            usage=TokenUsage(requests=1, input_tokens=tokens.prompt_tokens, output_tokens=tokens.completion_tokens),
        )

    def _streaming(self, dialect: _OpenAIDialect) -> dict[str, object]:
        return {"stream": True, **({_USAGE: {"include_usage": True}} if dialect.usage else {})}

    def _read_part(self, event: bytes) -> ReplyPart:
        try:
            chunk = _StreamChunk.model_validate_json(event)
        except ValidationError:
            raise ProviderProtocolError(f"{self._spec.label} broke off its answer") from None
        tokens = chunk.usage or _OpenAITokens()
        choice = chunk.choices[0] if chunk.choices else _StreamChoice()
        said = choice.delta
        ended = said.refusal is not None or choice.finish_reason is not None
        return ReplyPart(
            text=said.content or "",
            stop=_stop(said, choice.finish_reason) if ended else None,
            input_tokens=tokens.prompt_tokens,
            output_tokens=tokens.completion_tokens,
        )


def _stop(message: _Message, reason: str | None) -> Stop:
    if message.refusal is not None or reason == "content_filter":
        return Stop.REFUSED
    return Stop.LENGTH if reason == "length" else Stop.FINISHED
