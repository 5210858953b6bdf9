"""Whole, plain requests are served without h11, and mean the same as if it had read and answered them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import unquote

import h11
import httpx
import pytest
from fastapi import FastAPI, Request
from hypothesis import given
from hypothesis import strategies as st
from starlette.responses import Response, StreamingResponse

from app.http.admission import Admission
from app.operations.commands.plain_requests import PlainCycle, PlainRequest
from app.settings import Settings
from tests.commands.test_connections import answered, listening

NAMES = st.sampled_from(
    ["Host", "host", "X-A", "Content-Type", "Content-Length", "Expect", "Upgrade", "Connection", "X_b"]
)
VALUES = st.one_of(
    st.sampled_from(
        ["x", "3", " 3 ", "keep-alive", "close", "a b", "\t", "", "chunked", "100-continue", "ä", "a\x01b"]
    ),
    st.text(st.characters(max_codepoint=0xFF, blacklist_characters="\r\n"), max_size=4),
)
LINES = st.lists(st.tuples(NAMES, st.sampled_from([":", ": ", " : "]), VALUES), max_size=4)
TARGETS = st.sampled_from(["/query", "/a%20b?x=1&y", "/a b", "*", "http://h/x", "/ä"])
METHODS = st.sampled_from(["GET", "POST", "PUT", "get", "HEAD"])


@given(METHODS, TARGETS, st.sampled_from(["HTTP/1.1", "HTTP/1.0"]), LINES, st.binary(max_size=6))
def test_what_is_plain_is_what_h11_reads(
    method: str, target: str, version: str, lines: list[tuple[str, str, str]], body: bytes
) -> None:
    head = "".join(f"{line}\r\n" for line in [f"{method} {target} {version}", "Host: x", *map("".join, lines), ""])
    data = head.encode("latin-1") + body
    plain = PlainRequest.read(data)
    headers = None if plain is None else plain.headers()
    if plain is None or headers is None or plain.size != len(data):
        return
    theirs = h11.Connection(h11.SERVER)
    theirs.receive_data(data)
    event = theirs.next_event()
    assert isinstance(event, h11.Request)
    assert (plain.method, plain.target, headers) == (event.method, event.target, list(event.headers))
    read = b""
    while isinstance(event := theirs.next_event(), h11.Data):
        read += event.data
    assert isinstance(event, h11.EndOfMessage)
    assert plain.body() == read
    assert theirs.their_state is h11.DONE  # the connection goes on


@pytest.fixture
def app() -> FastAPI:
    found = FastAPI()
    found.state.admission = Admission.of(Settings())
    seen: list[str] = []

    @found.post("/echo")
    async def echo(request: Request) -> Response:
        body = await request.body()
        seen.append(body.decode())
        await asyncio.sleep(0.05)
        return Response(body, headers={"X-Path": unquote(request.url.path), "X-Plain": plainly(request)})

    @found.get("/stream")
    async def stream() -> StreamingResponse:
        async def pieces() -> AsyncIterator[bytes]:
            for number in range(3):
                yield f"{number},".encode()
                await asyncio.sleep(0.01)

        return StreamingResponse(pieces())

    @found.get("/nothing", status_code=204)
    async def nothing() -> Response:
        return Response(status_code=204)

    @found.get("/split")
    async def split() -> Response:
        return Response("x", headers={"X-A": "a\r\nX-B: b"})

    return found


def plainly(request: Request) -> str:
    return str(isinstance(getattr(request.receive, "__self__", None), PlainCycle))


async def test_answers_are_whole_and_connections_go_on(app: FastAPI) -> None:
    async with listening(app) as port, httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        for number in range(2):
            echoed = await client.post("/echo", content=f"number {number}")
            assert (echoed.status_code, echoed.text) == (200, f"number {number}")
            assert (await client.get("/stream")).text == "0,1,2,"
            assert (await client.get("/nothing")).status_code == 204
        assert (await client.post("/echo", content=b"x" * 500_000)).content == b"x" * 500_000


async def test_requests_that_are_sent_without_waiting_are_answered_in_their_order(app: FastAPI) -> None:
    def request(body: bytes, more: bytes = b"") -> bytes:
        return b"POST /echo HTTP/1.1\r\nHost: x\r\n%bContent-Length: %d\r\n\r\n%b" % (more, len(body), body)

    last = request(b"four", b"Connection: close\r\n")
    async with listening(app) as port:
        answer = await answered(port, request(b"one"), request(b"two") + request(b"three"), last, pause=0.01)
    bodies = [part.partition(b"\r\n\r\n")[2] for part in answer.split(b"HTTP/1.1 200 OK")[1:]]
    assert bodies == [b"one", b"two", b"three", b"four"]


async def test_a_header_of_two_lines_is_not_sent(app: FastAPI) -> None:
    async with listening(app) as port:
        answer = await answered(port, b"GET /split HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b"X-B" not in answer
