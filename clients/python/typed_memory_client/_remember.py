"""Give a model's client a memory: recall before it answers, remember what was said after it has.

OpenAI's and Anthropic's clients send each request by one method, `request`. A copy of the client gets another one
around it: whatever ends there (`create`, `parse`, `stream`, tool runners) has the memory, everything else is as before.
"""

from __future__ import annotations

import inspect
import json
import logging
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Callable, Final, TypeVar

from typed_memory_client._async_client import AsyncTypedMemory
from typed_memory_client._chats import FORMATS, Asked, read_answer, read_piece, read_request, with_known
from typed_memory_client._client import TypedMemory

Client = TypeVar("Client")

_SECONDS: Final = 5.0
"""The longest that a chat waits for the memory, for each of recalling and remembering."""

_log = logging.getLogger("typed_memory_client")


def remember(
    client: Client,
    /,
    *,
    user_id: str | None = None,
    agent_id: str | None = None,
    session_id: str | None = None,
    memory: TypedMemory | AsyncTypedMemory | None = None,
) -> Client:
    """Return a copy of an OpenAI or Anthropic client that recalls before the model answers and remembers afterwards.

        client = remember(OpenAI(), user_id="ana")

    Where something known answers what the user says, it is added to the instructions; the last message of the user and
    the answer are remembered, of a stream when it has ended or was closed. `session_id` names the conversation; by
    default it is a new one. `memory` is a client of the service, asynchronous for an asynchronous client; by default
    the one that TM_URL and TM_API_KEY name. A failure of the memory is logged, and the chat goes on without it.
    """
    request = getattr(client, "request", None)
    if request is None or not hasattr(client, "with_options"):
        raise TypeError(f"remember takes a client of OpenAI's or Anthropic's library, not a {type(client).__name__}")
    is_async = inspect.iscoroutinefunction(request)
    if memory is None and user_id is agent_id is None:
        raise ValueError('whose memory? name the user: remember(client, user_id="ana")')
    if memory is None:
        kind = AsyncTypedMemory if is_async else TypedMemory
        memory = kind(attempts=1, timeout=_SECONDS)
    elif isinstance(memory, AsyncTypedMemory) is not is_async:
        needed = "AsyncTypedMemory" if is_async else "TypedMemory"
        raise TypeError(f"memory for {type(client).__name__} must be a {needed}, not a {type(memory).__name__}")
    if user_id is not None or agent_id is not None:
        memory = memory.for_user(user_id, agent_id=agent_id)
    return _wrapped(client, _Memory(memory, session_id or str(uuid.uuid4())))


def _wrapped(client: Client, memory: _Memory) -> Client:
    """Return a copy of the client whose requests go through the memory, as do those of its own copies."""
    copied: Any = client.with_options()  # type: ignore[attr-defined]
    copy = copied.with_options
    hook = _asynchronous if inspect.iscoroutinefunction(copied.request) else _blocking
    copied.request = hook(copied.request, memory)
    copied.copy = copied.with_options = lambda *args, **options: _wrapped(copy(*args, **options), memory)
    return copied  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _Memory:
    """A memory client, and the conversation that it is used in."""

    client: Any
    session_id: str

    def recall(self, asked: Asked) -> Any:  # noqa: ANN401 - a result, or one to await
        return self.client.recall(asked.messages, session_id=self.session_id, recent_turns=len(asked.messages) - 1)

    def remember(self, asked: Asked, answer: str) -> Any:  # noqa: ANN401 - a result, or one to await
        said = asked.said(answer)
        return self.client.remember(said, session_id=self.session_id, wait=False) if said else None


def _blocking(send: Callable[..., Any], memory: _Memory) -> Callable[..., Any]:
    def request(cast_to: Any, options: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the library's own types
        asked = _asked(options)
        if asked is None:
            return send(cast_to, options, **kwargs)
        known = ""
        try:
            known = memory.recall(asked).context.text
        except Exception as error:  # noqa: BLE001 - whatever it is, the chat goes on
            _warn("recalled", error)
        result = send(cast_to, _with_known(options, known), **kwargs)

        def finish(answer: str) -> None:
            try:
                memory.remember(asked, answer)
            except Exception as error:  # noqa: BLE001 - as above
                _warn("remembered", error)

        if _is_stream(result):
            _Listener(finish).listen(result)
        else:
            finish(_answer(result))
        return result

    return request


def _asynchronous(send: Callable[..., Any], memory: _Memory) -> Callable[..., Any]:
    async def request(cast_to: Any, options: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the library's own types
        asked = _asked(options)
        if asked is None:
            return await send(cast_to, options, **kwargs)
        known = ""
        try:
            known = (await memory.recall(asked)).context.text
        except Exception as error:  # noqa: BLE001 - whatever it is, the chat goes on
            _warn("recalled", error)
        result = await send(cast_to, _with_known(options, known), **kwargs)

        async def finish(answer: str) -> None:
            try:
                if (stored := memory.remember(asked, answer)) is not None:
                    await stored
            except Exception as error:  # noqa: BLE001 - as above
                _warn("remembered", error)

        if _is_stream(result):
            _AsyncListener(finish).listen(result)
        else:
            await finish(_answer(result))
        return result

    return request


class _Listener:
    """Hears what a stream says to its reader, and says it once when the stream ends, breaks off or is closed."""

    def __init__(self, finish: Callable[[str], Any]) -> None:
        self._finish = finish
        self._pieces: list[str] = []
        self._is_over = False

    def listen(self, stream: Any) -> None:  # noqa: ANN401 - the library's own type
        events, close = self._hear(stream._iterator), stream.response.close  # noqa: SLF001 - of both libraries

        def closing() -> None:
            close()
            # While an event is read, the response may be closed before its last words are: then `_hear` ends it.
            if not events.gi_running:
                self._end()

        stream._iterator, stream.response.close = events, closing  # noqa: SLF001

    def _hear(self, events: Iterator[Any]) -> Any:  # noqa: ANN401 - a generator
        try:
            for event in events:
                self._pieces.append(read_piece(event))
                yield event
        finally:
            self._end()

    def _end(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._finish("".join(self._pieces))


class _AsyncListener:
    """The same for an asynchronous stream."""

    def __init__(self, finish: Callable[[str], Any]) -> None:
        self._finish = finish
        self._pieces: list[str] = []
        self._is_over = False

    def listen(self, stream: Any) -> None:  # noqa: ANN401 - the library's own type
        events, close = self._hear(stream._iterator), stream.response.aclose  # noqa: SLF001 - of both libraries

        async def closing() -> None:
            await close()
            if not events.ag_running:
                await self._end()

        stream._iterator, stream.response.aclose = events, closing  # noqa: SLF001

    async def _hear(self, events: AsyncIterator[Any]) -> Any:  # noqa: ANN401 - a generator
        try:
            async for event in events:
                self._pieces.append(read_piece(event))
                yield event
        finally:
            await self._end()

    async def _end(self) -> None:
        if not self._is_over:
            self._is_over = True
            await self._finish("".join(self._pieces))


def _asked(options: Any) -> Asked | None:  # noqa: ANN401 - the library's own type
    """Return what a request asks a model; None where it asks none, or can't be read."""
    body = getattr(options, "json_data", None)
    kind = next((one for one in FORMATS if str(options.url).rstrip("/").endswith(one.path)), None)
    if kind is None or str(options.method).lower() != "post" or not isinstance(body, Mapping):
        return None
    try:
        return read_request(kind, body)
    except Exception as error:  # noqa: BLE001 - a form of message that is not known
        _warn("read", error)
        return None


def _with_known(options: Any, known: str) -> Any:  # noqa: ANN401 - the library's own type
    """Return the request with what is known in its instructions; the caller's own lists stay as they are."""
    if not known:
        return options
    kind = next(one for one in FORMATS if str(options.url).rstrip("/").endswith(one.path))
    copied = options.model_copy()
    copied.json_data = with_known(kind, options.json_data, known)
    return copied


def _is_stream(result: object) -> bool:
    return hasattr(result, "_iterator") and hasattr(result, "response")


def _answer(result: Any) -> str:  # noqa: ANN401 - the library's own types
    """Return the words of an answer, also of a raw one; '' where it is still to be read, or can't be."""
    try:
        raw = getattr(result, "http_response", None)
        if raw is None:
            return read_answer(result)
        return read_answer(json.loads(raw.content)) if raw.is_closed else ""
    except Exception as error:  # noqa: BLE001 - a form of answer that is not known
        _warn("read", error)
        return ""


def _warn(what: str, error: Exception) -> None:
    _log.warning("nothing was %s, the chat goes on without its memory: %s", what, error)
