"""Endings over HTTP: said in turns, and written."""

from __future__ import annotations

import httpx
import pytest

from tests.api.conftest import fact
from tests.api.test_turns import recalled, say


@pytest.mark.parametrize(
    ("held", "over", "question"),
    [
        ("I work at Volkswagen.", "I no longer work at Volkswagen.", "Where do I work?"),
        ("I work at Acme.", "I quit my job at Acme.", "Where do I work?"),
        ("I'm married to Anna.", "We got divorced last month.", "Who am I married to?"),
        ("I live in Boston.", "I don't live in Boston anymore.", "Where do I live?"),
        ("I take metformin 500 mg every day.", "I stopped taking metformin.", "What do I take?"),
        ("I'm vegan.", "I'm not vegan any more.", "What is my diet?"),
        ("Priya is my manager.", "Priya is no longer my manager.", "Who is my manager?"),
    ],
)
async def test_what_is_no_longer_so_is_not_recalled_as_so(
    client: httpx.AsyncClient, held: str, over: str, question: str
) -> None:
    first = await say(client, held, occurred_at="2026-01-10T10:00:00Z")
    kinds = ["fact", "relation", "medication"]
    before = [one["memory_id"] for one in first["candidates"] if one["type"] in kinds]
    told = await say(client, over, occurred_at="2026-05-09T10:00:00Z")
    ended = [one["memory_id"] for one in told["candidates"] if one["decision"] == "ended"]
    assert len(ended) == 1
    assert ended[0] in before
    assert ended[0] not in [one["id"] for one in await recalled(client, question, types=kinds)]
    then = await recalled(client, question, types=kinds, as_of="2026-02-01T00:00:00Z")
    assert ended[0] in [one["id"] for one in then]
    past = await recalled(client, question, types=kinds, mode="historical")
    assert ended[0] in [one["id"] for one in past]


async def test_where_someone_worked_before_is_found(client: httpx.AsyncClient) -> None:
    await say(client, "I work at Volkswagen.", occurred_at="2026-01-10T10:00:00Z")
    await say(client, "I no longer work at Volkswagen.", occurred_at="2026-05-09T10:00:00Z")
    found = await recalled(client, "Where did I work before?")
    assert any(one.get("object") == "Volkswagen" and one["status"] == "expired" for one in found)


async def test_an_assistant_cannot_end_what_the_user_said(client: httpx.AsyncClient) -> None:
    await say(client, "I work at Volkswagen.")
    await say(client, "Noted: the user no longer works at Volkswagen.", role="assistant")
    assert any(one.get("object") == "Volkswagen" for one in await recalled(client, "Where do I work?", types=["fact"]))


async def test_a_written_ending_ends_and_says_what(client: httpx.AsyncClient) -> None:
    held = (await client.post("/memories/typed/fact", json=fact(occurred_at="2026-01-10T10:00:00Z"))).json()["memory"]
    ending = fact(ends=True, valid_until="2026-03-01")
    answer = await client.post("/memories/typed/fact", json=ending)
    assert answer.status_code == 201, answer.text
    body = answer.json()
    assert (body["decision"], body["memory"]["id"], body["memory"]["status"]) == ("ended", held["id"], "expired")
    assert body["memory"]["valid_until"].startswith("2026-03-01")
    assert body["affected"][0]["change"] == "ended"
    again = (await client.post("/memories/typed/fact", json=ending)).json()
    assert (again["decision"], again["memory"]) == ("rejected", None)


@pytest.mark.parametrize(
    ("kind", "fields", "field"),
    [
        ("semantic", {"content": "the office is in Graz", "ends": True}, "ends"),
        ("fact", fact(ends=True, ttl_seconds=60), "ttl_seconds"),
        ("fact", fact(ends=True, valid_from="2026-01-01"), "valid_from"),
        ("fact", fact(ends=True, valid_until="2201-01-01"), "valid_until"),
        ("fact", fact(ends="perhaps"), "ends"),
    ],
)
async def test_an_ending_that_cannot_be_is_refused(
    client: httpx.AsyncClient, kind: str, fields: dict[str, object], field: str
) -> None:
    answer = await client.post(f"/memories/typed/{kind}", json=fields)
    assert answer.status_code == 422
    assert [one["field"] for one in answer.json()["errors"]] == [field]


async def test_what_was_to_come_is_replaced_by_what_happened(client: httpx.AsyncClient) -> None:
    await say(client, "I'm going to run the Riga marathon on May 16.", occurred_at="2026-03-01T10:00:00Z")
    await say(client, "I'm going to visit Tallinn on June 20.", occurred_at="2026-03-01T10:05:00Z")
    await say(client, "I ran the Riga marathon yesterday!", occurred_at="2026-05-17T10:00:00Z")
    listed = (await client.get("/memories", params={"user_id": "ann", "type": "event"})).json()["memories"]
    told = {one["event_description"]: one["status"] for one in listed}
    assert told["user is going to run the Riga marathon"] == "expired"
    assert told["user ran the Riga marathon"] == told["user is going to visit Tallinn"] == "active"
