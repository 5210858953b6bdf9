"""The stream of events: what it tells, how many there may be, and how it ends."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.errors import Overloaded
from app.features.webhooks import events as live_events
from app.features.webhooks.events import LiveEvent, LiveEvents
from app.http.models import event_text
from app.model import Actor
from app.runtime import Runtime
from tests.api.conftest import fact
from tests.support.waiting import PATIENCE


@pytest.fixture
async def actor(client: httpx.AsyncClient, runtime: Runtime) -> Actor:
    return await runtime.keys.authenticate(client.headers["authorization"].removeprefix("Bearer "))


def events(text: str) -> list[tuple[str, Any]]:
    found = []
    for block in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


@given(st.text())
@example("one\u2028two\u2029three\x85four")
def test_an_event_has_one_line_of_data_wherever_lines_are_split(text: str) -> None:
    name, data, end = event_text("words", {"text": text}).splitlines()
    assert (name, end) == ("event: words", "")
    assert json.loads(data.removeprefix("data: ")) == {"text": text}


async def test_a_stream_begins_with_what_waits(client: httpx.AsyncClient) -> None:
    answer = await client.get("/admin/events", params={"seconds": 0})
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert events(answer.text) == [("review.waiting", {"waiting": 0})]


async def test_what_comes_to_review_and_jobs_that_end_are_told(
    client: httpx.AsyncClient, actor: Actor, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_events, "POLL_SECONDS", 0.05)
    stop, heard = asyncio.Event(), list[LiveEvent]()

    async def follow() -> None:
        async for one in runtime.service(LiveEvents).follow(actor, seconds=PATIENCE, stop=stop):
            if one is not None:
                heard.append(one)
            if {each.name for each in heard} == {"review.waiting", "job.done"} and len(heard) > 2:
                stop.set()

    following = asyncio.create_task(follow())
    await client.post("/memories/typed/fact", json=fact())
    weak = fact(object="Rivian", source_confidence=0.2, extractor_confidence=0.9)
    await client.post("/memories/typed/fact", json=weak)
    job = (await client.post("/turns", json={"content": "I live in Porto.", "user_id": "u2"})).json()["job_id"]
    await following
    assert {"waiting": 1} in [one.data for one in heard]
    [done] = [one.data for one in heard if one.name == "job.done"]
    assert done == {"job_id": job, "kind": "ingest", "status": "succeeded"}


async def test_a_stream_ends_at_once_when_the_process_stops(
    actor: Actor, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_events, "POLL_SECONDS", 3600.0)
    stop = asyncio.Event()
    stream = runtime.service(LiveEvents).follow(actor, seconds=3600, stop=stop)
    await anext(stream)
    asyncio.get_running_loop().call_later(0.05, stop.set)
    async with asyncio.timeout(PATIENCE):
        assert [one async for one in stream] == [None]


async def test_only_so_many_streams_are_open_at_once(
    actor: Actor, runtime: Runtime, client: httpx.AsyncClient, other_client: httpx.AsyncClient
) -> None:
    held = [runtime.service(LiveEvents).counted(actor) for _ in range(live_events.MOST_EACH)]
    assert all(one.__enter__() for one in held)
    with runtime.service(LiveEvents).counted(actor) as allowed:
        assert not allowed  # it was let in together with the last of the others
    with pytest.raises(Overloaded):
        runtime.service(LiveEvents).check(actor)
    refused = await client.get("/admin/events", params={"seconds": 0})
    assert (refused.status_code, "retry-after" in refused.headers) == (503, True)
    assert (await other_client.get("/admin/events", params={"seconds": 0})).status_code == 200
    for one in held:
        one.__exit__(None, None, None)
    assert (await client.get("/admin/events", params={"seconds": 0})).status_code == 200


async def test_another_tenants_events_are_not_told(client: httpx.AsyncClient, other_client: httpx.AsyncClient) -> None:
    memory = (await client.post("/memories/typed/fact", json=fact())).json()["memory"]["id"]
    await client.patch(f"/memories/{memory}", json={"needs_review": True})
    [(_, mine)] = events((await client.get("/admin/events", params={"seconds": 0})).text)
    [(_, theirs)] = events((await other_client.get("/admin/events", params={"seconds": 0})).text)
    assert (mine, theirs) == ({"waiting": 1}, {"waiting": 0})
