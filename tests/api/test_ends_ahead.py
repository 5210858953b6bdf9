"""An end that is ahead bounds what holds until then; plans are called off by the turn that says so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from tests.api.conftest import running, settings_for
from tests.provider_server.fixtures import StandIn, provider, provider_process

__all__ = ["provider", "provider_process"]

NOW = datetime.now(UTC)
LAST = (NOW + timedelta(days=40)).date()
EMPLOYER = {"subject": "user", "predicate": "works-at", "object": "Siemens"}


@pytest.fixture(scope="module")
async def app(module_database_url: str, provider_process: StandIn) -> AsyncIterator[FastAPI]:
    async with running(settings_for(module_database_url, **provider_process.settings())) as started:
        yield started


async def say(client: httpx.AsyncClient, content: str) -> list[dict[str, Any]]:
    body = {"content": content, "user_id": "ann", "session_id": "s1"}
    answer = await client.post("/turns", params={"mode": "sync"}, json=body)
    assert answer.status_code == 200, answer.text
    [turn] = answer.json()["turns"]
    found: list[dict[str, Any]] = turn["candidates"]
    return found


async def recalled(client: httpx.AsyncClient, question: str, now: datetime = NOW + timedelta(hours=1)) -> list[str]:
    body = {"query": question, "user_id": "ann", "now": now.isoformat()}
    answer = await client.post("/query", json=body)
    assert answer.status_code == 200, answer.text
    return [one["memory"]["content"] for one in answer.json()["memories"]]


async def test_a_typed_end_that_is_ahead_is_kept(client: httpx.AsyncClient) -> None:
    body = {**EMPLOYER, "user_id": "typed"}
    held = (await client.post("/memories/typed/fact", json=body)).json()["memory"]["id"]
    answer = await client.post("/memories/typed/fact", json={**body, "ends": True, "valid_until": f"{LAST}T00:00:00Z"})
    assert (answer.status_code, answer.json()["decision"]) == (201, "ended"), answer.text
    memory = (await client.get(f"/memories/{held}")).json()
    assert (memory["status"], memory["valid_until"][:10]) == ("active", LAST.isoformat())


@pytest.mark.parametrize("field", ["ended_at", "valid_until"])
async def test_what_ends_ahead_holds_until_then(client: httpx.AsyncClient, provider: StandIn, field: str) -> None:
    notice = f"My contract with Siemens runs out on {LAST:%d %B %Y}."
    ending = {"type": "fact", "payload": EMPLOYER, "ends": True, field: LAST.isoformat()}
    await provider.script({"I work at Siemens": [{"type": "fact", "payload": EMPLOYER}], notice: [ending]})
    await say(client, "I work at Siemens, in the tower.")
    [told] = await say(client, notice)
    assert (told["decision"], told["reason"]) == ("ended", "it is stated to end, and holds until then")
    memory = (await client.get(f"/memories/{told['memory_id']}")).json()
    assert memory["status"] == "active"
    assert memory["valid_until"].startswith((LAST + timedelta(days=1)).isoformat())
    question = "Where do I work?"
    assert "user works at Siemens" in await recalled(client, question)
    assert "user works at Siemens" not in await recalled(client, question, NOW + timedelta(days=60))


async def test_the_next_value_takes_over_where_the_last_one_ends(client: httpx.AsyncClient, provider: StandIn) -> None:
    begins = LAST + timedelta(days=1)
    both = f"My contract with Siemens runs out on {LAST:%d %B %Y}, and then I start at Bosch."
    await provider.script(
        {
            "I work at Siemens": [{"type": "fact", "payload": EMPLOYER}],
            both: [
                {"type": "fact", "payload": EMPLOYER, "ends": True, "valid_until": LAST.isoformat()},
                {"type": "fact", "payload": {**EMPLOYER, "object": "Bosch"}, "valid_from": begins.isoformat()},
            ],
        }
    )
    await say(client, "I work at Siemens, in the tower.")
    await say(client, both)
    question = "Where do I work?"
    assert "user works at Siemens" in await recalled(client, question)
    assert "user works at Bosch" in await recalled(client, question, NOW + timedelta(days=60))
    assert "user works at Siemens" not in await recalled(client, question, NOW + timedelta(days=60))


async def test_a_plan_is_called_off(client: httpx.AsyncClient, provider: StandIn) -> None:
    planned = {"type": "plan", "payload": {"subject": "user", "plan": "sail to Corfu in August"}}
    off = {**planned, "payload": {"subject": "user", "plan": "sail to Corfu"}, "ends": True}
    await provider.script(
        {
            "We will sail to Corfu": [planned],
            "sailing to Corfu is off": [{**off, "ended_at": LAST.isoformat()}],
        }
    )
    await say(client, "We will sail to Corfu in August.")
    question = "What am I planning?"
    assert any("Corfu" in one for one in await recalled(client, question))
    [told] = await say(client, "Our trip of sailing to Corfu is off, I sold the boat.")
    assert told["decision"] == "ended", told
    assert await recalled(client, question) == []
