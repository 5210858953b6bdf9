"""Constraints over HTTP: the guard as callers and reviewers see it, and the only way to take a rule back."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from app.runtime import Runtime
from tests.api.reviewing import Desk

RULE: dict[str, Any] = {
    "subject": "user",
    "predicate": "cannot use",
    "rule": "no external APIs due to compliance requirements",
    "severity": "critical",
    "user_id": "u1",
}
BROKEN: dict[str, Any] = {"predicate": "uses", "object": "an external API"}


@pytest.fixture
def desk(client: httpx.AsyncClient, runtime: Runtime) -> Desk:
    return Desk(client, runtime)


async def test_a_fact_against_a_rule_is_stored_linked_and_reviewed(desk: Desk) -> None:
    rule = (await desk.write("constraint", **RULE))["memory"]
    assert (rule["predicate"], rule["category"], rule["scope"], rule["importance"]) == (
        "may-not-use",
        "control",
        "user",
        0.95,
    )
    written = await desk.write(**BROKEN)
    fact = written["memory"]
    assert written["decision"] == "added"
    assert written["affected"] == [{"memory_id": rule["id"], "change": "conflicts-with"}]
    assert (fact["status"], fact["needs_review"], fact["review_reason"]) == ("active", True, "constraint")
    assert fact["links"] == [{"kind": "conflicts-with", "direction": "out", "memory_id": rule["id"]}]
    [item] = await desk.items(reason="constraint")
    assert item["memory"]["id"] == fact["id"]
    assert rule["id"] in item["note"]
    assert [(side["memory"]["id"], side["relation"]) for side in item["sides"]] == [(rule["id"], "conflicts-with")]
    told = (await desk.client.get(f"/memories/{rule['id']}/history")).json()["events"]
    assert [fact["id"] in event["sentence"] for event in told] == [False, True]


@pytest.mark.parametrize(("action", "status"), [("accept", "active"), ("keep_both", "active"), ("reject", "forgotten")])
async def test_a_person_decides_about_the_fact_and_the_rule_stands(desk: Desk, action: str, status: str) -> None:
    rule = (await desk.write("constraint", **RULE))["memory"]
    fact = (await desk.write(**BROKEN))["memory"]
    await desk.decided(fact["id"], action)
    assert await desk.items() == []
    assert (await desk.memory(fact["id"]))["status"] == status
    standing = await desk.memory(rule["id"])
    assert (standing["status"], standing["needs_review"]) == ("active", False)


async def test_a_pending_fact_that_a_person_accepts_is_linked_and_leaves_the_queue(desk: Desk) -> None:
    rule = (await desk.write("constraint", **RULE))["memory"]
    fact = await desk.pending(**BROKEN)
    assert fact["links"] == []
    done = await desk.decided(fact["id"], "accept")
    assert done["affected"] == [{"memory_id": rule["id"], "change": "conflicts-with"}]
    assert await desk.items() == []
    accepted = await desk.memory(fact["id"])
    assert accepted["status"] == "active"
    assert [link["memory_id"] for link in accepted["links"]] == [rule["id"]]


async def test_a_rule_is_taken_back_by_saying_that_it_ends(desk: Desk) -> None:
    rule = (await desk.write("constraint", **RULE))["memory"]
    assert rule["id"] in await desk.recalled("may the user use external APIs?")
    over = await desk.write("constraint", **RULE, ends=True)
    assert (over["decision"], over["memory"]["id"], over["memory"]["status"]) == ("ended", rule["id"], "expired")
    assert rule["id"] not in await desk.recalled("may the user use external APIs?")
    free = await desk.write(**BROKEN)
    assert (free["affected"], free["memory"]["needs_review"]) == ([], False)
    again = await desk.write("constraint", **RULE)
    assert (again["decision"], again["memory"]["id"] == rule["id"]) == ("added", False)


async def test_a_prohibition_is_recalled_as_one(desk: Desk) -> None:
    about = {"subject": "Ann", "predicate": "must not eat", "user_id": "u1"}
    told = [await desk.write("constraint", **about, rule=rule) for rule in ("peanuts", "shellfish")]
    assert [one["decision"] for one in told] == ["added", "added"]
    answer = await desk.client.post("/query", json={"user_id": "u1", "query": "What may Ann eat?"})
    context = answer.json()["context"]["text"]
    assert "Ann may not eat: peanuts" in context
    assert "Ann may not eat: shellfish" in context


async def test_a_weaker_word_does_not_take_a_rule_back(desk: Desk) -> None:
    rule = (await desk.write("constraint", **RULE))["memory"]
    doubted = await desk.write("constraint", **RULE, ends=True, source_confidence=0.4)
    assert doubted["decision"] == "review"
    assert (await desk.memory(rule["id"]))["status"] == "active"


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"rule": None}, "rule"), ({"predicate": " - "}, "predicate"), ({"severity": "dreadful"}, "severity")],
)
async def test_a_rule_that_says_nothing_is_refused(client: httpx.AsyncClient, fields: Any, field: str) -> None:
    body = {name: value for name, value in {**RULE, **fields}.items() if value is not None}
    answer = await client.post("/memories/typed/constraint", json=body)
    assert answer.status_code == 422
    assert [one["field"] for one in answer.json()["errors"]] == [field]
