"""Load over HTTP, with as little work as possible on the asking side: the service shares this machine's cores."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from http import HTTPStatus
from time import perf_counter
from typing import Any, Self, TypeVar

from bench.figures import Spread

LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_REFUSED = 400
_OVERLOADED = b"urn:typed-memory:problem:overloaded"
_AGAIN_SECONDS = 0.05
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """A request that is ready to be sent, most often a POST."""

    content: bytes

    @classmethod
    def of(cls, path: str, body: object, key: str) -> Post:
        """Return a POST of JSON with an API key."""
        return cls.plain(path, json.dumps(body).encode(), key)

    @classmethod
    def plain(cls, path: str, payload: bytes, key: str, kind: str = "application/json") -> Post:
        """Return a POST of bytes with an API key."""
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
            f"Content-Type: {kind}\r\nContent-Length: {len(payload)}\r\n\r\n"
        )
        return cls(content=head.encode() + payload)

    @classmethod
    def reading(cls, path: str) -> Post:
        """Return a GET without an API key."""
        return cls(content=f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())


class Connection:
    """One kept-alive connection to the service on this machine."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_error: object) -> None:
        self._writer.close()

    async def send(self, post: Post) -> bytes:
        """Send and return the answer's body; RuntimeError when the service refused.

        What it turns away because too many wait is sent again after 50 ms.
        """
        while True:
            self._writer.write(post.content)
            head = await self._reader.readuntil(b"\r\n\r\n")
            found = LENGTH.search(head)
            body = await self._reader.readexactly(int(found.group(1))) if found else b""
            status = int(head[9:12])
            if status == HTTPStatus.SERVICE_UNAVAILABLE and _OVERLOADED in body:
                await asyncio.sleep(_AGAIN_SECONDS)
            elif status >= _REFUSED:
                raise RuntimeError(f"the service answered {status}: {body[:500].decode(errors='replace')}")
            else:
                return body

    async def ask(self, post: Post) -> Any:  # noqa: ANN401 - JSON
        """Send and return the parsed answer."""
        return json.loads(await self.send(post))


async def load(port: int, posts: Sequence[Post], *, clients: int, count: int, seconds: float) -> Spread:
    """Send `count` of the posts, in turn, from so many clients at once; stop early after `seconds`."""
    async with AsyncExitStack() as stack:
        connections = [await stack.enter_async_context(Connection(port)) for _ in range(clients)]
        sends = [connection.send for connection in connections]
        return await timed(sends, posts, count=count, seconds=seconds)


async def timed(
    workers: Sequence[Callable[[_Item], Awaitable[object]]], items: Sequence[_Item], *, count: int, seconds: float
) -> Spread:
    """Return how long each call took when the workers share the items, each one call at a time."""
    taken: list[float] = []
    turns = iter(range(count))
    started = perf_counter()

    async def work(do: Callable[[_Item], Awaitable[object]]) -> None:
        for turn in turns:
            before = perf_counter()
            await do(items[turn % len(items)])
            after = perf_counter()
            taken.append(after - before)
            if after - started > seconds:
                return

    await asyncio.gather(*(work(do) for do in workers))
    return Spread.of(taken, perf_counter() - started)
