"""Reviewers beside one another and beside writers: one decision counts, and nothing is half done."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import httpx
import pytest

from app.db.session import statement as session_statement
from app.features.review import decide
from app.features.review.decide import ReviewDecisions
from app.runtime import Runtime
from tests.api.conftest import MakeClient
from tests.api.reviewing import WEAK, Desk, rev

pytestmark = pytest.mark.long

ROUNDS = 8


@pytest.fixture
def desk(client: httpx.AsyncClient, runtime: Runtime) -> Desk:
    return Desk(client, runtime)


async def rows(desk: Desk, statement: str) -> list[dict[str, Any]]:
    async with desk.runtime.database.read((await desk.actor()).tenant_id) as session:
        return [dict(row) for row in await session.fetch(session_statement(statement), {})]


async def assert_whole(desk: Desk) -> None:
    """Hold the tenant's tables to one another."""
    broken = await rows(
        desk,
        """SELECT s.id, s.memory_count, s.lexical_documents,
               (SELECT count(*) FROM memories m WHERE m.tenant_id = s.tenant_id AND m.scope_id = s.id) AS stored,
               (SELECT count(DISTINCT i.memory_id) FROM memory_index i
                WHERE i.tenant_id = s.tenant_id AND i.scope_id = s.id
                  AND i.lexical IS NOT NULL AND i.kind <> 'context') AS documents,
               (SELECT count(*) FROM memories m WHERE m.tenant_id = s.tenant_id AND m.scope_id = s.id AND NOT EXISTS (
                   SELECT FROM memory_index i
                   WHERE i.tenant_id = s.tenant_id AND i.memory_id = m.id AND i.status = m.status
                     AND i.recorded_at = m.recorded_at AND i.retired_at IS NOT DISTINCT FROM m.retired_at)) AS apart
           FROM scopes s""",
    )
    for one in broken:
        assert one["memory_count"] == one["stored"], one
        assert one["lexical_documents"] == one["documents"], one
        assert one["apart"] == 0, one
    decided = await rows(desk, "SELECT memory_id FROM audit_events WHERE action = 'review.decided'")
    assert not [one for one, times in Counter(row["memory_id"] for row in decided).items() if times > 1]


@pytest.mark.parametrize(("first", "second"), [("accept", "accept"), ("accept", "reject"), ("reject", "reject")])
async def test_of_two_reviewers_at_once_one_decides(
    desk: Desk, make_client: MakeClient, first: str, second: str
) -> None:
    key = desk.client.headers["authorization"].removeprefix("Bearer ")
    async with make_client(key) as other_replica:
        for number in range(ROUNDS):
            memory = (await desk.pending(predicate=f"p-{number}", object="x"))["id"]
            version = await desk.version(memory)
            answers = await asyncio.gather(
                *(
                    client.post(f"/admin/review/{rev(memory)}", json={"action": action, "version": version})
                    for client, action in ((desk.client, first), (other_replica, second))
                )
            )
            assert sorted(one.status_code for one in answers) == [200, 409], [one.text for one in answers]
            [won], [lost] = ([one.json() for one in answers if one.status_code == status] for status in (200, 409))
            assert lost["decided"]["detail"]["action"] == won["action"]
            expected = "active" if won["action"] == "accept" else "forgotten"
            assert (await desk.memory(memory))["status"] == expected
    await assert_whole(desk)


async def test_two_contested_sides_cannot_both_win(desk: Desk, make_client: MakeClient) -> None:
    key = desk.client.headers["authorization"].removeprefix("Bearer ")
    async with make_client(key) as other_replica:
        for number in range(ROUNDS):
            user = {"user_id": f"u-{number}"}
            await desk.write(object="Volkswagen", **user)
            sides = [(await desk.write(object="Rivian", **user, **WEAK))["memory"]["id"]]
            weaker: dict[str, Any] = {"source_confidence": 0.2, "extractor_confidence": 0.8}
            sides.append((await desk.write(object="Tesla", **user, **weaker))["memory"]["id"])
            versions = [await desk.version(one) for one in sides]
            answers = await asyncio.gather(
                *(
                    client.post(f"/admin/review/{rev(memory)}", json={"action": "accept", "version": version})
                    for client, memory, version in zip((desk.client, other_replica), sides, versions, strict=True)
                )
            )
            assert sorted(one.status_code for one in answers) == [200, 409], [one.text for one in answers]
            active = (await desk.client.get("/memories", params={**user, "status": "active"})).json()["memories"]
            assert [(one["contested"], one["needs_review"]) for one in active] == [(False, False)]
    assert await desk.items() == []
    await assert_whole(desk)


async def test_a_reviewer_beside_a_superseding_write(desk: Desk, make_client: MakeClient) -> None:
    key = desk.client.headers["authorization"].removeprefix("Bearer ")
    seen: Counter[int] = Counter()
    async with make_client(key) as other_replica:
        for number in range(ROUNDS):
            user = {"user_id": f"u-{number}"}
            strong = (await desk.write(object="Volkswagen", **user))["memory"]["id"]
            weak = (await desk.write(object="Rivian", **user, **WEAK))["memory"]["id"]
            version = await desk.version(weak)
            body = {"predicate": "works-at", "object": "BMW", **user}
            decided, written = await asyncio.gather(
                desk.client.post(f"/admin/review/{rev(weak)}", json={"action": "accept", "version": version}),
                other_replica.post("/memories/typed/fact", json=body),
            )
            seen[decided.status_code] += 1
            assert decided.status_code in {200, 409}, decided.text
            assert written.status_code == 201, written.text
            active = (await desk.client.get("/memories", params={**user, "status": "active"})).json()["memories"]
            assert [one["id"] for one in active] == [written.json()["memory"]["id"]]
            ends = {(await desk.memory(one))["superseded_by"] for one in (strong, weak)}
            assert ends <= {weak, written.json()["memory"]["id"]}
            if decided.status_code == 409:
                assert decided.json()["decided"]["event"] == "memory.superseded"
    assert await desk.items() == []
    await assert_whole(desk)


def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read, decide and apply in transactions of their own, as where a provider is waited for."""

    async def elsewhere(*_: Any) -> Any:
        raise decide.NeedsMore

    monkeypatch.setattr(ReviewDecisions, "_alone", elsewhere)


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("action", ["accept", "reject", "keep_both", "supersede_with", "merge"])
async def test_what_moves_while_a_decision_is_worked_out_stops_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, action: str, *, alone: bool
) -> None:
    if not alone:
        apart(monkeypatch)
    strong, weak = await desk.contested()
    work = ReviewDecisions._work

    async def slow(self: ReviewDecisions, *arguments: Any) -> Any:
        done = await work(self, *arguments)
        assert (await desk.client.patch(f"/memories/{strong}", json={"importance": 0.95})).status_code == 200
        return done

    monkeypatch.setattr(ReviewDecisions, "_work", slow)
    more = {"with": strong} if action in {"supersede_with", "merge"} else {}
    answer = await desk.decide(weak, action, **more)
    assert answer.status_code == 409, answer.text
    assert answer.json()["item"]["id"] == rev(weak)
    for one in (strong, weak):
        assert (await desk.memory(one))["status"] == "active"
    await assert_whole(desk)


async def test_writes_around_an_item_do_not_stop_its_decision(
    desk: Desk, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = desk.client.headers["authorization"].removeprefix("Bearer ")
    memory = (await desk.pending(predicate="works-at", object="Volkswagen"))["id"]
    version = await desk.version(memory)
    work = ReviewDecisions._work
    written: list[httpx.Response] = []
    async with make_client(key) as other_replica:

        async def slow(self: ReviewDecisions, *arguments: Any) -> Any:
            done = await work(self, *arguments)
            if not written:
                body = {"predicate": "lives-in", "object": "Berlin", "user_id": "u1"}
                written.append(await other_replica.post("/memories/typed/fact", json=body))
            return done

        monkeypatch.setattr(ReviewDecisions, "_work", slow)
        answer = await desk.decide(memory, "accept", version)
    assert [one.status_code for one in written] == [201]
    assert answer.status_code == 200, answer.text
    await assert_whole(desk)


@pytest.mark.parametrize(("alone", "step"), [(True, "_opened"), (True, "apply"), (False, "_unmoved"), (False, "apply")])
async def test_a_decision_that_fails_at_any_step_leaves_everything_as_it_was(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, step: str, *, alone: bool
) -> None:
    if not alone:
        apart(monkeypatch)
    await desk.write(object="Volkswagen")
    memory = (await desk.pending(predicate="works-at", object="BMW"))["id"]
    before = (await desk.item(memory))["item"]
    real = getattr(decide, step)

    async def broken(*arguments: Any, **more: Any) -> Any:
        await real(*arguments, **more)
        raise ConnectionError("the database went away")

    monkeypatch.setattr(decide, step, broken)
    answer = await desk.decide(memory, "accept", before["version"])
    assert answer.status_code == 503
    monkeypatch.undo()
    after = (await desk.item(memory))["item"]
    assert (after["version"], after["memory"]) == (
        before["version"],
        {**before["memory"], "freshness": after["memory"]["freshness"]},
    )
    await assert_whole(desk)
    assert (await desk.decide(memory, "accept", before["version"])).status_code == 200
    await assert_whole(desk)


async def test_accepting_leaves_the_statistics_that_writing_would_have(desk: Desk) -> None:
    statement = "SELECT term, documents FROM lexical_terms WHERE documents > 0 ORDER BY term"
    counted = "SELECT memory_count, context_count, lexical_documents, lexical_length FROM scopes"
    pending = await desk.pending(predicate="lives-in", object="the old house of his aunt Mathilda")
    asked = await rows(desk, statement), await rows(desk, counted)
    await desk.decided(pending["id"], "accept")
    assert (await rows(desk, statement), await rows(desk, counted)) == asked
    await assert_whole(desk)
