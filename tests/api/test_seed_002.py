"""Seed 002, from top to bottom: every sentence it gives as an example, as it stands there, said over HTTP.

Its table of decay, promotion to core and validity windows are in test_categories, tests/lifecycle and test_validity;
the sentences of its table of semantic types, as typed writes in every category, in test_semantic_types.
"""

from __future__ import annotations

from typing import Any

import httpx
import pytest

ADDED: list[dict[str, Any]] = [
    {
        "content": "User attended a Python conference in Portland on March 5",
        "category": "episodic",
        "importance": 0.5,
    },
    {"content": "User prefers window seats on flights", "category": "semantic", "importance": 0.4},
    {"content": "User does 30 minutes of yoga every morning", "category": "procedural", "importance": 0.6},
    {"content": "User's name is Alex, 32 years old", "category": "core", "importance": 0.95},
]
"""The calls of `mem.add`, with the names of their arguments."""

TOLD = [
    ("User went hiking at Mount Rainier on March 12.", "event", "episodic"),
    ("User had a job interview yesterday.", "event", "episodic"),
    ("User prefers dark roast coffee.", "preference", "semantic"),
    ("User has two dogs named Biscuit and Maple.", "fact", "semantic"),
    ("User runs every morning at 6am.", "fact", "procedural"),
    ("User follows the Pomodoro technique for work.", "fact", "procedural"),
    ("User's name is Alex, 32 years old", "fact", "core"),
    ("User is allergic to peanuts", "fact", "core"),
]
"""Sentences under each category, and what they become when nobody says which one it is."""


async def said(client: httpx.AsyncClient, **turn: Any) -> list[dict[str, Any]]:
    """Have a turn processed; return what was made of it, without the turn itself."""
    answer = await client.post("/turns?mode=sync", json=turn)
    assert answer.status_code == 200, answer.text
    [told] = answer.json()["turns"]
    made = [await client.get(f"/memories/{one['memory_id']}") for one in told["candidates"] if one["memory_id"]]
    return [one.json() for one in made if one.json()["type"] != "episodic"]


@pytest.mark.parametrize("call", ADDED, ids=lambda call: call["category"])
async def test_what_is_added_has_the_category_and_importance_that_were_given(
    client: httpx.AsyncClient, call: dict[str, Any]
) -> None:
    made = await said(client, **call)
    assert made
    assert {(one["category"], one["importance"]) for one in made} == {(call["category"], call["importance"])}


@pytest.mark.parametrize("call", ADDED, ids=lambda call: call["category"])
async def test_it_can_be_written_without_being_read(client: httpx.AsyncClient, call: dict[str, Any]) -> None:
    answer = await client.post("/memories/typed/standard", json=call)
    assert answer.status_code == 201, answer.text
    memory = answer.json()["memory"]
    assert {name: memory[name] for name in call} == call


@pytest.mark.parametrize(("content", "kind", "category"), TOLD)
async def test_what_is_told_is_classified(client: httpx.AsyncClient, content: str, kind: str, category: str) -> None:
    made = await said(client, content=content, user_id="u1")
    assert kind in {one["type"] for one in made}
    assert {one["category"] for one in made} == {category}


async def test_what_happened_is_narrated_and_not_interpreted(client: httpx.AsyncClient) -> None:
    [made] = await said(client, content="Alex went hiking at Mount Rainier", user_id="u1")
    assert made["content"] == "Alex went hiking at Mount Rainier"


@pytest.mark.parametrize(
    "content", ["User plans to visit Tokyo in June", "User is feeling stressed about the deadline"]
)
@pytest.mark.parametrize(
    "end", [{"valid_until": "2026-06-30T23:59:59Z"}, {"ttl_seconds": 86_400}], ids=lambda end: next(iter(end))
)
async def test_a_plan_and_a_state_expire_out_of_answers(
    client: httpx.AsyncClient, content: str, end: dict[str, Any]
) -> None:
    kind, field = ("plan", "plan") if "plans" in content else ("transient_state", "state")
    window = {"valid_from": "2026-06-01T00:00:00Z", **end}
    body = {
        field: content.removeprefix("User plans to ").removeprefix("User is "),
        "user_id": "u1",
        "occurred_at": window["valid_from"],
        **window,
    }
    answer = await client.post(f"/memories/typed/{kind}", json=body)
    assert answer.status_code == 201, answer.text
    memory = answer.json()["memory"]
    assert memory["content"].casefold() == content.casefold()
    question = {"query": content, "user_id": "u1"}
    for asked, found in (
        ({"now": "2026-06-01T12:00:00Z"}, [memory["id"]]),
        ({"now": "2026-07-02T12:00:00Z"}, []),
        ({"now": "2026-07-02T12:00:00Z", "mode": "historical"}, [memory["id"]]),
    ):
        answer = await client.post("/query", json={**question, **asked})
        assert [one["memory"]["id"] for one in answer.json()["memories"]] == found, asked
