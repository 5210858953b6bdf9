"""Mem0's filters: who they ask for, what meets them, and what can't be used, said by name."""

from __future__ import annotations

from typing import Any

import pytest

from app.features.mem0.filters import MOST_OWNERS, Owner, all_of, equal, read_filter
from app.http.problems import InvalidFields


def memory(**changes: Any) -> dict[str, Any]:
    return {
        "id": "mem_1",
        "memory": "user likes green tea",
        "user_id": "ana",
        "agent_id": None,
        "app_id": "shop",
        "run_id": "monday",
        "metadata": {"stars": 4, "tags": ["hot", "drink"], "place": {"city": "Porto"}},
        "categories": ["preference", "food"],
        "created_at": "2026-03-04T10:00:00+00:00",
        "updated_at": "2026-03-05T10:00:00+00:00",
        "expiration_date": None,
        "type": "preference",
        "status": "active",
        **changes,
    }


@pytest.mark.parametrize(
    ("given", "met"),
    [
        ({"user_id": "ana"}, True),
        ({"user_id": "bo"}, False),
        ({"user_id": "*"}, True),
        ({"agent_id": "*"}, False),
        ({"user_id": {"in": ["bo", "ana"]}}, True),
        ({"user_id": {"ne": "ana"}}, False),
        ({"user_id": {"nin": ["bo"]}}, True),
        ({"user_id": "ana", "run_id": "tuesday"}, False),
        ({"AND": [{"user_id": "ana"}, {"run_id": "monday"}]}, True),
        ({"OR": [{"user_id": "bo"}, {"app_id": "shop"}]}, True),
        ({"NOT": [{"user_id": "bo"}, {"run_id": "tuesday"}]}, True),
        ({"NOT": {"categories": {"contains": "foo"}}}, False),
        ({"categories": {"in": ["food"]}}, True),
        ({"categories": {"ne": "food"}}, False),
        ({"categories": ["travel", "food"]}, True),
        ({"keywords": {"icontains": "GREEN"}}, True),
        ({"keywords": {"contains": "GREEN"}}, False),
        ({"created_at": {"gte": "2026-03-01", "lt": "2026-03-04"}}, False),
        ({"created_at": {"gte": "2026-03-01", "lte": "2026-03-04T12:00:00Z"}}, True),
        ({"created_at": {"gt": 1700000000}}, True),
        ({"metadata": {"stars": 4}}, True),
        ({"metadata": {"stars": {"gte": 5}}}, False),
        ({"metadata": {"stars": {"lt": "x"}}}, False),
        ({"metadata": {"tags": ["hot"]}}, True),
        ({"metadata": {"tags": {"contains": "cold"}}}, False),
        ({"metadata": {"place": {"city": "Porto"}}}, True),
        ({"metadata": {"contains": {"stars": 4}}}, True),
        ({"metadata": {"ne": {"stars": 4}}}, False),
        ({"metadata": {"none": 1}}, False),
        ({"memory_ids": {"in": ["mem_1", "mem_2"]}}, True),
        ({"status": "active", "type": {"ne": "fact"}}, True),
    ],
    ids=str,
)
def test_a_memory_meets_a_filter_or_not(given: dict[str, Any], *, met: bool) -> None:
    assert read_filter(given).test(memory()) is met


@pytest.mark.parametrize(
    ("given", "owners"),
    [
        ({"user_id": "ana"}, {Owner(user_id="ana")}),
        ({"AND": [{"user_id": "ana"}, {"agent_id": "nora"}]}, {Owner(user_id="ana", agent_id="nora")}),
        ({"AND": [{"user_id": "ana"}, {"user_id": "bo"}]}, set()),
        ({"OR": [{"user_id": "ana"}, {"agent_id": "nora"}]}, {Owner(user_id="ana"), Owner(agent_id="nora")}),
        ({"user_id": {"in": ["ana", "bo"]}, "run_id": "1"}, {Owner(user_id=one, anyone=True) for one in ("ana", "bo")}),
        ({"user_id": "*"}, {Owner(anyone=True)}),
        ({"user_id": {"ne": "ana"}}, {Owner()}),
        ({"NOT": [{"user_id": "ana"}]}, {Owner()}),
        ({"OR": [{"user_id": "ana"}, {"type": "fact"}]}, {Owner(user_id="ana"), Owner()}),
    ],
)
def test_owners_are_those_by_which_it_can_be_met(given: dict[str, Any], owners: set[Owner]) -> None:
    assert set(read_filter(given).owners) == owners


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ({"user_id": "ana"}, True),
        ({"AND": [{"user_id": "ana"}]}, True),
        ({"user_id": {"ne": "ana"}}, False),
        ({"AND": [{"user_id": "ana"}, {"user_id": {"ne": "ana"}}]}, False),
        ({"user_id": "ana", "type": "fact"}, False),
        ({"OR": [{"user_id": "ana"}, {"user_id": "bo"}]}, False),
    ],
    ids=str,
)
def test_only_owners_by_name_say_all(given: dict[str, Any], *, plain: bool) -> None:
    assert read_filter(given).plain is plain


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"colour": "red"}, "filters.colour"),
        ({"AND": [{"user_id": "ana"}, {"colour": "red"}]}, "filters.AND.1.colour"),
        ({"AND": []}, "filters.AND"),
        ({"AND": ["user_id"]}, "filters.AND.0"),
        ({}, "filters"),
        ([], "filters"),
        ({"user_id": {"in": "ana"}}, "filters.user_id.in"),
        ({"user_id": {"like": "a%"}}, "filters.user_id.eq"),
        ({"created_at": {"gte": "soon"}}, "filters.created_at"),
        ({"metadata": {"stars": {"in": 4}}}, "filters.metadata.stars.in"),
        ({"metadata": {"contains": "stars"}}, "filters.metadata"),
        ({"user_id": {"in": [f"u{number}" for number in range(MOST_OWNERS + 1)]}}, "filters"),
        ({"OR": [{"user_id": "ana"}] * 120}, "filters"),
    ],
    ids=lambda one: str(one)[:40],
)
def test_what_cannot_be_used_is_refused_by_its_place(given: object, field: str) -> None:
    with pytest.raises(InvalidFields) as refused:
        read_filter(given)
    assert [one.field for one in refused.value.errors] == [field]


def test_a_filter_that_is_nested_without_end_is_refused() -> None:
    given: dict[str, Any] = {"user_id": "ana"}
    for _ in range(5_000):
        given = {"AND": [given]}
    with pytest.raises(InvalidFields):
        read_filter(given)


def test_ids_beside_filters_narrow_them() -> None:
    found = all_of([equal("user_id", "ana"), read_filter({"OR": [{"user_id": "ana"}, {"user_id": "bo"}]})])
    assert found.owners == (Owner(user_id="ana"),)
    assert not found.test(memory(user_id="bo"))


def test_plain_values_of_metadata_are_what_whatever_meets_it_contains() -> None:
    found = read_filter({"user_id": "ana", "app_id": "shop", "metadata": {"stars": 4, "tags": {"contains": "hot"}}})
    assert found.metadata == {"stars": 4, "mem0": {"app_id": "shop"}}
