"""An HTTP client of the service for the client commands, with safe retries, and its URL and key from the options."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Self
from urllib.parse import urlsplit

import httpx
from tenacity import RetryCallState, retry_if_exception_type, retry_if_result, wait_random_exponential

from app.command_line.terminal import CommandFailed
from app.db.embedded.server import KEY_FILE, default_data_dir
from app.errors import TypedMemoryError
from app.providers.retries import Sleep, retry_after_seconds, retrying

_TRANSIENT: Final = frozenset({408, 425, 429, 500, 502, 503, 504})

_BACKOFF: Final = 0.25

_LONGEST_WAIT: Final = 15.0

_LOOK_SECONDS: Final = 0.5
"""Seconds between looks at a job that is waited for."""

_LONGEST_LIMIT: Final = 60.0
"""Seconds until the next minute's requests; after longer ones begins another day."""

_UNHURRIED: Final = httpx.Timeout(60.0, read=None, write=None)
"""The timeout of transfers without a limit on their length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldProblem:
    """A field that the service refused: its path with dots, and the message."""

    field: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceResponse:
    """A 2xx answer; `replayed` when the service repeats the answer to an earlier, equal request."""

    body: Any
    replayed: bool = False


class ServiceUnreachable(TypedMemoryError):
    """No HTTP server answers at the URL."""

    code: ClassVar[str] = "service-unreachable"


class ServiceRejection(TypedMemoryError):
    """The service answered with a problem; `faults` are the fields that it names."""

    code: ClassVar[str] = "service-refused"

    def __init__(self, message: str, *, answered: int, faults: Sequence[FieldProblem] = ()) -> None:
        """Build the error from the problem's detail, the HTTP status, and the fields at fault."""
        super().__init__(message)
        self.answered = answered
        self.faults = tuple(faults)


class ServiceClient:
    """A client for one URL and one key. Use it as `async with`; many tasks may share it."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        attempts: int = 6,
        timeout: float = 60.0,
        sleep: Sleep = asyncio.sleep,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Check the URL without connecting; raise ServiceUnreachable for a bad one. `timeout` is in seconds."""
        self.url = _checked(url)
        self._attempts = attempts
        self._sleep = sleep
        try:
            headers = {"Authorization": f"Bearer {key.encode('ascii').decode()}"}
        except UnicodeEncodeError:
            raise ServiceRejection("the API key has characters that no key has: copy it again", answered=0) from None
        self._client = httpx.AsyncClient(base_url=self.url, headers=headers, timeout=timeout, transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def get(self, path: str, **parameters: str | int) -> ServiceResponse:
        """GET once, without retries; a query in the path holds where no parameters are given."""
        try:
            return _read_response(await self._client.get(path, params=parameters or None))
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    async def post(
        self, path: str, body: Mapping[str, object], *, idempotency_key: str | None = None
    ) -> ServiceResponse:
        """POST JSON and return the answer; raise ServiceRejection for a problem, ServiceUnreachable without an answer.

        Transient failures are retried: broken connections, 429, 5xx, and a 409 with a time to wait. With an idempotency
        key a write whose answer was lost is not repeated.
        """
        headers = {"Content-Type": "application/json"}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        # Escaped to ASCII, so that the service refuses a text with half a surrogate pair and names its field.
        content = json.dumps(body).encode()
        return await self._persistently(lambda: self._client.post(path, content=content, headers=headers))

    async def post_file(self, path: str, fields: Mapping[str, str], *, name: str, content: bytes) -> ServiceResponse:
        """POST a form with a file and return the answer, with the retries of `post`: to repeat it changes nothing."""
        return await self._persistently(
            lambda: self._client.post(path, data=dict(fields), files={"file": (name, content)}, timeout=_UNHURRIED)
        )

    async def put(self, path: str, body: Mapping[str, object]) -> ServiceResponse:
        """PUT JSON and return the answer, with the retries of `post`: to repeat it changes nothing."""
        return await self._persistently(lambda: self._client.put(path, json=dict(body)))

    async def delete(self, path: str, *, idempotency_key: str | None = None) -> ServiceResponse:
        """DELETE and return the answer, with the retries of `post`."""
        headers = {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
        return await self._persistently(lambda: self._client.delete(path, headers=headers))

    async def finish(self, job: str) -> None:
        """Wait until a job has finished; raise CommandFailed unless it succeeded."""
        while (found := (await self.get(f"/jobs/{job}")).body)["finished_at"] is None:
            await self._sleep(_LOOK_SECONDS)
        if found["status"] != "succeeded":
            raise CommandFailed(f"{job} {found['status']}: {found['error'] or 'see the log of the worker'}")

    async def download(self, path: str, **parameters: str) -> AsyncIterator[bytes]:
        """GET and yield the body in pieces; raise ServiceUnreachable when the connection breaks."""
        try:
            async with self._client.stream("GET", path, params=parameters, timeout=_UNHURRIED) as response:
                if not response.is_success:
                    await response.aread()
                    _read_response(response)
                async for piece in response.aiter_bytes():
                    yield piece
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    async def upload(self, path: str, pieces: Callable[[], AsyncIterator[bytes]], **parameters: str) -> ServiceResponse:
        """POST lines of JSON in pieces, again from the start when the connection breaks: repeating must be harmless."""
        headers = {"Content-Type": "application/x-ndjson"}
        return await self._persistently(
            lambda: self._client.post(path, content=pieces(), headers=headers, params=parameters, timeout=_UNHURRIED)
        )

    async def _persistently(self, send: Callable[[], Awaitable[httpx.Response]]) -> ServiceResponse:
        """Send until an answer is final or no attempt is left."""
        again = retry_if_exception_type(httpx.TransportError) | retry_if_result(_passes)
        backoff = wait_random_exponential(multiplier=_BACKOFF, max=_LONGEST_WAIT)
        tries = retrying(self._attempts, again, backoff=backoff, asked=_asked, sleep=self._sleep)

        async def sent() -> httpx.Response:
            return await send()

        try:
            response: httpx.Response = await tries(sent)
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        return _read_response(response)

    def _unreachable(self, error: httpx.TransportError) -> ServiceUnreachable:
        if isinstance(error, httpx.TimeoutException) and not isinstance(error, httpx.ConnectTimeout):
            return ServiceUnreachable(f"the service at {self.url} gave no answer in time: try again later")
        return ServiceUnreachable(
            f"no service answers at {self.url} ({type(error).__name__}). Start one with `typed-memory serve`, "
            f"or name another with --url or TM_URL"
        )


def _checked(url: str) -> str:
    if not _is_address(url):
        raise ServiceUnreachable(f"{url!r} is no URL: give one such as http://127.0.0.1:8700 (--url or TM_URL)")
    return url.rstrip("/")


def _passes(response: httpx.Response) -> bool:
    """Return whether the same request may succeed soon; not so a 409 without a time to wait, and a used up quota."""
    if response.status_code == httpx.codes.CONFLICT:
        return "retry-after" in response.headers
    if response.status_code == httpx.codes.TOO_MANY_REQUESTS:
        return (retry_after_seconds(response.headers) or 0.0) <= _LONGEST_LIMIT
    return response.status_code in _TRANSIENT


def _asked(state: RetryCallState) -> float | None:
    if state.outcome is None or state.outcome.failed:
        return None
    return min(_LONGEST_WAIT, retry_after_seconds(state.outcome.result().headers) or 0.0)


def _read_response(response: httpx.Response) -> ServiceResponse:
    try:
        body = response.json()
    except ValueError:
        body = None
    if response.is_success and (body is not None or response.status_code == httpx.codes.NO_CONTENT):
        return ServiceResponse(body=body, replayed=response.headers.get("idempotency-replayed") == "true")
    told = body if isinstance(body, dict) else {}
    if response.status_code == httpx.codes.UNAUTHORIZED:
        message = "the service does not accept this API key: give another with --key or TM_API_KEY"
    elif "detail" in told:
        message = str(told["detail"])
    else:
        message = f"this does not look like a Typed Memory service (it answered HTTP {response.status_code})"
    faults = [
        FieldProblem(field=str(one.get("field", "")), message=str(one.get("message", "")))
        for one in told.get("errors") or ()
    ]
    if 1 < len(faults) <= _MOST_TOLD:  # the detail names the first alone
        message = "; ".join(f"{one.field}: {one.message}" if one.field else one.message for one in faults)
    raise ServiceRejection(message, answered=response.status_code, faults=faults)


DEFAULT_PORT = 8700

_MOST_TOLD: Final = 5
"""Faults of a request that are all told; of more the first is, and their number."""

ATTEMPTS: Final = 3
"""Attempts at a request that somebody waits for."""

_HERE = frozenset({"127.0.0.1", "localhost", "::1"})


def connect(url: str | None, key: str | None, *, attempts: int = 6) -> ServiceClient:
    """Return a client for the URL and the key that `target` finds."""
    return ServiceClient(*target(url, key), attempts=attempts)


def named_service() -> ServiceClient | None:
    """Return a client of the service that TM_URL names, with the key of TM_API_KEY; None where TM_URL names none.

    It sends a request once: a key must not be made twice.
    """
    url = os.environ.get("TM_URL")
    return connect(url, os.environ.get("TM_API_KEY"), attempts=1) if url else None


def ask(
    url: str | None, key: str | None, send: Callable[[ServiceClient], Awaitable[ServiceResponse]]
) -> Mapping[str, Any]:
    """Send one request to the service at `target` and return the JSON object that it answers; blocking."""

    async def sent() -> Mapping[str, Any]:
        async with connect(url, key, attempts=ATTEMPTS) as client:
            found: Mapping[str, Any] = (await send(client)).body
        return found

    return asyncio.run(sent())


def target(url: str | None, key: str | None) -> tuple[str, str]:
    """Return the service's URL and a key; raise CommandFailed when there is no key.

    The default URL is this machine's service; the default key is the one that its first start wrote to the data
    directory, which is sent to this machine only.
    """
    address = url or f"http://127.0.0.1:{os.environ.get('TM_PORT') or DEFAULT_PORT}"
    if not _is_address(address):
        raise CommandFailed(f"{address!r} is no address of a service: write it as http://127.0.0.1:{DEFAULT_PORT}")
    found = key or _kept_key(address)
    if not found.isascii():
        raise CommandFailed("the API key has letters that no key has: copy it again into --key or TM_API_KEY")
    return address, found


def _is_address(given: str) -> bool:
    try:
        parts = urlsplit(given)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # Brackets without an address in them, or a port that is no number.
        return False


def key_file() -> Path:
    """Return the path of the file with the first key of the embedded database."""
    given = os.environ.get("TM_DATA_DIR")
    folder = Path(given) if given else default_data_dir()
    return folder.expanduser() / KEY_FILE


def stored_key(path: Path) -> str | None:
    """Return the key in a file, None if there is none."""
    try:
        return path.read_text(encoding="ascii").strip() or None
    except (OSError, ValueError):
        return None


def _kept_key(address: str) -> str:
    made = "`typed-memory keys create` makes one"
    if urlsplit(address).hostname not in _HERE:
        raise CommandFailed(f"no API key for {address}: give one with --key or TM_API_KEY ({made} there)")
    path = key_file()
    found = stored_key(path)
    if found is None:
        raise CommandFailed(
            f"no API key, and none in {path}: set TM_DATA_DIR to the service's data directory, "
            f"or give a key with --key or TM_API_KEY ({made})"
        )
    return found
