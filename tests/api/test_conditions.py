"""Answers say where what was made is, when to ask again, and which state of a memory they show."""

from __future__ import annotations

from typing import Any

import httpx

from tests.api.conftest import Tenant
from tests.support.openapi import document

LIKES = {"user_id": "ivo", "preference_key": "tea", "preference_value": "oolong"}


async def made(client: httpx.AsyncClient, **fields: Any) -> httpx.Response:
    answer = await client.post("/memories/typed/preference", json={**LIKES, **fields})
    assert answer.status_code == 201, answer.text
    return answer


async def test_what_was_made_is_where_the_answer_says(client: httpx.AsyncClient) -> None:
    written = await made(client)
    assert (await client.get(written.headers["location"])).json()["id"] == written.json()["memory"]["id"]
    key = {"Idempotency-Key": "k"}
    for again in (False, True):
        queued = await client.post("/v1/turns", json={"content": "I moved to Graz.", "user_id": "ivo"}, headers=key)
        assert (queued.status_code, queued.headers["retry-after"]) == (202, "1")
        assert ("idempotency-replayed" in queued.headers) == again
        assert (await client.get(queued.headers["location"])).json()["id"] == queued.json()["job_id"]
    run = await client.post("/admin/workers/validity/run")
    assert run.headers["location"] == f"/jobs/{run.json()['job']['id']}"
    erasure = await client.delete("/users/ivo", params={"mode": "async"})
    assert (erasure.status_code, erasure.headers["location"]) == (202, f"/jobs/{erasure.json()['job_id']}")


async def test_a_memory_that_was_not_changed_is_not_sent_again(client: httpx.AsyncClient) -> None:
    path = (await made(client)).headers["location"]
    first = await client.get(path)
    tag = first.headers["etag"]
    assert (
        await client.post("/query", json={"query": "Which tea does Ivo like?", "user_id": "ivo"})
    ).status_code == 200
    for condition in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        same = await client.get(path, headers={"If-None-Match": condition})
        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    changed = await client.patch(path, json={"topic": "drinks"})
    assert changed.headers["etag"] != tag
    fresh = await client.get(path, headers={"If-None-Match": tag})
    assert (fresh.status_code, fresh.headers["etag"]) == (200, changed.headers["etag"])


async def test_only_the_state_that_was_read_is_changed(client: httpx.AsyncClient) -> None:
    path = (await made(client)).headers["location"]
    read = (await client.get(path)).headers["etag"]
    done = await client.patch(path, json={"importance": 0.4}, headers={"If-Match": read})
    assert done.status_code == 200, done.text
    for refused in (
        await client.patch(path, json={"importance": 0.9}, headers={"If-Match": read}),
        await client.delete(path, headers={"If-Match": read}),
    ):
        assert (refused.status_code, refused.json()["type"]) == (412, "urn:typed-memory:problem:precondition-failed")
    assert (await client.get(path)).json()["importance"] == 0.4
    assert (await client.delete(path, headers={"If-Match": done.headers["etag"]})).status_code == 200


async def test_the_document_has_the_headers_of_every_answer(client: httpx.AsyncClient, tenant: Tenant) -> None:
    whole = document()
    described, shared = whole["paths"], whole["components"]["responses"]
    ordinary = {"content-type", "content-length", "vary", "cache-control", "content-encoding", "referrer-policy"}
    ordinary |= {"x-content-type-options", "content-security-policy"}
    memory = (await made(client)).headers["location"]
    for method, path, route, body in (
        ("POST", "/memories/typed/preference", "/memories/typed/preference", LIKES),
        ("POST", "/turns", "/turns", {"content": "I like oolong."}),
        ("GET", memory, "/memories/{memory_id}", None),
        ("PATCH", memory, "/memories/{memory_id}", {"importance": 0.1}),
        ("DELETE", memory, "/memories/{memory_id}", None),
        ("POST", "/query", "/query", {"question": "?"}),
        ("DELETE", "/users/ivo", "/users/{user_id}", None),
        ("GET", "/healthz", "/healthz", None),
    ):
        answer = await client.request(method, path, json=body)
        operation = described[route][method.lower()]["responses"][str(answer.status_code)]
        operation = shared.get(operation.get("$ref", "").rpartition("/")[2], operation)
        told = {name.lower() for name in operation["headers"]}
        assert set(answer.headers) - ordinary <= told, (method, path)


async def test_every_refusal_is_counted_by_its_reason(client: httpx.AsyncClient, anonymous: httpx.AsyncClient) -> None:
    async def counted() -> dict[str, float]:
        lines = (await anonymous.get("/metrics")).text.splitlines()
        found = (line.rpartition(" ") for line in lines if line.startswith("tm_http_requests_refused_total"))
        return {labels.partition("{")[2].rstrip("}"): float(value) for labels, _, value in found}

    before = await counted()
    memory = (await made(client)).headers["location"]
    await client.post("/turns", json={"messages": [{"content": "Hi there.", "ts": "noon"}]})
    await client.post("/turns", json={"turns": [{"content": "Hi there.", "wen": 1}]})
    await client.get("/memories", params={"colour": "red"})
    await client.delete("/users/ivo/turns")
    await client.patch(memory, json={"importance": 0.2}, headers={"If-Match": '"old"'})
    after = await counted()
    assert {
        labels: count - before.get(labels, 0) for labels, count in after.items() if count != before.get(labels)
    } == {
        'code="invalid-input",reason="message"': 1,
        'code="invalid-input",reason="extra_forbidden"': 1,
        'code="invalid-input",reason="parameter"': 1,
        'code="not-found",reason="route"': 1,
        'code="precondition-failed",reason=""': 1,
    }
