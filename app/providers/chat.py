"""The interface to chat models of every provider, and the reading of JSON from their replies."""

from __future__ import annotations

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Annotated, Final, Generic, Literal, NoReturn, Protocol, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, SecretStr
from pydantic_core import from_json

from app.errors import ProviderError
from app.memory.extraction import TokenUsage
from app.providers.http import ProviderClient, RequestRejected, time_call

_BRACES: Final = 50
"""How many opening braces of a text are tried: prose has few, and each may cost a pass over the rest."""

_DIGITS: Final = 30


class NotJson(ValueError):
    """There is no usable JSON in a model's answer; the message says why, without quoting it."""


def json_object(text: str, key: str) -> dict[str, object]:
    """Return the last JSON object in the text that has the key; a list alone counts as that key's value.

    Around it there may be prose, thoughts or a code fence, as models without a strict mode add them. Raises
    NotJson.
    """
    text = _without_thoughts(text).strip()
    if not text:
        raise NotJson("the answer is empty")
    try:
        whole = _DECODER.decode(_without_fence(text))
    except (json.JSONDecodeError, RecursionError):
        whole = _last_object(text, key)
    if isinstance(whole, list):
        return {key: whole}
    if not isinstance(whole, dict) or key not in whole:
        raise NotJson(f'there is no JSON object with "{key}" in the answer')
    return whole


def partial_value(text: str, key: str) -> object:
    """Return the key's value in a JSON object that is still being written, None before there is one."""
    text = _without_thoughts(text)
    try:
        found = from_json(text[text.index("{") :], allow_partial="trailing-strings")
    except ValueError:
        return None
    return found.get(key) if isinstance(found, dict) else None


def _without_thoughts(text: str) -> str:
    """Return what follows the thoughts that some servers leave in front of the answer."""
    return text.partition("</think>")[2] if text.lstrip().startswith("<think>") else text


def _without_fence(text: str) -> str:
    if text.startswith("```") and text.endswith("```"):
        return text.partition("\n")[2].removesuffix("```")
    return text


def _last_object(text: str, key: str) -> object:
    found: object = None
    at = text.find("{")
    for _ in range(_BRACES):
        if at < 0:
            break
        try:
            read, end = _DECODER.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            end = at + 1
        else:
            found = read if key in read else found
        at = text.find("{", end)
    return found


def _finite(number: str) -> float:
    value = float(number)
    return value if math.isfinite(value) else _no_number(number)


def _whole(number: str) -> int:
    # Python refuses to read very long numbers, with an error of its own.
    return int(number) if len(number) <= _DIGITS else _no_number(number)


def _no_number(_: str) -> NoReturn:
    raise NotJson("the answer has a number beyond all bounds (NaN, infinite, or of many digits)")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite, parse_int=_whole)

ChatObserver = Callable[[str, str, float, TokenUsage], None]
"""Told of each use of the model: what for, the outcome (as `timed` tells it), seconds, and what it cost."""

Schema = Mapping[str, object]

SETTINGS: Final = "TM_LLM"

_END_OF_STREAM: Final = "[DONE]"


class Stop(StrEnum):
    """The reason why a model stopped writing."""

    FINISHED = "finished"
    LENGTH = "length"
    REFUSED = "refused"
    UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of the exchange with the model."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Instructions, which are the same in every request of their kind; messages; the JSON schema of the answer.

    `name` is the schema's, in letters and underscores. The instructions must do without the schema: not every
    server keeps to one.
    """

    name: str
    system: str
    messages: tuple[Message, ...]
    schema: Schema

    def corrected(self, answer: str, correction: str) -> Prompt:
        """Return the prompt that goes on from an answer that was no good."""
        # Anthropic refuses a message without text.
        said = Message(role="assistant", text=answer.strip() or "(no answer)")
        return replace(self, messages=(*self.messages, said, Message(role="user", text=correction)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The text of a model, the reason why it stopped, and the cost."""

    text: str
    stop: Stop
    usage: TokenUsage

    def grown(self, part: ReplyPart) -> Reply:
        """Return the reply with what an event of a stream adds to it."""
        usage = TokenUsage(
            requests=self.usage.requests,
            input_tokens=part.input_tokens or self.usage.input_tokens,
            output_tokens=part.output_tokens or self.usage.output_tokens,
        )
        return Reply(text=self.text + part.text, stop=part.stop or self.stop, usage=usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyPart:
    """An event of a stream: more text, the reason why the model stopped, the tokens so far; each may be missing."""

    text: str = ""
    stop: Stop | None = None
    input_tokens: int = 0
    output_tokens: int = 0


class ChatModel(Protocol):
    """Completes a prompt."""

    @property
    def name(self) -> str:
        """The name that provenance records, such as `openai:gpt-5-mini`."""
        ...

    @property
    def max_tokens(self) -> int:
        """The most tokens of an answer."""
        ...

    def expires_at(self) -> float:
        """Return when work begun now is overdue, by the event loop's clock."""
        ...

    async def complete(self, prompt: Prompt, *, temperature: float, expires_at: float) -> Reply:
        """Return what the model answers; a ProviderError when it did not, by `expires_at` at the latest."""
        ...

    async def aclose(self) -> None:
        """Let go of the connections."""
        ...


class StreamingChat(ChatModel, Protocol):
    """A chat model whose reply can be read as it grows."""

    @property
    def fault(self) -> str | None:
        """How the last call failed; None when it succeeded."""
        ...

    def stream(self, prompt: Prompt, *, temperature: float, expires_at: float) -> AsyncGenerator[Reply]:
        """Yield the reply as it grows, the whole one last; errors as `complete`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSpec:
    """A model, its endpoint, the longest answer in tokens, and the prefix of the settings that errors name."""

    base_url: str
    model: str
    api_key: SecretStr | None = None
    max_tokens: int = 8192
    settings: str = SETTINGS

    @property
    def label(self) -> str:
        """The provider's name in error messages."""
        return f"the language model ({self.model})"


class Dialect(Protocol):
    """The optional parts of a wire format that a server takes."""

    @property
    def watch(self) -> Collection[str]:
        """The words by which a refusal can be told to be about one of these parts."""
        ...

    def without(self, about: frozenset[str]) -> Self | None:
        """Return the next simpler dialect after a refusal about these words; None when there is none."""
        ...


D = TypeVar("D", bound=Dialect)
Answer = TypeVar("Answer")


class Adapting(Generic[D]):
    """Posts in the richest dialect the server takes: learnt from what it refuses, and kept for later requests."""

    def __init__(self, client: ProviderClient, path: str, dialect: D) -> None:
        self._client = client
        self._path = path
        self._dialect = dialect

    @property
    def dialect(self) -> D:
        """The richest dialect that the server is known to take."""
        return self._dialect

    async def post(self, body: Callable[[D], Mapping[str, object]], *, expires_at: float) -> bytes:
        """POST what `body` makes for a dialect and return the answer; errors as `ProviderClient.post`."""
        return await self._adapt(body, partial(self._client.post, self._path, expires_at=expires_at))

    async def stream(
        self, body: Callable[[D], Mapping[str, object]], *, stack: AsyncExitStack, expires_at: float
    ) -> AsyncIterator[str]:
        """POST what `body` makes for a dialect and return the lines of the answer; see `ProviderClient.stream`."""
        return await self._adapt(body, partial(self._client.stream, self._path, stack=stack, expires_at=expires_at))

    async def _adapt(self, body: Callable[[D], Mapping[str, object]], send: Callable[..., Awaitable[Answer]]) -> Answer:
        dialect = self._dialect
        while True:
            try:
                answer = await send(body(dialect), watch=dialect.watch)
            except RequestRejected as refusal:
                simpler = dialect.without(refusal.about)
                if simpler is None:
                    raise
                dialect = simpler
            else:
                # Kept only now: a refusal that the simpler dialect did not mend was about something else.
                self._dialect = dialect
                return answer


class HttpChat(ABC, Generic[D]):
    """The shared part of models over HTTP; a provider's own class knows its wire format."""

    def __init__(self, client: ProviderClient, server: Adapting[D], spec: ChatSpec, name: str) -> None:
        self.name = name
        self.max_tokens = spec.max_tokens
        self._client = client
        self._server = server
        self._spec = spec

    @property
    def fault(self) -> str | None:
        """How the last call failed; see `ProviderClient`."""
        return self._client.fault

    def expires_at(self) -> float:
        """Return when work begun now is overdue, by the event loop's clock."""
        return self._client.expires_at()

    async def complete(self, prompt: Prompt, *, temperature: float, expires_at: float) -> Reply:
        """Ask once; see `ChatModel.complete`."""
        answer = await self._server.post(
            lambda dialect: self._body(prompt, temperature, dialect), expires_at=expires_at
        )
        return self._read(answer)

    async def stream(self, prompt: Prompt, *, temperature: float, expires_at: float) -> AsyncGenerator[Reply]:
        """Ask once, and yield the reply as it grows; see `StreamingChat`."""
        async with AsyncExitStack() as stack:
            lines = await self._server.stream(
                lambda dialect: {**self._body(prompt, temperature, dialect), **self._streaming(dialect)},
                stack=stack,
                expires_at=expires_at,
            )
            reply = Reply(text="", stop=Stop.UNFINISHED, usage=TokenUsage(requests=1))
            others: list[str] = []
            async for line in lines:
                name, _, data = line.partition(":")
                if name != "data":
                    others.append(line)
                elif data.strip() != _END_OF_STREAM:
                    reply = reply.grown(self._read_part(data.encode()))
                    yield reply
            if not reply.text and any(line.startswith("{") for line in others):
                # A server that knows no streams answers as if none had been asked for.
                yield self._read("\n".join(others).encode())

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    @abstractmethod
    def _body(self, prompt: Prompt, temperature: float, dialect: D) -> Mapping[str, object]:
        """Return the request."""

    @abstractmethod
    def _read(self, answer: bytes) -> Reply:
        """Return what was answered; ProviderProtocolError when it has not the provider's format."""

    @abstractmethod
    def _streaming(self, dialect: D) -> Mapping[str, object]:
        """Return what the request has in addition if the answer shall be streamed."""

    @abstractmethod
    def _read_part(self, event: bytes) -> ReplyPart:
        """Return what an event of the stream adds; ProviderError when it is no such event, or an error."""


class WireModel(BaseModel):
    """A part of a provider's answer; what it can't be read for is not shown."""

    model_config = ConfigDict(hide_input_in_errors=True)


def _token_count(value: object) -> int:
    """Return a number of tokens as servers report it: whole, fractional, or none at all."""
    return math.ceil(value) if isinstance(value, int | float) and 0 < value < math.inf else 0


TokenCount = Annotated[int, BeforeValidator(_token_count)]
"""A number of tokens; what is no number counts none, as an answer is not lost for its bill."""


def complete_items(text: str, key: str) -> str | None:
    """Return the items of a list, under the key, that were written whole before an answer was cut off, as JSON.

    None where there is none.
    """
    text = _without_thoughts(text)
    start = re.search(rf'"{re.escape(key)}"\s*:\s*\[', text)
    found: list[object] = []
    at = len(text) if start is None else start.end()
    while (begins := _NEXT.match(text, at)) is not None:
        try:
            item, at = _DECODER.raw_decode(text, begins.end() - 1)
        except (json.JSONDecodeError, RecursionError, NotJson):
            break
        found.append(item)
    return json.dumps({key: found}, ensure_ascii=False) if found else None


_NEXT: Final = re.compile(r"[\s,]*\{")


@dataclass(slots=True)
class Meter:
    """Adds up what the requests of one use cost."""

    usage: TokenUsage = field(default_factory=TokenUsage)

    def add(self, usage: TokenUsage) -> None:
        """Count another request."""
        self.usage += usage


@contextmanager
def metered(observer: ChatObserver | None, purpose: str) -> Iterator[Meter]:
    """Give a meter for the block; its end informs the observer and whoever catches its ProviderError."""
    meter = Meter()

    def tell(outcome: str, seconds: float) -> None:
        if observer is not None:
            observer(purpose, outcome, seconds, meter.usage)

    with time_call(tell):
        try:
            yield meter
        except ProviderError as error:
            error.__dict__["usage"] = meter.usage
            raise


def spent_tokens(error: BaseException) -> TokenUsage:
    """Return what a use of the model that ended in this error had cost by then."""
    usage = error.__dict__.get("usage")
    return usage if isinstance(usage, TokenUsage) else TokenUsage()
