"""Listings narrowed by a field of a payload."""

from __future__ import annotations

from typing import Any

import httpx

from tests.api.conftest import written


async def names(client: httpx.AsyncClient, **params: Any) -> list[str]:
    answer = await client.get("/memories", params={"all": "user_id" not in params, **params})
    assert answer.status_code == 200, answer.text
    return [one["medication_name"] for one in answer.json()["memories"]]


async def test_medicines_by_their_class(client: httpx.AsyncClient) -> None:
    for name, kind, user in (
        ("metformin", "Biguanide", "u1"),
        ("buformin", "biguanide", "u1"),
        ("lisinopril", "ACE inhibitor", "u1"),
        ("aspirin", None, "u1"),
        ("phenformin", "biguanide", "u2"),
    ):
        chosen = {} if kind is None else {"drug_class": kind}
        await written(client, "medication", medication_name=name, user_id=user, **chosen)
    await written(client, "standard", content="Biguanides lower blood sugar", metadata={"drug_class": "biguanide"})
    by_class = {"type": "medication", "drug_class": "biguanide"}
    assert await names(client, **by_class, user_id="u1") == ["buformin", "metformin"]
    assert await names(client, drug_class="BIGUANIDE", user_id="u1") == ["buformin", "metformin"]
    assert await names(client, drug_class="ace inhibitor") == ["lisinopril"]
    assert await names(client, **by_class) == ["phenformin", "buformin", "metformin"]
    assert await names(client, drug_class="statin") == []


async def test_a_cursor_keeps_to_the_class_it_was_given_for(client: httpx.AsyncClient) -> None:
    for name in ("metformin", "buformin"):
        await written(client, "medication", medication_name=name, user_id="u1", drug_class="biguanide")
    first = (await client.get("/memories", params={"all": True, "drug_class": "biguanide", "limit": 1})).json()
    assert await names(client, drug_class="biguanide", limit=1, cursor=first["next_cursor"]) == ["metformin"]
    other = await client.get(
        "/memories", params={"all": True, "drug_class": "statin", "limit": 1, "cursor": first["next_cursor"]}
    )
    assert other.status_code == 422


async def test_an_empty_class_is_refused(client: httpx.AsyncClient) -> None:
    answer = await client.get("/memories", params={"all": True, "drug_class": " "})
    assert answer.status_code == 422
    assert [one["field"] for one in answer.json()["errors"]] == ["drug_class"]
