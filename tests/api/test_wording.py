"""What a field is not, is said in the words of JSON; what is true is no number; and one word is one topic."""

from __future__ import annotations

import unicodedata
from typing import Any

import httpx
import pytest

from tests.api.conftest import fact, written

COMPOSED = unicodedata.normalize("NFC", "Café")
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)


@pytest.mark.parametrize(
    ("kind", "given", "field", "message"),
    [
        ("procedural", {"content": "go", "steps": "one"}, "steps", "must be a list"),
        ("procedural", {"content": "go", "steps": {"1": "one"}}, "steps", "must be a list"),
        (
            "procedural",
            {"content": "go", "steps": ["one"] * 101},
            "steps",
            "must have at most 100 items, not 101",
        ),
        ("fact", fact(evidence="x"), "evidence", "must be a list"),
        ("fact", fact(metadata="x"), "metadata", "must be a JSON object"),
    ],
)
async def test_a_list_is_called_a_list(
    client: httpx.AsyncClient, kind: str, given: dict[str, Any], field: str, message: str
) -> None:
    answer = await client.post(f"/memories/typed/{kind}", json=given)
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"field": field, "message": message}]


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/memories/typed/fact", fact(sequence_number=True), "sequence_number"),
        ("/memories/typed/fact", fact(importance=True), "importance"),
        (
            "/memories/typed/episodic",
            {"content": "hello there", "session_id": "s", "sequence_number": False},
            "sequence_number",
        ),
        (
            "/memories/batch",
            {"memories": [{"type": "fact", **fact(sequence_number=True)}]},
            "memories.0.sequence_number",
        ),
        ("/turns", {"role": "user", "content": "I live in Lisbon now.", "sequence_number": True}, "sequence_number"),
        ("/query", {"query": "where?", "top_k": True}, "top_k"),
    ],
)
async def test_true_and_false_are_no_numbers(
    client: httpx.AsyncClient, path: str, body: dict[str, Any], field: str
) -> None:
    answer = await client.post(path, json=body)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"] == [{"field": field, "message": "must be a number, not true or false"}]


@pytest.mark.parametrize(("kept", "asked"), [(COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED)])
async def test_one_word_is_one_topic_however_its_letters_are_composed(
    client: httpx.AsyncClient, kept: str, asked: str
) -> None:
    memory = await written(client, topic=kept)
    assert memory["topic"] == COMPOSED
    listed = await client.get("/memories", params={"topic": asked, "user_id": "u1"})
    assert [one["id"] for one in listed.json()["memories"]] == [memory["id"]]
    found = await client.post("/query", json={"query": "Volkswagen", "topic": asked, "user_id": "u1"})
    assert [one["memory"]["id"] for one in found.json()["memories"]] == [memory["id"]]
    changed = await client.patch(f"/memories/{memory['id']}", json={"topic": f"{asked} noir"})
    assert changed.json()["topic"] == f"{COMPOSED} noir"
