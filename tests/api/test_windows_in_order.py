"""The windows of a session are extracted one after the other, each knowing the memories of those before it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from tests.api.conftest import running, settings_for
from tests.provider_server.fixtures import StandIn, provider, provider_process
from tests.support.waiting import ended_job

__all__ = ["provider", "provider_process"]

WINDOW = 4


@pytest.fixture(scope="module")
async def app(module_database_url: str, provider_process: StandIn) -> AsyncIterator[FastAPI]:
    async with running(settings_for(module_database_url, **provider_process.settings(llm_window=WINDOW))) as started:
        yield started


def turns_of(session: str, count: int) -> list[dict[str, Any]]:
    return [
        {
            "content": f"In week {number} of {session} I repaired the harmonium of my neighbour Vera.",
            "session_id": session,
            "occurred_at": f"2026-{number // 28 + 3:02}-{number % 28 + 1:02}T09:00:00Z",
        }
        for number in range(count)
    ]


def asked(request: dict[str, Any]) -> str:
    said: str = next(one["content"] for one in request["body"]["messages"] if one["role"] == "user")
    return said


async def script(provider: StandIn) -> None:
    fact = {"subject": "Vera", "predicate": "owns", "object": "harmonium"}
    await provider.script({"week 1 of": [{"type": "fact", "payload": fact}]})


async def test_a_window_is_shown_what_the_earlier_ones_led_to(client: httpx.AsyncClient, provider: StandIn) -> None:
    await script(provider)
    answer = await client.post("/turns", json={"turns": turns_of("spring", 32), "user_id": "ann"})
    ended = await ended_job(client, answer.json()["job_id"])
    assert ended["status"] == "succeeded", ended
    seen = await provider.seen()
    requests = [asked(one) for one in seen["requests"]]
    assert len(requests) == 32 / WINDOW
    assert seen["most_in_flight"] == 1
    known = ["harmonium" in one.partition("Turn 1:")[0].rpartition("[known")[2] for one in requests]
    assert known == [False, *[True] * 7]


async def test_windows_of_several_requests_wait_for_one_another(client: httpx.AsyncClient, provider: StandIn) -> None:
    await script(provider)
    given = turns_of("spring", 8)
    await provider.behave("slow", delay=0.2)
    answers = [
        await client.post("/turns", json={"turns": given[start : start + WINDOW], "user_id": "ann"})
        for start in (0, WINDOW)
    ]
    for one in answers:
        assert (await ended_job(client, one.json()["job_id"]))["status"] == "succeeded"
    assert (await provider.seen())["most_in_flight"] == 1


async def test_sessions_and_users_go_side_by_side(client: httpx.AsyncClient, provider: StandIn) -> None:
    await provider.behave("slow", delay=0.3)
    several = [one for session in ("a", "b", "c") for one in turns_of(session, 8)]

    async def send(user: str) -> None:
        answer = await client.post("/turns", json={"turns": several, "user_id": user})
        assert (await ended_job(client, answer.json()["job_id"]))["status"] == "succeeded"

    await asyncio.gather(send("ann"), send("ben"))
    seen = await provider.seen()
    assert seen["most_in_flight"] == 6
    assert seen["count"] == 12
