"""The three scenarios of seed 000 over HTTP, in its words: written as typed memories, and told in turns."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.conftest import written

NOW = "2026-05-14T12:00:00Z"
"""A Thursday; last Tuesday is 5 May."""


async def ask(client: httpx.AsyncClient, query: str, **request: Any) -> list[str]:
    """Return the lines of the context block for a question."""
    body = {"query": query, "user_id": "u1", "now": NOW, **request}
    answer = await client.post("/query", json=body)
    assert answer.status_code == 200, answer.text
    block: str = answer.json()["context"]["text"]
    return [line for line in block.splitlines() if line.startswith("- ")]


async def tell(client: httpx.AsyncClient, content: str, at: str, session: str = "s") -> None:
    body = {"content": content, "user_id": "u1", "session_id": session, "occurred_at": at}
    answer = await client.post("/turns", params={"mode": "sync"}, json=body)
    assert answer.status_code == 200, answer.text


async def write(client: httpx.AsyncClient, kind: str, at: str, **fields: Any) -> None:
    await written(client, kind, **{"user_id": "u1", "occurred_at": at, **fields})


THEMES = (
    "what display mode does the user prefer?",
    "Which display mode do I prefer?",
    "dark or light mode?",
    "What is my preferred display mode?",
)


@pytest.mark.parametrize("question", THEMES)
async def test_a_typed_preference_alone_in_its_store_answers(client: httpx.AsyncClient, question: str) -> None:
    await write(client, "preference", NOW, preference_key="editor.theme", preference_value="dark mode")
    [line] = await ask(client, question)
    assert line.endswith("user prefers dark mode for editor theme")


@pytest.mark.parametrize("question", THEMES)
async def test_a_changed_preference_typed_is_answered_with_the_new_one_alone(
    client: httpx.AsyncClient, question: str
) -> None:
    await write(
        client, "preference", "2026-03-15T12:00:00Z", preference_key="editor.theme", preference_value="dark mode"
    )
    await write(client, "preference", NOW, preference_key="editor.theme", preference_value="light mode")
    [line] = await ask(client, question)
    assert "light mode" in line


@pytest.mark.parametrize("question", THEMES)
async def test_a_changed_preference_told_leads_with_the_new_one(client: httpx.AsyncClient, question: str) -> None:
    await tell(client, "I prefer dark mode", "2026-03-15T12:00:00Z", session="day 1")
    await tell(client, "actually I switched to light mode", "2026-05-14T11:00:00Z", session="day 60")
    found = await ask(client, question)
    assert "light" in found[0]
    assert not any("dark" in line and "replaced" not in line for line in found)


EVENTS = ("What happened last Tuesday?", "what happened on Tuesday last week?")


@pytest.mark.parametrize("question", EVENTS)
async def test_a_question_for_a_day_gets_its_events_and_no_facts(client: httpx.AsyncClient, question: str) -> None:
    await write(client, "event", NOW, event_description="user joined the platform team", event_at="2026-05-05")
    await write(client, "event", NOW, event_description="user left the data team", event_at="2026-05-02")
    await write(client, "fact", NOW, predicate="works-at", object="Volkswagen")
    [line] = await ask(client, question)
    assert line.endswith("user joined the platform team, on 2026-05-05")


@pytest.mark.parametrize("question", EVENTS)
async def test_events_told_are_found_by_their_day(client: httpx.AsyncClient, question: str) -> None:
    await tell(client, "I work at Volkswagen.", "2026-05-11T08:00:00Z", session="a")
    await tell(client, "I joined the platform team on May 5th.", "2026-05-11T09:00:00Z", session="b")
    [line] = await ask(client, question)
    assert line.endswith("user joined the platform team, on 2026-05-05")


SARAH = "Who does Sarah work for, and what is their role?"


async def test_the_answer_over_two_hops_names_priya_whatever_she_was_called(client: httpx.AsyncClient) -> None:
    aliases = ["P. Sharma", "the EM"]
    await write(client, "entity", NOW, canonical_name="Priya", entity_type="person", aliases=aliases)
    await write(client, "relation", NOW, from_entity="the EM", relation_type="manages", to_entity="the project")
    await write(client, "fact", NOW, subject="P. Sharma", predicate="has-role", object="engineering manager")
    await write(client, "relation", NOW, from_entity="Sarah", relation_type="works for", to_entity="the EM")
    found = "\n".join(await ask(client, SARAH))
    assert "Sarah reports to Priya (the EM)" in found
    assert "Priya (P. Sharma) has role engineering manager" in found


@pytest.mark.parametrize("bystanders", [0, 12])
async def test_the_answer_over_two_hops_told_names_priya_and_her_role(
    client: httpx.AsyncClient, bystanders: int
) -> None:
    for content in ("Priya manages the project.", "Priya is the engineering manager.", "Sarah works for Priya."):
        await tell(client, content, NOW)
    for number in range(bystanders):
        await write(client, "fact", NOW, subject=f"Tom {number}", predicate="has-role", object=f"tester {number}")
    found = await ask(client, SARAH)
    assert any(line.endswith("Sarah reports to Priya") for line in found)
    assert any(line.endswith("Priya has role engineering manager") for line in found)
