"""Whatever is sent, the answer is a problem that names what is wrong, and nothing is written."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.api.conftest import KEY, fact, written

DEEP = "[" * 10_000 + "]" * 10_000


async def problem(answer: httpx.Response, status: int, field: str | None = None) -> dict[str, Any]:
    assert answer.status_code == status, answer.text[:500]
    assert answer.headers["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert {"type", "title", "status", "detail", "instance", "request_id"} <= set(body)
    assert body["status"] == status
    assert body["request_id"] == answer.headers["X-Request-Id"]
    if field is not None:
        assert field in {one["field"] for one in body["errors"]}, body
    return body


async def test_a_field_that_is_none_is_answered_with_those_there_are(client: httpx.AsyncClient) -> None:
    body = await problem(await client.post("/query", json={"query": "where?", "k": 3}), 422, "k")
    assert body["detail"].startswith("k: is not a field here; did you mean `top_k`? there are agent_id, as_of, ")
    body = await problem(await client.post("/query", json={"query": "where?", "asOf": "2026-05-01"}), 422, "asOf")
    assert "did you mean `as_of`?" in body["detail"]
    body = await problem(await client.post("/turns", json={"utterances": [], "content": "x"}), 422, "utterances")
    assert "turns, user_id" in body["detail"]
    nested = {"turns": [{"content": "x", "text": "y"}]}
    body = await problem(await client.post("/turns", json=nested), 422, "turns.0.text")
    assert body["detail"] == "turns.0.text: is not a field here; did you mean `content`?"


async def nothing_written(client: httpx.AsyncClient) -> None:
    assert (await client.get("/memories?all=true")).json()["memories"] == []


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"\xff\xfe{}",
        b'{"predicate": "\xff"}',
        b'{"predicate": "a", "predicate": "b", "object": "c"}',
        b'{"predicate": "a", "object": "b", "importance": NaN}',
        b'{"predicate": "a", "object": "b", "importance": Infinity}',
        b'{"predicate": "a", "object": "b", "importance": 1e400}',
        b'{"predicate": "a", "object": "b", "sequence_number": ' + b"9" * 5000 + b"}",
        b'{"predicate": "a", "object": "b", "metadata": {"n": 9223372036854775808}}',
        DEEP.encode(),
        ('{"a":' * 10_000 + "1" + "}" * 10_000).encode(),
        b"nonsense",
    ],
    ids=lambda content: repr(content[:40]),
)
async def test_a_body_that_is_no_good_json_is_malformed(client: httpx.AsyncClient, content: bytes) -> None:
    answer = await client.post("/memories/typed/fact", content=content, headers={"Content-Type": "application/json"})
    body = await problem(answer, 400)
    assert body["type"] == "urn:typed-memory:problem:malformed-body"
    await nothing_written(client)


@pytest.mark.parametrize("path", ["/memories/typed/fact", "/memories/batch", "/query", "/memories/typed/query"])
@pytest.mark.parametrize("content", [b"", b"[]", b"null", b"1", b'"x"'], ids=repr)
async def test_a_body_must_be_an_object(client: httpx.AsyncClient, path: str, content: bytes) -> None:
    answer = await client.post(path, content=content, headers={"Content-Type": "application/json"})
    await problem(answer, 422)


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "x", ";"]
)
async def test_a_body_must_say_it_is_json(client: httpx.AsyncClient, kind: str) -> None:
    content = json.dumps(fact())
    answer = await client.post("/memories/typed/fact", content=content, headers={"Content-Type": kind})
    await problem(answer, 415)


@pytest.mark.parametrize("encoding", ["gzip", "br", "gzip, identity"])
@pytest.mark.parametrize("path", ["/memories/typed/fact", "/import", "/mcp"])
async def test_a_compressed_body_is_named_as_such(client: httpx.AsyncClient, path: str, encoding: str) -> None:
    headers = {"Content-Encoding": encoding, "Content-Type": "application/json", "Accept": "application/json"}
    answer = await client.post(path, content=gzip.compress(json.dumps(fact()).encode()), headers=headers)
    assert "uncompressed" in (await problem(answer, 415))["detail"]


async def test_a_body_that_is_encoded_as_itself_is_read(client: httpx.AsyncClient) -> None:
    headers = {"Content-Encoding": "Identity", "Content-Type": "application/json"}
    answer = await client.post("/memories/typed/fact", content=json.dumps(fact()), headers=headers)
    assert answer.status_code == 201, answer.text


@pytest.mark.parametrize(
    "kind", [None, "application/json; charset=utf-8", "Application/JSON", "application/vnd.x+json"]
)
async def test_json_by_other_names_is_json(client: httpx.AsyncClient, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    answer = await client.post("/memories/typed/fact", content=json.dumps(fact()), headers=headers)
    assert answer.status_code == 201, answer.text


WRONG_FIELDS: list[tuple[dict[str, Any], str]] = [
    ({"predicate": ""}, "predicate"),
    ({"predicate": "   "}, "predicate"),
    ({"predicate": "--"}, "predicate"),
    ({"predicate": 5}, "predicate"),
    ({"predicate": None}, "predicate"),
    ({"predicate": "x" * 201}, "predicate"),
    ({"object": "x" * 1_000_000}, "object"),
    ({"object": "nul \x00 inside"}, "object"),
    ({"object": ""}, "object"),
    ({"object": {"a": 1}}, "object"),
    ({"content": "nul \x00 inside"}, "content"),
    ({"content": ""}, "content"),
    ({"context": "x" * 40_000}, "context"),
    ({"user_id": ""}, "user_id"),
    ({"user_id": "a\x00b"}, "user_id"),
    ({"user_id": 7}, "user_id"),
    ({"nonsense": 1}, "nonsense"),
    ({"tenant_id": "x"}, "tenant_id"),
    ({"type": "preference"}, "type"),
    ({"scope": "world"}, "scope"),
    ({"scope": "agent"}, "agent_id"),
    ({"scope": "user", "user_id": None}, "user_id"),
    ({"importance": 1.01}, "importance"),
    ({"importance": -0.01}, "importance"),
    ({"importance": "high"}, "importance"),
    ({"source_confidence": 7}, "source_confidence"),
    ({"extractor_confidence": 7}, "extractor_confidence"),
    ({"sequence_number": -1}, "sequence_number"),
    ({"sequence_number": 2**31}, "sequence_number"),
    ({"category": "short-term"}, "category"),
    ({"speech_act": "lie"}, "speech_act"),
    ({"timezone": "Mars/Olympus"}, "timezone"),
    ({"timezone": "../../etc/passwd"}, "timezone"),
    ({"timezone": "localtime"}, "timezone"),
    ({"timezone": "a\x00b"}, "timezone"),
    ({"occurred_at": "2999-01-01T00:00:00Z"}, "occurred_at"),
    ({"occurred_at": "2150-01-01T00:00:00Z"}, "occurred_at"),
    ({"occurred_at": "0001-01-01T00:00:00Z"}, "occurred_at"),
    ({"occurred_at": "yesterday"}, "occurred_at"),
    ({"occurred_at": "2026-02-30T00:00:00Z"}, "occurred_at"),
    ({"occurred_at": 1_700}, "occurred_at"),
    ({"occurred_at": {"seconds": 1_700_000_000}}, "occurred_at"),
    ({"sent_at": "2026-01-01", "ts": 1_700_000_000}, "ts"),
    ({"occured_at": "2026-01-01"}, "occured_at"),
    ({"occurred_at": "2026-01-01T00:00:00+99:00"}, "occurred_at"),
    ({"valid_from": "9999-12-31T23:59:59Z"}, "valid_from"),
    ({"valid_until": "1000-01-01T00:00:00Z"}, "valid_until"),
    ({"valid_from": "2026-01-02T00:00:00Z", "valid_until": "2026-01-02T00:00:00Z"}, "valid_until"),
    ({"ttl_seconds": 0}, "ttl_seconds"),
    ({"ttl_seconds": 2**62}, "ttl_seconds"),
    ({"ttl_seconds": 5, "valid_until": "2100-01-01T00:00:00Z"}, "ttl_seconds"),
    ({"metadata": []}, "metadata"),
    ({"metadata": {"a": "\x00"}}, "metadata"),
    ({"metadata": {"a\x00": 1}}, "metadata"),
    ({"metadata": {"a": "x" * 20_000}}, "metadata"),
    ({"metadata": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {}}}}}}}}}}, "metadata"),
    ({"evidence": [{"quote": "x", "turn_id": "nope"}]}, "evidence.0.turn_id"),
    ({"evidence": [{"quotes": "x"}]}, "evidence.0.quotes"),
    ({"evidence_turn_id": "mem_" + "0" * 32}, "evidence_turn_id"),
]


@pytest.mark.parametrize(("fields", "named"), WRONG_FIELDS, ids=lambda value: str(value)[:40])
async def test_a_wrong_field_is_named(client: httpx.AsyncClient, fields: dict[str, Any], named: str) -> None:
    answer = await client.post("/memories/typed/fact", json=fact(**fields))
    await problem(answer, 422, named)
    item = {"type": "fact", **fact(**fields)}
    if "type" not in fields:
        answer = await client.post("/memories/batch", json={"memories": [{"type": "fact", **fact()}, item]})
        await problem(answer, 422, f"memories.1.{named}")
    await nothing_written(client)


async def test_half_a_surrogate_pair_is_no_text(client: httpx.AsyncClient) -> None:
    for content in (
        b'{"predicate": "a", "object": "\\ud800"}',
        b'{"predicate": "a", "object": "b", "\\ud800": 1}',
        b'{"predicate": "a", "object": "b", "metadata": {"x": "\\udfff"}}',
        b'{"predicate": "a", "object": "b", "metadata": {"\\udfff": 1}}',
        b'{"predicate": "a", "object": "b", "user_id": "\\ud83d"}',
    ):
        await problem(await client.post("/memories/typed/fact", content=content), 422)
    await nothing_written(client)


async def test_a_turn_that_is_not_known_is_named(client: httpx.AsyncClient) -> None:
    turn = "turn_" + "1" * 32
    one = fact(evidence_turn_id=turn)
    await problem(await client.post("/memories/typed/fact", json=one), 422, "evidence_turn_id")
    two = {"type": "fact", **fact(evidence=[{"quote": "x"}, {"turn_id": turn}])}
    answer = await client.post("/memories/batch", json={"memories": [two]})
    await problem(answer, 422, "memories.0.evidence.1.turn_id")
    await nothing_written(client)


@pytest.mark.parametrize(
    ("kind", "fields", "named"),
    [
        ("relation", {"from_entity": "A", "relation_type": "eats", "to_entity": "B"}, "relation_type"),
        ("event", {"event_description": "x", "event_at": "0999-01-01"}, "event_at"),
        ("event", {"event_description": "x", "event_at": "2026-13-01"}, "event_at"),
        ("event", {"event_description": "x", "event_at_precision": "century"}, "event_at_precision"),
        ("event", {"event_description": "x", "participants": ["a"] * 51}, "participants"),
        ("preference", {"preference_key": "no spaces!", "preference_value": "x"}, "preference_key"),
        ("episodic", {"content": "x"}, "session_id"),
        ("episodic", {"content": "", "session_id": "s"}, "content"),
        ("entity", {"canonical_name": "x", "entity_type": "y", "attributes": {"a": "\x00"}}, "attributes.a"),
    ],
)
async def test_a_types_own_rules_name_their_field(
    client: httpx.AsyncClient, kind: str, fields: dict[str, Any], named: str
) -> None:
    await problem(await client.post(f"/memories/typed/{kind}", json=fields), 422, named)


async def test_batches_have_a_size(client: httpx.AsyncClient) -> None:
    item = {"type": "fact", **fact()}
    wrong: list[Any] = [[], [item] * 1001, "x", [1], [None], [{"type": "nope"}], [{}], [{"type": {"a": 1}}]]
    for memories in wrong:
        await problem(await client.post("/memories/batch", json={"memories": memories}), 422)
    await nothing_written(client)


async def test_an_unknown_type_lists_those_there_are(client: httpx.AsyncClient) -> None:
    body = await problem(await client.post("/memories/typed/dream", json={}), 404)
    assert "preference" in body["detail"]


@pytest.mark.parametrize(
    "identifier",
    [
        "x",
        "mem_",
        "mem_" + "0" * 32,
        "mem_" + "g" * 32,
        "ent_" + "0" * 32,
        "mem_" + "0" * 31 + "%00",
        "%F0%28",
        "..%2f",
    ],
)
async def test_an_unknown_id_is_not_found(client: httpx.AsyncClient, identifier: str) -> None:
    for method in ("GET", "DELETE"):
        await problem(await client.request(method, f"/memories/{identifier}"), 404)
    await problem(await client.patch(f"/memories/{identifier}", json={"importance": 1}), 404)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=x", "limit"),
        ("limit=" + "9" * 5000, "limit"),
        ("sort=color", "sort"),
        ("status=gone", "status.0"),
        ("type=dream", "type.0"),
        ("user_id=", "user_id"),
        ("user_id=%00", "user_id"),
        ("min_importance=nan", "min_importance"),
        ("as_of=soon", "as_of"),
        ("as_of=0001-01-01T00:00:00Z", "as_of"),
        ("scope=user", "user_id"),
        ("cursor=x", "cursor"),
        ("cursor=%ff", "cursor"),
        ("usr_id=u1", "usr_id"),
    ],
)
async def test_a_wrong_filter_is_named(client: httpx.AsyncClient, query: str, named: str) -> None:
    await problem(await client.get(f"/memories?{query}"), 422, named)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"query": ""}, "query"),
        ({"query": "x" * 8001}, "query"),
        ({"query": "a\x00b"}, "query"),
        ({"query": "x", "top_k": 0}, "top_k"),
        ({"query": "x", "top_k": 10**6}, "top_k"),
        ({"query": "x", "types": ["dream"]}, "types.0"),
        ({"query": "x", "mode": "psychic"}, "mode"),
        ({"query": "x", "timezone": "Nowhere"}, "timezone"),
        ({"query": "x", "now": "later"}, "now"),
        ({"query": "x", "min_confidence": 2}, "min_confidence"),
        ({"query": "x", "token_budget": -1}, "token_budget"),
        ({"query": "x", "tenant_id": "t"}, "tenant_id"),
    ],
)
async def test_a_wrong_question_is_told_where(client: httpx.AsyncClient, fields: dict[str, Any], named: str) -> None:
    await problem(await client.post("/query", json=fields), 422, named)


@pytest.mark.parametrize(
    ("path", "prefix"),
    [
        ("/memories", "recorded_"),
        ("/memories/count", "recorded_"),
        ("/admin/audit", ""),
        ("/admin/review", ""),
        ("/admin/query-log", ""),
        ("/admin/costs", ""),
    ],
)
async def test_a_period_that_ends_before_it_begins_is_refused(
    client: httpx.AsyncClient, path: str, prefix: str
) -> None:
    swapped = {f"{prefix}since": "2026-05-09", f"{prefix}until": "2026-05-08"}
    told = await problem(await client.get(path, params=swapped), 422, f"{prefix}since")
    assert told["detail"] == f"{prefix}since: must not come after {prefix}until"
    same = {f"{prefix}since": "2026-05-09", f"{prefix}until": "2026-05-09"}
    assert (await client.get(path, params=same)).status_code == 200


async def test_unknown_routes_and_methods(client: httpx.AsyncClient) -> None:
    await problem(await client.get("/nothing"), 404)
    await problem(await client.get("/memories//"), 404)
    wrong = await client.put("/memories/mem_" + "0" * 32)
    await problem(wrong, 405)
    assert wrong.headers["Allow"] == "DELETE, GET, HEAD, PATCH"
    wrong = await client.delete("/query")
    await problem(wrong, 405)
    assert wrong.headers["Allow"] == "POST"
    await problem(await client.request("B\xc3\xb6se", "/query"), 405)


async def test_a_body_over_the_limit_is_refused_however_it_comes(make_client: Any) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b" " * 1000

    async with make_client(KEY, max_body_bytes=10_000) as client:
        whole = await client.post("/memories/typed/fact", content=b" " * 10_001)
        await problem(whole, 413)
        chunked = await client.post("/memories/typed/fact", content=chunks())
        await problem(chunked, 413)
        lied = await client.post("/memories/typed/fact", content=chunks(), headers={"Content-Length": "5"})
        await problem(lied, 413)


@pytest.mark.parametrize("length", ["-1", "x", "1e9", "٣", "9" * 5000])
async def test_a_nonsense_length_breaks_nothing(client: httpx.AsyncClient, length: str) -> None:
    headers = [(b"content-length", length.encode())]
    answer = await client.post("/memories/typed/fact", content=json.dumps(fact()), headers=headers)
    assert answer.status_code < 500


async def test_content_survives_as_it_was_written(client: httpx.AsyncClient) -> None:
    text = "na\u00efve \U0001f600 \u202e \t tab, 'quotes', \"more\", \\back\\ and \u65e5\u672c\u8a9e"
    memory = await written(client, object=text)
    assert memory["object"] == text


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("DELETE", "/users/u", "dry_run"),
        ("DELETE", "/memories/mem_0", "dry_run"),
        ("POST", "/admin/review/bulk", "dryrun"),
        ("GET", "/admin/review/summary", "user_id"),
        ("GET", "/admin/stats", "user_id"),
        ("GET", "/export", "user"),
        ("GET", "/memories", "user"),
    ],
)
async def test_a_parameter_that_would_be_ignored_is_refused(
    client: httpx.AsyncClient, method: str, path: str, name: str
) -> None:
    body = json.dumps(fact(user_id="u")) if method == "POST" else None
    answer = await client.request(method, f"{path}?{name}=true", content=body)
    told = await problem(answer, 422, name)
    assert re.search(r"is not a query parameter here; (did you mean `\w+`\? )?there are ", told["detail"])
    await nothing_written(client)


async def test_a_parameter_that_counts_once_is_given_once(client: httpx.AsyncClient) -> None:
    answer = await client.get("/admin/audit?action=key.created&action=memory.added")
    await problem(answer, 422, "action")
    assert (await client.get("/memories?status=active&status=expired")).status_code == 200


async def test_an_action_that_is_none_is_told_in_words(client: httpx.AsyncClient) -> None:
    told = await problem(await client.get("/admin/audit?action=Nonsense"), 422, "action")
    assert "memory.superseded" in told["detail"]


async def test_probes_may_carry_what_they_like(client: httpx.AsyncClient) -> None:
    assert (await client.get("/healthz?probe=1")).status_code == 200
