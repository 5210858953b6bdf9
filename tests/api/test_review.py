"""The review queue over HTTP: what waits, what a reviewer sees of it, and what each decision comes to."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
from asyncpg import CheckViolationError

from app.db.session import statement
from app.features.review import routes as review
from app.features.review import sql as db_review
from app.model import ReviewReason
from app.runtime import Runtime
from tests.api.conftest import Tenant, fact
from tests.api.reviewing import Desk, rev, spoken


@pytest.fixture
def desk(client: httpx.AsyncClient, runtime: Runtime) -> Desk:
    return Desk(client, runtime)


async def test_an_accepted_memory_is_believed_under_its_own_id(desk: Desk) -> None:
    pending = await desk.pending(predicate="works-at", object="Volkswagen")
    assert await desk.recalled("where does the user work?") == []
    done = await desk.decided(pending["id"], "accept", reason="seen the contract")
    review.ReviewOutcomeOut.model_validate(done)
    assert (done["outcome"], done["memory"]["id"]) == ("added", pending["id"])
    memory = await desk.memory(pending["id"])
    assert (memory["status"], memory["needs_review"], memory["slot"] is None) == ("active", False, False)
    assert memory["recorded_at"] == pending["recorded_at"]
    assert memory["occurred_at"] == pending["occurred_at"]
    assert await desk.recalled("where does the user work?") == [pending["id"]]
    assert await desk.items() == []
    entities = (await desk.client.get("/entities", params={"all": True, "name": "Volkswagen"})).json()["entities"]
    assert len(entities) == 1


async def test_accepting_what_is_known_already_strengthens_it(desk: Desk) -> None:
    known = (await desk.write(object="Volkswagen"))["memory"]
    turn = await desk.said("As I told you the day before.", session_id="s1")
    pending = await desk.pending(predicate="works-at", object="Volkswagen", evidence=spoken(turn, desk.runtime))
    assert (await desk.item(pending["id"]))["if_accepted"]["outcome"] == "merged"
    done = await desk.decided(pending["id"], "accept")
    assert (done["outcome"], done["memory"]["id"]) == ("merged", known["id"])
    survivor = await desk.memory(known["id"])
    assert survivor["confidence_parts"]["mentions"] == known["confidence_parts"]["mentions"] + 1
    assert survivor["confidence"] == pytest.approx(known["confidence"] + 0.05, abs=0.002)
    assert turn in {one["turn_id"] for one in survivor["evidence"]}
    gone = await desk.memory(pending["id"])
    assert (gone["status"], gone["superseded_by"], gone["evidence"]) == ("forgotten", known["id"], [])


async def test_accepting_a_newer_value_supersedes(desk: Desk) -> None:
    old = (await desk.write(object="Volkswagen"))["memory"]
    pending = await desk.pending(predicate="works-at", object="BMW")
    foreseen = (await desk.item(pending["id"]))["if_accepted"]
    assert foreseen == {
        "outcome": "superseded",
        "memory_id": pending["id"],
        "affected": [{"memory_id": old["id"], "change": "superseded"}],
    }
    done = await desk.decided(pending["id"], "accept")
    assert (done["outcome"], done["memory"]["id"], done["memory"]["supersedes"]) == (
        "superseded",
        pending["id"],
        old["id"],
    )
    assert (await desk.memory(old["id"]))["superseded_by"] == pending["id"]


async def test_accepting_what_was_said_earlier_makes_it_history(desk: Desk) -> None:
    said = desk.runtime.clock() - timedelta(days=30)
    pending = await desk.pending(predicate="works-at", object="BMW", stated_at=said)
    now = (await desk.write(object="Volkswagen"))["memory"]
    done = await desk.decided(pending["id"], "accept")
    assert (done["memory"]["id"], done["memory"]["status"]) == (pending["id"], "superseded")
    assert done["memory"]["superseded_by"] == now["id"]
    assert await desk.items() == []


async def test_accepting_what_contradicts_leaves_the_queue_and_stays_linked(desk: Desk) -> None:
    strong = (await desk.write(object="Volkswagen"))["memory"]
    pending = await desk.pending(predicate="works-at", object="Rivian", source_strength=0.2)
    done = await desk.decided(pending["id"], "accept")
    assert (done["outcome"], done["memory"]["contested"]) == ("contradicted", True)
    assert {(one["kind"], one["memory_id"]) for one in done["memory"]["links"]} == {("contradicts", strong["id"])}
    assert await desk.items() == []


async def test_accepting_keeps_the_day_of_an_event_in_the_speakers_zone(desk: Desk) -> None:
    turn = await desk.said("I joined the platform team on Saturday.", timezone="Asia/Tokyo")
    pending = await desk.pending(
        "event",
        event_description="user joined the platform team",
        event_at="2026-05-09T00:00:00+09:00",
        event_at_precision="day",
        evidence=spoken(turn, desk.runtime),
    )
    await desk.decided(pending["id"], "accept")
    async with desk.runtime.database.read((await desk.actor()).tenant_id) as session:
        query = statement("SELECT lower(event_range), upper(event_range) FROM memory_index WHERE memory_id = :id")
        [covers] = await session.fetch(query, {"id": UUID(hex=pending["id"][4:])})
    assert [one.isoformat() for one in covers] == ["2026-05-08T15:00:00+00:00", "2026-05-09T15:00:00+00:00"]


async def test_a_rejected_memory_is_forgotten_with_the_reason_on_record(desk: Desk) -> None:
    pending = await desk.pending(predicate="has-password", object="hunter2")
    done = await desk.decided(pending["id"], "reject", reason="a secret")
    assert (done["outcome"], done["memory"]["status"]) == ("rejected", "forgotten")
    events = (await desk.client.get(f"/memories/{pending['id']}/history")).json()["events"]
    [decision] = [one for one in events if one["action"] == "review.decided"]
    assert decision["actor"] == "first"
    assert (decision["detail"]["action"], decision["detail"]["reason"]) == ("reject", "a secret")
    assert decision["detail"]["before"][pending["id"]]["status"] == "pending"
    assert decision["detail"]["after"][pending["id"]]["status"] == "forgotten"
    told = await desk.item(pending["id"])
    review.ReviewDetailOut.model_validate(told)
    assert (told["open"], told["decided"]["by"], told["decided"]["detail"]["action"]) == (False, "first", "reject")


async def test_rejecting_the_holder_leaves_the_other_side_uncontested(desk: Desk) -> None:
    strong, weak = await desk.contested()
    await desk.client.patch(f"/memories/{strong}", json={"needs_review": True})
    done = await desk.decided(strong, "reject")
    assert {(one["memory_id"], one["change"]) for one in done["affected"]} == {(weak, "uncontested")}
    left = await desk.memory(weak)
    assert (left["status"], left["contested"], left["needs_review"]) == ("active", False, False)
    assert await desk.items() == []
    assert (await desk.item(weak))["decided"]["event"] == "review.settled"


async def test_rejecting_the_weaker_side_leaves_the_holder_as_it_was(desk: Desk) -> None:
    strong, weak = await desk.contested()
    await desk.decided(weak, "reject")
    kept = await desk.memory(strong)
    assert (kept["status"], kept["contested"]) == ("active", False)


async def test_of_three_sides_the_most_trusted_leads_when_the_holder_goes(desk: Desk) -> None:
    strong, weak = await desk.contested()
    third = (await desk.write(object="Tesla", source_confidence=0.2, extractor_confidence=0.8))["memory"]
    assert third["contested"]
    await desk.client.patch(f"/memories/{strong}", json={"needs_review": True})
    await desk.decided(strong, "reject")
    left = [await desk.memory(one) for one in (weak, third["id"])]
    assert [one["contested"] for one in left] == [False, True]
    assert [one["needs_review"] for one in left] == [True, True], "they still contradict each other"


async def test_erasing_a_side_settles_the_contest_too(desk: Desk) -> None:
    strong, weak = await desk.contested()
    assert (await desk.client.delete(f"/memories/{strong}")).status_code == 200
    left = await desk.memory(weak)
    assert (left["contested"], left["needs_review"]) == (False, False)


async def test_an_accepted_contested_memory_wins(desk: Desk) -> None:
    strong, weak = await desk.contested()
    done = await desk.decided(weak, "accept")
    assert done["affected"] == [{"memory_id": strong, "change": "superseded"}]
    winner, loser = await desk.memory(weak), await desk.memory(strong)
    assert (winner["status"], winner["contested"], winner["needs_review"]) == ("active", False, False)
    assert (loser["status"], loser["superseded_by"], winner["supersedes"]) == ("superseded", weak, strong)


async def test_accepting_what_a_contested_memory_says_leaves_the_contest_open(desk: Desk) -> None:
    _, weak = await desk.contested()
    again = await desk.pending(predicate="works-at", object="Rivian", source_strength=0.2)
    done = await desk.decided(again["id"], "accept")
    assert (done["outcome"], done["memory"]["id"]) == ("merged", weak)
    side = await desk.memory(weak)
    assert (side["contested"], side["review_reason"]) == (True, "contradiction")


async def test_keeping_both_keeps_them_linked_and_demoted(desk: Desk) -> None:
    strong, weak = await desk.contested()
    before = (await desk.item(weak))["item"]
    assert {one["memory"]["id"] for one in before["sides"]} == {strong}
    assert before["suggestion"]["action"] == "keep_both"
    done = await desk.decided(weak, "keep_both")
    assert (done["outcome"], done["memory"]["needs_review"], done["memory"]["contested"]) == ("kept", False, True)
    for one, other in ((strong, weak), (weak, strong)):
        memory = await desk.memory(one)
        assert memory["status"] == "active"
        assert ("contradicts", other) in {(link["kind"], link["memory_id"]) for link in memory["links"]}
    assert await desk.items() == []


async def test_superseding_with_a_statement_overrides_all_sides(desk: Desk) -> None:
    for _ in range(4):
        await desk.write(object="Volkswagen")
    strong, weak = await desk.contested()
    instead = {"type": "fact", "payload": {"predicate": "works-at", "object": "BMW"}}
    done = await desk.decided(weak, "supersede_with", **{"with": instead})
    assert {(one["memory_id"], one["change"]) for one in done["affected"]} == {
        (strong, "superseded"),
        (weak, "superseded"),
    }
    holds = done["memory"]
    assert (holds["object"], holds["status"], holds["contested"]) == ("BMW", "active", False)
    assert holds["confidence_parts"]["source_strength"] == 1.0
    assert holds["confidence"] < 1
    for one in (strong, weak):
        memory = await desk.memory(one)
        assert (memory["status"], memory["superseded_by"], memory["needs_review"]) == (
            "superseded",
            holds["id"],
            False,
        )
    assert await desk.items() == []


async def test_superseding_with_what_one_side_says_makes_that_side_win(desk: Desk) -> None:
    strong, weak = await desk.contested()
    instead = {"type": "fact", "payload": {"predicate": "works-at", "object": "Rivian"}}
    done = await desk.decided(weak, "supersede_with", **{"with": instead})
    assert done["memory"]["id"] == weak
    winner = await desk.memory(weak)
    assert (winner["contested"], winner["needs_review"]) == (False, False)
    assert winner["confidence_parts"]["mentions"] == 2
    assert (await desk.memory(strong))["superseded_by"] == weak


async def test_superseding_with_a_stored_memory(desk: Desk) -> None:
    strong, weak = await desk.contested()
    done = await desk.decided(weak, "supersede_with", **{"with": strong})
    assert done["memory"]["id"] == strong
    assert (await desk.memory(weak))["superseded_by"] == strong
    holder = await desk.memory(strong)
    assert (holder["status"], holder["contested"]) == ("active", False)


async def test_superseding_a_pending_memory_forgets_it(desk: Desk) -> None:
    pending = await desk.pending(predicate="has-password", object="hunter2")
    instead = {"type": "fact", "payload": {"predicate": "has-account", "object": "yes"}}
    done = await desk.decided(pending["id"], "supersede_with", **{"with": instead})
    assert done["memory"]["status"] == "active"
    gone = await desk.memory(pending["id"])
    assert (gone["status"], gone["superseded_by"]) == ("forgotten", done["memory"]["id"])


async def test_merging_adds_mentions_and_evidence(desk: Desk) -> None:
    first = (await desk.write(predicate="likes", object="tea", stateful=False))["memory"]
    turn = await desk.said("I do like a nice cup of green tea.", session_id="s1")
    body = fact(predicate="likes", object="a cup of green tea", stateful=False, evidence_turn_id=turn)
    second = (await desk.client.post("/memories/typed/fact", json=body)).json()["memory"]
    await desk.client.patch(f"/memories/{second['id']}", json={"needs_review": True})
    done = await desk.decided(second["id"], "merge", **{"with": first["id"]})
    assert (done["outcome"], done["memory"]["id"]) == ("merged", first["id"])
    survivor = await desk.memory(first["id"])
    assert survivor["confidence_parts"]["mentions"] == 2
    assert {one["turn_id"] for one in survivor["evidence"]} == {turn}
    gone = await desk.memory(second["id"])
    assert (gone["status"], gone["superseded_by"]) == ("superseded", first["id"])


async def test_entities_made_one_put_what_contradicts_up_for_review(desk: Desk) -> None:
    holder = (await desk.write(subject="Ana Silva", object="Volkswagen"))["memory"]
    other = (await desk.write(subject="Anita Silva", object="BMW"))["memory"]
    names = (await desk.client.get("/entities?all=true")).json()["entities"]
    by_name = {one["canonical_name"]: one["id"] for one in names}
    answer = await desk.client.post(
        "/entities/merge", json={"into": by_name["Ana Silva"], "from": [by_name["Anita Silva"]]}
    )
    assert answer.status_code == 200, answer.text
    [item] = await desk.items(reason="entity_merge")
    assert item["memory"]["id"] == other["id"]
    assert {one["memory"]["id"] for one in item["sides"]} == {holder["id"]}
    assert item["suggestion"]["action"] == "accept", "it was stated last and is trusted as much"


@pytest.mark.parametrize(
    ("action", "more", "field"),
    [
        ("merge", {}, "with"),
        ("accept", {"with": "mem_" + "0" * 32}, "with"),
        ("supersede_with", {"with": {"type": "nothing", "payload": {}}}, "with.type"),
        ("supersede_with", {"with": {"type": "fact", "payload": {"object": "x"}}}, "with.payload.predicate"),
        ("merge", {"with": {"type": "fact", "payload": {}}}, "with"),
        ("keep_both", {}, "action"),
        ("delete", {}, "action"),
        ("reject", {"more": 1}, "more"),
    ],
)
async def test_a_decision_that_cannot_be_is_refused_by_field(
    desk: Desk, action: str, more: dict[str, Any], field: str
) -> None:
    pending = await desk.pending(predicate="works-at", object="Volkswagen")
    answer = await desk.decide(pending["id"], action, **more)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["field"] == field
    assert (await desk.memory(pending["id"]))["status"] == "pending"


async def test_what_a_decision_names_must_fit(desk: Desk) -> None:
    pending = await desk.pending(predicate="works-at", object="Volkswagen")
    elsewhere = (await desk.write(user_id="u2"))["memory"]["id"]
    preference = await desk.write("preference", preference_key="a.b", preference_value="c", user_id="u1")
    for named, status in (
        (pending["id"], 422),
        (elsewhere, 422),
        (preference["memory"]["id"], 422),
        ("mem_" + "0" * 32, 404),
    ):
        answer = await desk.decide(pending["id"], "merge", **{"with": named})
        assert answer.status_code == status, answer.text


async def test_what_a_decision_names_must_be_about_the_same(desk: Desk) -> None:
    _, weak = await desk.contested()
    stranger = (await desk.write(subject="Zed", object="Volkswagen"))["memory"]
    event = {"type": "event", "payload": {"event_description": "a concert in the park"}}
    refused: list[tuple[str, Any]] = [("merge", stranger["id"])]
    refused += [("supersede_with", one) for one in (stranger["id"], event)]
    for action, named in refused:
        answer = await desk.decide(weak, action, **{"with": named})
        assert answer.status_code == 422, answer.text
        assert weak in answer.json()["detail"]
    left = await desk.memory(stranger["id"])
    assert (left["confidence"], left["links"]) == (stranger["confidence"], [])
    assert "Zed" in (await desk.decide(weak, "merge", **{"with": stranger["id"]})).json()["detail"]


async def test_what_is_named_may_call_the_same_one_otherwise(desk: Desk) -> None:
    first = (await desk.write(subject="Ana Silva", object="tea", predicate="likes", stateful=False))["memory"]["id"]
    other = (await desk.write(subject="Anita Silva", object="green tea", predicate="likes", stateful=False))["memory"]
    names = (await desk.client.get("/entities?all=true")).json()["entities"]
    ids = {one["canonical_name"]: one["id"] for one in names}
    merged = {"into": ids["Ana Silva"], "from": [ids["Anita Silva"]]}
    assert (await desk.client.post("/entities/merge", json=merged)).status_code == 200
    await desk.client.patch(f"/memories/{other['id']}", json={"needs_review": True})
    assert (await desk.decided(other["id"], "merge", **{"with": first}))["memory"]["id"] == first


async def test_history_that_was_reported_wrong_is_rejected(desk: Desk) -> None:
    old = (await desk.write(object="Volkswagen"))["memory"]["id"]
    new = (await desk.write(object="Rivian"))["memory"]["id"]
    await desk.client.post(f"/memories/{old}/feedback", json={"feedback": "wrong"})
    found = (await desk.item(old))["item"]
    assert found["suggestion"]["action"] == "reject"
    answer = await desk.decide(old, "merge", **{"with": new})
    assert (answer.status_code, "reject forgets it" in answer.json()["detail"]) == (422, True)
    done = await desk.decided(old, "reject")
    gone = done["memory"]
    assert (done["outcome"], gone["status"], gone["superseded_by"]) == ("rejected", "forgotten", new)
    assert (await desk.memory(new))["status"] == "active"
    assert await desk.items() == []


async def test_accepting_what_is_over_only_takes_it_off_the_queue(desk: Desk, runtime: Runtime) -> None:
    strong, weak = await desk.contested()
    async with runtime.database.write((await desk.actor()).tenant_id) as session:
        for table, column, stamp in (("memories", "id", ", updated_at = now()"), ("memory_index", "memory_id", "")):
            await session.change(
                statement(f"UPDATE {table} SET status = 'expired'{stamp} WHERE {column} = :id"),  # noqa: S608 - constants
                {"id": UUID(hex=weak[4:])},
            )
    suggested = (await desk.item(weak))["item"]["suggestion"]
    assert (suggested["action"], "takes it off the queue" in suggested["reason"]) == ("accept", True)
    done = await desk.decided(weak, "accept")
    assert (done["outcome"], done["memory"]["status"], done["affected"]) == ("kept", "expired", [])
    assert (await desk.memory(strong))["status"] == "active"


async def test_what_was_forgotten_or_has_ended_is_not_changed(desk: Desk) -> None:
    old = (await desk.write(object="Volkswagen"))["memory"]
    new = (await desk.write(object="Rivian"))["memory"]["id"]
    longer: list[dict[str, Any]] = [
        {"valid_until": "2090-01-01T00:00:00Z"},
        {"ttl_seconds": 9999},
        {"valid_until": None},
    ]
    for changes in longer:
        answer = await desk.client.patch(f"/memories/{old['id']}", json=changes)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (409, "valid_until")
    assert (await desk.client.patch(f"/memories/{old['id']}", json={"importance": 0.2})).status_code == 200
    await desk.client.post(f"/memories/{new}/feedback", json={"feedback": "wrong"})
    await desk.decided(new, "reject")
    anything: list[dict[str, Any]] = [{"importance": 0.9}, {"needs_review": True}, {"ttl_seconds": 5}]
    for changes in anything:
        answer = await desk.client.patch(f"/memories/{new}", json=changes)
        assert (answer.status_code, "was forgotten" in answer.json()["detail"]) == (409, True)
    assert await desk.items() == []


async def test_a_bulk_names_the_item_whose_id_is_none(desk: Desk) -> None:
    items = [{"id": one, "version": "v", "action": "accept"} for one in ("rev_" + "0" * 32, "x")]
    answer = await desk.client.post("/admin/review/bulk", json={"decisions": items})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "decisions.1.id")


async def test_a_decision_by_an_old_version_does_nothing_and_tells_the_new_state(desk: Desk) -> None:
    strong, weak = await desk.contested()
    seen = await desk.version(weak)
    await desk.client.patch(f"/memories/{strong}", json={"importance": 0.99})
    answer = await desk.decide(weak, "accept", seen)
    assert answer.status_code == 409
    review.ReviewChangedOut.model_validate(answer.json())
    body = answer.json()
    assert body["type"] == "urn:typed-memory:problem:review-moved"
    assert (body["decided"], body["item"]["id"]) == (None, rev(weak))
    assert body["item"]["sides"][0]["memory"]["importance"] == 0.99
    assert (await desk.memory(strong))["status"] == "active"
    assert (await desk.decide(weak, "accept", body["item"]["version"])).status_code == 200


async def test_reading_moves_no_version(desk: Desk) -> None:
    _, weak = await desk.contested()
    [listed] = await desk.items()
    assert await desk.recalled("where does the user work?")
    assert listed["version"] == await desk.version(weak)


async def test_a_second_decision_is_told_of_the_first(desk: Desk) -> None:
    pending = await desk.pending(predicate="works-at", object="Volkswagen")
    seen = await desk.version(pending["id"])
    await desk.decided(pending["id"], "accept", reason="true")
    answer = await desk.decide(pending["id"], "reject", seen)
    assert answer.status_code == 409
    body = answer.json()
    review.ReviewChangedOut.model_validate(body)
    assert body["item"] is None
    assert (body["decided"]["by"], body["decided"]["event"]) == ("first", "review.decided")
    assert (body["decided"]["detail"]["action"], body["decided"]["detail"]["reason"]) == ("accept", "true")
    assert (await desk.memory(pending["id"]))["status"] == "active"


async def test_a_retried_request_is_answered_the_same(desk: Desk) -> None:
    pending = await desk.pending(predicate="works-at", object="Volkswagen")
    body = {"action": "accept", "version": await desk.version(pending["id"])}
    headers = {"Idempotency-Key": "one"}
    path = f"/admin/review/{rev(pending['id'])}"
    first, again = [await desk.client.post(path, json=body, headers=headers) for _ in range(2)]
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.json() == first.json()
    assert again.headers["Idempotency-Replayed"] == "true"


async def test_a_bulk_decides_each_on_its_own(desk: Desk) -> None:
    ids = [(await desk.pending(predicate=f"p-{n}", object="x"))["id"] for n in range(5)]
    versions = [await desk.version(one) for one in ids]
    await desk.decided(ids[2], "reject")
    items = [
        {"id": rev(one), "version": version, "action": "accept"} for one, version in zip(ids, versions, strict=True)
    ]
    items.append({"id": rev(ids[0]), "version": versions[0], "action": "reject"})
    answer = await desk.client.post("/admin/review/bulk", json={"decisions": items})
    assert answer.status_code == 200, answer.text
    review.ReviewResultsOut.model_validate(answer.json())
    results = answer.json()["results"]
    assert [one["status"] for one in results] == [200, 200, 409, 200, 200, 409]
    assert results[2]["decided"]["detail"]["action"] == "reject"
    assert results[5]["decided"]["detail"]["action"] == "accept"
    statuses = [(await desk.memory(one))["status"] for one in ids]
    assert statuses == ["active", "active", "forgotten", "active", "active"]


async def test_a_bulk_names_the_item_whose_statement_is_wrong(desk: Desk) -> None:
    wrong = {"type": "fact", "payload": {"object": "x"}}
    items = [{"id": "rev_" + "0" * 32, "version": "v", "action": "supersede_with", "with": wrong}]
    answer = await desk.client.post("/admin/review/bulk", json={"decisions": items})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "decisions.0.with.payload.predicate"


async def test_an_item_shows_where_it_was_said_and_what_it_resembles(desk: Desk) -> None:
    turns = [
        await desk.said(content, session_id="s1", occurred_at=f"2026-05-09T10:00:0{place}Z")
        for place, content in enumerate(
            ("Good morning to you, my friend.", "I enjoy hiking in the Alps.", "It was a sunny day over there.")
        )
    ]
    alike = (await desk.write(predicate="enjoys", object="hiking in the Alps", stateful=False))["memory"]
    pending = await desk.pending(
        predicate="enjoys",
        object="hiking in the alps mountains",
        stateful=False,
        evidence=spoken(turns[1], desk.runtime),
    )
    found = await desk.item(pending["id"])
    review.ReviewDetailOut.model_validate(found)
    [passage] = found["evidence"]
    assert (passage["turn"]["turn_id"], passage["turn"]["content"]) == (turns[1], "I enjoy hiking in the Alps.")
    assert [one["turn_id"] for one in passage["before"]] == [turns[0]]
    assert [one["turn_id"] for one in passage["after"]] == [turns[2]]
    assert alike["id"] in {one["memory"]["id"] for one in found["near"]}
    assert all(one["similarity"] >= 0.8 for one in found["near"])
    assert found["item"]["suggestion"]["action"] == "reject"


async def test_the_queue_is_filtered_sorted_and_paged(desk: Desk) -> None:
    ids = [(await desk.pending(predicate=f"p-{n}", object="x"))["id"] for n in range(7)]
    marked = (await desk.write("preference", preference_key="a.b", preference_value="c", user_id="u2"))["memory"]
    await desk.client.patch(f"/memories/{marked['id']}", json={"needs_review": True})
    oldest = [one["memory"]["id"] for one in await desk.items()]
    assert oldest == [*ids, marked["id"]]
    assert [one["memory"]["id"] for one in await desk.items(sort="newest")] == oldest[::-1]
    for query, expected in (
        ({"reason": "asked"}, [marked["id"]]),
        ({"reason": ["asked", "doubtful"]}, oldest),
        ({"status": "pending"}, ids),
        ({"type": "preference"}, [marked["id"]]),
        ({"user_id": "u1"}, ids),
        ({"agent_id": "a1"}, []),
        ({"min_age": 3600}, []),
        ({"until": "2020-01-01T00:00:00Z"}, []),
        ({"since": "2020-01-01T00:00:00Z"}, oldest),
    ):
        assert [one["memory"]["id"] for one in await desk.items(**query)] == expected, query
    for sort in ("oldest", "newest"):
        seen: list[str] = []
        cursor = None
        while True:
            asked: dict[str, Any] = {"limit": 3, "sort": sort} | ({"cursor": cursor} if cursor else {})
            page = (await desk.client.get("/admin/review", params=asked)).json()
            review.ReviewPageOut.model_validate(page)
            seen += [one["memory"]["id"] for one in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert seen == (oldest if sort == "oldest" else oldest[::-1])


async def test_the_summary_counts_by_reason_and_age(desk: Desk) -> None:
    ids = [(await desk.pending(predicate=f"p-{n}", object="x"))["id"] for n in range(4)]
    await desk.contested()
    async with desk.runtime.database.write((await desk.actor()).tenant_id) as session:
        for one, days in zip(ids, (0.5, 3, 12, 90), strict=True):
            await session.change(
                statement("UPDATE memories SET review_since = :since WHERE id = :id"),
                {"since": desk.runtime.clock() - timedelta(days=days), "id": UUID(hex=one[4:])},
            )
    found = (await desk.client.get("/admin/review/summary")).json()
    review.SummaryOut.model_validate(found)
    assert found["waiting"] == 5
    by_reason = {one["reason"]: one for one in found["reasons"]}
    assert by_reason["doubtful"]["ages"] == {
        "under_a_day": 1,
        "a_day_to_a_week": 1,
        "a_week_to_a_month": 1,
        "over_a_month": 1,
    }
    assert by_reason["contradiction"]["waiting"] == 1


async def test_taking_the_mark_off_a_pending_memory_is_refused(desk: Desk) -> None:
    pending = await desk.pending(predicate="works-at", object="Volkswagen")
    answer = await desk.client.patch(f"/memories/{pending['id']}", json={"needs_review": False})
    assert answer.status_code == 409
    assert f"/admin/review/{rev(pending['id'])}" in answer.json()["detail"]
    assert (await desk.memory(pending["id"]))["needs_review"]
    with pytest.raises(CheckViolationError, match="ck_memories_pending"):
        async with desk.runtime.database.write((await desk.actor()).tenant_id) as session:
            await session.change(
                statement("UPDATE memories SET review_reason = NULL, review_since = NULL WHERE id = :id"),
                {"id": UUID(hex=pending["id"][4:])},
            )


async def test_a_contradiction_is_a_reviewers_to_dismiss(desk: Desk) -> None:
    _, weak = await desk.contested()
    answer = await desk.client.patch(f"/memories/{weak}", json={"needs_review": False, "importance": 0.1})
    assert answer.status_code == 409
    assert f"/admin/review/{rev(weak)}" in answer.json()["detail"]
    left = await desk.memory(weak)
    assert (left["needs_review"], left["review_reason"], left["importance"] == 0.1) == (True, "contradiction", False)


async def test_taking_the_mark_off_a_believed_memory_ends_its_item(desk: Desk) -> None:
    memory = (await desk.write())["memory"]["id"]
    await desk.client.patch(f"/memories/{memory}", json={"needs_review": True})
    seen = await desk.version(memory)
    assert (await desk.client.patch(f"/memories/{memory}", json={"needs_review": False})).status_code == 200
    answer = await desk.decide(memory, "reject", seen)
    assert (answer.status_code, answer.json()["decided"]["event"]) == (409, "memory.changed")


async def test_what_never_waited_is_no_review(desk: Desk) -> None:
    memory = (await desk.write())["memory"]
    await desk.client.patch(f"/memories/{memory['id']}", json={"importance": 0.4})
    assert (await desk.client.get(f"/admin/review/{rev(memory['id'])}")).status_code == 404
    assert (await desk.decide(memory["id"], "accept", "v")).status_code == 404


async def test_only_an_admin_reviews(tenant: Tenant, desk: Desk) -> None:
    pending = await desk.pending(predicate="works-at", object="Volkswagen")
    headers = {"Authorization": f"Bearer {await tenant.key('read', 'write')}"}
    body = {"action": "accept", "version": await desk.version(pending["id"])}
    for answer in (
        await desk.client.get("/admin/review", headers=headers),
        await desk.client.get("/admin/review/summary", headers=headers),
        await desk.client.get(f"/admin/review/{rev(pending['id'])}", headers=headers),
        await desk.client.post(f"/admin/review/{rev(pending['id'])}", json=body, headers=headers),
        await desk.client.post("/admin/review/bulk", json={"decisions": []}, headers=headers),
    ):
        assert answer.status_code == 403


async def test_the_gauge_counts_what_waits(desk: Desk, runtime: Runtime) -> None:
    async def waiting() -> dict[str, int]:
        async with runtime.database.read((await desk.actor()).tenant_id) as session:
            return await db_review.waiting(session)

    pending = [(await desk.pending(predicate=f"p-{n}", object="x"))["id"] for n in range(3)]
    _, weak = await desk.contested()
    assert await waiting() == {"doubtful": 3, "contradiction": 1}
    await desk.decided(pending[0], "accept")
    await desk.decided(pending[1], "reject")
    await desk.client.delete(f"/memories/{pending[2]}")
    await desk.write(object="BMW")
    assert (await desk.memory(weak))["status"] == "superseded"
    assert await waiting() == {}
    async with runtime.database.read(None) as session:
        assert isinstance(await db_review.waiting(session), dict)
    metrics = (await desk.client.get("/metrics")).text
    for reason in ReviewReason:
        assert f'tm_review_waiting{{reason="{reason}"}}' in metrics
