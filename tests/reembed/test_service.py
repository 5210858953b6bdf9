"""The whole change as an operator makes it, on a service that is asked and written to all the while."""

from __future__ import annotations

import asyncio
import subprocess
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import httpx
import pytest

from tests.commands.program import PROGRAM, ROOT, Served, environment, run
from tests.provider_server.fixtures import StandIn, provider, provider_process
from tests.read.conftest import Store
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.long

__all__ = ["provider", "provider_process"]

KEY = "tm_key_of_the_reembed_tests_0123456789abcdefghi"
THINGS = ("violin", "kayak", "lantern", "saddle", "telescope", "loom", "anvil", "compass", "kettle", "accordion")
QUESTIONS = (
    {"query": "What does Ana keep in the barn?", "user_id": "asker", "top_k": 10},
    {"query": "What does Ana keep in the barn?", "user_id": "asker", "top_k": 40, "types": ["preference"]},
    {"query": "Which violin is it?", "user_id": "asker", "top_k": 5},
    {"query": "something warm to drink", "user_id": "asker", "top_k": 20},
)


def headers() -> dict[str, str]:
    return {"Authorization": f"Bearer {KEY}"}


async def answers(client: httpx.AsyncClient) -> list[list[str]]:
    """Ask every question; return the ids that each was answered with, in no order: being read changes that a little."""
    found = []
    for question in QUESTIONS:
        answer = await client.post("/query", json={**question, "min_relevance": 0})
        assert answer.status_code == 200, answer.text
        found.append(sorted(one["memory"]["id"] for one in answer.json()["memories"]))
    return found


@dataclass(slots=True)
class Traffic:
    """What one service is asked and given until it is told to stop."""

    url: str
    name: str
    pause: float = 0.1
    rounds: int = 0
    written: dict[str, str] = field(default_factory=dict)
    wrong: list[object] = field(default_factory=list)
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, expected: list[list[str]]) -> None:
        async with httpx.AsyncClient(base_url=self.url, headers=headers(), trust_env=False, timeout=120) as client:
            while not self.stop.is_set():
                if (got := await answers(client)) != expected:
                    self.wrong.append(got)
                key = f"{self.name}.n{self.rounds}"
                body = {"user_id": "writer", "preference_key": key, "preference_value": f"{self.name} {self.rounds}"}
                answer = await client.post("/memories/typed/preference", json=body)
                assert answer.status_code == 201, answer.text
                self.written[answer.json()["memory"]["id"]] = key
                self.rounds += 1
                await asyncio.sleep(self.pause)  # the others on this machine have something to do, too


@asynccontextmanager
async def traffic(served: Served, name: str, *, pause: float = 0.1) -> AsyncIterator[Traffic]:
    """Ask and write, with pauses, until the block ends; what it answers at first is what it must answer then."""
    async with httpx.AsyncClient(base_url=served.url, headers=headers(), trust_env=False, timeout=120) as client:
        expected = await answers(client)
    assert len(expected[0]) == 10, "rows that are owed"
    assert len(expected[1]) == 30
    one = Traffic(url=served.url, name=name, pause=pause)
    task = asyncio.create_task(one.run(expected))
    try:
        yield one
    finally:
        one.stop.set()
        await task
    assert one.wrong == []
    assert one.rounds > 0


async def fill(served: Served, facts: int = 400) -> None:
    items = [
        {"type": "fact", "user_id": "asker", "subject": "Ana", "predicate": "keeps in the barn",
         "object": f"a {THINGS[n % len(THINGS)]} number {n}", "stateful": False}
        for n in range(facts)
    ] + [
        {"type": "preference", "user_id": "asker", "preference_key": f"drinks.k{n}", "preference_value": f"tea {n}"}
        for n in range(30)
    ]  # fmt: skip
    async with httpx.AsyncClient(base_url=served.url, headers=headers(), trust_env=False, timeout=60) as client:
        for first in range(0, len(items), 100):
            answer = await client.post("/memories/batch", json={"memories": items[first : first + 100]})
            assert answer.status_code in {200, 201, 207}, answer.text


async def settled(connection: asyncpg.Connection[Any]) -> None:
    """Wait until every memory has its questions: what they lift changes answers."""
    async with asyncio.timeout(PATIENCE):
        while await connection.fetchval("SELECT count(*) FROM jobs WHERE finished_at IS NULL"):  # noqa: ASYNC110
            await asyncio.sleep(0.1)


def reembed(settings: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return run("reembed", *arguments, **settings)


async def aside(settings: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(reembed, settings, *arguments)


async def killed_midway(settings: dict[str, str], connection: asyncpg.Connection[Any], provider: StandIn) -> int:
    """Start the command and kill it when some rows have their vectors and it waits for more; return how many have.

    The first request only tries the model.
    """
    await provider.behave("ok", times=4)
    await provider.behave("slow", delay=600)
    process = await asyncio.create_subprocess_exec(
        *PROGRAM, "reembed", cwd=ROOT, env=environment(**settings), stdout=DEVNULL, stderr=DEVNULL
    )
    try:
        async with asyncio.timeout(PATIENCE):
            while not (done := await filled(connection)):
                assert process.returncode is None
                await asyncio.sleep(0.02)
    finally:
        process.kill()
        await process.wait()
    await provider.reset()
    return done


async def filled(connection: asyncpg.Connection[Any]) -> int:
    count: int = await connection.fetchval("SELECT count(model_id_2) FROM memory_index")
    return count


async def lacking(connection: asyncpg.Connection[Any], column: str) -> int:
    found: int = await connection.fetchval(f"SELECT count(*) - count({column}) FROM memory_index")  # noqa: S608
    return found


async def until_none_lacks(connection: asyncpg.Connection[Any], column: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while await lacking(connection, column):  # noqa: ASYNC110 - it is in a database
            await asyncio.sleep(0.1)


@pytest.mark.timeout(400)
async def test_a_service_goes_on_while_its_model_is_changed(fresh_database_url: str, provider: StandIn) -> None:
    old = {"TM_DATABASE_URL": fresh_database_url, "TM_BOOTSTRAP_KEY": KEY}
    new = {
        **old,
        "TM_EMBEDDING_PROVIDER": "openai",
        "TM_EMBEDDING_BASE_URL": provider.url,
        "TM_EMBEDDING_MODEL": "standing-in",
        "TM_EMBEDDING_DIMENSIONS": "64",
        "TM_EMBEDDING_BATCH_SIZE": "100",
    }
    wider = {**new, "TM_EMBEDDING_DIMENSIONS": "512", "TM_EMBEDDING_REQUEST_DIMENSIONS": "true"}
    connection = await asyncpg.connect(fresh_database_url)
    with ExitStack() as services:
        first = services.enter_context(Served(**old))
        await fill(first)
        await settled(connection)
        async with traffic(first, "first") as of_first:
            before = await killed_midway(new, connection, provider)
            assert 0 < before < await connection.fetchval("SELECT count(*) FROM memory_index")
            done = await aside(new)
            assert done.returncode == 0, done.stderr
            assert "openai:standing-in is the active model now" in done.stdout
            second = services.enter_context(Served(**new))
            async with traffic(second, "second") as of_second:
                refused = await aside(new, "--drop")
                assert "restart all" in refused.stderr
                await still_ready(first)
        await until_none_lacks(connection, "model_id")
        await until_none_lacks(connection, "model_id_2")
        first.stop()
        await connection.execute("UPDATE embedding_models SET seen_at = now() - interval '1 hour'")
        async with traffic(second, "third") as of_third:
            dropped = await aside(new, "--drop")
            assert dropped.returncode == 0, dropped.stderr
            assert "wordllama-256" in dropped.stdout
            assert await connection.fetchval("SELECT count(model_id) FROM memory_index") == 0
            done = await aside(wider)
            assert done.returncode == 0, done.stderr
    with Served(**wider) as last:
        await until_none_lacks(connection, "model_id")
        await found(last, of_first.written | of_second.written | of_third.written)
        shown = (await aside(wider, "--status")).stdout
        assert [line.split()[:3] for line in shown.splitlines()[1:]] == [
            ["openai:standing-in", "512", "active"],
            ["openai:standing-in", "64", "leaving"],
        ]
    await connection.close()


async def still_ready(served: Served) -> None:
    """See that a service with the old model is ready and says that it is to be restarted."""
    async with httpx.AsyncClient(base_url=served.url, trust_env=False, timeout=PATIENCE) as client:
        told = (await client.get("/readyz")).json()
    assert told["ready"]
    assert "has taken the place of" in told["degraded"]["embedding_model"]


async def found(served: Served, written: dict[str, str]) -> None:
    """Ask for everything that was written meanwhile, by meaning."""
    async with httpx.AsyncClient(base_url=served.url, headers=headers(), trust_env=False, timeout=120) as client:
        for memory, key in list(written.items())[:: max(1, len(written) // 25)]:
            words = key.replace(".", " ").replace("n", "n ")
            asked = {"query": words, "user_id": "writer", "top_k": 100, "min_relevance": 0, "explain": True}
            answer = (await client.post("/query", json=asked)).json()
            assert memory in {one["memory"]["id"] for one in answer["memories"]}, key


async def test_a_provider_that_fails_is_told_of_and_what_was_done_is_taken_back(
    store: Store, provider: StandIn
) -> None:
    await store.write(*(
        store.candidate("preference", {"preference_key": f"k.n{n}", "preference_value": "tea"}) for n in range(300)
    ))  # fmt: skip
    settings = {
        "TM_DATABASE_URL": store.url,
        "TM_EMBEDDING_PROVIDER": "openai",
        "TM_EMBEDDING_BASE_URL": provider.url,
        "TM_EMBEDDING_MODEL": "standing-in",
        "TM_EMBEDDING_DIMENSIONS": "64",
        "TM_EMBEDDING_ATTEMPTS": "1",
    }
    await provider.behave("ok", times=1 + 4)  # the model is tried, then a batch of 256 goes in requests of 64
    await provider.behave("error", status=500)
    failed = await aside(settings)
    assert failed.returncode == 1
    assert "standing-in" in failed.stderr
    assert "run the same command again to continue" in failed.stderr
    assert "Traceback" not in failed.stderr
    rows = (await aside(settings, "--status")).stdout.splitlines()
    assert [row.split()[:5] for row in rows[1:]] == [
        ["wordllama-256", "256", "active", "300", "0"],
        ["openai:standing-in", "64", "building", "300", "44"],
    ]
    abandoned = await aside(settings, "--abandon")
    assert "nothing else changed" in abandoned.stdout, abandoned.stderr
    assert "choose one of" in (await aside(settings, "--drop", "--status")).stderr
