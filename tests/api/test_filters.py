"""Listings narrowed by a field of a payload, by topic and by tags."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

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


async def test_a_topic_is_one_in_any_letter_case(client: httpx.AsyncClient) -> None:
    await written(client, object="Volkswagen", topic="Büro", user_id="u1")
    await written(client, predicate="drives", object="Porsche", topic="Autos", user_id="u1")
    for topic, found in (("Büro", 1), ("BÜRO", 1), ("büro", 1), ("Bürow", 0)):
        params = {"user_id": "u1", "topic": topic}
        assert (await client.get("/memories/count", params=params)).json()["total"] == found, topic
        listed = (await client.get("/memories", params=params)).json()["memories"]
        assert [one["topic"] for one in listed] == ["Büro"] * found, topic
        asked = {**params, "query": "Which car is it?", "min_relevance": 0}
        hits = (await client.post("/query", json=asked)).json()["memories"]
        assert [one["memory"]["topic"] for one in hits] == ["Büro"] * found, topic


async def test_lists_are_narrowed_by_tags_like_questions(client: httpx.AsyncClient) -> None:
    await written(client, object="Volkswagen", metadata={"tags": ["work", "urgent"], "project": "atlas"})
    await written(client, predicate="drives", object="Porsche", metadata={"tags": ["work"]})
    for filters, found in (
        ({"tags": "work"}, ["Porsche", "Volkswagen"]),
        ({"tags": ["urgent", "work"]}, ["Volkswagen"]),
        ({"tags": "work", "metadata": '{"project": "atlas"}'}, ["Volkswagen"]),
        ({"tags": "home"}, []),
    ):
        params: dict[str, Any] = {"user_id": "u1", **filters}
        listed = (await client.get("/memories", params=params)).json()["memories"]
        assert [one["object"] for one in listed] == found, filters
        assert (await client.get("/memories/count", params=params)).json()["total"] == len(found)
    twice = await client.get("/memories", params={"user_id": "u1", "tags": "work", "metadata": '{"tags": ["home"]}'})
    assert (twice.status_code, "not in both" in twice.text) == (422, True)


@pytest.mark.parametrize(
    ("wanted", "named"),
    [
        ({"AND": [{"project": "apollo"}]}, "AND"),
        ({"not": {"project": "apollo"}}, "not"),
        ({"$or": [{"project": "apollo"}]}, "$or"),
        ({"stars": {"lt": 4}}, "lt"),
        ({"review": {"stars": {"$gt": 4, "$lt": 9}}}, "$gt"),
        ({"project": {"in": ["apollo", "gemini"]}}, "in"),
        ({"project": "*"}, "*"),
    ],
)
async def test_an_operator_in_a_filter_of_metadata_is_refused_by_name(
    client: httpx.AsyncClient, wanted: dict[str, object], named: str
) -> None:
    listed = await client.get("/memories", params={"user_id": "u1", "metadata": json.dumps(wanted)})
    asked = await client.post("/query", json={"query": "What?", "user_id": "u1", "metadata": wanted})
    for answer in (listed, asked):
        assert answer.status_code == 422
        assert f"`{named}` is no operator here" in answer.text
        assert "such as" in answer.text


@pytest.mark.parametrize(
    "wanted", [{"in": "stock"}, {"or": "gate"}, {"range": {"from": 1}}, {"any": {"depth": {"x": 1}}}]
)
async def test_a_key_that_is_no_operator_filters(client: httpx.AsyncClient, wanted: dict[str, object]) -> None:
    await written(client, object="Siemens", metadata=wanted)
    listed = await client.get("/memories", params={"user_id": "u1", "metadata": json.dumps(wanted)})
    assert [one["object"] for one in listed.json()["memories"]] == ["Siemens"]
