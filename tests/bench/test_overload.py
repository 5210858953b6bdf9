"""The measuring client of overload: what it counts, and which connections it uses again."""

from __future__ import annotations

import asyncio
from itertools import repeat

import pytest

from bench import overload
from bench.client import Post
from bench.overload import Answers, Pool

REFUSAL = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
KEPT = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


@pytest.mark.parametrize(("answer", "connections"), [(REFUSAL, 3), (KEPT, 1)])
async def test_a_connection_is_used_again_unless_its_answer_says_that_it_closes(
    answer: bytes, connections: int
) -> None:
    opened: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(writer)
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(answer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    pool, answers = Pool(server.sockets[0].getsockname()[1]), Answers()
    asked = repeat(Post.reading("/healthz"), 3)
    assert {await pool.ask(one, answers) for one in asked} == {int(answer[9:12])}
    assert (len(opened), answers.others()) == (connections, 0)
    pool.close()
    for one in opened:
        one.close()
    server.close()


async def test_a_rate_is_of_the_time_in_which_something_was_served(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([10.0, 11.0, 12.0, 16.0])
    monkeypatch.setattr(overload, "perf_counter", lambda: next(now))
    answers = Answers()
    with answers.timed():
        answers.add(200, 0.1)
        answers.add(200, 0.1)
        answers.add(503, 4.0)
    assert (answers.per_second(), answers.wall) == (1.0, 6.0)
