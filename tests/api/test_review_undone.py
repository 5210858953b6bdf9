"""Ending what a reviewer knows to be over, undoing decisions, claims, comments and names of reviewers."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
import uuid_utils

from app import ids
from app.db.session import statement
from app.features.review import note_routes as review_notes
from app.runtime import Runtime
from tests.api.conftest import fact
from tests.api.reviewing import Desk, rev


@pytest.fixture
def desk(client: httpx.AsyncClient, runtime: Runtime) -> Desk:
    return Desk(client, runtime)


async def undo(desk: Desk, memory: str, **body: Any) -> httpx.Response:
    return await desk.client.post(f"/admin/review/{rev(memory)}/undo", json=body)


async def undone(desk: Desk, memory: str) -> dict[str, Any]:
    answer = await undo(desk, memory)
    assert answer.status_code == 200, answer.text
    review_notes.ReviewUndoneOut.model_validate(answer.json())
    found: dict[str, Any] = answer.json()
    return found


async def state(desk: Desk, *memories: str) -> list[dict[str, Any]]:
    """Return all that answers show of memories, but for when they changed, and their freshness, which time takes."""
    return [
        {name: value for name, value in (await desk.memory(one)).items() if name not in {"updated_at", "freshness"}}
        for one in memories
    ]


async def test_a_belief_that_ended_stays_as_history_until_then(desk: Desk) -> None:
    held = (await desk.write(object="Volkswagen", occurred_at="2026-01-05T00:00:00Z"))["memory"]["id"]
    await desk.client.patch(f"/memories/{held}", json={"needs_review": True})
    since = "2026-03-01T00:00:00Z"
    done = await desk.decided(held, "end", since=since, reason="she left", reviewer="Ana")
    assert (done["outcome"], done["memory"]["status"]) == ("ended", "expired")
    then = await desk.client.get(f"/memories/{held}", params={"as_of": "2026-02-01T00:00:00Z"})
    later = await desk.client.get(f"/memories/{held}", params={"as_of": "2026-03-02T00:00:00Z"})
    assert (then.status_code, later.status_code) == (200, 404)
    assert (await desk.write(object="Rivian"))["decision"] == "added", "the slot is free"
    told = (await desk.item(held))["decided"]["detail"]
    assert (told["action"], told["reviewer"]) == ("end", "Ana")


async def test_ending_one_side_leaves_the_other_uncontested(desk: Desk) -> None:
    strong, weak = await desk.contested()
    await desk.client.patch(f"/memories/{strong}", json={"needs_review": True})
    done = await desk.decided(strong, "end")
    assert {(one["memory_id"], one["change"]) for one in done["affected"]} == {(weak, "uncontested")}
    assert not (await desk.memory(weak))["contested"]


async def test_an_ending_is_of_what_is_believed_and_not_in_the_future(desk: Desk) -> None:
    pending = await desk.pending(predicate="has-password", object="hunter2")
    refused = await desk.decide(pending["id"], "end")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "action")
    later = (datetime.now(UTC) + timedelta(days=3650)).isoformat()
    for action, since in (("end", later), ("accept", "2026-01-01T00:00:00Z")):
        answer = await desk.decide(pending["id"], action, since=since)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "since")


@pytest.mark.parametrize("action", ["accept", "reject", "keep_both", "supersede_with", "end"])
async def test_an_undone_decision_leaves_all_sides_as_they_were(desk: Desk, action: str) -> None:
    strong, weak = await desk.contested()
    before = await state(desk, strong, weak)
    waiting = (await desk.item(weak))["item"]
    await desk.decided(weak, action, **({"with": strong} if action == "supersede_with" else {}))
    answer = await undone(desk, weak)
    assert (answer["outcome"], answer["memory"]["id"]) == ("undone", weak)
    assert await state(desk, strong, weak) == before
    again = (await desk.item(weak))["item"]
    for name in ("reason", "note", "since", "suggestion"):
        assert again[name] == waiting[name]
    assert weak in await desk.recalled("Where does the user work?")
    assert (await undo(desk, weak)).status_code == 409, "it was undone already"
    await desk.decided(weak, "reject")


@pytest.mark.parametrize("action", ["accept", "reject"])
async def test_a_pending_memory_waits_again_after_its_decision_is_undone(desk: Desk, action: str) -> None:
    pending = (await desk.pending(predicate="lives-in", object="Porto"))["id"]
    before = await state(desk, pending)
    await desk.decided(pending, action)
    assert (await undone(desk, pending))["memory"]["status"] == "pending"
    assert await state(desk, pending) == before
    assert pending not in await desk.recalled("Where does the user live?")
    assert (await desk.decided(pending, "accept"))["outcome"] == "added"
    assert pending in await desk.recalled("Where does the user live?")


async def test_the_last_decision_is_undone_though_a_machine_ahead_made_one_before(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    pending = (await desk.pending(predicate="lives-in", object="Porto"))["id"]
    with monkeypatch.context() as ahead:
        later = time.time_ns() + 90_000_000_000
        ahead.setattr(ids, "new", lambda: UUID(bytes=uuid_utils.uuid7(nanoseconds=later).bytes))
        await desk.decided(pending, "reject")
    await undone(desk, pending)
    await desk.decided(pending, "accept")
    assert (await desk.item(pending))["decided"]["detail"]["action"] == "accept"
    assert (await undone(desk, pending))["memory"]["status"] == "pending"


async def test_an_undo_is_on_record_and_the_log_still_agrees(desk: Desk) -> None:
    _, weak = await desk.contested()
    await desk.decided(weak, "reject")
    assert (await undo(desk, weak, reason="a slip", reviewer="Ana")).status_code == 200
    events = (await desk.client.get(f"/memories/{weak}/history")).json()["events"]
    [told] = [one for one in events if one["action"] == "review.undone"]
    detail = told["detail"]
    assert (detail["action"], detail["reason"], detail["reviewer"]) == ("reject", "a slip", "Ana")
    assert "by Ana" in told["sentence"]
    rebuilt = await desk.runtime.audit.rebuild((await desk.actor()).tenant_id)
    assert rebuilt.differs is None


async def test_what_changed_since_cannot_be_undone(desk: Desk) -> None:
    _, weak = await desk.contested()
    await desk.decided(weak, "keep_both")
    await desk.client.patch(f"/memories/{weak}", json={"importance": 0.9})
    answer = await undo(desk, weak)
    assert answer.status_code == 409
    assert weak in answer.json()["detail"]


async def test_a_slot_that_was_taken_since_is_not_taken_back(desk: Desk) -> None:
    held = (await desk.write(object="Volkswagen"))["memory"]["id"]
    await desk.client.patch(f"/memories/{held}", json={"needs_review": True})
    await desk.decided(held, "end")
    new = (await desk.write(object="Rivian"))["memory"]["id"]
    answer = await undo(desk, held)
    assert (answer.status_code, new in answer.json()["detail"]) == (409, True)
    assert [(await desk.memory(one))["status"] for one in (held, new)] == ["expired", "active"]


async def test_a_statement_of_the_reviewer_is_final(desk: Desk) -> None:
    _, weak = await desk.contested()
    instead = {"type": "fact", "payload": {"predicate": "works-at", "object": "BMW"}}
    await desk.decided(weak, "supersede_with", **{"with": instead})
    answer = await undo(desk, weak)
    assert (answer.status_code, "statement" in answer.json()["detail"]) == (409, True)


async def test_a_statement_of_the_reviewer_is_erased_with_the_user_whose_it_replaced(desk: Desk) -> None:
    held = (await desk.write(object="Volkswagen", user_id="ana", scope="global"))["memory"]["id"]
    await desk.client.patch(f"/memories/{held}", json={"needs_review": True})
    instead = {"type": "fact", "payload": {"predicate": "works-at", "object": "BMW"}}
    await desk.decided(held, "supersede_with", **{"with": instead})
    assert "BMW" in (await desk.client.get("/memories")).text
    assert (await desk.client.delete("/users/ana")).status_code == 200
    assert "BMW" not in (await desk.client.get("/memories")).text


async def test_without_a_decision_there_is_nothing_to_undo(desk: Desk) -> None:
    _, weak = await desk.contested()
    assert (await undo(desk, weak)).status_code == 404
    assert (await undo(desk, "mem_" + "0" * 32)).status_code == 404


async def test_an_item_is_claimed_by_one_reviewer_at_a_time(desk: Desk) -> None:
    _, weak = await desk.contested()
    path = f"/admin/review/{rev(weak)}/claim"
    first = await desk.client.post(path, json={"reviewer": "Ana"})
    assert (first.status_code, first.json()["claim"]["reviewer"]) == (200, "Ana")
    second = await desk.client.post(path, json={"reviewer": "Bo"})
    assert (second.status_code, "Ana" in second.json()["detail"]) == (409, True)
    assert (await desk.client.post(path, json={"reviewer": "Ana", "release": True})).json()["claim"] is None
    assert (await desk.client.post(path, json={"reviewer": "Bo"})).json()["claim"]["reviewer"] == "Bo"
    await desk.decided(weak, "reject")
    assert (await desk.client.post(path, json={"reviewer": "Bo"})).status_code == 404


async def test_comments_are_kept_in_order_and_erased_with_the_memory(desk: Desk) -> None:
    memory = (await desk.client.post("/memories/typed/fact", json=fact(object="Otto"))).json()["memory"]["id"]
    await desk.client.patch(f"/memories/{memory}", json={"needs_review": True})
    for body in ({"comment": "asked her", "reviewer": "Ana"}, {"comment": "no answer yet"}):
        answer = await desk.client.post(f"/admin/review/{rev(memory)}/comments", json=body)
        assert answer.status_code == 200, answer.text
    notes = (await desk.client.get(f"/admin/review/{rev(memory)}/notes")).json()
    review_notes.ReviewNotesOut.model_validate(notes)
    said = [(one["reviewer"], one["comment"]) for one in notes["comments"]]
    assert said == [("Ana", "asked her"), ("first", "no answer yet")]
    await desk.client.delete(f"/memories/{memory}")
    assert (await desk.client.get(f"/admin/review/{rev(memory)}/notes")).status_code == 404
    async with desk.runtime.database.read((await desk.actor()).tenant_id) as session:
        assert (
            await session.fetch(
                statement("SELECT FROM review_comments WHERE tenant_id = :tenant"),
                {"tenant": (await desk.actor()).tenant_id},
            )
            == []
        )
