"""The server's end of a connection: uvicorn's, with bounds on how many there are and how long each may take.

Requests that would be turned away are answered here, before they are parsed: a service that is asked for sixteen times
what it can do spends its time on what it takes into work, not on saying no.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.api.plumbing.admission import Admission
from app.api.plumbing.problems import MEDIA_TYPE, URN
from app.errors import Overloaded

_HEAD = re.compile(rb"(?:GET|POST|PATCH|PUT|DELETE) ([!-~]{1,2048}) HTTP/1\.1\r\n")
_AUTHORIZATION = re.compile(rb"\r\nauthorization:[ \t]*([!-~ ]*?)[ \t]*\r\n", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,12})[ \t]*\r\n", re.IGNORECASE)
_LINES = re.compile(rb"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*\r\n)*")
"""Headers that every parser reads alike: a proxy in front must not see another end of the request than we do."""

_SPECIAL = re.compile(
    rb"\r\n(?:transfer-encoding|expect|upgrade|connection(?!:[ \t]*keep-alive[ \t]*\r)):", re.IGNORECASE
)
"""Headers of requests that are left to the parser."""

_END = b"\r\n\r\n"

_LARGEST_REFUSED = 1 << 20
"""Bytes of a request that are passed over; the body of a larger one is not waited for."""

_FEWEST_BYTES_A_SECOND = 500
"""Of a body, after its first seconds; slower ones keep a connection for nobody's good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """The most connections, and the seconds for which one may stall, in a request or in its answer."""

    connections: int
    seconds: float


def bounded(admission: Admission, limits: ConnectionLimits) -> type[H11Protocol]:
    """Return uvicorn's protocol, within these limits."""

    class Bounded(BoundedConnection):
        def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - as uvicorn makes it
            super().__init__(*given, **named)
            self.admission, self.limits = admission, limits

    return Bounded


class BoundedConnection(H11Protocol):
    """A connection that is closed when it is one too many, when its request comes too slowly, or its answer stalls."""

    admission: Admission
    limits: ConnectionLimits
    _timer: asyncio.TimerHandle | None = None
    _watched: str = ""
    _began: float = 0.0
    _received: int = 0
    _unread: int = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, unless there are too many already."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.write(_refusal(_TOO_MANY, close=True))
            transport.close()
        else:
            self._watch("head", self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._unwatch()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Turn a request away at once where that is certain, else parse it; then watch for the rest of it."""
        if self._unread:
            data, self._unread = data[self._unread :], max(0, self._unread - len(data))
            if not data:
                return
        if self._between_requests() and (size := self._refused_size(data)) is not None:
            self._refuse(data, size)
            return
        self._received += len(data)
        super().data_received(data)
        self._watch_the_rest()

    def pause_writing(self) -> None:
        """Watch a client that does not read its answer."""
        super().pause_writing()
        self._watch("answer", self.transport.abort)

    def resume_writing(self) -> None:
        """Go on."""
        super().resume_writing()
        self._unwatch()

    def _between_requests(self) -> bool:
        return self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]

    def _refused_size(self, data: bytes) -> int | None:
        """Return the bytes of a request that would be turned away, body included; None for one that is to be parsed."""
        end = data.find(_END)
        if end < 0 or (head := _HEAD.match(data)) is None or _SPECIAL.search(data, 0, end + 2):
            return None
        lengths = data[: end + 2].lower().count(b"\r\ncontent-length:")
        length = _LENGTH.search(data, 0, end + 2)
        if lengths != (length is not None) or not _LINES.fullmatch(data, head.end(), end + 2):
            return None
        size = end + len(_END) + (int(length[1]) if length else 0)
        if size < len(data) or size > _LARGEST_REFUSED:
            return None
        authorization = _AUTHORIZATION.search(data, 0, end + 2)
        path = head[1].partition(b"?")[0].decode("ascii")
        return size if self.admission.refuses(path, authorization[1] if authorization else b"") else None

    def _refuse(self, data: bytes, size: int) -> None:
        """Answer at once, pass over what is still to come of the body, and keep the connection."""
        self._unwatch()
        self._unset_keepalive_if_required()
        self._unread = size - len(data)
        self.transport.write(_refusal(_TOO_MUCH))
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def _watch_the_rest(self) -> None:
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            if self._watched != "body":
                self._began, self._received = self.loop.time(), 0
                self._watch("body", self._look_at_the_body)
        elif state is not h11.IDLE:
            self._unwatch()
        elif not self._watched and not self._between_requests():
            self._watch("head", self._give_up)

    def _look_at_the_body(self) -> None:
        """Give up a body that comes too slowly, unless it is the service that does not read it."""
        now = self.loop.time()
        if self.flow.read_paused:
            self._began, self._received = now, 0
        due = self._began + self.limits.seconds + self._received / _FEWEST_BYTES_A_SECOND
        if due > now:
            self._watch("body", self._look_at_the_body, due - now)
        else:
            self._give_up()

    def _give_up(self) -> None:
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(_answer(408, "Request timeout", "request-timeout", _TOO_SLOW, close=True))
        self.transport.close()

    def _watch(self, what: str, late: Callable[[], None], seconds: float | None = None) -> None:
        self._unwatch()
        self._watched = what
        self._timer = self.loop.call_later(self.limits.seconds if seconds is None else seconds, late)

    def _unwatch(self) -> None:
        self._watched = ""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


_TOO_MANY = "too many connections are open: retry after a moment"

_TOO_MUCH = "the service has more to do than it can: retry after a moment"

_TOO_SLOW = "the request came too slowly: send it in one go"


@cache
def _refusal(detail: str, *, close: bool = False) -> bytes:
    return _answer(503, Overloaded.title, Overloaded.code, detail, close=close)


def _answer(status: int, title: str, code: str, detail: str, *, close: bool) -> bytes:
    """Return a problem as the bytes of a whole answer, without what only a parsed request can tell."""
    problem = {"type": URN + code, "title": title, "status": status, "detail": detail, "instance": "", "request_id": ""}
    body = json.dumps(problem).encode()
    headers = [
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
        f"Content-Type: {MEDIA_TYPE}",
        f"Content-Length: {len(body)}",
        *(["Retry-After: 1"] if status == HTTPStatus.SERVICE_UNAVAILABLE else []),
        *(["Connection: close"] if close else []),
    ]
    return "\r\n".join(headers).encode() + _END + body
