"""Keys that are bound to a user or an agent: they see and write that one alone, by every route there is."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.http.guard import BOUND, ROLE
from tests.api.conftest import OPERATOR_KEY, Tenant, connected, fact, new_tenant, written
from tests.api.test_isolation import body_of
from tests.support.openapi import document
from tests.support.tenant_types import ticket
from tests.support.waiting import ended_job

SECRET = "Zanzibar"
"""What only the other user's memories say."""

ACCEPT = {"Accept": "application/json, text/event-stream"}


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the OpenAPI document."""

    method: str
    path: str
    role: str
    rule: str | None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def operations() -> list[Operation]:
    paths = document()["paths"]
    return [
        Operation(method.upper(), path, one[ROLE], one.get(BOUND))
        for path, methods in paths.items()
        for method, one in methods.items()
        if one[ROLE] != "none"
    ]


OPERATIONS = operations()


@dataclass(frozen=True, slots=True)
class Two:
    """A tenant with two users who both told something, and a client of each one's own key."""

    tenant: Tenant
    ana: httpx.AsyncClient
    ids: dict[str, str]

    def path(self, operation: Operation) -> str:
        found = operation.path.replace("semantic/entity/{entity_id}", "semantic/entity/Zanzibar")
        for name, value in self.ids.items():
            found = found.replace(f"{{{name}}}", value)
        return found

    async def others(self) -> list[tuple[str, ...]]:
        """The other user's memories and turns, as they are now."""
        client, named = self.tenant.client, {"user_id": "bob", "limit": "200"}
        memories = (await client.get("/memories", params=named)).json()["memories"]
        turns = (await client.get("/turns", params=named)).json()["turns"]
        kept = [(one["id"], one["status"], one["content"]) for one in (*memories, *turns)]
        return sorted(one for one in kept if SECRET in one[2])


@pytest.fixture(scope="module")
async def two(app: FastAPI) -> AsyncIterator[Two]:
    async with connected(app, OPERATOR_KEY) as operator, new_tenant(app, operator, "bound keys") as tenant:
        ids = await furnished(tenant)
        key = await tenant.key("read", "write", user_id="ana")
        async with connected(app, key) as ana:
            await written(ana, subject="Eva", object="Volkswagen", user_id="ana")
            yield Two(tenant=tenant, ana=ana, ids=ids)


async def furnished(tenant: Tenant) -> dict[str, str]:
    """Store what is the other user's, and return its ids by the names of parameters."""
    client = tenant.client
    secret = await written(client, subject="Otto", predicate="lives-in", object=SECRET, user_id="bob", session_id="s1")
    said = await client.post("/turns?mode=sync", json={"content": f"I moved to {SECRET}.", "user_id": "bob"})
    for user, text in (("bob", f"Of {SECRET} alone."), ("ana", "Of the garden.")):
        document = {"document_id": "notes.md", "content": f"# Notes\n\n{text}", "user_id": user}
        assert (await client.post("/documents", json=document)).status_code == 201
    job = await client.post("/turns", json={"content": f"I like {SECRET} a lot.", "user_id": "bob"})
    assert (await client.post("/admin/types", json=ticket(aliases=[]))).status_code == 201
    assert (await ended_job(client, job.json()["job_id"]))["status"] == "succeeded"
    entities = (await client.get("/entities", params={"user_id": "bob"})).json()["entities"]
    return {
        "memory_id": secret["id"],
        "turn_id": said.json()["turns"][0]["id"],
        "job_id": job.json()["job_id"],
        "entity_id": entities[0]["id"],
        "session_id": "s1",
        "document_id": "notes.md",
        "user_id": "bob",
        "type": "ticket",
        "type_name": "ticket",
        "name": "freshness",
        "key_id": "key_" + "0" * 32,
        "review_id": secret["id"].replace("mem_", "rev_"),
        "erasure_id": "era_" + "0" * 32,
        "backfill_id": "bak_" + "0" * 32,
        "tenant_id": "ten_" + "0" * 32,
    }


def others_body(operation: Operation) -> dict[str, Any]:
    """A body that is about the other user, with no ids of rows that do not exist."""
    body: dict[str, Any] = json.loads(json.dumps(body_of(operation.path)).replace('"u1"', '"bob"'))
    if operation.rule == "named" and "memories" not in body:
        body["user_id"] = "bob"
    return body


def sent(operation: Operation, body: dict[str, Any]) -> dict[str, Any]:
    """A body as its route takes it: JSON, or a form with a file."""
    if operation.path == "/documents/files":
        return {"files": {"file": ("garden.md", b"# Garden\n\nTomatoes.")}, "data": body}
    return {"json": body}


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
async def test_nothing_of_another_user_is_seen_or_changed(operation: Operation, two: Two) -> None:
    before = await two.others()
    takes_body = operation.method in {"POST", "PUT", "PATCH"}
    params = (
        {"user_id": "bob"} if operation.rule == "named" and not takes_body and "{user_id}" not in operation.path else {}
    )
    if operation.path == "/sessions":
        params = {"owner": "bob"}
    answer = await two.ana.request(
        operation.method,
        two.path(operation),
        params=params,
        **(sent(operation, others_body(operation)) if takes_body else {}),
    )
    if operation.rule == "open":
        assert answer.status_code == 200, answer.text
    else:
        assert answer.status_code == (404 if operation.rule not in {None, "named"} else 403), answer.text
        assert answer.headers["Content-Type"] == "application/problem+json"
    assert SECRET not in answer.text.replace(two.path(operation), "")
    assert await two.others() == before


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if one.rule == "named"], ids=str)
async def test_without_a_name_the_keys_own_user_is_meant(operation: Operation, two: Two) -> None:
    takes_body = operation.method == "POST"
    if "{user_id}" in operation.path:
        assert (await two.ana.get(operation.path.replace("{user_id}", "ana"))).status_code == 200
        return
    if "{document_id}" in operation.path:
        document = {"document_id": "notes.md", "content": "# Notes\n\nOf the garden."}
        assert (await two.ana.post("/documents", json=document)).status_code < 300
    body = json.loads(json.dumps(others_body(operation)).replace(', "user_id": "bob"', ""))
    body.pop("user_id", None)
    answer = await two.ana.request(
        operation.method, two.path(operation), **(sent(operation, body) if takes_body else {})
    )
    # These tests have no language model, which an answer takes.
    assert answer.status_code < 300 or answer.status_code == 501, answer.text
    assert SECRET not in answer.text
    for memory in [answer.json().get("memory"), *(answer.json().get("memories") or [])]:
        found = (memory or {}).get("memory") or memory
        if found and "user_id" in found:
            assert found["user_id"] == "ana", found


async def test_every_route_for_readers_and_writers_says_how_bound_keys_are_kept_to_their_own() -> None:
    closed = {str(one) for one in OPERATIONS if one.role in {"read", "write"} and one.rule is None}
    assert closed == {
        "GET /users",
        "GET /agents",
        "GET /jobs",
        "POST /entities/merge",
        "POST /entities/unmerge",
    }


async def test_what_everyone_sees_is_read_and_not_written(two: Two) -> None:
    shared = await written(two.tenant.client, "semantic", content="The office closes at six.")
    assert (await two.ana.get(f"/memories/{shared['id']}")).status_code == 200
    for answer in (
        await two.ana.delete(f"/memories/{shared['id']}"),
        await two.ana.patch(f"/memories/{shared['id']}", json={"importance": 0.1}),
        await two.ana.post(f"/memories/{shared['id']}/feedback", json={"feedback": "wrong"}),
        await two.ana.post("/memories/typed/fact", json=fact(user_id=None, scope="global")),
        await two.ana.post("/turns", json={"content": "Eva works at Audi.", "scope": "global"}),
    ):
        assert answer.status_code == 403
        assert "use a key that is not bound" in answer.json()["detail"]


@pytest.mark.parametrize("who", [{"user_id": "bob"}, {}])
async def test_a_turn_of_another_is_not_cited_and_so_not_erased_with_the_memory(two: Two, who: dict[str, str]) -> None:
    answer = await two.tenant.client.post("/turns?mode=sync", json={"content": "thank you so much", **who})
    [other] = answer.json()["turns"]
    assert other["status"] == "skipped"
    cited = {"evidence": [{"turn_id": other["id"], "quote": "so much"}]}
    for path, body in (
        ("/memories/typed/fact", fact(user_id=None, object="Fiat", **cited)),
        ("/memories/batch", {"memories": [{"type": "fact", **fact(user_id=None, object="Fiat", **cited)}]}),
    ):
        refused = await two.ana.post(path, json=body)
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["field"].endswith("evidence.0.turn_id")
    assert (await two.tenant.client.get(f"/turns/{other['id']}")).status_code == 200


async def test_a_turn_of_ones_own_is_cited(two: Two) -> None:
    [mine] = (await two.ana.post("/turns?mode=sync", json={"content": "thank you so much"})).json()["turns"]
    found = await written(two.ana, user_id=None, subject="Eva", object="Fiat", evidence_turn_id=mine["id"])
    assert found["evidence"][0]["turn_id"] == mine["id"]


async def test_a_batch_with_one_line_of_another_is_refused(two: Two) -> None:
    items = [{"type": "fact", **fact(user_id=user, object="Seat")} for user in ("ana", "bob")]
    answer = await two.ana.post("/memories/batch", json={"memories": items})
    assert answer.status_code == 403
    assert "bound to the user 'ana', not to another user_id" in answer.json()["detail"]


async def test_naming_an_agent_takes_a_key_that_is_bound_to_it(two: Two) -> None:
    asked = {"query": "what is known?", "agent_id": "helper"}
    assert (await two.ana.post("/query", json=asked)).status_code == 403
    both = await two.tenant.key("read", "write", user_id="ana", agent_id="helper")
    async with connected(two.tenant.app, both) as client:
        assert (await client.post("/query", json=asked)).status_code == 200
        found = await written(client, user_id=None, subject="Eva", object="Opel")
        assert (found["scope"], found["user_id"], found["agent_id"]) == ("agent", "ana", "helper")
        assert (await client.get("/sessions", params={"owner": "ana"})).status_code == 403


async def test_an_agents_key_writes_into_its_own_memory(two: Two) -> None:
    async with connected(two.tenant.app, await two.tenant.key("read", "write", agent_id="helper")) as client:
        found = await written(client, "semantic", content="Tickets are answered within a day.")
        assert (found["scope"], found["agent_id"], found["user_id"]) == ("agent", "helper", None)
        assert (await client.get("/memories", params={"user_id": "ana"})).status_code == 403


async def test_the_same_idempotency_key_of_two_users_gives_each_their_own_answer(two: Two) -> None:
    async with connected(two.tenant.app, await two.tenant.key("write", user_id="eve")) as eve:
        body, told = {"predicate": "likes", "object": "tea"}, {"Idempotency-Key": "the same"}
        mine, hers = [await one.post("/memories/typed/fact", json=body, headers=told) for one in (two.ana, eve)]
    assert (mine.json()["memory"]["user_id"], hers.json()["memory"]["user_id"]) == ("ana", "eve")


async def test_an_erased_memory_is_answered_again_to_a_retry(two: Two) -> None:
    mine = await written(two.ana, user_id=None, subject="Eva", object="Porsche")
    told = {"Idempotency-Key": "erase once"}
    first, again = [await two.ana.delete(f"/memories/{mine['id']}", headers=told) for _ in range(2)]
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json() == again.json()


@pytest.mark.parametrize("odd", [["ana"], {"id": "bob"}, 7, True, []])
@pytest.mark.parametrize("field", ["user_id", "agent_id"])
async def test_an_owner_that_is_no_text_is_refused_by_its_field(two: Two, field: str, odd: object) -> None:
    for path, body in (
        ("/query", {"query": "who lives where?", field: odd}),
        ("/turns", {"content": "I moved to Rome.", field: odd}),
        ("/memories/typed/fact", fact(**{"user_id": None, field: odd})),
        ("/memories/batch", {"memories": [{"type": "fact", **fact(**{"user_id": None, field: odd})}]}),
    ):
        answer = await two.ana.post(path, json=body)
        assert answer.status_code == 422, (path, answer.text)
        assert answer.json()["errors"][0]["field"].endswith(field), (path, answer.text)
    result = await called(two.ana, "recall", query="who lives where?", **{field: odd})
    assert result["isError"]
    assert field in result["content"][0]["text"]


async def called(client: httpx.AsyncClient, name: str, **arguments: object) -> dict[str, Any]:
    """Call a tool, and return its result."""
    params = {"name": name, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = await client.post("/mcp", json=body, headers=ACCEPT)
    found: dict[str, Any] = json.loads(answer.text.partition("data: ")[2] or answer.text)["result"]
    return found


async def test_tools_are_kept_to_the_keys_own_too(two: Two) -> None:
    for name, arguments in {
        "recall": {"query": "who lives where?", "user_id": "bob"},
        "store_memory": {"content": "I moved to Rome.", "user_id": "bob"},
        "get_job": {"job_id": two.ids["job_id"]},
        "forget": {"memory_id": two.ids["memory_id"]},
        "review_pending": {},
    }.items():
        answer = await called(two.ana, name, **arguments)
        assert answer["isError"], (name, answer)
        assert SECRET not in json.dumps(answer)
    mine = await called(two.ana, "recall", query=f"who lives in {SECRET}?")
    assert not mine["isError"]
    assert f"lives in {SECRET}" not in mine["content"][0]["text"]


async def test_a_bound_key_is_listed_with_its_user_and_has_no_power_over_others(two: Two) -> None:
    refused = await two.tenant.client.post("/admin/keys", json={"name": "x", "roles": ["admin"], "user_id": "ana"})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "roles"
    keys = (await two.tenant.client.get("/admin/keys")).json()["keys"]
    mine = next(one for one in keys if one["user_id"] == "ana" and one["agent_id"] is None)
    assert (await two.ana.get("/whoami")).json()["user_id"] == "ana"
    rotated = (await two.tenant.client.post(f"/admin/keys/{mine['id']}/rotate")).json()
    assert rotated["user_id"] == "ana"


async def test_erasing_a_user_takes_the_users_keys_along(tenant: Tenant) -> None:
    key = await tenant.key("read", user_id="zoe")
    async with connected(tenant.app, key) as client:
        assert (await client.get("/whoami")).status_code == 200
        await written(tenant.client, user_id="zoe")
        assert (await tenant.client.delete("/users/zoe")).status_code < 300
    keys = (await tenant.client.get("/admin/keys")).json()["keys"]
    assert not [one for one in keys if one["user_id"] == "zoe"]
