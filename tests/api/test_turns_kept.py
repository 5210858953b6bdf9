"""With a model, too, no turn vanishes: what it found nothing in, or what was rejected or held, is recalled as said."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.conftest import running, settings_for
from tests.provider_server.fixtures import StandIn, provider, provider_process

__all__ = ["provider", "provider_process"]

NOTHING: list[dict[str, Any]] = []
UNSAID = [{"type": "fact", "payload": {"subject": "user", "predicate": "lives-in", "object": "Zanzibar"}}]
HELD = [{"type": "fact", "payload": {"subject": "user", "predicate": "has-vet", "object": "Dr. Okafor"}, "quote": "Q"}]


@pytest.fixture(scope="module")
async def app(module_database_url: str, provider_process: StandIn) -> Any:
    settings = settings_for(module_database_url, **provider_process.settings(keep_episodes=True))
    async with running(settings) as started:
        yield started


async def say(client: httpx.AsyncClient, content: str) -> dict[str, Any]:
    body = {"content": content, "user_id": "ann", "session_id": "s1"}
    answer = await client.post("/turns", params={"mode": "sync"}, json=body)
    assert answer.status_code == 200, answer.text
    [turn] = answer.json()["turns"]
    found: dict[str, Any] = turn
    return found


async def recalled(client: httpx.AsyncClient, question: str) -> list[str]:
    answer = await client.post("/query", json={"query": question, "user_id": "ann"})
    return [one["memory"]["content"] for one in answer.json()["memories"]]


@pytest.mark.parametrize(
    ("said", "answer", "question"),
    [
        ("The lease of our flat runs out in March 2027.", NOTHING, "When does the lease run out?"),
        ("We keep the spare key at the bakery downstairs.", UNSAID, "Where is the spare key?"),
        ("Our vet is Dr. Okafor on Elm Street.", HELD, "Who is our vet?"),
    ],
)
async def test_a_turn_whose_memories_are_missing_or_rejected_is_recalled(
    client: httpx.AsyncClient, provider: StandIn, said: str, answer: list[dict[str, Any]], question: str
) -> None:
    await provider.script({said: answer})
    turn = await say(client, said)
    assert turn["status"] == "processed"
    assert said in await recalled(client, question)


async def test_a_policy_turns_that_off(client: httpx.AsyncClient, provider: StandIn) -> None:
    await client.put("/admin/policy", json={"keep_episodes": False})
    said = "The lease of our flat runs out in March 2027."
    await provider.script({said: NOTHING})
    await say(client, said)
    assert await recalled(client, "When does the lease run out?") == []


@pytest.mark.parametrize("said", ["Gluten intolerant.", "Vegetarian since spring.", "Twins!", "Nussallergie."])
async def test_no_turn_is_too_short_for_a_model(client: httpx.AsyncClient, provider: StandIn, said: str) -> None:
    before = len((await provider.seen())["requests"])
    assert (await say(client, said))["status"] == "processed"
    assert len((await provider.seen())["requests"]) == before + 1


async def test_chit_chat_is_not_sent_to_the_model(client: httpx.AsyncClient, provider: StandIn) -> None:
    assert (await say(client, "Thanks, sounds good!"))["status"] == "skipped"
    assert (await provider.seen())["requests"] == []
