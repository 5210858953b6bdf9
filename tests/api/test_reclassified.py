"""Turns without a model: what the rules say of a medicine or a rule is one from the start, and no backfill is left."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from app.runtime import Runtime
from tests.api.conftest import fact, written
from tests.api.reviewing import Desk
from tests.api.test_backfills import previewed
from tests.api.test_turns import say, typed

METFORMIN = "I take metformin 500 mg twice a day."
COMPLIANCE = "We cannot use external APIs due to compliance requirements."


async def active(client: httpx.AsyncClient, *kinds: str) -> list[dict[str, Any]]:
    found = []
    for kind in kinds:
        page = await client.get("/memories", params={"user_id": "ann", "type": kind, "status": "active"})
        found += page.json()["memories"]
    return found


async def flagged(client: httpx.AsyncClient, kind: str) -> int:
    counts = (await previewed(client, type=kind))["counts"]
    return int(counts["flagged"])


async def test_a_changed_dosage_leaves_one_medication(client: httpx.AsyncClient) -> None:
    [first] = typed(await say(client, METFORMIN, occurred_at="2026-05-01T10:00:00Z"))
    assert (first["type"], first["decision"]) == ("medication", "added")
    changed = await say(client, "I take metformin 1000 mg twice a day now.", occurred_at="2026-05-08T10:00:00Z")
    [second] = typed(changed)
    assert (second["type"], second["decision"]) == ("medication", "superseded")
    [now] = await active(client, "medication", "fact")
    assert (now["medication_name"], now["dosage"], now["frequency"]) == ("metformin", "1000 mg", "twice a day")
    assert (now["supersedes"], now["subject"], now["category"]) == (first["memory_id"], "user", "semantic")
    assert now["evidence"][0]["quote"] in "I take metformin 1000 mg twice a day now."
    assert await flagged(client, "medication") == 0


async def test_the_turn_tells_what_was_adopted_and_why(client: httpx.AsyncClient) -> None:
    turn = await say(client, METFORMIN)
    because = "the value has a dose that only medicines have"
    [classified] = [one for one in turn["trace"] if one["stage"] == "classify"]
    assert classified["notes"] == [f"medication: adopted from fact, {because}"]
    [one] = await active(client, "medication")
    assert one["provenance"]["reclassified"] == {"from": "fact", "because": because}
    assert one["importance"] >= 0.9


async def test_a_dry_run_adopts_too(client: httpx.AsyncClient) -> None:
    [one] = typed(await say(client, METFORMIN, params={"dry_run": True}))
    assert (one["type"], one["decision"]) == ("medication", "added")
    assert await active(client, "medication", "fact") == []


@pytest.mark.parametrize("again", ["I take metformin for my diabetes.", "I take metformin 500 mg."])
async def test_what_leaves_the_dosage_out_does_not_take_it_away(client: httpx.AsyncClient, again: str) -> None:
    await say(client, METFORMIN, occurred_at="2026-05-01T10:00:00Z")
    [one] = typed(await say(client, again, occurred_at="2026-05-08T10:00:00Z"))
    assert one["decision"] == "merged"
    [now] = await active(client, "medication", "fact")
    assert (now["dosage"], now["frequency"]) == ("500 mg", "twice a day")


async def test_different_medicines_stand_side_by_side(client: httpx.AsyncClient) -> None:
    await say(client, METFORMIN)
    await say(client, "I also take lisinopril 10 mg every morning.")
    names = {one["medication_name"] for one in await active(client, "medication")}
    assert names == {"metformin", "lisinopril"}


async def test_a_medicine_of_whom_a_pronoun_means(client: httpx.AsyncClient) -> None:
    await say(client, "My sister Sarah is a nurse in Berlin.")
    await say(client, "She takes metformin 500 mg every day.")
    [one] = await active(client, "medication")
    assert (one["subject"], one["medication_name"]) == ("Sarah", "metformin")


async def test_a_supposed_medicine_is_never_believed_and_replaces_none(client: httpx.AsyncClient) -> None:
    await say(client, METFORMIN, occurred_at="2026-05-01T10:00:00Z")
    [one] = typed(await say(client, "What if I took metformin 2000 mg?", occurred_at="2026-05-08T10:00:00Z"))
    assert (one["speech_act"], one["confidence"] <= 0.30) == ("hypothetical", True)
    believed = [each for each in await active(client, "medication") if each["confidence"] >= 0.5]
    assert [each["dosage"] for each in believed] == ["500 mg"]


@pytest.mark.parametrize("over", ["I stopped taking Ozempic.", "I no longer take Ozempic 1 mg."])
async def test_a_medicine_ends_however_it_is_stored(client: httpx.AsyncClient, over: str) -> None:
    older = await written(
        client,
        **fact(user_id="ann", predicate="takes", object="Ozempic 1 mg", stateful=False, occurred_at="2026-01-01"),
    )
    [taken] = typed(await say(client, "I take Ozempic 1 mg weekly.", occurred_at="2026-05-01T10:00:00Z"))
    assert taken["type"] == "medication"
    turn = await say(client, over, occurred_at="2026-05-08T10:00:00Z")
    ended = {one["memory_id"] for one in turn["candidates"] if one["decision"] == "ended"}
    assert ended == {older["id"], taken["memory_id"]}
    assert await active(client, "medication", "fact") == []


async def test_what_is_no_medicine_ends_as_before(client: httpx.AsyncClient) -> None:
    turn = await say(client, "I no longer take the bus.")
    assert {one["type"] for one in typed(turn)} <= {"fact", "event"}


async def test_a_written_ending_ends_a_medication(client: httpx.AsyncClient) -> None:
    body = {"user_id": "ann", "medication_name": "Metformin"}
    held = (await client.post("/memories/typed/medication", json={**body, "dosage": "500 mg"})).json()["memory"]
    ending = (await client.post("/memories/typed/medication", json={**body, "ends": True})).json()
    assert (ending["decision"], ending["memory"]["id"]) == ("ended", held["id"])


@pytest.mark.parametrize(
    ("words", "predicate", "rule"),
    [
        ("I must not eat gluten.", "may-not-eat", "gluten"),
        (COMPLIANCE, "may-not-use", "external APIs due to compliance requirements"),
    ],
)
async def test_a_prohibition_is_a_constraint(client: httpx.AsyncClient, words: str, predicate: str, rule: str) -> None:
    [one] = typed(await say(client, words))
    assert (one["type"], one["decision"]) == ("constraint", "added")
    [held] = await active(client, "constraint", "fact")
    assert (held["predicate"], held["rule"], held["category"]) == (predicate, rule, "control")
    [again] = typed(await say(client, f"As I said, {words[0].lower()}{words[1:]}".replace("said, i ", "said, I ")))
    assert (again["decision"], again["memory_id"]) == ("merged", one["memory_id"])
    assert await flagged(client, "constraint") == 0


async def test_a_constraint_from_a_turn_guards(client: httpx.AsyncClient, runtime: Runtime) -> None:
    desk = Desk(client, runtime)
    [rule] = typed(await say(client, "I must not eat gluten.", occurred_at="2026-05-01T10:00:00Z"))
    await say(client, "I ate gluten yesterday.", occurred_at="2026-05-03T10:00:00Z")
    assert [one["status"] for one in await active(client, "constraint")] == ["active"]
    broken = await desk.write(user_id="ann", predicate="eats", object="gluten")
    assert broken["decision"] == "added"
    assert broken["affected"] == [{"memory_id": rule["memory_id"], "change": "conflicts-with"}]
    assert broken["memory"]["review_reason"] == "constraint"
    assert [one["id"] for one in await active(client, "constraint")] == [rule["memory_id"]]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("I am allergic to peanuts.", "fact"),
        ("I can't eat gluten.", "fact"),
        ("I take the bus every day.", "fact"),
        ("Never use range() for unknown-length pagination.", "preference"),
    ],
)
async def test_states_and_wishes_stay_what_they_are(client: httpx.AsyncClient, words: str, kind: str) -> None:
    [one] = typed(await say(client, words))
    assert (one["type"], one["decision"]) == (kind, "added")


async def test_what_must_not_be_tonight_is_no_rule(client: httpx.AsyncClient) -> None:
    assert typed(await say(client, "I must not drink alcohol tonight.")) == []


async def test_a_caller_who_chose_the_type_keeps_it(client: httpx.AsyncClient) -> None:
    memory = await written(client, **fact(predicate="takes", object="metformin 500 mg", stateful=False))
    assert memory["type"] == "fact"


async def test_what_a_caller_writes_in_the_past_tense_is_an_event_as_it_is_from_a_turn(
    client: httpx.AsyncClient,
) -> None:
    fact = {"subject": "user", "predicate": "used to work at", "object": "Volkswagen", "user_id": "ann"}
    answer = (await client.post("/memories/typed/fact", json=fact)).json()
    assert (answer["memory"]["type"], answer["memory"]["event_at_precision"]) == ("event", "approximate")
    assert answer["memory"]["provenance"]["reclassified"]["from"] == "fact"
    batch = {
        "memories": [{"type": "fact", **fact, "object": "Audi"}, {"type": "fact", **fact, "predicate": "works-at"}]
    }
    told = (await client.post("/memories/batch", json=batch)).json()["results"]
    assert [one["memory"]["type"] for one in told] == ["event", "fact"]


@pytest.mark.parametrize(
    ("words", "predicate", "rule"),
    [
        ("We are required to encrypt all backups.", "must-encrypt", "all backups"),
        ("I am prohibited from sharing salary figures.", "may-not-share", "salary figures"),
        ("We must not deploy on Fridays.", "may-not-deploy", "on Fridays"),
        ("I cannot use remote databases.", "may-not-use", "remote databases"),
    ],
)
async def test_rules_in_plain_words_become_constraints(
    client: httpx.AsyncClient, words: str, predicate: str, rule: str
) -> None:
    await say(client, words)
    [one] = await active(client, "constraint")
    assert (one["predicate"], one["rule"]) == (predicate, rule)
