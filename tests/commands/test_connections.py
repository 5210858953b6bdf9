"""Connections of `serve`: silent, half-sent and slow ones are closed, too many are refused, the others go on."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace

import httpx
import pytest
import uvicorn
from fastapi import FastAPI, Request

from app.http.refusals import HOLD_SECONDS
from app.operations.commands.connections import ConnectionLimits, bounded
from app.operations.commands.web_server import acceptors
from tests.api.conftest import KEY, running, settings_for
from tests.support.waiting import PATIENCE, eventually

SECONDS = 0.4


class Listening(uvicorn.Server):
    """uvicorn's server, which says when it listens and leaves signals alone."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listens = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listens.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def listening(app: FastAPI, connections: int = 50, seconds: float = PATIENCE) -> AsyncIterator[int]:
    """Serve on a free port; a connection has so many seconds for what it has to say or to read."""
    limits = ConnectionLimits(connections=connections, seconds=seconds)
    protocol = bounded(app.state.admission, limits)
    server = Listening(uvicorn.Config(app, lifespan="off", ws="none", port=0, log_config=None, http=protocol))
    task = asyncio.create_task(server.serve())
    await server.listens.wait()
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await task


@pytest.fixture
async def app(database_url: str) -> AsyncIterator[FastAPI]:
    async with running(
        settings_for(database_url, worker="off", request_concurrency=2, tenant_request_queue=1)
    ) as found:
        queue = found.state.admission.quick
        queue.limits = replace(queue.limits, patience=PATIENCE)
        yield found


async def answered(port: int, *parts: bytes, pause: float = 0.0) -> bytes:
    """Send parts of a request, and return all that comes until the connection is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answer = asyncio.create_task(reader.read())
    try:
        for part in parts:
            if not answer.done():
                writer.write(part)
                await asyncio.wait([answer], timeout=pause)
        async with asyncio.timeout(PATIENCE):
            return await answer
    finally:
        writer.close()


HEAD = f"POST /query HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\nContent-Type: application/json\r\n".encode()


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ([], b"408"),
        ([b"GET /healthz HTTP/1.1\r\nHost"], b"408"),
        ([HEAD + b"Content-Length: 100\r\n\r\n{"], b"408"),
        ([HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"], b"408"),
    ],
    ids=["silent", "half a head", "a byte of the body", "a chunk of the body"],
)
async def test_a_request_that_does_not_come_closes_its_connection(
    app: FastAPI, parts: list[bytes], status: bytes
) -> None:
    async with listening(app, seconds=SECONDS) as port:
        answer = await answered(port, *parts)
    assert answer[9:12] == status
    assert b"urn:typed-memory:problem:request-timeout" in answer


async def test_a_body_that_trickles_in_closes_its_connection(app: FastAPI) -> None:
    async with listening(app, seconds=SECONDS) as port:
        slow = [HEAD + b"Content-Length: 1000\r\n\r\n", *[b" "] * 12]
        try:
            answer = await answered(port, *slow, pause=SECONDS / 8)
        except ConnectionResetError:  # it was closed while a byte was on its way
            return
    assert answer.startswith(b"HTTP/1.1 408")


async def test_a_body_that_stops_is_given_up_however_much_of_it_came(app: FastAPI) -> None:
    async with listening(app, seconds=SECONDS) as port:
        head = HEAD.replace(b"/query", b"/import") + b"Content-Length: 9000000\r\n\r\n"
        answer = await answered(port, head, *[b" " * 99 + b"\n"] * 2_000)
    assert answer.startswith(b"HTTP/1.1 408")


async def test_a_body_that_the_service_reads_slowly_is_waited_for(app: FastAPI) -> None:
    slow = FastAPI()
    slow.state.admission = app.state.admission

    @slow.post("/slow")
    async def read_slowly(request: Request) -> int:
        await asyncio.sleep(3 * SECONDS)
        size = 0
        async for chunk in request.stream():
            size += len(chunk)
            await asyncio.sleep(SECONDS / 8)
        return size

    length = 2_000_000
    head = f"POST /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n".encode()
    async with listening(slow, seconds=SECONDS) as port:
        answer = await answered(port, head, b"x" * length)
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(str(length).encode())


async def test_a_body_that_comes_in_good_time_is_taken(app: FastAPI) -> None:
    body = b'{"query": "anything?", "user_id": "u1"}'
    length = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
    async with listening(app) as port:
        answer = await answered(port, HEAD + length, body[:10], body[10:], pause=SECONDS / 4)
    assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.long
async def test_an_answer_that_is_not_read_ends_its_connection(app: FastAPI) -> None:
    async with listening(app, seconds=SECONDS) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        ask = f"GET /openapi.json HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\n\r\n".encode()
        transport = writer.transport
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()
        writer.write(ask * 60)
        await asyncio.sleep(5 * SECONDS)
        transport.resume_reading()
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readexactly(500_000_000)
        writer.close()


async def test_one_connection_too_many_is_refused_and_the_others_go_on(app: FastAPI) -> None:
    async with (
        listening(app, connections=2) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client,
    ):
        assert (await client.get("/healthz")).status_code == 200
        _, held = await asyncio.open_connection("127.0.0.1", port)
        refused = await answered(port)
        assert refused.startswith(b"HTTP/1.1 503")
        assert b"Retry-After: 1" in refused
        assert (await client.get("/healthz")).status_code == 200
        held.close()


async def test_what_would_be_turned_away_is_answered_unparsed_and_the_connection_goes_on(app: FastAPI) -> None:
    async with listening(app) as port, AsyncExitStack() as stack:
        limits = httpx.Limits(max_connections=1)
        headers = {"Authorization": f"Bearer {KEY}"}
        base = f"http://127.0.0.1:{port}"
        client = await stack.enter_async_context(
            httpx.AsyncClient(base_url=base, headers=headers, limits=limits, timeout=PATIENCE)
        )
        other = await stack.enter_async_context(httpx.AsyncClient(base_url=base, headers=headers, timeout=PATIENCE))
        body = {"query": "anything?", "user_id": "u1"}
        assert (await client.post("/query", json=body)).status_code == 200
        async with app.state.admission.quick.admitted("x"), app.state.admission.quick.admitted("y"):
            waiting = asyncio.create_task(other.post("/query", json=body))

            async def queued() -> bool:
                return bool(app.state.admission.waiting() == 1)

            await eventually(queued)
            for _ in range(3):
                away = await client.post("/query", json=body)
                assert away.status_code == 503
                assert away.headers["Retry-After"] == "1"
                assert away.json()["type"] == "urn:typed-memory:problem:overloaded"
                assert "X-Request-Id" not in away.headers  # it was never a request to the application
            assert (await client.get("/healthz")).status_code == 200
        assert (await waiting).status_code == 200
        assert (await client.post("/query", json=body)).status_code == 200


@asynccontextmanager
async def turning_away(app: FastAPI) -> AsyncIterator[None]:
    """Leave no room for another request of nobody's."""
    queue = app.state.admission.quick
    async with queue.admitted("x"), queue.admitted("y"):
        waiting = asyncio.create_task(queue.admitted(None).__aenter__())
        await asyncio.sleep(0)
        try:
            yield
        finally:
            waiting.cancel()


async def test_a_refusal_is_held_back_and_what_comes_meanwhile_waits_for_it(app: FastAPI) -> None:
    body = b'{"query": "anything?"}'
    ask = HEAD + b"Content-Length: %d\r\n\r\n" % len(body)
    async with listening(app) as port, turning_away(app):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        writer.write(ask + body[:5])
        await asyncio.sleep(HOLD_SECONDS / 4)
        writer.write(body[5:] + b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 503")
        assert loop.time() - begun >= HOLD_SECONDS
        rest = await reader.read()
        writer.close()
    assert b"HTTP/1.1 200" in rest
    assert b"alive" in rest


async def test_a_connection_is_closed_where_too_many_refusals_are_held_back(app: FastAPI) -> None:
    app.state.admission.refusals.most = 1
    ask = HEAD + b"Content-Length: 2\r\n\r\n{}"
    async with listening(app) as port, turning_away(app):
        _, first = await asyncio.open_connection("127.0.0.1", port)
        first.write(ask)

        async def held() -> bool:
            return bool(app.state.admission.refusals.held == 1)

        await eventually(held)
        begun = asyncio.get_running_loop().time()
        away = await answered(port, ask)
        assert asyncio.get_running_loop().time() - begun < HOLD_SECONDS
        assert away.startswith(b"HTTP/1.1 503")
        assert b"Connection: close" in away
        first.close()


async def test_a_parsed_request_is_refused_late_too(app: FastAPI) -> None:
    chunked = HEAD + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    async with listening(app) as port, turning_away(app):
        begun = asyncio.get_running_loop().time()
        away = await answered(port, chunked)
        assert asyncio.get_running_loop().time() - begun >= HOLD_SECONDS
    assert away.startswith(b"HTTP/1.1 503")


async def test_refusals_that_are_held_back_are_answered_when_the_service_stops(app: FastAPI) -> None:
    async with turning_away(app):
        async with listening(app) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(HEAD + b"Content-Length: 2\r\n\r\n{}")

            async def held() -> bool:
                return bool(app.state.admission.refusals.held == 1)

            await eventually(held)
        assert b"Connection: close" in await reader.read()
        writer.close()


@pytest.mark.parametrize(
    "lines",
    [
        b"X: y\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding : chunked\r\n",
        b"Content-Length: 0\r\nContent-Length: 9\r\n",
    ],
)
async def test_a_request_whose_end_could_be_elsewhere_is_not_turned_away_unparsed(app: FastAPI, lines: bytes) -> None:
    inner = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(inner), inner)
    full = app.state.admission.quick
    async with listening(app) as port, full.admitted("x"), full.admitted("y"):
        waiting = asyncio.create_task(full.admitted(None).__aenter__())
        await asyncio.sleep(0)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD + lines + b"\r\n" + body)
        await asyncio.sleep(SECONDS / 2)
        writer.close()
        waiting.cancel()
    assert b"alive" not in await reader.read()


def test_connections_that_come_together_are_accepted_together() -> None:
    made: list[asyncio.BaseTransport] = []

    class Accepted(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            made.append(transport)

    async def rounds(listener: socket.socket) -> int:
        loop = asyncio.get_running_loop()
        servers = [await loop.create_server(Accepted, sock=one) for one in acceptors([listener])]
        clients = [socket.create_connection(listener.getsockname()) for _ in range(16)]
        count = 0
        async with asyncio.timeout(10):
            while len(made) < len(clients):
                count += 1
                await asyncio.sleep(0)
        for transport in made:
            transport.close()
        for server in servers:
            server.close()
        for client in clients:
            client.close()
        return count

    with (
        socket.create_server(("127.0.0.1", 0), backlog=64) as listener,
        asyncio.Runner(loop_factory=uvicorn.Config("unused").get_loop_factory()) as runner,
    ):
        assert runner.run(rounds(listener)) < 8
