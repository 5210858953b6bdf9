"""Requests that need no parser: whole ones of plain headers, read and answered without h11's events.

h11 takes a fifth of a small write's time in this process. What it alone understands (bodies in chunks or in pieces,
offered upgrades, `Expect`, a last request of a connection, HTTP/1.0, odd bytes) is left to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Self

from uvicorn.protocols.http.h11_impl import RequestResponseCycle

_HEAD = re.compile(rb"(GET|POST|PATCH|PUT|DELETE) ([!-~]{1,2048}) HTTP/1\.1\r\n")
_AUTHORIZATION = re.compile(rb"\r\nauthorization:[ \t]*([!-~ ]*?)[ \t]*\r\n", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,12})[ \t]*\r\n")
_LINES = re.compile(rb"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*\r\n)*")
"""Headers that every parser reads alike: a proxy in front must not see another end of the request than we do."""

_VALUES = re.compile(rb"[\t\r\n -~]*")

_SPECIAL = re.compile(rb"\r\n(?:transfer-encoding|expect|upgrade|connection(?!:[ \t]*keep-alive[ \t]*\r)):")
"""Headers of requests that are left to the parser."""

END = b"\r\n\r\n"

_CLOSE = (b"connection", b"close")

_STATUS_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode()
    for status in HTTPStatus
    if status >= HTTPStatus.OK
}

_WITHOUT_BODY = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainRequest:
    """The head of a request that begins a piece of data; `size` is that of all of it, body included."""

    data: bytes
    method: bytes
    target: bytes
    headers_at: int
    end: int
    size: int

    @classmethod
    def read(cls, data: bytes) -> Self | None:
        """Return the request at the beginning of data, None for one that is to be parsed."""
        end = data.find(END)
        if end < 0 or (head := _HEAD.match(data)) is None or not _LINES.fullmatch(data, head.end(), end + 2):
            return None
        lower = data[: end + 2].lower()
        length = _LENGTH.search(lower)
        if _SPECIAL.search(lower) or lower.count(b"\r\ncontent-length:") != (length is not None):
            return None
        size = end + len(END) + (int(length[1]) if length else 0)
        return cls(data=data, method=head[1], target=head[2], headers_at=head.end(), end=end, size=size)

    @property
    def path(self) -> str:
        """Return the path as it was sent."""
        return self.target.partition(b"?")[0].decode("ascii")

    @property
    def authorization(self) -> bytes:
        """Return the value of the Authorization header, empty without one."""
        found = _AUTHORIZATION.search(self.data, 0, self.end + 2)
        return found[1] if found else b""

    def headers(self) -> list[tuple[bytes, bytes]] | None:
        """Return the headers, None where h11 is to judge them."""
        if _VALUES.fullmatch(self.data, self.headers_at, self.end) is None:
            return None
        lines = self.data[self.headers_at : self.end].split(b"\r\n")
        pairs = (line.partition(b":") for line in lines)
        found = [(name.lower(), value.strip(b" \t")) for name, _, value in pairs]
        return found if sum(name == b"host" for name, _ in found) == 1 else None

    def body(self) -> bytes:
        """Return the body of a whole request."""
        return self.data[self.end + len(END) :]


class PlainCycle(RequestResponseCycle):
    """The answer to a plain request, written in one piece with its head where its length is known."""

    _head: bytes = b""
    _chunked: bool = False

    async def send(self, message: Any) -> None:  # noqa: ANN401 - uvicorn's types say which
        """Write a message of the application."""
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        if not self.response_started:
            self._start(message)
        elif not self.response_complete:
            self._write(message.get("body", b""), more=message.get("more_body", False))
        else:
            raise RuntimeError(f"{message['type']!r} after the end of the answer")

    def _start(self, message: Any) -> None:  # noqa: ANN401 - as above
        self.response_started = True
        status, headers = message["status"], [*self.default_headers, *message.get("headers", [])]
        self.keep_alive = self.keep_alive and _CLOSE not in headers
        names = {name.lower() for name, _ in headers}
        self._chunked = b"content-length" not in names and status not in _WITHOUT_BODY
        if self._chunked:
            headers.append((b"transfer-encoding", b"chunked"))
        lines = b"".join(b"%b: %b\r\n" % one for one in headers)
        if not lines.count(b"\r") == lines.count(b"\n") == len(headers):
            raise RuntimeError("a header of an answer has more than one line")
        self._head = _STATUS_LINES[status] + lines + b"\r\n"
        if self._chunked:
            self.transport.write(self._head)
            self._head = b""

    def _write(self, body: bytes, *, more: bool) -> None:
        if self._chunked:
            body = (b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + (b"" if more else b"0\r\n\r\n")
        if self._head or body:
            self.transport.write(self._head + body)
            self._head = b""
        if not more:
            self.response_complete = True
            self.message_event.set()
            if not self.keep_alive:
                self.transport.close()
            self.on_response()
