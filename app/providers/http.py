"""HTTP calls to providers: one connection pool, deadlines, retries, and the mapping of failures to errors.

    what happened                                   error                    tried again
    no connection, cut connection                   ProviderUnavailable      yes
    408, 409, 425, 429, 5xx                         ProviderUnavailable      yes, after Retry-After
    no answer within `timeout`                      ProviderTimeout          yes
    no answer within `deadline`, tries and all      ProviderTimeout          no
    401, 403, 404, quota spent, other 3xx and 4xx   ProviderMisconfigured    no
    an answer that is too large or can't be read    ProviderProtocolError    no

Messages contain neither keys nor texts; of a provider's error they give only the code.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from time import perf_counter
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import SecretStr
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random_exponential

from app.errors import (
    ConfigurationError,
    ProviderError,
    ProviderMisconfigured,
    ProviderProtocolError,
    ProviderTimeout,
    ProviderUnavailable,
)
from app.providers.retries import Sleep, retry_after_seconds, retrying
from app.telemetry import trace_headers

_TRANSIENT: Final = frozenset({408, 409, 425, 429})

_QUOTA: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached"})

_KEY: Final = re.compile(r"[!-~]+")

_CODE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")

_BAD_REQUEST: Final = frozenset({400, 422})

_TOLD: Final = 8_000
"""Bytes of a refusal that are searched for what it refuses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpPolicy:
    """Deadlines and attempts of a request; times in seconds."""

    timeout: float = 10.0
    deadline: float = 30.0
    attempts: int = 4
    backoff: float = 0.25
    backoff_max: float = 8.0
    concurrency: int = 4
    max_response_bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The address of a provider; `settings` is the prefix of the settings that its errors name."""

    label: str
    base_url: str
    settings: str
    api_key: SecretStr | None = None
    key_header: str = "Authorization"
    """The header that carries the key: as a bearer token in this one, bare in any other."""


class RequestRejected(ProviderMisconfigured):
    """The provider calls the request itself wrong; `about` says which of the words it was asked to watch for."""

    def __init__(self, message: str, *, about: frozenset[str]) -> None:
        super().__init__(message)
        self.about = about


Answer = TypeVar("Answer")


class ProviderClient:
    """One provider's connection pool; shared by all calls, closed once at shutdown.

    `fault` says how the last call failed; it is None after one that succeeded, and before the first.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        headers: Mapping[str, str] | None = None,
        policy: HttpPolicy | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """Open no connection yet; ConfigurationError if the URL or the key can't be one."""
        self.policy = policy or HttpPolicy()
        self.fault: str | None = None
        self._endpoint = endpoint
        self._base_url = _checked_url(endpoint)
        self._authorization = _checked_authorization(endpoint)
        self._sleep = sleep
        self._slots = asyncio.Semaphore(self.policy.concurrency)
        self._client = httpx.AsyncClient(
            headers={**(headers or {}), "Content-Type": "application/json"},
            # A whole request has `timeout`, kept in _attempt, and each line of a stream: httpx's own read timeout
            # starts again with every chunk.
            timeout=httpx.Timeout(None, connect=self.policy.timeout),
            limits=httpx.Limits(max_connections=self.policy.concurrency),
        )

    def expires_at(self) -> float:
        """Return when work begun now is overdue, by the event loop's clock."""
        return asyncio.get_running_loop().time() + self.policy.deadline

    async def post(
        self,
        path: str,
        body: Mapping[str, object],
        *,
        expires_at: float | None = None,
        watch: Collection[str] = (),
    ) -> bytes:
        """POST JSON and return the body of a 2xx answer; raise a ProviderError otherwise.

        `expires_at` lets several posts share one deadline; by default each has its own. `watch` are words, in
        lower case, that a refused request may be about, such as the names of its parameters.
        """
        overdue = self.expires_at() if expires_at is None else expires_at
        content = _encoded(body)
        with self._patience():
            async with asyncio.timeout_at(overdue), self._slots:
                answer: bytes = await self._retrying(overdue)(self._attempt, path, content, watch)
                return answer

    async def send(
        self, method: str, path: str, *, content: bytes = b"", content_type: str = "application/json"
    ) -> bytes:
        """Send any request and return the body of a 2xx answer; errors as `post`."""
        overdue = self.expires_at()
        with self._patience():
            async with asyncio.timeout_at(overdue), self._slots:
                sent = partial(self._attempt, path, content, (), method=method, content_type=content_type)
                answer: bytes = await self._retrying(overdue)(sent)
                return answer

    async def batches(
        self, texts: Sequence[str], size: int, send: Callable[[Sequence[str], float], Coroutine[Any, Any, Answer]]
    ) -> list[Answer]:
        """Send texts in batches, some at a time, all under one deadline, which `send` receives; return the answers."""
        bounds = [*range(0, len(texts), size), len(texts)]
        expires_at = self.expires_at()
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(send(texts[start:end], expires_at)) for start, end in pairwise(bounds)]
        except ExceptionGroup as failures:
            # The first failure cancels the other batches; the caller is told that one.
            raise failures.exceptions[0] from None
        return [task.result() for task in tasks]

    async def stream(
        self,
        path: str,
        body: Mapping[str, object],
        *,
        stack: AsyncExitStack,
        expires_at: float,
        watch: Collection[str] = (),
    ) -> AsyncIterator[str]:
        """POST JSON and return the lines of a 2xx answer as they come; `stack` ends the request.

        Errors are those of `post`. Only the beginning is tried again: a line that was read is not taken back.
        """
        async with AsyncExitStack() as begun:
            with self._patience():
                async with asyncio.timeout_at(expires_at):
                    await begun.enter_async_context(self._slots)
                    retrying, content = self._retrying(expires_at), _encoded(body)
                    response: httpx.Response = await retrying(self._begin, path, content, watch)
                    begun.push_async_callback(response.aclose)
            await stack.enter_async_context(begun.pop_all())
        return self._lines(response, expires_at)

    async def aclose(self) -> None:
        """Close the pool; calls under way fail."""
        await self._client.aclose()

    def _retrying(self, overdue: float) -> AsyncRetrying:
        policy = self.policy
        return retrying(
            policy.attempts,
            retry_if_exception_type((ProviderUnavailable, ProviderTimeout)),
            backoff=wait_random_exponential(multiplier=policy.backoff, max=policy.backoff_max),
            asked=_asked,
            sleep=self._sleep,
            overdue=overdue,
        )

    async def _attempt(self, path: str, content: bytes, watch: Collection[str], **how: str) -> bytes:
        with self._mapped_errors():
            async with asyncio.timeout(self.policy.timeout):
                async with aclosing(await self._open(path, content, watch, **how)) as response:
                    return await self._read(response)

    async def _begin(self, path: str, content: bytes, watch: Collection[str]) -> httpx.Response:
        with self._mapped_errors():
            async with asyncio.timeout(self.policy.timeout):
                return await self._open(path, content, watch)

    async def _open(
        self,
        path: str,
        content: bytes,
        watch: Collection[str],
        *,
        method: str = "POST",
        content_type: str = "application/json",
    ) -> httpx.Response:
        """Return a successful response whose body is not read yet."""
        headers = {**self._authorization, **trace_headers(), "Content-Type": content_type}
        request = self._client.build_request(method, self._base_url + path, content=content, headers=headers)
        response = await self._client.send(request, stream=True)
        if response.is_success:
            return response
        async with aclosing(response):
            raise self._refusal(response, await self._read(response), watch)

    async def _lines(self, response: httpx.Response, overdue: float) -> AsyncIterator[str]:
        lines = self._split(response)
        while True:
            with self._mapped_errors():
                async with asyncio.timeout_at(min(overdue, asyncio.get_running_loop().time() + self.policy.timeout)):
                    line = await anext(lines, None)
            if line is None:
                return
            yield line

    async def _split(self, response: httpx.Response) -> AsyncIterator[str]:
        r"""Yield the lines of an answer. They end at \n or \r\n alone: JSON may hold the others that Unicode knows."""
        held, received = bytearray(), 0
        async for chunk in response.aiter_bytes():
            received += len(chunk)
            self._require_size(received)
            first, *others = chunk.split(b"\n")
            held += first
            for begun in others:
                yield _line(held)
                held = bytearray(begun)
        if held:
            yield _line(held)

    @contextmanager
    def _patience(self) -> Iterator[None]:
        """Map the end of the deadline to our error, and keep what went wrong."""
        try:
            yield
        except TimeoutError as error:
            self.fault = f"{self._endpoint.label} gave no answer within {self.policy.deadline:g} s, tries and all"
            raise ProviderTimeout(self.fault) from error
        except ProviderError as error:
            self.fault = error.message
            raise
        self.fault = None

    @contextmanager
    def _mapped_errors(self) -> Iterator[None]:
        """Map what goes wrong with one request to our errors."""
        label = self._endpoint.label
        try:
            yield
        except TimeoutError as error:
            raise ProviderTimeout(f"{label} gave no answer within {self.policy.timeout:g} s") from error
        except (httpx.DecodingError, httpx.TooManyRedirects) as error:
            raise ProviderProtocolError(f"{label} gave an answer that can't be decoded") from error
        except httpx.TransportError as error:
            where = f"{self._endpoint.settings}_BASE_URL"
            raise ProviderUnavailable(f"{label} can't be reached ({type(error).__name__}): check {where}") from error

    async def _read(self, response: httpx.Response) -> bytes:
        received = bytearray()
        async for chunk in response.aiter_bytes():
            received += chunk
            self._require_size(len(received))
        return bytes(received)

    def _require_size(self, size: int) -> None:
        most = self.policy.max_response_bytes
        if size > most:
            raise ProviderProtocolError(f"{self._endpoint.label} gave an answer of over {most} bytes")

    def _refusal(self, response: httpx.Response, answer: bytes, watch: Collection[str]) -> ProviderError:
        status, code = response.status_code, _error_code(answer)
        told = f"{self._endpoint.label} answered {status}" + (f" ({code})" if code else "")
        settings = self._endpoint.settings
        if code in _QUOTA:
            return ProviderMisconfigured(f"{told}: the account's quota is spent")
        if status in _TRANSIENT or response.is_server_error:
            return ProviderUnavailable(told, retry_after=retry_after_seconds(response.headers))
        if status in {401, 403}:
            return ProviderMisconfigured(f"{told}: check {settings}_API_KEY")
        if status == httpx.codes.NOT_FOUND:
            return ProviderMisconfigured(f"{told}: check {settings}_MODEL and {settings}_BASE_URL")
        told = f"{told}: it refuses the request as this service is configured"
        if status not in _BAD_REQUEST:
            return ProviderMisconfigured(told)
        said = answer[:_TOLD].decode("utf-8", "replace").lower()
        return RequestRejected(told, about=frozenset(word for word in watch if word in said))


def _line(content: bytearray) -> str:
    return content.removesuffix(b"\r").decode("utf-8", "replace")


def _encoded(body: Mapping[str, object]) -> bytes:
    written = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return written.encode("utf-8", "replace")


def _checked_url(endpoint: Endpoint) -> str:
    try:
        url = urlsplit(endpoint.base_url)
        usable = url.scheme in {"http", "https"} and url.hostname and url.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigurationError(f"{endpoint.settings}_BASE_URL is not an http or https URL")
    return endpoint.base_url.rstrip("/")


def _checked_authorization(endpoint: Endpoint) -> dict[str, str]:
    # Checked here because the HTTP library's complaint about a header value quotes it.
    key = endpoint.api_key.get_secret_value().strip() if endpoint.api_key else ""
    if not key:
        return {}
    if not _KEY.fullmatch(key):
        raise ConfigurationError(f"{endpoint.settings}_API_KEY has a space, a line break or non-ASCII in it")
    bearer = endpoint.key_header == "Authorization"
    return {endpoint.key_header: f"Bearer {key}" if bearer else key}


def _asked(state: RetryCallState) -> float | None:
    error = state.outcome.exception() if state.outcome else None
    return error.retry_after if isinstance(error, ProviderError) else None


def _error_code(answer: bytes) -> str | None:
    """Return an OpenAI or Anthropic error's code, if it looks like one; its message may quote the request."""
    try:
        error = json.loads(answer)["error"]
        code = error.get("code") or error.get("type")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return code if isinstance(code, str) and _CODE.fullmatch(code) else None


@contextmanager
def time_call(tell: Callable[[str, float], None]) -> Iterator[None]:
    """Tell how the block ended (`ok`, a ProviderError's code, `cancelled`, `error`) and in how many seconds."""
    started, outcome = perf_counter(), "error"
    try:
        yield
        outcome = "ok"
    except ProviderError as error:
        outcome = error.code
        raise
    except (asyncio.CancelledError, GeneratorExit):
        outcome = "cancelled"
        raise
    finally:
        tell(outcome, perf_counter() - started)
