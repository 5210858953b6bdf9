"""Seed 004 over HTTP, its bodies and addresses as they stand, and the plain calls of the Aegis Memory SDK."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from app import ids
from tests.api.conftest import Tenant, connected, written
from tests.support import owner

EPISODIC: dict[str, Any] = {
    "content": "User asked about pricing for enterprise plan",
    "agent_id": "sales",
    "session_id": "conv-42",
    "sequence_number": 1,
}
SEMANTIC: dict[str, Any] = {
    "content": "User is a Python developer based in Manchester",
    "entity_id": "user_123",
}
PROCEDURAL: dict[str, Any] = {
    "content": "For API pagination, use cursor-based approach",
    "agent_id": "executor",
    "steps": ["Initialize cursor", "Fetch page", "Check has_more flag"],
    "trigger_conditions": ["API returns paginated results"],
}
CONTROL: dict[str, Any] = {
    "content": "Never use range() for unknown-length pagination",
    "agent_id": "reflector",
    "error_pattern": "pagination_incomplete",
    "severity": "high",
}
BODIES = {"episodic": EPISODIC, "semantic": SEMANTIC, "procedural": PROCEDURAL, "control": CONTROL}
TIMELINE = "/memories/typed/episodic/session/conv-42"
FACTS = "/memories/typed/semantic/entity/user_123"

SCENARIOS = [
    ("Recording what happened in a conversation", "episodic", {"session_id": "conv-42"}),
    ("Storing a fact about a user or entity", "semantic", {"entity_id": "user_123"}),
    ("Saving a reusable workflow or pattern", "procedural", {}),
    ("Recording a rule or constraint", "control", {}),
    ("General-purpose memory storage", "standard", {}),
    ("Storing a lesson from a failure", "reflection", {}),
    ("Storing a lesson from a failure", "control", {}),
    ("Tracking session progress", "progress", {"session_id": "conv-42"}),
    ("Tracking feature completion", "feature", {"feature_key": "search", "feature_status": "complete"}),
]
"""Its table "When to use which type"."""

READ = ("id", "content", "namespace", "created_at", "scope")
"""Fields that the SDK reads of a memory and does without none of."""


async def told(client: httpx.AsyncClient, path: str, **params: Any) -> list[dict[str, Any]]:
    named = {"user_id", "agent_id", "scope"} & set(params)
    answer = await client.get(path, params=params if named else {"all": True, **params})
    assert answer.status_code == 200, answer.text
    memories: list[dict[str, Any]] = answer.json()["memories"]
    return memories


@pytest.mark.parametrize(("kind", "body"), BODIES.items(), ids=BODIES)
async def test_every_body_of_the_page_is_kept_field_by_field(
    client: httpx.AsyncClient, kind: str, body: dict[str, Any]
) -> None:
    memory = await written(client, kind, **body)
    assert memory["type"] == kind
    assert {name: memory[name] for name in body if name != "agent_id"} == {
        name: value for name, value in body.items() if name != "agent_id"
    }


@pytest.mark.parametrize(
    ("kind", "scope", "agent", "author"),
    [
        ("episodic", "agent", "sales", None),
        ("semantic", "global", None, None),
        ("procedural", "global", None, "executor"),
        ("control", "global", None, "reflector"),
    ],
)
async def test_each_has_its_default_scope_and_the_agent_is_never_lost(
    client: httpx.AsyncClient, kind: str, scope: str, agent: str | None, author: str | None
) -> None:
    memory = await written(client, kind, **BODIES[kind])
    assert (memory["scope"], memory["agent_id"]) == (scope, agent)
    assert memory["provenance"].get("agent_id") == author


async def test_an_episode_needs_its_session(client: httpx.AsyncClient) -> None:
    without = {name: value for name, value in EPISODIC.items() if name != "session_id"}
    answer = await client.post("/memories/typed/episodic", json=without)
    assert answer.status_code == 422
    assert [one["field"] for one in answer.json()["errors"]] == ["session_id"]


@pytest.mark.parametrize(
    ("kind", "optional"),
    [
        ("episodic", ["sequence_number"]),
        ("semantic", ["entity_id"]),
        ("procedural", ["steps", "trigger_conditions"]),
        ("control", ["error_pattern", "severity", "source_trajectory_id"]),
    ],
)
async def test_what_the_page_calls_optional_may_be_left_out(
    client: httpx.AsyncClient, kind: str, optional: list[str]
) -> None:
    await written(client, kind, **{name: value for name, value in BODIES[kind].items() if name not in optional})


async def test_a_rule_can_be_linked_to_the_trajectory_that_taught_it(client: httpx.AsyncClient) -> None:
    memory = await written(client, "control", **CONTROL, source_trajectory_id="run-7")
    assert memory["source_trajectory_id"] == "run-7"


@pytest.mark.parametrize("path", ["/memories/typed/query", "/memories/query"])
async def test_queries_search_across_the_types_they_name(client: httpx.AsyncClient, path: str) -> None:
    for kind, body in BODIES.items():
        await written(client, kind, **body)
    await written(client, "standard", content="User preferences: short answers about pagination strategies")
    for body, kinds in (
        ({"query": "pagination strategies", "memory_types": ["procedural", "control"], "top_k": 10},
         {"procedural", "control"}),
        ({"query": "user preferences", "memory_types": ["semantic", "standard"]}, {"semantic", "standard"}),
        ({"query": "pagination strategies", "memory_types": ["procedure"]}, {"procedural"}),
    ):  # fmt: skip
        answer = await client.post(path, json=body)
        assert answer.status_code == 200, answer.text
        found = [one.get("memory", one) for one in answer.json()["memories"]]
        assert {one["type"] for one in found} == kinds
        assert answer.json()["query_time_ms"] >= 0


async def test_an_unknown_type_is_named(client: httpx.AsyncClient) -> None:
    answer = await client.post("/memories/query", json={"query": "x", "memory_types": ["semantic", "opinion"]})
    assert answer.status_code == 422
    assert [one["field"] for one in answer.json()["errors"]] == ["memory_types.1"]


@pytest.mark.parametrize(("scenario", "kind", "fields"), SCENARIOS)
async def test_every_scenario_of_the_table_has_its_type(
    client: httpx.AsyncClient, scenario: str, kind: str, fields: dict[str, Any]
) -> None:
    await written(client, kind, content=f"{scenario}: the indexer stalls on empty files", **fields)
    answer = await client.post("/memories/query", json={"query": "why does the indexer stall?", "memory_types": [kind]})
    assert [one.get("memory", one)["type"] for one in answer.json()["memories"]] == [kind]


async def test_the_older_types_work_beside_their_equivalents(client: httpx.AsyncClient) -> None:
    pairs = {"standard": "semantic", "strategy": "procedural", "reflection": "control", "progress": "episodic"}
    for place, (older, newer) in enumerate(pairs.items()):
        content = f"Lesson {place} about the staging cluster"
        session = {"session_id": f"s{place}"}
        first = await written(client, older, content=content, **(session if older == "progress" else {}))
        second = await written(client, newer, content=content, **(session if newer == "episodic" else {}))
        assert first["id"] != second["id"]
        assert (first["status"], second["status"]) == ("active", "active")


async def test_a_session_is_told_in_sequence(client: httpx.AsyncClient) -> None:
    for content, more in (
        ("third", {"sequence_number": 3}),
        ("late", {"occurred_at": "2026-05-09T12:00:05Z"}),
        ("first", {"sequence_number": 1}),
        ("early", {"occurred_at": "2026-05-09T12:00:01Z"}),
        ("second", {"sequence_number": 2}),
        ("also third", {"sequence_number": 3}),
    ):
        await written(client, "episodic", content=content, agent_id="sales", session_id="conv-42", **more)
    await written(client, "episodic", content="elsewhere", agent_id="sales", session_id="conv-43", sequence_number=0)
    await written(client, "progress", content="half done", agent_id="sales", session_id="conv-42")
    expected = ["first", "second", "third", "also third", "early", "late"]
    assert [one["content"] for one in await told(client, TIMELINE)] == expected
    for limit in (1, 2, 4):
        found, cursor = [], None
        while True:
            params = {"all": True, "limit": limit, **({} if cursor is None else {"cursor": cursor})}
            page = (await client.get(TIMELINE, params=params)).json()
            assert len(page["memories"]) <= limit
            found += [one["content"] for one in page["memories"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert found == expected


async def test_a_timeline_is_seen_by_those_who_may(client: httpx.AsyncClient) -> None:
    for agent, user, place in (("sales", None, 1), ("sales", "ana", 2), ("support", None, 3)):
        body = {**EPISODIC, "agent_id": agent, "sequence_number": place, **({"user_id": user} if user else {})}
        await written(client, "episodic", **body)

    async def seen(**by: str) -> list[int]:
        return [one["sequence_number"] for one in await told(client, TIMELINE, **by)]

    assert await seen() == [1, 2, 3]
    assert await seen(agent_id="sales") == [1]
    assert await seen(agent_id="sales", user_id="ana") == [1, 2]
    assert await seen(user_id="ana") == []
    assert await seen(scope="agent", agent_id="support") == [3]


@pytest.mark.parametrize("path", [TIMELINE, FACTS])
async def test_nothing_known_is_an_empty_list(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert (answer.status_code, answer.json()) == (200, {"memories": [], "next_cursor": None})


async def test_a_session_may_be_called_anything(client: httpx.AsyncClient) -> None:
    for name in ("2026/05/09", "a b", "mit Ümlaut?", "100%"):
        await written(client, "episodic", content=f"said in {name}", agent_id="a", session_id=name)
        path = f"/memories/typed/episodic/session/{quote(name)}"
        assert [one["session_id"] for one in await told(client, path)] == [name]


@pytest.mark.parametrize("path", [TIMELINE, FACTS])
async def test_a_listing_refuses_what_it_does_not_take(client: httpx.AsyncClient, path: str) -> None:
    for params, field in (
        ({"limit": 0}, "limit"),
        ({"cursor": "nonsense"}, "cursor"),
        ({"scope": "user"}, "user_id"),
        ({"as_of": "yesterday"}, "as_of"),
    ):
        answer = await client.get(path, params=params)
        assert answer.status_code == 422, answer.text
        assert [one["field"] for one in answer.json()["errors"]] == [field]


async def test_an_entitys_facts_are_found_by_the_callers_id_and_by_ours(client: httpx.AsyncClient) -> None:
    about = await written(client, "semantic", **SEMANTIC)
    later = await written(client, "semantic", content="User commutes by bicycle", entity_id="user_123")
    own = await written(client, "semantic", content="User keeps bees", entity_id="user_123", scope="user", user_id="u1")
    await written(client, "semantic", content="User plays the cello", entity_id="user_124")
    await written(client, "fact", subject="user_123", predicate="lives-in", object="Manchester")
    assert [one["id"] for one in await told(client, FACTS)] == [own["id"], later["id"], about["id"]]
    assert [one["id"] for one in await told(client, FACTS, user_id="u2")] == [later["id"], about["id"]]
    entities = (await client.get("/entities", params={"all": True, "name": "user_123", "limit": 50})).json()["entities"]
    found = set()
    for entity in entities:
        found |= {one["id"] for one in await told(client, f"/memories/typed/semantic/entity/{entity['id']}")}
    assert found == {about["id"], later["id"], own["id"]}
    page = (await client.get(FACTS, params={"all": True, "limit": 2})).json()
    rest = (await client.get(FACTS, params={"all": True, "limit": 2, "cursor": page["next_cursor"]})).json()
    assert [one["id"] for one in rest["memories"]] == [about["id"]]
    assert rest["next_cursor"] is None


async def test_only_what_is_active_is_told_unless_asked(client: httpx.AsyncClient, database_url: str) -> None:
    episode = await written(client, "episodic", **EPISODIC, occurred_at="2026-05-01T00:00:00Z")
    about = await written(client, "semantic", **SEMANTIC, occurred_at="2026-05-01T00:00:00Z")
    for memory, path in ((episode, TIMELINE), (about, FACTS)):
        one = ids.parse(ids.MEMORY, memory["id"])
        await owner.ask(database_url, "UPDATE memories SET status = 'expired' WHERE id = $1", one)
        assert await told(client, path) == []
        assert [one["id"] for one in await told(client, path, status="expired")] == [memory["id"]]
        assert [one["id"] for one in await told(client, path, as_of="2026-05-02T00:00:00Z")] == [memory["id"]]
        assert await told(client, path, as_of="2026-04-30T00:00:00Z") == []
        then = await told(client, path, known_at=memory["recorded_at"])
        assert [(one["id"], one["status"]) for one in then] == [(memory["id"], "active")]


async def added(client: httpx.AsyncClient, content: str, **more: Any) -> dict[str, Any]:
    body = {"content": content, "namespace": "default", **more}
    answer = await client.post("/aegis/memories/add", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def read(memory: dict[str, Any]) -> dict[str, Any]:
    assert all(memory[name] is not None for name in READ)
    assert datetime.fromisoformat(memory["created_at"]).tzinfo is not None
    return memory


async def test_a_memory_is_added_found_read_changed_and_deleted(client: httpx.AsyncClient) -> None:
    made = await added(client, "The staging server is rebuilt every night.", user_id="u1", metadata={"n": 1})
    path = f"/aegis/memories/{made['id']}"
    query = {"query": "When is the staging server rebuilt?", "user_id": "u1", "namespace": "default"}
    body = {**query, "top_k": 10, "min_score": 0.0, "apply_decay": False}
    found = (await client.post("/aegis/memories/query", json=body)).json()
    assert [read(one)["id"] for one in found["memories"]] == [made["id"]]
    assert 0.5 < found["memories"][0]["score"] <= 1
    none = (await client.post("/aegis/memories/query", json={**body, "min_score": 1e9})).json()
    assert none["memories"] == []
    assert read((await client.get(path)).json())["metadata"] == {"n": 1}
    assert (await client.patch(path, json={"metadata": {"n": 2}})).json()["metadata"] == {"n": 2}
    assert (await client.delete(path)).status_code == 204
    assert (await client.get(path)).status_code == 404


async def test_a_repetition_is_told_and_scopes_are_kept(client: httpx.AsyncClient) -> None:
    first = await added(client, "Deploys are frozen on Fridays.", agent_id="ops", scope="agent-private")
    again = await added(client, "Deploys are frozen on Fridays.", agent_id="ops", scope="agent-private")
    assert (again["id"], again["deduped_from"], first["deduped_from"]) == (first["id"], first["id"], None)
    assert first["inferred_scope"] == "agent-private"
    assert (await added(client, "The wiki moved.", scope="global"))["inferred_scope"] == "global"


async def test_a_batch_has_a_result_each(client: httpx.AsyncClient) -> None:
    items = [{"content": f"Note number {place}.", "user_id": "u1"} for place in range(3)]
    answer = await client.post("/aegis/memories/add_batch", json={"items": items})
    assert len({one["id"] for one in answer.json()["results"]}) == 3


async def test_a_batch_with_a_fault_stores_nothing_and_names_the_item(client: httpx.AsyncClient) -> None:
    items = [{"content": "The wiki moved.", "user_id": "u1"}, {"content": "Mine alone.", "scope": "agent-private"}]
    answer = await client.post("/aegis/memories/add_batch", json={"items": items})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "items.1.agent_id")
    assert (await client.get("/memories", params={"user_id": "u1"})).json()["memories"] == []


async def test_an_agents_own_key_adds_to_its_scope(tenant: Tenant) -> None:
    async with connected(tenant.app, await tenant.key("read", "write", agent_id="ops")) as own:
        assert (await added(own, "Deploys are frozen on Fridays."))["inferred_scope"] == "agent-private"


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("POST", "add", {"content": "x", "namespace": "other"}, "namespace"),
        ("POST", "add", {"content": "x", "user_id": ".."}, "user_id"),
        ("POST", "add", {"content": "x", "shared_with_agents": ["a"]}, "shared_with_agents"),
        ("PATCH", "mem_" + "0" * 32, {"content": "something else"}, "content"),
    ],
)
async def test_what_has_no_counterpart_is_refused_by_field(
    client: httpx.AsyncClient, method: str, path: str, body: dict[str, Any], field: str
) -> None:
    answer = await client.request(method, f"/aegis/memories/{path}", json=body)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)


async def test_another_tenants_memory_is_not_there(client: httpx.AsyncClient, other_client: httpx.AsyncClient) -> None:
    made = await added(client, "The staging server is rebuilt every night.", user_id="u1")
    for method in ("GET", "DELETE"):
        assert (await other_client.request(method, f"/aegis/memories/{made['id']}")).status_code == 404
