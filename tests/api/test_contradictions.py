"""Contradictions over HTTP, from the weaker statement to the one that settles them (seed 001)."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.runtime import Runtime
from tests.api.reviewing import WEAK, Desk
from tests.api.routes import mounted
from tests.api.test_isolation import body_of

QUESTION = "where does the user work?"


@pytest.fixture
def desk(client: httpx.AsyncClient, runtime: Runtime) -> Desk:
    return Desk(client, runtime)


async def asked(desk: Desk, **more: Any) -> dict[str, dict[str, Any]]:
    """Return the hits of a question by the memory's id."""
    body = {"query": QUESTION, "user_id": "u1", "min_confidence": 0, "include": ["details"], **more}
    answer = await desk.client.post("/query", json=body)
    assert answer.status_code == 200, answer.text
    return {hit["memory"]["id"]: hit for hit in answer.json()["memories"]}


async def test_a_weaker_statement_is_linked_both_ways_and_asks_for_a_person(desk: Desk) -> None:
    strong, weak = await desk.contested()
    first, second = await desk.memory(strong), await desk.memory(weak)
    assert first["links"] == [{"kind": "contradicts", "direction": "in", "memory_id": weak}]
    assert second["links"] == [{"kind": "contradicts", "direction": "out", "memory_id": strong}]
    assert (first["status"], second["status"]) == ("active", "active")
    assert (first["needs_review"], second["needs_review"], second["review_reason"]) == (False, True, "contradiction")


async def test_on_an_unimportant_predicate_nobody_is_asked(desk: Desk) -> None:
    await desk.write(predicate="favourite-color", object="green")
    weak = await desk.write(predicate="favourite-color", object="red", **WEAK)
    assert (weak["decision"], weak["memory"]["needs_review"]) == ("contradicted", False)
    assert await desk.items() == []


async def test_the_weaker_side_is_demoted_by_the_ratio_of_confidences(desk: Desk) -> None:
    strong, weak = await desk.contested()
    hits = await asked(desk)
    ratio = hits[weak]["confidence"] / hits[strong]["confidence"]
    assert ratio < 1
    [note] = [one for one in hits[weak]["notes"] if "contradicted" in one]
    assert note == f"contradicted by a belief that is trusted more: x{ratio:.2f}"
    assert not [one for one in hits[strong]["notes"] if "contradicted" in one]
    assert hits[weak]["score"] < hits[strong]["score"]


async def test_the_weaker_side_is_demoted_also_where_the_other_is_not_found(desk: Desk) -> None:
    await desk.write(object="Volkswagen")
    weak = (await desk.write(object="Rivian", topic="cars", **WEAK))["memory"]["id"]
    hits = await asked(desk, topic="cars")
    assert list(hits) == [weak]
    assert [one for one in hits[weak]["notes"] if "contradicted" in one]


async def test_the_holder_is_demoted_once_the_other_side_is_trusted_more(desk: Desk) -> None:
    holder = (await desk.write(object="Volkswagen", source_confidence=0.6, topic="cars"))["memory"]["id"]
    other = (await desk.write(object="Rivian", **WEAK))["memory"]
    assert other["contested"]
    for _ in range(4):
        assert (await desk.write(object="Rivian", **WEAK))["affected"] == []
    hits = await asked(desk)
    assert hits[other["id"]]["confidence"] > hits[holder]["confidence"]
    for found in (hits, await asked(desk, topic="cars")):
        assert [one for one in found[holder]["notes"] if "contradicted" in one]


async def test_a_stronger_newer_statement_settles_it(desk: Desk) -> None:
    strong, weak = await desk.contested()
    settled = await desk.write(object="BMW")
    assert settled["decision"] == "superseded"
    assert {one["memory_id"] for one in settled["affected"]} == {strong, weak}
    assert (settled["memory"]["contested"], settled["memory"]["needs_review"]) == (False, False)
    for one in (strong, weak):
        memory = await desk.memory(one)
        assert (memory["status"], memory["superseded_by"]) == ("superseded", settled["memory"]["id"])
        assert (memory["contested"], memory["needs_review"], memory["review_reason"]) == (False, False, None)
    assert await desk.items() == []
    assert list(await asked(desk)) == [settled["memory"]["id"]]


@pytest.mark.parametrize("again", ["Volkswagen", "Rivian"])
async def test_stating_one_side_again_firmly_settles_it_for_that_side(desk: Desk, again: str) -> None:
    sides = dict(zip(("Volkswagen", "Rivian"), await desk.contested(), strict=True))
    restated = await desk.write(object=again)
    winner = sides.pop(again)
    [loser] = sides.values()
    assert (restated["decision"], restated["memory"]["id"]) == ("merged", winner)
    assert restated["affected"] == [{"memory_id": loser, "change": "superseded"}]
    held, gone = await desk.memory(winner), await desk.memory(loser)
    assert (held["status"], held["contested"], held["needs_review"]) == ("active", False, False)
    assert (gone["status"], gone["superseded_by"], gone["needs_review"]) == ("superseded", winner, False)
    assert await desk.items() == []


async def test_stating_one_side_again_weakly_settles_nothing(desk: Desk) -> None:
    strong, weak = await desk.contested()
    assert (await desk.write(object="Rivian", **WEAK))["affected"] == []
    assert [(await desk.memory(one))["status"] for one in (strong, weak)] == ["active", "active"]
    assert (await desk.memory(weak))["needs_review"]


async def test_what_waits_is_in_no_answer_but_where_it_is_asked_for_by_name(desk: Desk, app: FastAPI) -> None:
    """Every route that reads with a plain key: neither the id nor the words of what is pending."""
    await desk.write(subject="Priya", predicate="lives-in", object="Berlin", session_id="s1")
    waiting = await desk.pending(predicate="has-password", object="hunter2-of-the-vault")
    rejected = await desk.pending(predicate="has-pin", object="hunter2-of-the-door")
    await desk.decided(rejected["id"], "reject")
    entities = (await desk.client.get("/entities?all=true")).json()["entities"]
    ends = {"{type}": "nothing", "{entity_id}": entities[0]["id"], "{job_id}": "job_" + "0" * 32}
    answered = 0
    for route in mounted(app):
        by_name = "{memory_id}" in route.path or "{review_id}" in route.path
        if route.role != "read" or by_name or "{key_id}" in route.path:
            continue
        path = route.path
        for name, value in ends.items():
            path = path.replace(name, value)
        for body in questions(body_of(route.path)):
            content = json.dumps(body) if route.method == "POST" else ""
            answer = await desk.client.request(
                route.method, path, content=content, headers={"Content-Type": "application/json"}
            )
            answered += answer.status_code < 300
            for secret in (waiting["id"], rejected["id"], "of-the-vault", "of-the-door"):
                assert secret not in answer.text, (route, body)
    assert answered > 20
    found = (await desk.client.get("/memories", params={"all": True, "status": "pending"})).json()["memories"]
    assert [one["id"] for one in found] == [waiting["id"]]


def questions(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a body that asks in every mode and of every time, or the body itself when it asks nothing."""
    if "query" not in body:
        return [body]
    asks = {**body, "query": "what is hunter2?", "user_id": "u1", "min_confidence": 0, "top_k": 200}
    times: tuple[dict[str, str], ...] = ({}, {"as_of": "2100-01-01T00:00:00Z"}, {"known_at": "2100-01-01T00:00:00Z"})
    return [{**asks, "mode": mode, **when} for mode in ("default", "historical", "audit") for when in times]
