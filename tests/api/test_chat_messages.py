"""Chat messages in the shapes of other libraries, sent to `POST /turns` as they are."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

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
        {"place": 0, "reason": "system prompt", "fields": []},
        {"place": 1, "reason": "message without text", "fields": []},
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
        ("/turns", {"turns": [{"content": SPOKEN, "thread_id": "t"}]}, "session_id"),
        ("/query", {"query": "Where?", "limit": 3}, "top_k"),
        ("/query", {"query": "Where?", "thread_id": "t"}, "session_id"),
    ):
        answer = await client.post(path, json={**body, "user_id": "ann"})
        assert answer.status_code == 422, answer.text
        assert f"did you mean `{ours}`?" in answer.json()["errors"][0]["message"]


WAYS_TO_SAY_WHEN = [
    {"createdAt": "2024-02-03T04:05:06+00:00"},
    {"sent_at": 1706933106},
    {"dateTime": "2024-02-03T04:05:06Z"},
    {"sentAt": 1706933106000},
    {"ts": "1706933106.000000"},
    {"time": "1706933106000"},
    {"create_time": {"$date": "2024-02-03T04:05:06Z"}},
    {"date": {"$date": {"$numberLong": "1706933106000"}}},
    {"timestamp": 1706933106.0},
]


@pytest.mark.parametrize("when", WAYS_TO_SAY_WHEN, ids=str)
async def test_every_door_reads_the_time_of_a_message_alike(client: httpx.AsyncClient, when: dict[str, Any]) -> None:
    said = {"role": "user", "content": "Meine Schwester heißt Carla."}
    bodies: list[dict[str, Any]] = [
        {"messages": [{**said, **when}]},
        {"messages": [said], **when},
        {"turns": [{**said, **when}]},
        {"turns": [said], **when},
        {**said, **when},
    ]
    for body in bodies:
        answer = await client.post("/turns", params={"dry_run": True}, json={"user_id": "lea", **body})
        assert answer.status_code == 200, answer.text
        assert [one["occurred_at"] for one in answer.json()["turns"]] == ["2024-02-03T04:05:06Z"], body
    written = {"type": "fact", "user_id": "lea", "predicate": "sister", "object": "Carla", **when}
    batch = await client.post("/memories/batch", json={"memories": [written]})
    assert batch.json()["results"][0]["memory"]["occurred_at"] == "2024-02-03T04:05:06Z"


async def test_an_old_chat_does_not_replace_what_is_true_today(client: httpx.AsyncClient) -> None:
    await send(client, {"role": "user", "content": "I live in Lyon."})
    await send(client, {"role": "user", "content": "I live in Ghent.", "sentAt": "1600000000"})
    active = await client.get("/memories", params={"user_id": "ann", "type": "fact", "status": "active"})
    assert [one["content"] for one in active.json()["memories"]] == ["user lives in Lyon"]


async def test_parts_roles_and_names_of_more_libraries_are_read(client: httpx.AsyncClient) -> None:
    answer = await send(
        client,
        {"role": "model", "parts": [{"text": "Which city?"}]},
        {"role": "user", "parts": [{"type": "text", "text": "Oslo."}, {"type": "reasoning", "text": "hidden"}]},
        {"role_type": "user", "role": "Jürgen", "content": "I sail."},
        {"sender": "bot", "text": "Noted."},
        {"author": "Mina", "text": "I paint."},
    )
    assert answer.status_code == 200, answer.text
    read = [(one["role"], one["speaker"], one["content"]) for one in answer.json()["turns"]]
    assert read == [
        ("assistant", None, "Which city?"),
        ("user", None, "Oslo."),
        ("user", "Jürgen", "I sail."),
        ("assistant", None, "Noted."),
        ("user", "Mina", "I paint."),
    ]
    assert answer.json()["ignored"] == [{"place": 1, "reason": "fields that are not read", "fields": ["parts.1"]}]


async def test_what_stands_beside_the_list_is_of_every_message_without_its_own(client: httpx.AsyncClient) -> None:
    mine = {"content": "I bake.", "importance": 0.9, "metadata": {"page": 7}, "session_id": "s2", "name": "Uma"}
    beside = {"importance": 0.2, "metadata": {"page": 1, "book": "B"}, "speaker": "Zoe"}
    for name in ("turns", "messages"):
        answer = await send(client, **{"messages": None, name: [mine, {"content": "I ski."}], **beside})
        assert answer.status_code == 200, answer.text
        kept = [
            (one["importance"], one["metadata"], one["session_id"], one["speaker"]) for one in answer.json()["turns"]
        ]
        assert kept == [
            (0.9, {"page": 7, "book": "B"}, "s2", "Uma"),
            (0.2, {"page": 1, "book": "B"}, "s1", "Zoe"),
        ]


async def test_nothing_is_left_out_without_a_word(client: httpx.AsyncClient) -> None:
    answer = await send(
        client,
        {"role": "user", "content": SPOKEN, "reactions": ["+1"], "editedAt": 5, "extra": None},
        {"role": "user", "content": [{"type": "text", "text": "Look!"}, {"type": "image_url", "image_url": {}}]},
    )
    assert [(one["place"], one["fields"]) for one in answer.json()["ignored"]] == [
        (0, ["reactions", "editedAt"]),
        (1, ["content.1"]),
    ]
    for wrong, ours in (
        ({"timestmp": 5}, "timestamp"),
        ({"importence": 0.4}, "importance"),
        ({"sesion_id": "a"}, "session_id"),
    ):
        refused = await send(client, {"role": "user", "content": SPOKEN, **wrong})
        assert (refused.status_code, f"did you mean `{ours}`?" in refused.text) == (422, True), refused.text
