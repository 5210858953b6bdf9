"""Each form of a path leads to one route: with the version, with a slash at its end, with a slash within an id."""

from __future__ import annotations

import httpx
import pytest

from tests.api.conftest import Tenant

LONG = {"content": "x " * 2_000, "user_id": "sam"}


@pytest.mark.parametrize("form", ["{}/", "/v1{}", "/v1{}/"])
async def test_a_path_answers_alike_in_each_form(client: httpx.AsyncClient, form: str) -> None:
    written = await client.post(form.format("/memories/typed/fact"), json={"predicate": "likes", "object": "plums"})
    assert written.status_code == 201, written.text
    for path in ("/memories", "/jobs", "/admin/keys", "/healthz", "/openapi.json", "/admin/types"):
        plain, other = await client.get(path), await client.get(form.format(path))
        assert (plain.status_code, other.status_code) == (200, 200), path
        assert plain.text == other.text or path == "/healthz"
    listed = await client.post(form.format("/mcp"), json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert (
        listed.status_code == (await client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "x"})).status_code
    )


async def test_a_key_sent_twice_is_one_request_in_each_form_of_its_path(client: httpx.AsyncClient) -> None:
    body, headers = {"predicate": "likes", "object": "figs"}, {"Idempotency-Key": "once"}
    first = await client.post("/memories/typed/fact", json=body, headers=headers)
    again = await client.post("/v1/memories/typed/fact/", json=body, headers=headers)
    assert (again.json(), again.headers["idempotency-replayed"]) == (first.json(), "true")


async def test_the_document_has_each_route_once(client: httpx.AsyncClient) -> None:
    paths = (await client.get("/v1/openapi.json")).json()["paths"]
    assert not [path for path in paths if path.startswith("/v1")]


async def test_only_an_encoded_slash_belongs_to_an_id(client: httpx.AsyncClient) -> None:
    for user in ("kim", "kim/notes", "kim/profile", "kim/"):
        body = {"predicate": "likes", "object": "tea", "user_id": user}
        assert (await client.post("/memories/typed/fact", json=body)).status_code == 201
    for path, status in (("/users/kim/notes", 404), ("/users/kim/profile", 405), ("/users/kim/notes/more", 404)):
        refused = await client.delete(path)
        assert (refused.status_code, "%2F" in refused.json()["detail"]) == (status, True), refused.text
    for left, path in ((3, "kim%2Fnotes"), (2, "kim%2fprofile"), (1, "kim%2F"), (0, "kim/")):
        assert (await client.get(f"/users/{path.rstrip('/')}/profile")).json()["user_id"] == path.rstrip("/").replace(
            "%2F", "/"
        ).replace("%2f", "/")
        receipt = (await client.delete(f"/v1/users/{path}")).json()
        assert (receipt["status"], receipt["counts"]["memories"], receipt["matched"] > 0) == ("finished", 1, True)
        assert (await client.get("/memories/count?all=true")).json()["total"] == left
    again = (await client.delete("/users/kim")).json()
    assert (again["status"], again["matched"], again["still_there"]) == ("nothing_matched", 0, None)
    stored = (await client.get(f"/admin/erasures/{again['id']}")).json()
    assert (stored["status"], stored["matched"]) == ("nothing_matched", 0)


async def test_a_large_answer_is_compressed_for_those_who_accept_it(client: httpx.AsyncClient, tenant: Tenant) -> None:
    for accepted, encoding in (("gzip", "gzip"), ("br", "br"), ("gzip, br", "br")):
        given = {"Accept-Encoding": accepted}
        packed = await client.post("/turns", params={"dry_run": True}, json=LONG, headers=given)
        assert (packed.headers["content-encoding"], packed.headers["vary"]) == (encoding, "Accept-Encoding")
        assert packed.json()
    plain = {"Accept-Encoding": "identity"}
    whole = await client.post("/turns", params={"dry_run": True}, json=LONG, headers=plain)
    assert ("content-encoding" in whole.headers, whole.headers["vary"]) == (False, "Accept-Encoding")
    small = await client.get("/healthz")
    assert "content-encoding" not in small.headers
    bad = {"turns": [{"content": 5, "role": 5}] * 100}
    problem = await client.post("/turns", json=bad, headers={"Accept-Encoding": "gzip"})
    assert (problem.status_code, problem.headers["content-encoding"]) == (422, "gzip")
