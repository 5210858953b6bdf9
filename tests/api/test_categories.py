"""Seed 002 over HTTP: its examples, its table, core at extraction, and what a caller's own word does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.api.conftest import written

TABLE: dict[str, tuple[float | None, float]] = {
    "episodic": (45, 0.02),
    "semantic": (120, 0.02),
    "procedural": (None, 0.0),
    "core": (120, 0.60),
    "control": (None, 0.0),
}
EXAMPLES = [
    ("User attended a Python conference in Portland on March 5", "episodic", 0.5),
    ("User prefers window seats on flights", "semantic", 0.4),
    ("User does 30 minutes of yoga every morning", "procedural", 0.6),
    ("User's name is Alex, 32 years old", "core", 0.95),
]


def ago(days: float) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).isoformat()


def expected(category: str, days: float) -> float:
    half_life, floor = TABLE[category]
    return max(floor, 1.0 if half_life is None else 2 ** (-days / half_life))


async def said(client: httpx.AsyncClient, content: str, **turn: Any) -> dict[str, dict[str, Any]]:
    """Have a turn processed, and return what it made: by predicate, or else by type."""
    answer = await client.post("/turns?mode=sync", json={"content": content, "user_id": "u1", **turn})
    assert answer.status_code == 200, answer.text
    [told] = answer.json()["turns"]
    made = [await client.get(f"/memories/{one['memory_id']}") for one in told["candidates"] if one["memory_id"]]
    return {one.json().get("predicate", one.json()["type"]): one.json() for one in made}


@pytest.mark.parametrize(("content", "category", "importance"), EXAMPLES)
async def test_the_seeds_examples_as_turns(
    client: httpx.AsyncClient, content: str, category: str, importance: float
) -> None:
    made = await said(client, content, category=category, importance=importance)
    assert len(made) >= 2, "something was read, beside the turn itself"
    for memory in made.values():
        assert (memory["category"], memory["importance"]) == (category, importance)
    turn = (await client.get("/turns", params={"user_id": "u1"})).json()["turns"][0]
    assert (turn["category"], turn["importance"]) == (category, importance)


@pytest.mark.parametrize(("content", "category", "importance"), EXAMPLES)
async def test_the_seeds_examples_as_typed_writes(
    client: httpx.AsyncClient, content: str, category: str, importance: float
) -> None:
    memory = await written(
        client,
        "episodic",
        content=content,
        session_id="s1",
        user_id="u1",
        category=category,
        importance=importance,
        occurred_at=ago(100),
    )
    assert (memory["category"], memory["importance"], memory["content"]) == (category, importance, content)
    assert memory["freshness"] == pytest.approx(expected(category, 100), abs=0.001)


@pytest.mark.parametrize("category", TABLE)
@pytest.mark.parametrize("days", [0, 45, 120, 1000])
async def test_a_category_fades_as_the_table_says(client: httpx.AsyncClient, category: str, days: float) -> None:
    for kind, fields in (
        ("fact", {"predicate": "drinks", "object": f"tea in {category} {days}"}),
        ("event", {"event_description": f"user drank tea in {category} {days}", "user_id": "u1"}),
        ("preference", {"preference_key": f"tea.{category}-{days}", "preference_value": "green", "user_id": "u1"}),
    ):
        memory = await written(client, kind, category=category, occurred_at=ago(days), **fields)
        assert memory["category"] == category
        assert memory["freshness"] == pytest.approx(expected(category, days), abs=0.001), kind


async def test_a_type_keeps_its_own_half_life_without_a_category(client: httpx.AsyncClient) -> None:
    name = await written(client, predicate="has-name", object="Alex", occurred_at=ago(180))
    assert (name["category"], name["freshness"]) == ("semantic", pytest.approx(0.5, abs=0.001))


async def test_a_callers_word_counts_also_when_the_memory_was_there(client: httpx.AsyncClient) -> None:
    first = await written(client, predicate="has-name", object="Alex")
    again = await written(client, predicate="has-name", object="Alex", category="core")
    assert (again["id"], again["category"]) == (first["id"], "core")
    once_more = await written(client, predicate="has-name", object="Alex")
    assert (once_more["id"], once_more["category"]) == (first["id"], "core")


@pytest.mark.parametrize(
    ("content", "predicate"),
    [
        ("My name is Alex and I am glad to be here.", "has-name"),
        ("I am 32 years old as of today.", "has-age"),
        ("I'm German, by the way, just so you know.", "has-nationality"),
        ("I'm originally from Portugal, not from Spain.", "comes-from"),
        ("I am married to Sam, who cooks well.", "married-to"),
        ("I have type 1 diabetes since my childhood.", "has-condition"),
        ("I'm allergic to peanuts, please remember that.", "allergic-to"),
        ("My sister's name is Clara and she sings.", "has-sibling"),
        ("I work as a nurse in a hospital.", "has-role"),
        ("I live in Lisbon, close to the river.", "lives-in"),
        ("My pronouns are they/them, please use them.", "has-pronouns"),
    ],
)
async def test_what_defines_the_user_is_core_at_extraction(
    client: httpx.AsyncClient, content: str, predicate: str
) -> None:
    memory = (await said(client, content))[predicate]
    assert memory["category"] == "core"
    long_after = await said(client, content, occurred_at=ago(3000), user_id="u2")
    assert long_after[predicate]["freshness"] == 0.6


@pytest.mark.parametrize(
    ("content", "predicate", "category"),
    [
        ("I run every morning at 6am before breakfast.", "runs", "procedural"),
        ("I do 30 minutes of yoga every morning.", "does", "procedural"),
        ("I follow the Pomodoro technique for work.", "follows", "procedural"),
        ("I speak Portuguese and a little French.", "speaks", "procedural"),
        ("I work at Volkswagen in the EV division.", "works-at", "semantic"),
        ("I use Postgres for all of my projects.", "uses", "semantic"),
    ],
)
async def test_routines_and_skills_stay_and_the_rest_fades_by_its_type(
    client: httpx.AsyncClient, content: str, predicate: str, category: str
) -> None:
    memory = (await said(client, content))[predicate]
    assert memory["category"] == category


async def test_what_is_said_of_others_is_not_core(client: httpx.AsyncClient) -> None:
    made = await said(client, "My mother lives in Rome, and she is a nurse.")
    assert made["lives-in"]["category"] == "semantic"
    assert {one["category"] for one in made.values()} <= {"semantic", "episodic"}


async def test_what_is_only_supposed_is_not_core(client: httpx.AsyncClient) -> None:
    made = await said(client, "What if my name was Alex? Imagine that I live in Paris.")
    assert all(one["category"] != "core" for one in made.values())


async def test_nobody_in_particular_has_no_core(client: httpx.AsyncClient) -> None:
    made = await said(client, "My name is Alex and I am glad to be here.", user_id=None)
    assert made["has-name"]["category"] == "semantic"


async def test_a_callers_category_beats_what_extraction_makes_of_it(client: httpx.AsyncClient) -> None:
    made = await said(client, "My name is Alex and I am glad to be here.", category="episodic")
    assert made["has-name"]["category"] == "episodic"


async def test_a_turns_choice_can_only_be_one_that_there_is(client: httpx.AsyncClient) -> None:
    for body, field in (
        ({"category": "forever"}, "category"),
        ({"importance": 2}, "importance"),
    ):
        answer = await client.post("/turns", json={"content": "I live in Lisbon.", "user_id": "u1", **body})
        assert answer.status_code == 422
        assert field in {one["field"] for one in answer.json()["errors"]}


async def test_one_of_several_turns_may_choose(client: httpx.AsyncClient) -> None:
    turns = [
        {"content": "I drink tea with my breakfast every day.", "category": "core"},
        {"content": "I drive a red Volvo to the office."},
    ]
    answer = await client.post("/turns?mode=sync", json={"turns": turns, "user_id": "u1"})
    told = answer.json()["turns"]
    assert [one["category"] for one in told] == ["core", None]
    first = [one["memory_id"] for one in told[0]["candidates"]]
    for memory in first:
        assert (await client.get(f"/memories/{memory}")).json()["category"] == "core"
