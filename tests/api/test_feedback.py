"""Feedback over HTTP: what useful, not useful and wrong do to a memory in each of its states."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from app import ids
from app.runtime import Runtime
from tests.api.conftest import fact, written
from tests.support import owner

Give = Callable[..., Awaitable[dict[str, Any]]]
AGO = timedelta(days=400)


@pytest.fixture
def give(client: httpx.AsyncClient) -> Give:
    async def give(memory: str, feedback: str, **more: Any) -> dict[str, Any]:
        answer = await client.post(f"/memories/{memory}/feedback", json={"feedback": feedback, **more})
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    return give


async def aged(url: str, memory: str, status: str, **columns: object) -> None:
    """Put a memory into a state that time would bring it to."""
    one = ids.parse(ids.MEMORY, memory)
    if status == "pending":
        await owner.ask(url, "UPDATE memories SET review_reason = 'asked', review_since = now() WHERE id = $1", one)
    for table, key in (("memories", "id"), ("memory_index", "memory_id")):
        await owner.ask(url, f"UPDATE {table} SET status = $2 WHERE {key} = $1", one, status)  # noqa: S608
    for name, value in columns.items():
        await owner.ask(url, f"UPDATE memories SET {name} = $2 WHERE id = $1", one, value)  # noqa: S608


async def events(client: httpx.AsyncClient, memory: str) -> dict[str, dict[str, Any]]:
    told = (await client.get(f"/memories/{memory}/history")).json()["events"]
    return {one["action"]: one["detail"] for one in told}


def counters(memory: dict[str, Any]) -> tuple[int, int, int, int]:
    return memory["access_count"], memory["useful_count"], memory["not_useful_count"], memory["wrong_count"]


async def test_useful_counts_as_a_use(client: httpx.AsyncClient, give: Give) -> None:
    memory = await written(client)
    assert (counters(memory), memory["freshness"]) == ((0, 0, 0, 0), pytest.approx(1, abs=0.01))
    told = await give(memory["id"], "useful", session_id="s1")
    assert (told["feedback"], told["effect"]) == ("useful", "counted")
    assert told["freshness"]["after"] == pytest.approx(1.2, abs=0.01)
    assert counters(told["memory"]) == (1, 1, 0, 0)
    assert (told["memory"]["distinct_sessions"], told["memory"]["status"]) == (1, "active")
    again = await give(memory["id"], "useful", session_id="s2")
    assert (again["memory"]["access_count"], again["memory"]["distinct_sessions"]) == (2, 2)
    detail = (await events(client, memory["id"]))["memory.judged_useful"]
    assert detail["access_count"] in ([0, 1], [1, 2])
    assert detail["freshness"][1] > detail["freshness"][0]


async def test_a_recall_and_feedback_in_one_conversation_are_one_session(
    client: httpx.AsyncClient, runtime: Runtime, give: Give
) -> None:
    memory = await written(client)
    await client.post("/query", json={"query": "Which car?", "user_id": "u1", "session_id": "s1", "min_relevance": 0})
    await runtime.queries.tracker.flush()
    told = await give(memory["id"], "useful", session_id="s1")
    assert (told["memory"]["access_count"], told["memory"]["distinct_sessions"]) == (2, 1)


async def test_useful_never_makes_a_memory_fresher_than_three_times(client: httpx.AsyncClient, give: Give) -> None:
    memory = await written(client)
    for _ in range(12):
        told = await give(memory["id"], "useful")
    assert told["memory"]["access_count"] == 12
    assert told["freshness"]["after"] == pytest.approx(3.0)


async def test_uses_that_lie_days_apart_make_it_steady(client: httpx.AsyncClient, give: Give) -> None:
    stated = datetime.now(UTC) - timedelta(days=60)
    memory = await written(client, occurred_at=stated.isoformat())
    steady = []
    for days in (7, 7.5, 21.5, 51.5):
        told = await give(memory["id"], "useful", now=(stated + timedelta(days=days)).isoformat())
        steady.append(told["memory"]["stability"])
    assert steady == pytest.approx([0.1, 0.1 + 0.1 / 14, 0.3 + 0.1 / 14, 0.5 + 0.1 / 14], abs=1e-5)


@pytest.mark.parametrize("uses", [1, 2, 6, 7, 30])
async def test_not_useful_makes_it_fade_sooner(
    client: httpx.AsyncClient, give: Give, runtime: Runtime, uses: int
) -> None:
    memory = await written(client, occurred_at=(runtime.clock() - timedelta(days=90)).isoformat())
    for day in range(uses):
        now = runtime.clock() - timedelta(days=uses - day)
        await give(memory["id"], "useful", now=now.isoformat())
    told = await give(memory["id"], "not_useful")
    assert told["effect"] == "counted"
    assert told["freshness"]["after"] < told["freshness"]["before"] * 0.95
    assert counters(told["memory"]) == (min(uses, 6) - 1, uses, 1, 0)
    assert told["memory"]["status"] == "active"


async def test_not_useful_never_falls_below_nothing(client: httpx.AsyncClient, give: Give) -> None:
    memory = await written(client)
    fresh = 1.0
    for _ in range(4):
        told = await give(memory["id"], "not_useful")
        assert told["reason"] == "it has no use that could be taken back"
        assert 0 <= told["freshness"]["after"] <= fresh + 1e-6
        fresh = told["freshness"]["after"]
    assert counters(told["memory"]) == (0, 0, 4, 0)
    assert (told["memory"]["last_accessed_at"], told["memory"]["stability"]) == (None, 0)


async def test_a_use_that_was_not_useful_did_not_refresh(
    client: httpx.AsyncClient, give: Give, runtime: Runtime
) -> None:
    stated = runtime.clock() - timedelta(days=180)
    memory = await written(client, predicate="drinks", object="green tea", occurred_at=stated.isoformat())
    assert memory["freshness"] == pytest.approx(0.5, abs=0.01)
    found = await client.post("/query", json={"query": "green tea", "user_id": "u1"})
    assert [hit["memory"]["id"] for hit in found.json()["memories"]] == [memory["id"]]
    told = await give(memory["id"], "not_useful")
    assert told["freshness"] == {"before": pytest.approx(1.2, abs=0.01), "after": pytest.approx(0.5, abs=0.01)}


async def test_wrong_sends_an_active_memory_to_review(client: httpx.AsyncClient, give: Give) -> None:
    memory = await written(client, predicate="drinks", object="green tea")
    told = await give(memory["id"], "wrong", note="It was black tea.")
    after = told["memory"]
    assert (told["effect"], after["status"]) == ("sent_to_review", "pending")
    assert (after["needs_review"], after["review_reason"]) == (True, "reported_wrong")
    [note] = after["provenance"]["feedback"]
    assert (note["note"], note["feedback"]) == ("It was black tea.", "wrong")
    for mode in ("default", "historical", "audit"):
        found = await client.post("/query", json={"query": "green tea", "user_id": "u1", "mode": mode})
        assert found.json()["memories"] == []
    detail = (await events(client, memory["id"]))["memory.judged_wrong"]
    assert detail["status"] == ["active", "pending"]
    assert "black tea" not in str(detail)
    again = await give(memory["id"], "wrong")
    assert (again["effect"], again["memory"]["status"]) == ("already_in_review", "pending")
    assert again["memory"]["wrong_count"] == 2


async def test_what_is_reported_wrong_frees_its_slot(client: httpx.AsyncClient, give: Give) -> None:
    theme = {"preference_key": "editor.theme", "user_id": "u1"}
    first = await written(client, "preference", preference_value="dark", **theme)
    await give(first["id"], "wrong")
    answer = await client.post("/memories/typed/preference", json={"preference_value": "light", **theme})
    assert (answer.json()["decision"], answer.json()["affected"]) == ("added", [])
    active = (await client.get("/memories", params={"user_id": "u1", "status": "active"})).json()["memories"]
    assert [one["preference_value"] for one in active] == ["light"]


async def test_why_it_waited_before_is_not_lost(client: httpx.AsyncClient, give: Give, database_url: str) -> None:
    memory = await written(client)
    await client.patch(f"/memories/{memory['id']}", json={"needs_review": True})
    one = ids.parse(ids.MEMORY, memory["id"])
    [before] = await owner.ask(database_url, "SELECT review_since FROM memories WHERE id = $1", one)
    await give(memory["id"], "wrong")
    [after] = await owner.ask(
        database_url, "SELECT review_since, review_note, review_reason FROM memories WHERE id = $1", one
    )
    assert after["review_since"] == before["review_since"]
    assert (after["review_reason"], "asked" in after["review_note"]) == ("reported_wrong", True)


@pytest.mark.parametrize("status", ["superseded", "expired"])
async def test_wrong_only_marks_what_is_not_believed_any_more(
    client: httpx.AsyncClient, give: Give, database_url: str, status: str
) -> None:
    memory = await written(client)
    await aged(database_url, memory["id"], status)
    told = await give(memory["id"], "wrong")
    assert (told["effect"], told["memory"]["status"]) == ("marked_for_review", status)
    assert told["memory"]["review_reason"] == "reported_wrong"
    assert (await give(memory["id"], "wrong"))["effect"] == "already_in_review"


@pytest.mark.parametrize("status", ["superseded", "expired", "pending"])
@pytest.mark.parametrize("feedback", ["useful", "not_useful"])
async def test_a_word_on_what_is_not_recalled_is_counted(
    client: httpx.AsyncClient, give: Give, database_url: str, status: str, feedback: str
) -> None:
    memory = await written(client)
    await aged(database_url, memory["id"], status)
    told = await give(memory["id"], feedback)
    assert told["memory"][f"{feedback}_count"] == 1
    revived = (status, feedback) == ("expired", "useful")
    assert told["memory"]["status"] == ("active" if revived else status)
    assert told["effect"] == ("revived" if revived else "counted")


async def test_useful_brings_an_expired_memory_back(client: httpx.AsyncClient, give: Give, database_url: str) -> None:
    stated = datetime.now(UTC) - 4 * AGO
    memory = await written(client, predicate="drinks", object="green tea", occurred_at=stated.isoformat())
    assert memory["freshness"] < 0.1
    await aged(database_url, memory["id"], "expired")
    assert (await client.post("/query", json={"query": "green tea", "user_id": "u1"})).json()["memories"] == []
    told = await give(memory["id"], "useful")
    assert (told["effect"], told["memory"]["status"]) == ("revived", "active")
    assert (told["freshness"]["before"] < 0.1, told["freshness"]["after"]) == (True, pytest.approx(1.2, abs=0.01))
    found = await client.post("/query", json={"query": "green tea", "user_id": "u1"})
    assert [hit["memory"]["id"] for hit in found.json()["memories"]] == [memory["id"]]
    detail = (await events(client, memory["id"]))["memory.revived"]
    assert (detail["reason"], detail["access_count"]) == ("it was found useful", 1)
    assert detail["freshness"] > detail["threshold"] == 0.1


async def test_a_use_long_ago_does_not_bring_it_back(client: httpx.AsyncClient, give: Give, database_url: str) -> None:
    stated = datetime.now(UTC) - 6 * AGO
    memory = await written(client, occurred_at=stated.isoformat())
    await aged(database_url, memory["id"], "expired")
    told = await give(memory["id"], "useful", now=(stated + AGO).isoformat())
    assert (told["effect"], told["memory"]["status"]) == ("counted", "expired")
    assert (told["memory"]["access_count"], told["freshness"]["after"] < 0.1) == (1, True)
    assert "not over 0.1" in told["reason"]
    assert (await give(memory["id"], "useful"))["effect"] == "revived"


async def test_what_is_over_stays_expired(client: httpx.AsyncClient, give: Give, database_url: str) -> None:
    start = datetime.now(UTC) - timedelta(days=3)
    over = await written(client, valid_from=start.isoformat(), ttl_seconds=3600)
    ended = await written(client, predicate="drinks", object="tea", occurred_at=start.isoformat())
    await aged(database_url, over["id"], "expired")
    await aged(database_url, ended["id"], "expired", ended_at=start + timedelta(hours=1))
    for memory in (over, ended):
        told = await give(memory["id"], "useful")
        assert (told["effect"], told["memory"]["status"]) == ("counted", "expired")
        assert "validity is over" in told["reason"]
        assert "memory.revived" not in await events(client, memory["id"])


async def test_it_stays_expired_when_another_holds_its_slot(
    client: httpx.AsyncClient, give: Give, database_url: str
) -> None:
    theme = {"preference_key": "editor.theme", "user_id": "u1"}
    first = await written(client, "preference", preference_value="dark", **theme)
    await aged(database_url, first["id"], "expired")
    second = await written(client, "preference", preference_value="light", **theme | {"preference_key": "editor.font"})
    of = "SELECT slot FROM memories WHERE id = $1"
    [slot] = await owner.ask(database_url, of, ids.parse(ids.MEMORY, first["id"]))
    await aged(database_url, second["id"], "active", slot=slot["slot"])
    told = await give(first["id"], "useful")
    assert (told["memory"]["status"], "another memory" in told["reason"]) == ("expired", True)
    assert (await client.get(f"/memories/{second['id']}")).json()["status"] == "active"


async def test_a_revival_and_a_write_of_its_slot_leave_one_active(client: httpx.AsyncClient, database_url: str) -> None:
    async def race(key: str) -> list[str]:
        theme = {"preference_key": key, "user_id": "u1"}
        first = await written(client, "preference", preference_value="dark", **theme)
        await aged(database_url, first["id"], "expired")
        word = client.post(f"/memories/{first['id']}/feedback", json={"feedback": "useful"})
        write = client.post("/memories/typed/preference", json={"preference_value": "light", **theme})
        answers = await asyncio.gather(word, write)
        assert [one.status_code for one in answers] == [200, 201], [one.text for one in answers]
        rows = await owner.ask(
            database_url,
            "SELECT slot FROM memories WHERE status = 'active' AND NOT contested AND slot = "
            "(SELECT slot FROM memories WHERE id = $1)",
            ids.parse(ids.MEMORY, first["id"]),
        )
        return [row["slot"] for row in rows]

    for number in range(6):
        assert len(await race(f"editor.theme-{number}")) == 1


async def test_many_words_at_once_all_count(client: httpx.AsyncClient, give: Give) -> None:
    memory = await written(client)
    await asyncio.gather(*(give(memory["id"], "useful", session_id=f"s{n}") for n in range(8)))
    now = (await client.get(f"/memories/{memory['id']}")).json()
    assert (counters(now), now["distinct_sessions"]) == ((8, 8, 0, 0), 8)


async def test_a_retried_word_counts_once(client: httpx.AsyncClient) -> None:
    memory = await written(client)
    path, headers = f"/memories/{memory['id']}/feedback", {"Idempotency-Key": "once"}
    first = await client.post(path, json={"feedback": "useful"}, headers=headers)
    second = await client.post(path, json={"feedback": "useful"}, headers=headers)
    assert first.json() == second.json()
    assert second.headers["Idempotency-Replayed"] == "true"
    assert (await client.get(f"/memories/{memory['id']}")).json()["access_count"] == 1
    assert (await client.post(path, json={"feedback": "wrong"}, headers=headers)).status_code == 409


async def test_a_forgotten_memory_takes_no_feedback(client: httpx.AsyncClient, database_url: str) -> None:
    memory = await written(client)
    await aged(database_url, memory["id"], "forgotten")
    for feedback in ("useful", "not_useful", "wrong"):
        answer = await client.post(f"/memories/{memory['id']}/feedback", json={"feedback": feedback})
        assert answer.status_code == 409
        assert "forgotten" in answer.json()["detail"]
    now = (await client.get(f"/memories/{memory['id']}")).json()
    assert counters(now) == (0, 0, 0, 0)


async def test_what_cannot_be_feedback_is_told(client: httpx.AsyncClient) -> None:
    memory = await written(client)
    path = f"/memories/{memory['id']}/feedback"
    for body, field in (
        ({}, "feedback"),
        ({"feedback": "great"}, "feedback"),
        ({"feedback": "useful", "note": "x" * 2001}, "note"),
        ({"feedback": "useful", "note": " "}, "note"),
        ({"feedback": "useful", "now": 12}, "now"),
        ({"feedback": "useful", "now": "2199-01-01T00:00:00Z"}, "now"),
        ({"feedback": "useful", "session_id": "\x00"}, "session_id"),
        ({"feedback": "useful", "stars": 5}, "stars"),
    ):
        answer = await client.post(path, json=body)
        assert answer.status_code == 422, body
        assert answer.json()["errors"][0]["field"] == field
        assert "items" not in answer.json()["detail"], "a note has characters"
    unknown = ids.public(ids.MEMORY, UUID(int=7))
    for wrong in (unknown, "nonsense"):
        assert (await client.post(f"/memories/{wrong}/feedback", json={"feedback": "useful"})).status_code == 404
    now = (await client.get(f"/memories/{memory['id']}")).json()
    assert counters(now) == (0, 0, 0, 0)


async def test_feedback_takes_the_write_role(client: httpx.AsyncClient, tenant: Any) -> None:
    memory = await written(client)
    reading = {"Authorization": f"Bearer {await tenant.key('read')}"}
    path = f"/memories/{memory['id']}/feedback"
    assert (await client.post(path, json={"feedback": "useful"}, headers=reading)).status_code == 403


async def test_what_was_reported_wrong_stays_held_when_it_is_said_again(client: httpx.AsyncClient, give: Give) -> None:
    memory = await written(client)
    await give(memory["id"], "wrong")
    for _ in range(2):
        again = (await client.post("/memories/typed/fact", json=fact())).json()
        assert (again["decision"], again["memory"]["id"], again["memory"]["status"]) == (
            "review",
            memory["id"],
            "pending",
        )
        assert "reported wrong" in again["reason"]
    other = (await client.post("/memories/typed/fact", json=fact(object="Rivian"))).json()
    assert (other["decision"], other["memory"]["status"]) == ("added", "active")


async def test_what_a_reviewer_rejected_is_looked_at_again_before_it_is_believed(client: httpx.AsyncClient) -> None:
    memory = await written(client)
    await decided(client, memory["id"], "reject")
    again = (await client.post("/memories/typed/fact", json=fact())).json()
    assert (again["decision"], again["memory"]["status"]) == ("review", "pending")
    assert again["memory"]["id"] != memory["id"]
    assert "rejected" in again["reason"]
    third = (await client.post("/memories/typed/fact", json=fact())).json()
    assert third["memory"]["id"] == again["memory"]["id"]
    await decided(client, again["memory"]["id"], "accept")
    believed = (await client.post("/memories/typed/fact", json=fact())).json()
    assert (believed["decision"], believed["memory"]["id"]) == ("merged", again["memory"]["id"])


async def test_a_reviewer_may_state_what_was_rejected(client: httpx.AsyncClient) -> None:
    first = await written(client)
    await decided(client, first["id"], "reject")
    other = await written(client, object="Rivian")
    statement = {"type": "fact", "payload": {"predicate": "works-at", "object": "Volkswagen"}}
    done = await decided(client, other["id"], "supersede_with", **{"with": statement})
    stated = (await client.get(f"/memories/{done['memory']['id']}")).json()
    assert (stated["object"], stated["status"]) == ("Volkswagen", "active")


async def decided(client: httpx.AsyncClient, memory: str, action: str, **more: Any) -> dict[str, Any]:
    """Have a reviewer decide about a memory that is, if nobody has asked for it yet, reported wrong first."""
    path = f"/admin/review/rev_{memory.removeprefix('mem_')}"
    if not (await client.get(path)).json().get("open"):
        await client.post(f"/memories/{memory}/feedback", json={"feedback": "wrong"})
    item = (await client.get(path)).json()["item"]
    answer = await client.post(path, json={"action": action, "version": item["version"], **more})
    assert answer.status_code == 200, answer.text
    done: dict[str, Any] = answer.json()
    return done
