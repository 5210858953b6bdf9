"""Turns whose request ended before they were processed are found and processed by a worker."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest

from app.api.turns import WAIT_FOR_A_WORKER
from app.db.session import statement
from app.errors import DatabaseUnavailable
from app.jobs import executor, schedules
from app.jobs.schedules import requeue_turns
from app.memory.extraction import TurnStatus
from app.runtime import Runtime
from app.services.turns import Turns
from tests.api.test_jobs import tenant_of
from tests.api.test_turns import recalled, say
from tests.support.waiting import eventually


async def killed(*_: object, **__: object) -> Any:
    raise RuntimeError("killed")


async def test_a_turn_whose_request_was_killed_is_processed(
    client: httpx.AsyncClient, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(Turns, "process", killed)
        with pytest.raises(AssertionError):
            await say(client, "I live in Ljubljana.")
    [left] = (await client.get("/turns", params={"user_id": "ann"})).json()["turns"]
    assert left["status"] == TurnStatus.RECEIVED

    await requeue_turns(runtime)
    assert (await client.get("/jobs", params={"user_id": "ann"})).json()["jobs"] == []  # a request may still be at it

    monkeypatch.setattr(schedules, "FORSAKEN_AFTER", timedelta())
    await requeue_turns(runtime)
    await requeue_turns(runtime)  # a job is at it now
    jobs = (await client.get("/jobs", params={"user_id": "ann"})).json()["jobs"]
    assert [one["progress"]["total"] for one in jobs if one["kind"] == "ingest"] == [1]

    async def processed() -> bool:
        return bool((await client.get(f"/turns/{left['id']}")).json()["status"] == TurnStatus.PROCESSED)

    await eventually(processed)
    found = await recalled(client, "Where do I live?")
    assert "user lives in Ljubljana" in [one["content"] for one in found]


async def test_turns_that_are_stored_are_accepted_though_nothing_more_works(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_database(*_: object, **__: object) -> Any:
        raise DatabaseUnavailable("the database does not answer")

    async def sent() -> dict[str, Any]:
        body = {"content": "I live in Maribor.", "user_id": "ann"}
        answer = await client.post("/turns", params={"mode": "sync"}, json=body, headers={"Idempotency-Key": "once"})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    with monkeypatch.context() as broken:
        for step in ("process", "get_all", "enqueue"):
            broken.setattr(Turns, step, no_database)
        first = await sent()
    assert first["degraded"] == ["the database does not answer", WAIT_FOR_A_WORKER]
    [turn] = first["turns"]
    assert turn["status"] == TurnStatus.RECEIVED
    assert await sent() == first
    stored = (await client.get("/turns", params={"user_id": "ann"})).json()["turns"]
    assert [one["id"] for one in stored] == [turn["id"]]


async def test_an_old_turn_that_is_replayed_counts_from_then(
    client: httpx.AsyncClient, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def queued() -> list[str]:
        jobs = (await client.get("/jobs", params={"user_id": "ann"})).json()["jobs"]
        return [one["status"] for one in jobs if one["kind"] == "ingest"]

    async def done() -> bool:
        return await queued() == ["succeeded"]

    said = await say(client, "I live in Ljubljana.")
    aged = statement("UPDATE turns SET recorded_at = now() - interval '1 year' WHERE tenant_id = :tenant")
    tenant = await tenant_of(client, runtime)
    async with runtime.database.write(tenant) as session:
        await session.change(aged, {"tenant": tenant})
    begun, left, process = asyncio.Event(), asyncio.Event(), Turns.process

    async def slow(*args: Any, **more: Any) -> Any:
        begun.set()
        await left.wait()
        return await process(*args, **more)

    path = f"/turns/{said['id']}"
    with monkeypatch.context() as slowed:
        slowed.setattr(Turns, "process", slow)
        replay = asyncio.create_task(client.post(f"{path}/replay", params={"mode": "sync"}))
        await begun.wait()
        waits = (await client.get(path)).json()
        assert (waits["status"], waits["processed_at"]) == (TurnStatus.RECEIVED, None)
        await requeue_turns(runtime)
        assert await queued() == []
        left.set()
        assert (await replay).json()["turns"][0]["status"] == TurnStatus.PROCESSED

        slowed.setattr(Turns, "process", killed)
        assert (await client.post(f"{path}/replay", params={"mode": "sync"})).status_code == 500
    monkeypatch.setattr(schedules, "FORSAKEN_AFTER", timedelta())
    await requeue_turns(runtime)
    await eventually(done)
    assert (await client.get(path)).json()["status"] == TurnStatus.PROCESSED


async def test_a_turn_of_a_job_that_ended_its_workers_is_kept_and_waits_for_an_operator(
    client: httpx.AsyncClient, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stored(status: TurnStatus) -> bool:
        [turn] = (await client.get("/turns", params={"user_id": "ann"})).json()["turns"]
        return bool(turn["status"] == status)

    with monkeypatch.context() as deadly:
        deadly.setattr(executor, "MOST_INTERRUPTED", 0)
        sent = await client.post("/turns", json={"content": "I live in Ljubljana.", "user_id": "ann"})
        await eventually(lambda: stored(TurnStatus.FAILED))

    async def kept() -> bool:
        found = (await client.get("/memories", params={"user_id": "ann"})).json()["memories"]
        return [(one["type"], one["content"]) for one in found] == [("episodic", "I live in Ljubljana.")]

    await eventually(kept)
    [turn] = (await client.get("/turns", params={"user_id": "ann"})).json()["turns"]
    assert turn["status"] == TurnStatus.FAILED
    assert "its worker died" in turn["reason"]
    monkeypatch.setattr(schedules, "FORSAKEN_AFTER", timedelta())
    await requeue_turns(runtime)
    jobs = (await client.get("/jobs", params={"user_id": "ann"})).json()["jobs"]
    assert [one["id"] for one in jobs if one["kind"] == "ingest"] == [sent.json()["job_id"]]

    assert (await client.post(f"/jobs/{sent.json()['job_id']}/retry")).status_code == 200
    await eventually(lambda: stored(TurnStatus.PROCESSED))
