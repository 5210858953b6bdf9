"""Questions that a streaming replica answers: what the caller wrote is seen there, or the primary answers."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import httpx
import pytest
import structlog

from app.db.embedded.folder import DataFolder, server_account
from app.db.embedded.process import launch, stop
from app.db.embedded.server import start_embedded
from app.db.replica import AVOIDED_SECONDS, Replica
from app.db.session import Database, statement
from app.errors import DatabaseUnavailable
from tests.api.conftest import connected, running, settings_for
from tests.api.test_mcp_bodies import call
from tests.db.embedded_service import data_folder, link_binaries
from tests.provider_server.fixtures import StandIn, provider, provider_process

pytestmark = pytest.mark.long

__all__ = ["provider", "provider_process"]

WAIT_SECONDS = 60.0

REPLICA_WAIT = 3.0


@dataclass(frozen=True, slots=True)
class Pair:
    """A primary and its streaming replica: the owner's logins, and the replica's folder."""

    primary: str
    replica: str
    folder: DataFolder

    async def on_replica(self, sql: str) -> None:
        connection = await asyncpg.connect(self.replica)
        try:
            await connection.execute(sql)
        finally:
            await connection.close()


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    deadline = time.monotonic() + WAIT_SECONDS
    with data_folder() as first, data_folder() as second:
        server = start_embedded(first)
        try:
            link_binaries(first, second)
            folder, account = DataFolder(second), server_account(DataFolder(first).cluster)
            account.own(second)
            program, to = str(folder.program("pg_basebackup")), str(folder.cluster)
            copy = [program, "-d", server.url, "-D", to, "-R", "-c", "fast"]
            done = account.run(copy, env=folder.environment(), timeout=WAIT_SECONDS)
            assert done.returncode == 0, done.stdout
            port = launch(folder, account, deadline)
            login = urlsplit(server.url)
            there = login._replace(netloc=f"{login.username}:{login.password}@127.0.0.1:{port}").geturl()
            try:
                yield Pair(server.url, there, folder)
            finally:
                stop(folder.cluster, deadline + WAIT_SECONDS)
        finally:
            server.release()


@pytest.fixture
async def client(pair: Pair) -> AsyncIterator[httpx.AsyncClient]:
    settings = settings_for(pair.primary, replica_database_url=pair.replica, replica_wait=REPLICA_WAIT)
    async with running(settings) as app, connected(app) as client:
        yield client


async def write(client: httpx.AsyncClient, user: str, employer: str) -> str:
    body = {"user_id": user, "predicate": "works-at", "object": employer}
    answer = await client.post("/memories/typed/fact", json=body)
    assert answer.status_code == 201, answer.text
    position: str = answer.headers["Memory-Position"]
    return position


async def employers(client: httpx.AsyncClient, user: str, position: str | None) -> list[str]:
    headers = {} if position is None else {"Memory-Position": position}
    body = {"user_id": user, "query": "Where does the user work?"}
    answer = await client.post("/query", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return [one["memory"]["object"] for one in answer.json()["memories"]]


async def reads(client: httpx.AsyncClient, source: str, reason: str) -> float:
    counted = (await client.get("/metrics")).text
    line = f'tm_replica_reads_total{{reason="{reason}",source="{source}"}} '
    return next((float(one.removeprefix(line)) for one in counted.splitlines() if one.startswith(line)), 0.0)


async def test_what_was_written_is_seen_on_the_replica(client: httpx.AsyncClient) -> None:
    for number in range(20):
        position = await write(client, f"seen{number}", "Volkswagen")
        assert await employers(client, f"seen{number}", position) == ["Volkswagen"]
    assert await reads(client, "replica", "chosen") == 20


async def test_a_replica_that_is_behind_answers_only_those_who_wrote_nothing(
    client: httpx.AsyncClient, pair: Pair
) -> None:
    settled = await write(client, "behind", "Volkswagen")
    assert await employers(client, "behind", settled) == ["Volkswagen"]
    await pair.on_replica("SELECT pg_wal_replay_pause()")
    try:
        later = await write(client, "behind", "Fiat")
        assert await employers(client, "behind", None) == ["Volkswagen"]
        assert await reads(client, "primary", "behind") == 0
        assert await employers(client, "behind", later) == ["Fiat"]
        assert await reads(client, "primary", "behind") == 1
        began = time.monotonic()
        for _ in range(3):  # none waits as long as the first did
            assert await employers(client, "behind", later) == ["Fiat"]
        assert time.monotonic() - began < REPLICA_WAIT
        assert await reads(client, "primary", "behind") == 4
    finally:
        await pair.on_replica("SELECT pg_wal_replay_resume()")
    assert await employers(client, "behind", later) == ["Fiat"]
    assert await reads(client, "replica", "chosen") == 3


async def test_answers_of_a_model_and_the_calls_of_aegis_see_what_was_written_too(
    pair: Pair, provider: StandIn
) -> None:
    settings = settings_for(
        pair.primary, replica_database_url=pair.replica, replica_wait=REPLICA_WAIT, **provider.settings("openai")
    )
    async with running(settings) as app, connected(app) as client:

        async def seen(path: str, listed: str, position: str | None) -> list[str]:
            await provider.behave("answer", body={"answer": {"text": "There.", "notes": [1]}})
            body = {"user_id": "posed", "query": "Where does the user work?"}
            headers = {} if position is None else {"Memory-Position": position}
            answer = await client.post(path, json=body, headers=headers)
            assert answer.status_code == 200, answer.text
            return [one["content"].rpartition(" ")[2] for one in answer.json()[listed]]

        settled = await write(client, "posed", "Volkswagen")
        assert await employers(client, "posed", settled) == ["Volkswagen"]
        await pair.on_replica("SELECT pg_wal_replay_pause()")
        try:
            later = await write(client, "posed", "Fiat")
            for path, listed in (("/answer", "citations"), ("/aegis/memories/query", "memories")):
                assert await seen(path, listed, None) == ["Volkswagen"]
                assert await seen(path, listed, later) == ["Fiat"]
        finally:
            await pair.on_replica("SELECT pg_wal_replay_resume()")


@pytest.mark.parametrize("path", ["/query", "/answer", "/aegis/memories/query"])
async def test_a_position_that_is_none_is_refused(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.post(path, json={"query": "anything"}, headers={"Memory-Position": "yesterday"})
    assert answer.status_code == 422
    assert "Memory-Position" in answer.text


async def test_questions_are_answered_while_the_replica_is_gone(
    client: httpx.AsyncClient, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    position = await write(client, "gone", "Volkswagen")
    assert await employers(client, "gone", position) == ["Volkswagen"]
    account = server_account(pair.folder.cluster)
    stop(pair.folder.cluster, time.monotonic() + WAIT_SECONDS)
    try:
        for given in (None, position, None):
            assert await employers(client, "gone", given) == ["Volkswagen"]
        assert await reads(client, "primary", "failed") == 3
    finally:
        launch(pair.folder, account, time.monotonic() + WAIT_SECONDS)
    monkeypatch.setattr(time, "monotonic", lambda now=time.monotonic: now() + AVOIDED_SECONDS)
    assert await employers(client, "gone", position) == ["Volkswagen"]
    assert await reads(client, "replica", "chosen") == 2


async def test_a_slow_question_and_a_full_pool_are_not_the_replicas_failure(pair: Pair) -> None:
    primary = Database(pair.primary, pool_size=1)
    copy = Database(pair.replica, pool_size=1, pool_timeout=0.2, statement_timeout=0.5)
    asked, told = list[Database](), list[tuple[str, str]]()
    replica = Replica(primary=primary, copy=copy, wait=0.0, observe=lambda source, why: told.append((source, why)))

    async def slept(database: Database, seconds: float) -> None:
        asked.append(database)
        async with database.read(None) as session:
            await session.fetch(statement("SELECT pg_sleep(:seconds)"), {"seconds": seconds})

    with pytest.raises(DatabaseUnavailable, match="too long"):
        await replica.read(lambda database: slept(database, WAIT_SECONDS))
    async with copy.read(None):
        for position in (None, "0/0"):
            with pytest.raises(DatabaseUnavailable, match="busy"):
                await replica.read(lambda database: slept(database, 0.0), position=position)
    await replica.read(lambda database: slept(database, 0.0))
    assert (set(asked), told) == ({copy}, [("replica", "chosen")])
    await primary.close()
    await copy.close()


async def test_every_answer_of_the_primary_says_up_to_where_it_has_written(client: httpx.AsyncClient) -> None:
    await write(client, "told", "Volkswagen")
    for path in ("/memories?user_id=told", "/jobs?user_id=told", "/turns?user_id=told"):
        assert (await client.get(path)).headers["Memory-Position"]
    asked = await client.post("/query", json={"user_id": "told", "query": "Where does the user work?"})
    assert "Memory-Position" not in asked.headers


async def test_an_agent_recalls_what_it_has_just_stored(client: httpx.AsyncClient, pair: Pair) -> None:
    settled = await write(client, "agent", "Volkswagen")
    assert await employers(client, "agent", settled) == ["Volkswagen"]
    await pair.on_replica("SELECT pg_wal_replay_pause()")
    try:
        await write(client, "agent", "Fiat")
        arguments = {"query": "Where does the user work?", "user_id": "agent"}
        recalled = (await call(client, "recall", **arguments))["structuredContent"]["memories"]
        assert [one["object"] for one in recalled] == ["Fiat"]
    finally:
        await pair.on_replica("SELECT pg_wal_replay_resume()")


async def test_a_replica_in_the_primarys_place_tells_no_position(pair: Pair) -> None:
    copy = Database(pair.replica, pool_size=1)
    assert await Replica(primary=copy, copy=copy, wait=0.0).position() is None
    await copy.close()


async def test_a_full_pool_is_no_failure_before_the_replica_was_looked_at(pair: Pair) -> None:
    copy = Database(pair.replica, pool_size=1, pool_timeout=0.2)
    told = list[tuple[str, str]]()
    replica = Replica(primary=copy, copy=copy, wait=0.0, observe=lambda source, why: told.append((source, why)))

    async def asked(database: Database) -> None:
        async with database.read(None) as session:
            await session.fetch(statement("SELECT 1"), {})

    async with copy.read(None):
        with pytest.raises(DatabaseUnavailable, match="busy"):
            await replica.read(asked)
    await replica.read(asked)
    assert told == [("replica", "chosen")]
    await copy.close()


async def test_a_server_that_follows_no_primary_is_not_read(pair: Pair) -> None:
    settings = settings_for(pair.primary, replica_database_url=pair.primary)
    async with running(settings) as app, connected(app) as client:
        with structlog.testing.capture_logs() as logged:
            position = await write(client, "promoted", "Fiat")
            for given in (None, position):
                assert await employers(client, "promoted", given) == ["Fiat"]
        assert await reads(client, "primary", "failed") == 2
        told = [one["reason"] for one in logged if one["event"] == "the replica is not read"]
        assert told == ["it follows no primary: correct TM_REPLICA_DATABASE_URL, or unset it"]


async def test_a_replica_that_lacks_a_migration_leaves_questions_to_the_primary(pair: Pair) -> None:
    primary, copy = Database(pair.primary, pool_size=1), Database(pair.replica, pool_size=1)
    replica = Replica(primary=primary, copy=copy, wait=0.0)

    async def asked(database: Database) -> str:
        column = "name" if database is primary else "of_a_later_release"
        async with database.read(None) as session:
            await session.fetch(statement(f"SELECT {column} FROM embedding_models"), {})  # noqa: S608 - our own names
        return column

    assert await replica.read(asked) == "name"
    await primary.close()
    await copy.close()


async def test_without_a_replica_no_position_is_told(pair: Pair) -> None:
    async with running(settings_for(pair.primary)) as app, connected(app) as client:
        body = {"user_id": "alone", "predicate": "works-at", "object": "Fiat"}
        assert "Memory-Position" not in (await client.post("/memories/typed/fact", json=body)).headers


def test_the_replica_is_one(pair: Pair) -> None:
    assert (Path(pair.folder.cluster) / "standby.signal").exists()
