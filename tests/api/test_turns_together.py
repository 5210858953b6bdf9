"""Turns that waited for a scope are processed together, and come to what they come to one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
from fastapi import FastAPI

from app import feature
from app.jobs.handler import Handler
from app.jobs.worker import run_worker
from app.services.turns import INGEST
from tests.api.conftest import connected, running, settings_for
from tests.support.waiting import eventually

SAID = (
    ("user", "My name is Mira and I live in Ghent."),
    ("user", "I work as a carpenter."),
    ("assistant", "Noted, Mira."),
    ("user", "My sister Ada lives in Porto."),
    ("user", "I live in Graz now, since last month."),
    ("user", "I no longer work as a carpenter."),
    ("user", "She likes sailing."),
    ("user", "I live in Graz now, since last month."),
)
COMPARED = ("type", "content", "status", "confidence")


async def test_what_turns_lead_to_does_not_depend_on_their_jobs(fresh_database_url: str) -> None:
    settings = settings_for(fresh_database_url, worker="off", worker_tenant_concurrency=1)
    ours = feature.handlers()
    alone = {**ours, INGEST: replace(ours[INGEST], together=None)}
    async with running(settings) as app, connected(app) as client:
        one_by_one = await _led_to(app, client, "ann", alone)
        together = await _led_to(app, client, "bob", ours)
        jobs = (await client.get("/jobs", params={"kind": INGEST, "all": True, "limit": 100})).json()["jobs"]
    assert together == one_by_one
    assert len(jobs) == 2 * len(SAID)
    assert len({one["started_at"] for one in jobs}) < len(jobs)
    assert {(one["status"], one["progress"]["done"], len(one["result"]["turns"])) for one in jobs} == {
        ("succeeded", 1, 1)
    }


async def _led_to(
    app: FastAPI, client: httpx.AsyncClient, user: str, handlers: Mapping[str, Handler]
) -> list[tuple[Any, ...]]:
    """Return the memories and the turns of a user once a worker has processed what was said."""
    for minute, (role, content) in enumerate(SAID):
        said = {"role": role, "content": content, "occurred_at": f"2026-03-01T10:{minute:02}:00Z"}
        answer = await client.post("/turns", json={**said, "user_id": user, "session_id": "s1"})
        assert answer.status_code == 202, answer.text
    stop = asyncio.Event()
    worker = asyncio.create_task(run_worker(app.state.runtime, handlers=handlers, schedules=(), stop=stop))

    async def processed() -> bool:
        return all(one["status"] != "received" for one in await _all(client, "turns", user))

    await eventually(processed)
    stop.set()
    await worker
    memories = await _all(client, "memories", user)
    turns = await _all(client, "turns", user)
    found = [tuple(str(one.get(name)) for name in COMPARED) for one in memories]
    ended = [(one["content"], one["status"], one["reason"], len(one["candidates"])) for one in turns]
    return [*sorted(found), *sorted(ended, key=str)]


async def _all(client: httpx.AsyncClient, what: str, user: str) -> list[dict[str, Any]]:
    answer = await client.get(f"/{what}", params={"user_id": user, "limit": 100})
    assert answer.status_code == 200, answer.text
    return list(answer.json()[what])
