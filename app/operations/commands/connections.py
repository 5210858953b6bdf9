"""Connections: bounds on their number and their time, requests turned away unparsed, and late.

Requests that would be turned away are answered here, before they are parsed, and late: a service that is asked for
sixteen times what it can do spends its time on what it takes into work, not on saying no.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.errors import Overloaded
from app.http.admission import Admission
from app.http.problems import MEDIA_TYPE, URN
from app.operations.commands.plain_requests import END, PlainCycle, PlainRequest

_LARGEST_REFUSED = 1 << 20
"""Bytes of a request that are passed over; the body of a larger one is not waited for."""

_FEWEST_BYTES_A_SECOND = 500
"""Of a body, after its first seconds; slower ones keep a connection for nobody's good."""

_LONGEST_PAUSE = 4
"""Times the seconds that a request may begin late, after which a body that stopped is given up."""


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
    _received: int = 0
    _held: bool = False
    _unread: int = 0
    _refused: bool = False
    _pipelined: bytes = b""

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
        """Turn a request away unparsed where that is certain, else serve it; then watch for the rest of it."""
        if self._unread:
            data, self._unread = data[self._unread :], max(0, self._unread - len(data))
            if not data:
                return
        if self._in_plain_cycle():
            self._pipelined += data
            self.flow.pause_reading()
            return
        plain = PlainRequest.read(data) if self._between_requests() else None
        if plain is not None and len(data) <= plain.size:
            if plain.size <= _LARGEST_REFUSED and self.admission.refuses(plain.path, plain.authorization):
                self._refuse(data, plain.size)
                return
            if plain.size == len(data) and self._serve(plain):
                return
        self._received += len(data)
        super().data_received(data)
        self._held = self._held or self.flow.read_paused
        self._watch_the_rest()

    def _in_plain_cycle(self) -> bool:
        return isinstance(self.cycle, PlainCycle) and not self.cycle.response_complete

    def _serve(self, plain: PlainRequest) -> bool:
        """Hand a whole request to the application; return False, and do nothing, where it is to be parsed."""
        headers = plain.headers()
        if headers is None:
            return False
        self._unwatch()
        self._unset_keepalive_if_required()
        raw_path, _, query = plain.target.partition(b"?")
        self.headers = headers
        self.scope = {
            "type": "http",
            "asgi": {"version": self.asgi_version, "spec_version": "2.3"},
            "http_version": "1.1",
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme or "http",
            "method": plain.method.decode("ascii"),
            "root_path": self.root_path,
            "path": self.root_path + unquote(raw_path.decode("ascii")),
            "raw_path": self.root_path.encode("ascii") + raw_path,
            "query_string": query,
            "headers": headers,
            "state": self.app_state.copy(),
        }
        self.cycle = PlainCycle(
            scope=self.scope,
            conn=self.conn,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=self.access_log,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            on_response=self._on_plain_response,
        )
        self.cycle.body, self.cycle.more_body = bytearray(plain.body()), False
        self.cycle.message_event.set()
        task = self.loop.create_task(self.cycle.run_asgi(self.app))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)
        return True

    def _on_plain_response(self) -> None:
        """Go on with what came meanwhile, as some clients send requests without waiting for answers."""
        self.on_response_complete()
        if self._pipelined and not self.transport.is_closing():
            data, self._pipelined = self._pipelined, b""
            self.data_received(data)

    def shutdown(self) -> None:
        """End, once what is in work is answered; a request that was turned away is answered now."""
        if self._refused:
            self._close_refused()
        else:
            super().shutdown()

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

    def _refuse(self, data: bytes, size: int) -> None:
        """Answer late, and read nothing until then; close the connection where too many wait for that already."""
        self._unwatch()
        self._unset_keepalive_if_required()
        self._unread = size - len(data)
        self._refused = self.admission.refusals.hold(self._answer_refused)
        if self._refused:
            self.transport.pause_reading()
        else:
            self._close_refused()

    def _answer_refused(self) -> None:
        """Answer, keep the connection, and pass over what is still to come of the body."""
        self._refused = False
        if self.transport.is_closing():
            return
        self.transport.write(_refusal(_TOO_MUCH))
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)
        self.transport.resume_reading()

    def _close_refused(self) -> None:
        self.transport.write(_refusal(_TOO_MUCH, close=True))
        self.transport.close()

    def _watch_the_rest(self) -> None:
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            if self._watched != "body":
                self._received, self._held = 0, self.flow.read_paused
                self._watch("body", self._look_at_the_body)
        elif state is not h11.IDLE:
            self._unwatch()
        elif not self._watched and not self._between_requests():
            self._watch("head", self._give_up)

    def _look_at_the_body(self) -> None:
        """Give up a body that comes too slowly, unless it is the service that does not read it.

        What came since the last look gives it time, but however much came, a sender that stops is given up.
        """
        bought = self.limits.seconds
        if not self._held:
            bought = min(_LONGEST_PAUSE * bought, self._received / _FEWEST_BYTES_A_SECOND)
        self._received, self._held = 0, self.flow.read_paused
        if bought:
            self._watch("body", self._look_at_the_body, bought)
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
    return "\r\n".join(headers).encode() + END + body
