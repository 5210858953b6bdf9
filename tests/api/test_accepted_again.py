"""Accepting what was reported wrong: it is believed again, and all that was known of it stays."""

from __future__ import annotations

from uuid import UUID

import httpx
import pytest

from app.db.recounts import find_wrong_mentions
from app.db.session import statement
from app.runtime import Runtime
from tests.api.reviewing import Desk

COUNTS = statement(
    """
    SELECT e.canonical_name, e.mention_count, (
        SELECT sum(m.mentions) FROM memory_entities k JOIN memories m ON m.tenant_id = :tenant AND m.id = k.memory_id
        WHERE k.tenant_id = :tenant AND k.entity_id = e.id) AS mentions
    FROM entities e WHERE e.tenant_id = :tenant
    """
)
QUESTION = "where does the user work?"
STANDING = {
    *(
        "recorded_at",
        "occurred_at",
        "access_count",
        "last_accessed_at",
        "supersedes",
        "links",
        "feedback",
        "confidence",
    ),
    *("confidence_parts", "evidence", "category", "importance", "status", "valid_from", "valid_until", "retired_at"),
}


@pytest.fixture
def desk(client: httpx.AsyncClient, runtime: Runtime) -> Desk:
    return Desk(client, runtime)


async def judged(desk: Desk, memory: str, word: str, **more: str) -> None:
    answer = await desk.client.post(f"/memories/{memory}/feedback", json={"feedback": word, **more})
    assert answer.status_code == 200, answer.text


async def actions(desk: Desk, memory: str) -> list[str]:
    history = (await desk.client.get(f"/memories/{memory}/history")).json()
    return [one["action"] for one in history["events"] if one["memory_id"] == memory]


@pytest.mark.long
async def test_what_is_accepted_again_is_what_it_was(desk: Desk) -> None:
    old = (await desk.write(object="Bosch"))["memory"]["id"]
    memory = (await desk.write(object="Volkswagen"))["memory"]["id"]
    await judged(desk, memory, "useful", session_id="s1")
    await judged(desk, memory, "useful", session_id="s2")
    before = await desk.memory(memory)
    assert before["supersedes"] == old
    then = desk.runtime.clock().isoformat()
    await judged(desk, memory, "wrong")
    meanwhile = desk.runtime.clock().isoformat()
    assert (await desk.decided(memory, "accept"))["outcome"] == "added"
    after = await desk.memory(memory)
    assert {name: after[name] for name in STANDING & after.keys()} == {
        name: before[name] for name in STANDING & before.keys()
    }
    assert after["access_count"] == 2
    assert await desk.recalled(QUESTION, known_at=then) == [memory]
    assert await desk.recalled(QUESTION, known_at=meanwhile) == []
    assert await desk.recalled(QUESTION) == [memory]
    told = await desk.client.get(f"/memories/{memory}", params={"known_at": then})
    assert (told.status_code, told.json()["status"]) == (200, "active")
    happened = await actions(desk, memory)
    assert (happened.count("memory.added"), happened.count("memory.accepted")) == (1, 1)


async def test_what_was_replaced_meanwhile_is_accepted_as_history(desk: Desk) -> None:
    memory = (await desk.write(object="Volkswagen"))["memory"]
    then = desk.runtime.clock().isoformat()
    await judged(desk, memory["id"], "wrong")
    other = (await desk.write(object="Rivian"))["memory"]["id"]
    done = await desk.decided(memory["id"], "accept")
    assert (done["memory"]["status"], done["memory"]["superseded_by"]) == ("superseded", other)
    assert done["memory"]["recorded_at"] == memory["recorded_at"]
    assert await desk.recalled(QUESTION, known_at=then) == [memory["id"]]
    assert await desk.recalled(QUESTION) == [other]


async def test_a_graph_still_leads_over_what_was_accepted_again(desk: Desk) -> None:
    stated = {"from_entity": "Priya", "relation_type": "reports-to", "to_entity": "Sarah", "user_id": "u1"}
    memory = (await desk.write("relation", **stated))["memory"]["id"]
    await judged(desk, memory, "wrong")
    await desk.decided(memory, "accept")
    [priya] = (await desk.client.get("/entities", params={"name": "Priya", "user_id": "u1"})).json()["entities"]
    graph = (await desk.client.get(f"/entities/{priya['id']}/graph")).json()
    assert [edge["memory_id"] for edge in graph["relations"]] == [memory]


async def test_mentions_are_counted_once_through_every_change(desk: Desk) -> None:
    async def counted(**more: str) -> dict[str, int]:
        found = (await desk.client.get("/entities", params={"user_id": "u1", **more})).json()["entities"]
        return {one["canonical_name"]: one["mention_count"] for one in found}

    first = (await desk.write(subject="Zed", object="IBM"))["memory"]["id"]
    await desk.write(subject="Zed", object="IBM")
    second = (await desk.write(subject="Zed", object="Dell"))["memory"]["id"]
    await judged(desk, second, "wrong")
    await desk.decided(second, "accept")
    assert await counted() == {"Zed": 3, "IBM": 2, "Dell": 1}
    await judged(desk, second, "wrong")
    await desk.write(subject="Zed", object="Dell")
    await desk.write(subject="Zed", object="Dell")
    assert (await desk.decided(second, "accept"))["outcome"] == "added"
    assert await counted() == {"Zed": 3, "IBM": 2, "Dell": 1}
    assert await counted(known_at=desk.runtime.clock().isoformat()) == await counted()
    assert (await desk.client.delete(f"/memories/{first}")).status_code == 200
    assert (await counted())["Zed"] == 1
    async with desk.runtime.database.read((await desk.actor()).tenant_id) as session:
        batch = await find_wrong_mentions(
            session, tenant=(await desk.actor()).tenant_id, now=desk.runtime.clock(), after=UUID(int=0)
        )
    assert batch.counts == {"corrected": 0}


async def test_what_was_believed_and_is_rejected_is_in_audits_alone(desk: Desk) -> None:
    memory = (await desk.write(object="Volkswagen"))["memory"]["id"]
    then = desk.runtime.clock().isoformat()
    await judged(desk, memory, "wrong")
    await desk.decided(memory, "reject")
    assert await desk.recalled(QUESTION, mode="audit") == [memory]
    assert await desk.recalled(QUESTION, known_at=then) == [memory]
    assert await desk.recalled(QUESTION) == []


async def test_who_is_not_named_again_is_mentioned_by_what_is_said_again_all_the_same(desk: Desk) -> None:
    dose = {"medication_name": "ibuprofen", "dosage": "200 mg", "user_id": "u1"}
    known = (await desk.write("medication", **dose, prescribed_by="Dr. Sharma"))["memory"]["id"]
    for more in ({}, {"prescribed_by": "Dr. Priya"}, {"prescribed_by": "Dr. Sharma"}, {}):
        assert (await desk.write("medication", **dose, **more))["memory"]["id"] == known
    async with desk.runtime.database.read((await desk.actor()).tenant_id) as session:
        rows = await session.fetch(COUNTS, {"tenant": (await desk.actor()).tenant_id})
    assert len(rows) >= 2
    assert [row["mention_count"] for row in rows] == [row["mentions"] for row in rows]
