"""Questions over HTTP."""

from __future__ import annotations

import httpx

from app.api.query import QueryResultOut, RecallResultOut
from tests.api.conftest import fact, written


async def test_dark_mode_then_light_mode_is_light_mode(client: httpx.AsyncClient) -> None:
    for value in ("dark", "light"):
        await written(client, "preference", preference_key="editor.theme", preference_value=value, user_id="u1")
    body = {"query": "which editor theme does the user prefer?", "user_id": "u1", "types": ["preference"]}
    answer = await client.post("/query", json=body)
    assert answer.status_code == 200, answer.text
    QueryResultOut.model_validate_json(answer.content)
    assert [hit["memory"]["preference_value"] for hit in answer.json()["memories"]] == ["light"]
    assert "light" in answer.json()["context"]["text"]


async def test_explained_answers_are_what_openapi_says(client: httpx.AsyncClient) -> None:
    await written(client)
    answer = await client.post("/query", json={"query": "Volkswagen", "user_id": "u1", "explain": True})
    QueryResultOut.model_validate_json(answer.content)
    [hit] = answer.json()["memories"]
    assert hit["arms"]
    assert answer.json()["plan"] is not None


async def test_the_aegis_shape_asks_the_same_engine(client: httpx.AsyncClient) -> None:
    await written(client)
    await written(client, "episodic", content="User asked about Volkswagen prices", session_id="s", user_id="u1")
    for path in ("/memories/typed/query", "/memories/query"):
        body = {"query": "Volkswagen", "memory_types": ["episodic"], "top_k": 10, "user_id": "u1"}
        answer = await client.post(path, json=body)
        assert answer.status_code == 200, answer.text
        RecallResultOut.model_validate_json(answer.content)
        assert [one["memory_type"] for one in answer.json()["memories"]] == ["episodic"]
        assert answer.json()["query_time_ms"] > 0


async def test_a_user_sees_the_tenants_and_their_own(client: httpx.AsyncClient) -> None:
    await written(client, object="everyone at Volkswagen", user_id=None)
    await written(client, object="Volkswagen Mitte", user_id="u1")
    await written(client, object="Volkswagen Nord", user_id="u2")

    async def seen(**who: str) -> set[str]:
        answer = await client.post("/query", json={"query": "Volkswagen", "min_confidence": 0, **who})
        return {hit["memory"]["object"] for hit in answer.json()["memories"]}

    assert await seen() == {"everyone at Volkswagen"}
    assert await seen(user_id="u1") == {"everyone at Volkswagen", "Volkswagen Mitte"}
    assert await seen(user_id="u2") == {"everyone at Volkswagen", "Volkswagen Nord"}


async def test_nothing_known_is_an_empty_answer(client: httpx.AsyncClient) -> None:
    answer = await client.post("/query", json={"query": "what is known?"})
    assert answer.status_code == 200
    assert answer.json()["memories"] == []


async def test_strange_questions_are_answered(client: httpx.AsyncClient) -> None:
    await client.post("/memories/typed/fact", json=fact())
    for question in ("?", "'; DROP TABLE memories; --", "%_\\", "\U0001f600", "a " * 3999, "\u202e", "0" * 8000):
        answer = await client.post("/query", json={"query": question, "user_id": "u1"})
        assert answer.status_code == 200, (question[:20], answer.text[:300])


async def test_metadata_and_tags_filter_questions_in_every_shape(client: httpx.AsyncClient) -> None:
    await written(client, object="Volkswagen", metadata={"project": "atlas", "tags": ["work", "urgent"]})
    await written(client, predicate="drives", object="Volkswagen", metadata={"project": "zeus", "tags": ["work"]})

    async def found(path: str = "/query", **filters: object) -> int:
        answer = await client.post(path, json={"query": "Volkswagen", "user_id": "u1", **filters})
        assert answer.status_code == 200, answer.text
        return len(answer.json()["memories"])

    for path in ("/query", "/memories/query", "/memories/typed/query"):
        assert await found(path) == 2
        assert await found(path, tags=["work"]) == 2
        assert await found(path, tags=["urgent", "work"]) == 1
        assert await found(path, metadata={"project": "zeus"}) == 1
        assert await found(path, metadata={"project": "zeus"}, tags=["urgent"]) == 0
    twice = await client.post("/query", json={"query": "?", "tags": ["work"], "metadata": {"tags": ["home"]}})
    assert twice.status_code == 422
    assert "not in both" in twice.text


async def test_metadata_of_a_turn_are_those_of_all_its_memories(client: httpx.AsyncClient) -> None:
    turn = {"user_id": "u1", "content": "I work at Volkswagen.", "metadata": {"tags": ["work"]}}
    told = await client.post("/turns?mode=sync", json=turn)
    assert told.status_code == 200, told.text
    for tags, found in ((["work"], True), (["home"], False)):
        asked = {"query": "Volkswagen", "user_id": "u1", "tags": tags, "min_relevance": 0}
        answer = await client.post("/query", json=asked)
        assert bool(answer.json()["memories"]) is found
