"""Chat messages in the shapes of other libraries, sent to `POST /turns` as they are."""

from __future__ import annotations

from typing import Any

import httpx

SPOKEN = "I work at Siemens."


async def send(client: httpx.AsyncClient, *messages: Any, **fields: Any) -> httpx.Response:
    body = {"user_id": "ann", "session_id": "s1", "messages": messages, **fields}
    return await client.post("/turns", params={"mode": "sync"}, json=body)


async def test_each_librarys_message_is_read_with_its_role_name_and_time(client: httpx.AsyncClient) -> None:
    answer = await send(
        client,
        {"role": "user", "content": SPOKEN, "name": "Ann", "timestamp": "2026-05-09T10:00:00Z"},
        {"role": "user", "content": [{"type": "text", "text": "I live"}, {"type": "text", "text": "in Ulm."}]},
        {"type": "human", "content": "I have a dog."},
        {"type": "constructor", "id": ["langchain", "AIMessage"], "kwargs": {"type": "ai", "content": "Noted!"}},
        {"role": "user", "parts": [], "text": "My cat is called Ada.", "created_at": 1778320860},
    )
    assert answer.status_code == 200, answer.text
    turns = {one["content"]: one for one in answer.json()["turns"]}
    assert {content: one["role"] for content, one in turns.items()} == {
        SPOKEN: "user",
        "I live\nin Ulm.": "user",
        "I have a dog.": "user",
        "Noted!": "assistant",
        "My cat is called Ada.": "user",
    }
    assert (turns[SPOKEN]["speaker"], turns[SPOKEN]["occurred_at"]) == ("Ann", "2026-05-09T10:00:00Z")
    assert turns["My cat is called Ada."]["occurred_at"] == "2026-05-09T10:01:00Z"
    assert answer.json()["ignored"] == []


async def test_what_says_nothing_is_left_out_and_named(client: httpx.AsyncClient) -> None:
    answer = await send(
        client,
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "user", "content": SPOKEN},
    )
    assert answer.status_code == 200, answer.text
    assert [one["content"] for one in answer.json()["turns"]] == [SPOKEN]
    assert answer.json()["ignored"] == [
        {"place": 0, "reason": "system prompt"},
        {"place": 1, "reason": "message without text"},
    ]
    nothing = await send(client, {"role": "developer", "content": "Be brief."})
    assert (nothing.status_code, nothing.json()["turns"]) == (200, [])


async def test_a_message_that_is_none_is_refused_by_its_place_and_stores_nothing(client: httpx.AsyncClient) -> None:
    for wrong, named in (
        ({"role": "user"}, "no `content`"),
        ({"role": "narrator", "content": "Once."}, "narrator"),
        ({"role": "user", "content": "Hi there.", "timestamp": "soon"}, "can't read the time"),
        ({"role": "user", "content": "Hi there.", "date": {"seconds": 1778320860}}, 'the time {"seconds": 1778320860}'),
        ({"role": "user", "content": "Hi there.", "time": ["2026-05-09"]}, 'the time ["2026-05-09"]'),
        ({"role": "user", "content": "x" * 40_000}, "characters"),
    ):
        answer = await send(client, {"role": "user", "content": SPOKEN}, wrong)
        assert answer.status_code == 422, answer.text
        [fault] = answer.json()["errors"]
        assert fault["field"].startswith("messages.1")
        assert named in fault["message"], fault
    both = await send(client, {"role": "user", "content": SPOKEN}, turns=[{"content": SPOKEN}])
    assert both.status_code == 422
    assert (await client.get("/turns?all=true")).json()["turns"] == []


async def test_a_field_by_the_name_of_another_library_is_answered_with_ours(client: httpx.AsyncClient) -> None:
    for path, body, ours in (
        ("/turns", {"content": SPOKEN, "timestamp": "2026-05-09T10:00:00Z"}, "occurred_at"),
        ("/turns", {"turns": [{"content": SPOKEN, "name": "Ann"}]}, "speaker"),
        ("/query", {"query": "Where?", "limit": 3}, "top_k"),
        ("/query", {"query": "Where?", "thread_id": "t"}, "session_id"),
    ):
        answer = await client.post(path, json={**body, "user_id": "ann"})
        assert answer.status_code == 422, answer.text
        assert f"did you mean `{ours}`?" in answer.json()["errors"][0]["message"]
