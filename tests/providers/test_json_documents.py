"""Documents that others name: fetched from public addresses alone, small, and without redirects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from app.providers.addresses import MOST_BYTES, JsonDocuments, NoAnswer


async def answered(content: bytes, status: str = "200 OK", more: str = "") -> tuple[asyncio.Server, str, list[bytes]]:
    """A server that answers each request with this, its address, and what it was asked."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\n{more}\r\n".encode() + content)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/doc.json", asked


@pytest.fixture
async def servers() -> AsyncIterator[list[asyncio.Server]]:
    found: list[asyncio.Server] = []
    yield found
    for one in found:
        one.close()
        await one.wait_closed()


async def test_a_document_is_fetched(servers: list[asyncio.Server]) -> None:
    server, url, asked = await answered(b'{"a": 1}')
    servers.append(server)
    assert await JsonDocuments(private=True).fetch(url) == {"a": 1}
    assert asked[0].startswith(b"GET /doc.json HTTP/1.1")


@pytest.mark.parametrize(
    ("content", "status", "more", "why"),
    [
        (b"{}", "302 Found", "Location: http://127.0.0.1/\r\n", "answered 302"),
        (b"{}", "404 Not Found", "", "answered 404"),
        (b"[1]", "200 OK", "", "no JSON object|not a JSON object"),
        (b"<html>", "200 OK", "", "not JSON"),
        (b'"' + b"a" * MOST_BYTES + b'"', "200 OK", "", "more than"),
    ],
)
async def test_another_answer_is_no_document(
    servers: list[asyncio.Server], content: bytes, status: str, more: str, why: str
) -> None:
    server, url, asked = await answered(content, status, more)
    servers.append(server)
    with pytest.raises(NoAnswer, match=why):
        await JsonDocuments(private=True).fetch(url)
    assert len(asked) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://app.example/doc.json",
        "https://127.0.0.1/doc.json",
        "https://2130706433/doc.json",
        "https://[::1]/doc.json",
        "https://localhost/doc.json",
        "https://metadata.internal/doc.json",
        "https://user@app.example/doc.json",
        "file:///etc/passwd",
    ],
)
async def test_addresses_of_inner_networks_are_not_asked(url: str) -> None:
    async def resolve(_host: str, _port: int) -> Sequence[str]:
        raise AssertionError("nothing is looked up")

    with pytest.raises(NoAnswer, match="the URL"):
        await JsonDocuments(resolve=resolve).fetch(url)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "168.63.129.16"])
async def test_a_name_that_leads_inside_is_not_asked(address: str) -> None:
    async def resolve(_host: str, _port: int) -> Sequence[str]:
        return ["93.184.216.34", address]

    with pytest.raises(NoAnswer, match="not on the public internet"):
        await JsonDocuments(resolve=resolve).fetch("https://app.example/doc.json")


async def test_a_host_that_is_silent_is_given_up() -> None:
    async def resolve(_host: str, _port: int) -> Sequence[str]:
        await asyncio.sleep(5)
        return []

    with pytest.raises(NoAnswer, match="no answer within"):
        await JsonDocuments(timeout=0.05, resolve=resolve).fetch("https://app.example/doc.json")
