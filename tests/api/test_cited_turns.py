"""Memories that callers state with the turns that say so: each turn counts once for each statement and scope."""

from __future__ import annotations

from typing import Any

import httpx

from tests.api.conftest import fact, written


async def turns_of(client: httpx.AsyncClient, *contents: str) -> list[str]:
    """Store turns that say nothing to remember, and return their ids."""
    body = {"turns": [{"content": one} for one in contents], "user_id": "u1"}
    answer = await client.post("/turns?mode=sync", json=body)
    assert answer.status_code == 200, answer.text
    return [one["id"] for one in answer.json()["turns"]]


async def stated(client: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/memories/typed/fact", json=fact(**fields))
    assert answer.status_code == 201, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def test_one_turn_may_say_the_same_to_several_scopes(client: httpx.AsyncClient) -> None:
    [turn] = await turns_of(client, "ok")
    for user in ("u1", "u2"):
        first = await stated(client, user_id=user, object="Bosch", evidence_turn_id=turn)
        assert (first["decision"], first["memory"]["user_id"]) == ("added", user)
        again = await stated(client, user_id=user, object="Bosch", evidence_turn_id=turn)
        assert (again["decision"], again["memory"]["id"]) == ("merged", first["memory"]["id"])
        assert again["reason"].startswith("the same turn")
        assert len(again["memory"]["evidence"]) == 1


async def test_two_passages_of_a_turn_are_one_statement(client: httpx.AsyncClient) -> None:
    [turn] = await turns_of(client, "Bosch, since May. Yes, Bosch.")
    evidence = [{"turn_id": turn, "quote": "Bosch, since May"}, {"turn_id": turn, "quote": "Yes, Bosch"}]
    memory = await written(client, object="Bosch", evidence=evidence)
    assert {one["quote"] for one in memory["evidence"]} == {"Bosch, since May", "Yes, Bosch"}
    again = await stated(client, object="Bosch", evidence=evidence[1:])
    assert (again["decision"], again["memory"]["id"]) == ("merged", memory["id"])
    assert len(again["memory"]["evidence"]) == 2


async def test_a_turn_beside_one_that_has_counted_counts(client: httpx.AsyncClient) -> None:
    one, other = await turns_of(client, "ok", "right")
    before = await written(client, object="Bosch", evidence_turn_id=one)
    both = [{"turn_id": one}, {"turn_id": other}]
    after = await stated(client, object="Bosch", evidence=both)
    assert after["decision"] == "merged"
    assert after["memory"]["confidence"] > before["confidence"]
    assert sorted(found["turn_id"] for found in after["memory"]["evidence"]) == sorted((one, other))
    again = await stated(client, object="Bosch", evidence=both)
    assert again["memory"]["confidence"] == after["memory"]["confidence"]
    assert len(again["memory"]["evidence"]) == 2
