"""The HTTP contract in general: what the OpenAPI document says of every route is what the service does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.api.conftest import Tenant, connected, fact, written
from tests.support.openapi import document

DOCUMENT = document()
SCHEMAS = DOCUMENT["components"]["schemas"]
INVISIBLE = "\u200b\u2060"


@dataclass(frozen=True, slots=True)
class Body:
    """A route with a JSON body: its schema and a valid example."""

    method: str
    path: str
    schema: dict[str, Any]
    example: dict[str, Any]
    required: bool

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def url(self) -> str:
        filled = self.path.replace("{", "").replace("}", "")
        return f"{filled}?dry_run=true" if self.path in {"/turns", "/admin/types"} else filled

    def fields(self, *kinds: str) -> list[str]:
        """Return the fields that take one of these kinds and no text."""
        return [
            name
            for name, shown in self.schema["properties"].items()
            if _kinds(shown) & set(kinds) and _kinds(shown) <= {*kinds, "null"}
        ]


def _kinds(shown: dict[str, Any]) -> set[str]:
    inner = [shown, *shown.get("anyOf", ())]
    named = [SCHEMAS[one["$ref"].rpartition("/")[2]] for one in inner if "$ref" in one]
    return {str(one["type"]) for one in [*inner, *named] if "type" in one}


def _bodies() -> Iterator[Body]:
    for path, operations in DOCUMENT["paths"].items():
        for method, operation in operations.items():
            shown = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            names = [one["$ref"].rpartition("/")[2] for one in (shown, *shown.get("anyOf", ())) if "$ref" in one]
            if names:
                schema = SCHEMAS[names[0]]
                example = dict((schema.get("examples") or [{}])[0])
                yield Body(method.upper(), path, schema, example, operation["requestBody"].get("required", False))


BODIES = [one for one in _bodies() if "{type}" not in one.path]
each_body = pytest.mark.parametrize("body", BODIES, ids=str)


def _at(answer: httpx.Response, field: str) -> list[str]:
    errors = answer.json().get("errors") or [] if answer.status_code == 422 else []
    return [one["message"] for one in errors if one["field"] in {field, f"/{field}"}]


@pytest.fixture
async def caller(tenant: Tenant, operator: httpx.AsyncClient) -> Any:
    """Return a client with the key that a path takes."""
    return lambda path: operator if path.startswith("/admin/tenants") else tenant.client


@each_body
async def test_numbers_and_flags_in_quotes_are_refused(body: Body, caller: Any) -> None:
    for field in body.fields("number", "integer", "boolean"):
        text = "true" if "boolean" in _kinds(body.schema["properties"][field]) else "1"
        answer = await caller(body.path).request(body.method, body.url, json={**body.example, field: text})
        assert _at(answer, field), f"{field}: {answer.text}"


@each_body
async def test_null_is_taken_where_the_contract_says_so(body: Body, caller: Any) -> None:
    nullable = [name for name, shown in body.schema["properties"].items() if "null" in _kinds(shown)]
    nulls = {name: None for name in nullable if name not in body.example}
    answer = await caller(body.path).request(body.method, body.url, json={**body.example, **nulls})
    assert answer.status_code != 422 or not [one for one in nulls if _at(answer, one)], answer.text


@each_body
async def test_an_unknown_field_is_told_with_the_nearest(body: Body, caller: Any) -> None:
    for field in [name for name in body.schema["properties"] if len(name) > 4]:
        typo = field[:3] + field[2:]
        answer = await caller(body.path).request(body.method, body.url, json={**body.example, typo: 1})
        [message] = _at(answer, typo)
        assert f"did you mean `{field}`?" in message, message


@each_body
async def test_an_empty_body_is_told_what_to_send(body: Body, caller: Any) -> None:
    answer = await caller(body.path).request(body.method, body.url)
    if body.required:
        assert answer.status_code == 422, answer.text
        assert answer.json()["detail"].startswith("the body is empty: send a JSON object")


async def test_a_misspelt_field_inside_a_list_is_told_with_the_nearest(client: httpx.AsyncClient) -> None:
    item = {"type": "fact", **fact(), "ocurred_at": "2026-05-09T14:30:00Z"}
    for path, content, field in (
        ("/memories/batch", {"memories": [item]}, "memories.0.ocurred_at"),
        ("/turns", {"turns": [{"content": "I moved to Berlin.", "ocurred_at": "x"}]}, "turns.0.ocurred_at"),
    ):
        answer = await client.post(path, json=content)
        assert _at(answer, field) == ["is not a field here; did you mean `occurred_at`?"], answer.text
    elsewhere = {"memories": [{"type": "fact", **fact(), "craeted_at": "2026-05-09T14:30:00Z"}]}
    answer = await client.post("/memories/batch", json=elsewhere)
    assert _at(answer, "memories.0.craeted_at") == ["is not a field here; did you mean `occurred_at`?"], answer.text
    answer = await client.get("/memories", params={"statsu": "active"})
    assert "did you mean `status`?" in answer.json()["detail"]


@pytest.mark.parametrize("path", [path for path, shown in DOCUMENT["paths"].items() if "get" in shown])
async def test_every_get_answers_head_without_a_body(path: str, caller: Any) -> None:
    url = path.replace("{", "").replace("}", "")
    got, head = await caller(path).get(url), await caller(path).head(url)
    assert head.content == b""
    assert (head.status_code, head.headers.get("content-type")) == (got.status_code, got.headers.get("content-type"))


@pytest.mark.parametrize("path", [path for path in DOCUMENT["paths"] if "{" not in path])
async def test_a_path_allows_its_own_methods_alone(path: str, caller: Any) -> None:
    methods = {method.upper() for method in DOCUMENT["paths"][path]}
    answer = await caller(path).request("OPTIONS", path)
    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) == methods | ({"HEAD"} if "GET" in methods else set())


async def test_nulls_of_a_client_that_sends_every_field_change_nothing(client: httpx.AsyncClient) -> None:
    memory = await written(client, importance=0.7, metadata={"a": 1})
    path = f"/memories/{memory['id']}"
    nulls = dict.fromkeys(("category", "ttl_seconds", "needs_review", "metadata"))
    changed = await client.patch(path, json={"importance": 0.4, **nulls})
    assert changed.status_code == 200, changed.text
    assert {**changed.json(), "importance": 0.7} == {**memory, "freshness": changed.json()["freshness"]}


async def test_turns_are_taken_with_nulls_beside_them(client: httpx.AsyncClient) -> None:
    single = dict.fromkeys(("content", "role", "speaker", "occurred_at", "sequence_number", "category", "metadata"))
    turns = [{"content": "I moved to Berlin last month."}]
    for body in ({"turns": turns, **single}, {**single, **turns[0], "turns": None}):
        answer = await client.post("/turns?dry_run=true", json=body)
        assert answer.status_code == 200, answer.text


async def test_what_was_erased_is_a_problem_to_whoever_sends_the_write_again(client: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "gone"}
    made = await client.post("/memories/typed/fact", json=fact(), headers=key)
    await client.delete(f"/memories/{made.json()['memory']['id']}")
    again = await client.post("/memories/typed/fact", json=fact(), headers=key)
    assert (again.status_code, again.headers["content-type"]) == (410, "application/problem+json")
    problem = again.json()
    assert problem["type"] == "urn:typed-memory:problem:erased"
    assert problem["instance"] == "/memories/typed/fact"
    assert problem["request_id"] == again.headers["x-request-id"]


@pytest.mark.parametrize("day", ["0", "20260509", "2026-05-09T00:00:00Z", "9999-01-01"])
async def test_days_are_dates_of_our_time(client: httpx.AsyncClient, day: str) -> None:
    for name in ("since", "until"):
        answer = await client.get("/admin/costs", params={name: day})
        assert _at(answer, name), answer.text


async def test_a_set_holds_nothing_twice(client: httpx.AsyncClient) -> None:
    answer = await client.put("/admin/policy", json={"prefilter": {"excluded_roles": ["tool", "tool"]}})
    assert _at(answer, "prefilter.excluded_roles"), answer.text


async def test_ids_that_nobody_can_see_are_refused(client: httpx.AsyncClient) -> None:
    for name in ("user_id", "agent_id", "session_id"):
        answer = await client.post("/memories/typed/fact", json=fact(**{name: INVISIBLE}))
        assert _at(answer, name), answer.text
        assert _at(await client.post("/query", json={"query": "who?", name: INVISIBLE}), name)


async def test_two_keys_at_once_are_refused(tenant: Tenant) -> None:
    key = await tenant.key("read")
    header = ("Authorization", f"Bearer {key}")
    async with connected(tenant.app, None) as client:
        assert (await client.get("/memories", headers=[header])).status_code == 200
        answer = await client.get("/memories", headers=[header, header])
        assert answer.status_code == 401
        assert "one Authorization header" in answer.json()["detail"]


async def test_listings_that_name_nobody_show_what_everybody_may_see(tenant: Tenant) -> None:
    client = tenant.client
    for scope, ids in (
        ("global", {}),
        ("user", {"user_id": "u1"}),
        ("agent", {"agent_id": "a1"}),
    ):
        await written(client, "episodic", content=f"seen by {scope}", session_id="s1", scope=scope, **ids)
        await written(client, "semantic", content=f"known to {scope}", entity_id="e1", scope=scope, **ids)
    everyone = [f"{said} {scope}" for said in ("seen by", "known to") for scope in ("global", "user", "agent")]
    async with connected(tenant.app, await tenant.key("read", "write")) as reader:
        for path, told in (
            ("/memories", "seen by"),
            ("/memories/typed/episodic/session/s1", "seen by"),
            ("/memories/typed/semantic/entity/e1", "known to"),
        ):
            listed = (await reader.get(path)).json()["memories"]
            assert {one["scope"] for one in listed} == {"global"}, path
            refused = await reader.get(path, params={"all": True})
            assert (refused.status_code, refused.json()["type"]) == (403, "urn:typed-memory:problem:forbidden")
            found = (await client.get(path, params={"all": True})).json()["memories"]
            expected = everyone if path == "/memories" else [one for one in everyone if one.startswith(told)]
            assert {one["content"] for one in found} == set(expected), path
            both = await client.get(path, params={"all": True, "user_id": "u1"})
            assert _at(both, "user_id"), both.text


async def test_numbers_have_six_decimals_at_most(client: httpx.AsyncClient) -> None:
    await written(client, importance=0.1234567)
    asked = {"query": "where do they work?", "user_id": "u1", "explain": True, "mode": "audit"}
    for answer in (
        await client.post("/query", json=asked),
        await client.post("/memories/query", json={"query": "where do they work?", "user_id": "u1", "mode": "audit"}),
        await client.get("/memories", params={"user_id": "u1"}),
    ):
        own = [one for one in _numbers(answer.json()) if one != 0.1234567]
        assert own
        assert [one for one in own if one != round(one, 6)] == []


def _numbers(part: object) -> Iterator[float]:
    if isinstance(part, dict):
        part = list(part.values())
    if isinstance(part, list):
        for one in part:
            yield from _numbers(one)
    elif isinstance(part, float):
        yield part
