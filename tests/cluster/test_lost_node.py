"""A node of a cluster that is killed while requests come in, and comes back."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from app.db import distribution, migrate
from tests.api.conftest import OPERATOR_KEY, connected, running, settings_for
from tests.cluster.servers import Server, started
from tests.support import owner
from tests.support.databases import form_cluster, nodes

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not nodes(), reason="TM_TEST_DATABASE_NODES names no nodes: run `make cluster`"),
]

TENANTS = 8
NODES = 2
LOAD_SECONDS = 4.0
AWAY_SECONDS = 8.0
RECOVERY_SECONDS = 60.0


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Server]]:
    """A distributed store on servers of the test's own, the coordinator first."""
    with started(Path(os.environ["TM_TEST_CITUS"])) as servers:
        monkeypatch.setenv("TM_TEST_DATABASE_NODES", " ".join(one.url for one in servers[1:]))
        form_cluster(servers[0].url)
        migrate.upgrade(servers[0].url)
        asyncio.run(distribution.distribute(owner.login(servers[0].url), shards=4))
        yield servers


@dataclass(slots=True)
class Writer:
    """A tenant's client, the port of the node with its rows, what was acknowledged, and every answer with its time."""

    client: httpx.AsyncClient
    port: int
    acknowledged: set[str] = field(default_factory=set)
    answers: list[tuple[float, int]] = field(default_factory=list)

    async def turn(self, number: int) -> int:
        """Write a memory and ask a question; return the status of the write."""
        content = f"The shelf number {number} holds {number + 1} boxes."
        write = await self.client.post("/memories/typed/semantic", json={"content": content, "user_id": "anna"})
        question = await self.client.post("/query", json={"query": f"What holds shelf {number}?", "user_id": "anna"})
        for answer in (write, question):
            assert answer.status_code in {200, 201, 503}, answer.text
            assert answer.status_code != 503 or int(answer.headers["retry-after"]) >= 1
            self.answers.append((time.monotonic(), answer.status_code))
        if write.status_code == 201:
            self.acknowledged.add(content)
        return write.status_code

    async def load(self, stop: asyncio.Event) -> None:
        """Go on until told to stop."""
        while not stop.is_set():
            await self.turn(len(self.answers))
            await asyncio.sleep(0.05)

    async def recovered(self) -> None:
        """Wait until the tenant's writes are taken again."""
        while await self.turn(len(self.answers)) != 201:
            pass

    def between(self, begin: float, end: float) -> Counter[int]:
        """Count the answers of a time by status."""
        return Counter(status for at, status in self.answers if begin < at <= end)

    async def stored(self) -> list[str]:
        """Return the contents of all memories."""
        found: list[str] = []
        asked: dict[str, Any] = {"user_id": "anna", "limit": 200}
        while True:
            page = (await self.client.get("/memories", params=asked)).json()
            found += [one["content"] for one in page["memories"]]
            if page.get("next_cursor") is None:
                return found
            asked["cursor"] = page["next_cursor"]


@pytest.fixture
async def writers(cluster: list[Server]) -> AsyncIterator[list[Writer]]:
    """Clients of tenants on both nodes, of a service that runs."""
    connection = await asyncpg.connect(cluster[0].url)
    async with running(settings_for(cluster[0].url)) as app, connected(app, OPERATOR_KEY) as operator:
        made = list[Writer]()
        while len(made) < TENANTS or len({one.port for one in made}) < NODES:  # ids decide where a tenant goes
            number = len(made)
            tenant = (await operator.post("/admin/tenants", json={"name": f"tenant {number}"})).json()
            port = await connection.fetchval(
                "SELECT nodeport FROM pg_dist_shard_placement WHERE shardid = "
                "get_shard_id_for_distribution_column('memories', (SELECT id FROM tenants WHERE name = $1))",
                f"tenant {number}",
            )
            client = httpx.AsyncClient(
                transport=httpx.ASGITransport(app),
                base_url="http://service",
                headers={"Authorization": f"Bearer {tenant['key']['key']}"},
            )
            made.append(Writer(client, port))
        yield made
        for one in made:
            await one.client.aclose()
    await connection.close()


async def test_a_node_that_is_killed_under_load_loses_nothing_that_was_acknowledged(
    cluster: list[Server], writers: list[Writer], capsys: pytest.CaptureFixture[str]
) -> None:
    lost = cluster[1]
    # A coordinator's connections are slow until they know the tables of the nodes.
    await asyncio.gather(*(one.recovered() for one in writers))
    of_lost = [one for one in writers if one.port == lost.port]
    of_kept = [one for one in writers if one.port == cluster[2].port]
    assert of_lost
    assert of_kept
    stop = asyncio.Event()
    load = [asyncio.create_task(one.load(stop)) for one in writers]
    await asyncio.sleep(LOAD_SECONDS)
    killed = time.monotonic()
    await asyncio.to_thread(lost.stop)
    await asyncio.sleep(AWAY_SECONDS)
    back = time.monotonic()
    await asyncio.to_thread(lost.start)
    up = time.monotonic()
    stop.set()
    await asyncio.gather(*load)
    async with asyncio.timeout(RECOVERY_SECONDS):
        await asyncio.gather(*(one.recovered() for one in writers))
    recovered = time.monotonic() - up

    refused = sum((one.between(killed + 1, back) for one in of_lost), Counter[int]())
    assert set(refused) == {503}
    unharmed = sum((one.between(killed + 1, back) for one in of_kept), Counter[int]())
    assert unharmed[201]
    assert set(unharmed) <= {200, 201}
    for one in writers:
        found = await one.stored()
        assert one.acknowledged <= set(found)
        assert len(found) == len(set(found))
    with capsys.disabled():
        written = sum(len(one.acknowledged) for one in writers)
        print(f"\nacknowledged {written}, refused {refused[503]}, answered beside {unharmed.total()}, ")  # noqa: T201
        print(f"node up after {up - back:.1f} s, all written to again {recovered:.1f} s later")  # noqa: T201
