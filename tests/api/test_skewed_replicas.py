"""Replicas whose machines disagree about the time: nothing is lost, and all answer the same."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from functools import partial

import httpx
import pytest

from tests.api.conftest import connected, running, settings_for

OFF = timedelta(seconds=90)


def machine(off: timedelta) -> datetime:
    return datetime.now(UTC) + off


@pytest.fixture
async def replicas(database_url: str) -> AsyncIterator[list[httpx.AsyncClient]]:
    """Clients of three replicas of one tenant: in time, behind, and ahead."""
    async with AsyncExitStack() as stack:
        found = []
        for off in (timedelta(0), -OFF, OFF):
            app = await stack.enter_async_context(
                running(settings_for(database_url, worker="off"), partial(machine, off))
            )
            found.append(await stack.enter_async_context(connected(app)))
        yield found


async def test_the_last_write_counts_whichever_replica_took_it(replicas: list[httpx.AsyncClient]) -> None:
    values = ("dark", "light", "sepia", "blue", "green", "red")
    for place, value in enumerate(values):
        body = {"preference_key": "editor.theme", "preference_value": value, "user_id": "skewed"}
        written = await replicas[(2 * place) % 3].post("/memories/typed/preference", json=body)
        assert written.status_code == 201
        assert written.json()["decision"] == ("added" if place == 0 else "superseded"), written.json()["reason"]
        for replica in replicas:
            asked = await replica.post("/query", json={"query": "Which editor theme?", "user_id": "skewed"})
            assert [one["memory"]["preference_value"] for one in asked.json()["memories"]] == [value]


async def test_a_machine_whose_clock_is_off_is_ready_and_says_so(replicas: list[httpx.AsyncClient]) -> None:
    right, behind, ahead = [(await replica.get("/readyz")).json() for replica in replicas]
    assert right["degraded"] == {}
    assert behind["ready"]
    assert ahead["ready"]
    assert "90.0 seconds behind the database's" in behind["degraded"]["clock"]
    assert "90.0 seconds ahead of the database's" in ahead["degraded"]["clock"]
    for replica, seconds in zip(replicas, (0, -90, 90), strict=True):
        told = (await replica.get("/metrics")).text
        [line] = [line for line in told.splitlines() if line.startswith("tm_clock_skew_seconds ")]
        assert float(line.split()[1]) == pytest.approx(seconds, abs=1)
