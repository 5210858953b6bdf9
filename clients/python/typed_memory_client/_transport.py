"""One service at one URL with one key: connections, identity, retries. Derived from `_async_transport.py` by `python -m codegen`: do not edit."""

from __future__ import annotations

import copy
import os
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

import httpx
from typing_extensions import Self

from typed_memory_client._calls import Answer, Call, Item, Listing
from typed_memory_client._errors import ConnectionFailed, TimedOut, TypedMemoryError, Unauthorized, error_of
from typed_memory_client._retries import sleep_blocking, wait_before_retry

DEFAULT_URL: Final = "http://127.0.0.1:8700"


class Transport:
    """Sends calls and reads answers. Safe to share between tasks."""

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        attempts: int = 3,
        timeout: float = 30.0,
        http_client: httpx.Client | None = None,
    ) -> None:
        """Open no connection yet.

        `url` is by default TM_URL or the service on this machine, `api_key` TM_API_KEY. `user_id` and `agent_id`
        go with every request that takes them and names none. `timeout` is in seconds, for one attempt. An
        `http_client` of your own brings its own timeout and is closed with this one.
        """
        self.url = (url or os.environ.get("TM_URL") or DEFAULT_URL).rstrip("/")
        if "://" not in self.url:
            raise ValueError(f"{self.url!r} is no URL: write http://{self.url} (or https://)")
        key = api_key or os.environ.get("TM_API_KEY")
        if not key:
            raise Unauthorized(0, None, fallback="no API key: pass api_key=... or set TM_API_KEY")
        self._headers = {"Authorization": f"Bearer {key}"}
        self._identity = _given(user_id=user_id, agent_id=agent_id)
        self._attempts = max(1, attempts)
        self._http = http_client or httpx.Client(timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def for_user(self, user_id: str | None = None, *, agent_id: str | None = None) -> Self:
        """Return the same client for a user, or for an agent, or for an agent with a user.

        It shares the connections. What it writes belongs to them, what it asks and lists is what they may see. An agent
        that this client names is kept, unless another is given. ValueError where nobody is named: what names nobody is
        seen by everybody of the tenant.
        """
        if "" in (user_id, agent_id) or user_id is agent_id is None:
            raise ValueError('for whom? name the user: memory.for_user("ana")')
        other = copy.copy(self)
        other._identity = _given(  # noqa: SLF001 - of the same class
            user_id=user_id, agent_id=agent_id or self._identity.get("agent_id")
        )
        return other

    def _identify(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options with whose memories they are about, unless `all` or `owner` names the scopes."""
        named = options.get("all") or options.get("owner") is not None
        return {**({} if named else self._identity), **options}

    def _send(self, call: Call[Answer], idempotency_key: str | None = None) -> Answer:
        """Send a call until it is answered; raise what its answer stands for."""
        headers = dict(self._headers)
        if call.is_write:
            headers["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
        if call.body is not None:
            headers["Content-Type"] = "application/json"
        for attempt in range(1, self._attempts + 1):
            response = self._exchange(call, headers, last=attempt == self._attempts)
            if response is not None and response.is_success:
                return call.answer.validate_json(response.content or b"null")
            status = None if response is None else response.status_code
            wait = wait_before_retry(attempt, status, {} if response is None else response.headers)
            if response is not None and (wait is None or attempt == self._attempts):
                raise error_of(response.status_code, response.content)
            sleep_blocking(wait or 0.0)
        raise AssertionError("the last attempt returns or raises")

    def _exchange(self, call: Call[Any], headers: Mapping[str, str], *, last: bool) -> httpx.Response | None:
        """Return the response; None if the connection failed and the call may be sent again."""
        try:
            return self._http.request(
                call.method, f"{self.url}{call.path}", params=call.query, content=call.content, headers=headers
            )
        except httpx.TransportError as error:
            if last:
                raise self._unreached(error) from error
        return None

    def _events(self, call: Call[Any]) -> Iterator[tuple[str, str]]:
        """Send a call once, and yield the name and the data of each server-sent event of its answer."""
        headers = {**self._headers, "Content-Type": "application/json", "Accept": "text/event-stream"}
        try:
            with self._http.stream(
                call.method, f"{self.url}{call.path}", content=call.content, headers=headers
            ) as response:
                if not response.is_success:
                    raise error_of(response.status_code, response.read())
                event = ""
                for line in response.iter_lines():
                    name, _, value = line.partition(": ")
                    if name == "event":
                        event = value
                    elif name == "data":
                        yield event, value
        except httpx.TransportError as error:
            raise self._unreached(error) from error

    def _unreached(self, error: httpx.TransportError) -> TypedMemoryError:
        if isinstance(error, httpx.TimeoutException):
            return TimedOut(f"{self.url} did not answer in time: pass a longer timeout=... (seconds)")
        advice = "start it with `make serve`, or set TM_URL"
        return ConnectionFailed(f"no service answers at {self.url} ({error}): {advice}")

    def _items(self, listing: Listing[Item]) -> Iterator[Item]:
        """Yield the items of all pages; the next page is asked for when it is needed."""
        cursor: str | None = None
        while True:
            page = self._send(listing.page(cursor))
            for item in listing.read(page):
                yield item
            cursor = page["next_cursor"]
            if cursor is None:
                return


def _given(**fields: str | None) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value is not None}
