"""Questions asked with the last messages of a conversation, in the shapes of chat libraries."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from app.api.query import QueryBody
from app.memory.registry import discover
from tests.api.conftest import written
from tests.english.hostile import growth

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)

ASKED = "Which instrument does Clara play?"
SHAPES: dict[str, list[dict[str, Any]]] = {
    "openai": [
        {"role": "system", "content": "You are kind."},
        {"role": "user", "content": "Did I tell you about Clara?"},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "assistant", "content": "You did."},
        {"role": "user", "content": "Which instrument does she play?"},
    ],
    "anthropic": [
        {"role": "user", "content": [{"type": "text", "text": "Did I tell you about Clara?"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "You did."}]},
        {"role": "user", "content": [{"type": "text", "text": "Which instrument does she play?"}]},
    ],
    "langchain": [
        {"type": "human", "data": {"content": "Did I tell you about Clara?"}},
        {"type": "ai", "data": {"content": "You did."}},
        {"type": "human", "data": {"content": "Which instrument does she play?"}},
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
async def test_messages_ask_what_their_last_question_means(client: httpx.AsyncClient, shape: str) -> None:
    await written(client, subject="Clara", predicate="plays", object="the harp")
    for body in ({"query": ASKED}, {"messages": SHAPES[shape]}):
        answer = await client.post("/query", json={"user_id": "u1", **body})
        assert answer.status_code == 200, answer.text
        assert "Clara plays the harp" in answer.json()["context"]["text"]
        assert answer.json()["understood"]["question"] == ASKED


async def test_a_last_message_that_asks_nothing_gets_nothing(client: httpx.AsyncClient) -> None:
    await written(client, subject="Clara", predicate="plays", object="the harp")
    messages = [{"role": "user", "content": ASKED}, {"role": "user", "content": "Thanks a lot!"}]
    answer = await client.post("/query", json={"user_id": "u1", "messages": messages})
    assert answer.json()["context"]["text"] == ""


async def test_a_very_long_last_message_is_asked_by_its_end(client: httpx.AsyncClient) -> None:
    await written(client, subject="Clara", predicate="plays", object="the harp")
    messages = [{"role": "user", "content": f"{'lorem ipsum ' * 1500} {ASKED}"}]
    answer = await client.post("/query", json={"user_id": "u1", "messages": messages, "min_relevance": 0})
    assert answer.status_code == 200, answer.text
    assert "Clara plays the harp" in answer.json()["context"]["text"]


def test_of_long_messages_only_the_ends_are_read() -> None:
    def read(text: str) -> None:
        said = [("user", text), ("assistant", text), ("user", f"{text} and her?")]
        messages = [{"role": role, "content": content} for role, content in said]
        QueryBody.model_validate({"user_id": "u1", "messages": messages}).to_request(discover(), NOW)

    assert growth(read, "Clara played on 5 ") < 2


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, ""),
        ({"query": "Where?", "messages": SHAPES["openai"]}, ""),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user"}]}, "messages.0"),
        ({"messages": [{"role": "user", "content": "Where?", "timestamp": {"seconds": 1}}]}, "messages.0"),
        ({"messages": [{"role": "assistant", "content": "Hello."}]}, "messages"),
        ({"messages": [{"role": "user", "content": "Where does Ana live? \ud83d"}]}, "messages.0"),
        ({"messages": [{"role": "user", "content": "Where does\x00 Ana live?"}]}, "messages.0"),
    ],
)
async def test_what_cannot_be_asked_is_refused(client: httpx.AsyncClient, body: dict[str, Any], field: str) -> None:
    content = json.dumps({"user_id": "u1", **body})
    answer = await client.post("/query", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422, answer.text
    assert any(one["field"] == field for one in answer.json()["errors"]) or not field
