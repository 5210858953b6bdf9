"""As much of an HTTP/1.1 server as a stand-in needs, raw, so that it can break the protocol on demand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a client sent."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What to answer; `cut_after` bytes of the body the connection is torn down."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut_after: int | None = None


Handler = Callable[[Request], Awaitable[Reply]]


def json_reply(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Reply:
    """Answer with JSON."""
    return Reply(body=json.dumps(value).encode(), status=status, headers=headers or {})


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Read one request; None when the client has closed the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.split(":", 1) for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method=method, path=path, headers=headers, body=body)


async def write_reply(writer: asyncio.StreamWriter, reply: Reply) -> bool:
    """Write the reply; False when it ended in a cut and the connection is gone."""
    headers = {"Content-Type": "application/json", "Content-Length": str(len(reply.body)), **reply.headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {reply.status} Status\r\n{lines}\r\n".encode("latin-1"))
    writer.write(reply.body[: reply.cut_after])
    await writer.drain()
    if reply.cut_after is not None:
        writer.transport.abort()
        return False
    return True


async def serve_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: Handler) -> None:
    """Answer one connection's requests until either side has had enough."""
    try:
        while request := await read_request(reader):
            if not await write_reply(writer, await handler(request)):
                return
    except (ConnectionError, asyncio.IncompleteReadError):
        return
    finally:
        writer.close()
