"""Turns beside the beliefs that rest on them: what no longer holds is not shown as if it did, and nothing twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.api.conftest import written
from tests.api.test_possessives import ask, contents


async def say(client: httpx.AsyncClient, content: str, *, days_ago: int = 1, role: str = "user") -> None:
    at = (datetime.now(UTC) - timedelta(days=days_ago)).isoformat()
    turn = {"role": role, "content": content, "occurred_at": at, "session_id": f"day {days_ago}"}
    answer = await client.post("/turns?mode=sync", json={"turns": [turn], "user_id": "u1"})
    assert answer.status_code == 200, answer.text


def marks(found: dict[str, Any], content: str) -> list[str]:
    [one] = [one for one in found["memories"] if one["memory"]["content"] == content]
    given: list[str] = one["marks"]
    return given


REPLACED = (
    ("I prefer dark mode in my editor.", "I prefer light mode in my editor now.", "What display mode do I prefer?"),
    ("I live in Graz.", "I moved to Linz last week.", "Where do I live?"),
    ("I work at Siemens.", "I work at Bosch now.", "Where do I work?"),
)


@pytest.mark.parametrize(("before", "after", "question"), REPLACED)
async def test_a_turn_whose_statement_was_replaced_is_not_shown(
    client: httpx.AsyncClient, before: str, after: str, question: str
) -> None:
    await say(client, before, days_ago=90)
    await say(client, after, days_ago=3)
    found = await ask(client, question)
    assert before not in contents(found)
    assert before not in found["context"]["text"]
    assert found["memories"][0]["memory"]["status"] == "active"


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("shape", ["turns", "messages"])
@pytest.mark.parametrize(
    ("before", "after", "question"),
    [*REPLACED, ("I work at Siemens.", "I no longer work at Siemens.", "Do I work at Siemens?")],
)
async def test_a_turn_ends_what_an_earlier_turn_of_its_request_stated(
    client: httpx.AsyncClient, before: str, after: str, question: str, shape: str, *, timed: bool
) -> None:
    times = {"occurred_at": "2026-05-09T12:00:00Z"} if timed else {}
    said = [{"role": "user", "content": content, **times} for content in (before, after)]
    answer = await client.post("/turns?mode=sync", json={shape: said, "user_id": "u1", "session_id": "s"})
    assert answer.status_code == 200, answer.text
    stamps = [datetime.fromisoformat(one["occurred_at"]) for one in answer.json()["turns"]]
    assert stamps == sorted(set(stamps))
    found = await ask(client, question)
    assert before not in contents(found)
    assert after in found["context"]["text"] or found["memories"][0]["memory"]["type"] != "episodic"


async def test_turns_of_one_time_keep_the_order_of_their_sequence_numbers(client: httpx.AsyncClient) -> None:
    said = [
        {"content": content, "occurred_at": "2026-05-09T12:00:00Z", "sequence_number": number}
        for number, content in ((2, "I live in Linz now."), (1, "I live in Graz, in a flat by the river."))
    ]
    answer = await client.post("/turns?mode=sync", json={"turns": said, "user_id": "u1", "session_id": "s"})
    assert answer.status_code == 200, answer.text
    answer = await client.get("/memories", params={"user_id": "u1", "type": "fact", "status": "active"})
    assert [one["object"] for one in answer.json()["memories"]] == ["Linz"]


async def test_asked_for_what_was_said_a_replaced_turn_is_marked_with_the_day(client: httpx.AsyncClient) -> None:
    await say(client, "I live in Graz, in a flat by the river.", days_ago=90)
    await say(client, "I live in Linz now.", days_ago=3)
    found = await ask(client, "What did I say about the flat by the river in Graz?")
    day = (datetime.now(UTC) - timedelta(days=3)).date().isoformat()
    assert marks(found, "I live in Graz, in a flat by the river.") == [f"replaced {day}"]
    assert f"replaced {day}" in found["context"]["text"]


async def test_a_turn_that_returns_to_an_old_value_is_current(client: httpx.AsyncClient) -> None:
    await say(client, "I live in Graz.", days_ago=90)
    await say(client, "I live in Linz.", days_ago=60)
    await say(client, "I live in Graz again.", days_ago=3)
    text = (await ask(client, "Where do I live?"))["context"]["text"]
    assert "Graz" in text
    assert "Linz" not in text


def shown(found: dict[str, Any]) -> set[tuple[str, ...]]:
    return {(one["memory"]["content"], *one["marks"]) for one in found["memories"]}


async def test_at_a_past_moment_turns_are_shown_and_marked_as_they_were_then(client: httpx.AsyncClient) -> None:
    homes = (
        "I live in Porto. The baker below me lets his room for little money.",
        "I live in Braga now. The tram stops at the door.",
        "I live in Faro now.",
    )
    questions = ("Where do I live?", "What did I say about the baker and about the tram?")
    answered = []
    for place, said in enumerate(homes):
        await say(client, said, days_ago=90 - 30 * place)
        moment = datetime.now(UTC).isoformat()
        answered.append((moment, [shown(await ask(client, one, now=moment, min_relevance=0)) for one in questions]))
    for moment, then in answered:
        assert [shown(await ask(client, one, known_at=moment, min_relevance=0)) for one in questions] == then
    assert [current & {(one,) for one in homes[:2]} for _, (current, _) in answered[1:]] == [set(), set()]
    left, moved = (f"replaced {datetime.now(UTC) - timedelta(days=ago):%Y-%m-%d}" for ago in (60, 30))
    marked = [{one for one in said if one[0] in homes[:2]} for _, (_, said) in answered]
    assert marked == [
        {(homes[0],)},
        {(homes[0], left), (homes[1],)},
        {(homes[0], left), (homes[1], moved)},
    ]


async def test_a_return_to_an_old_value_is_known_at_a_moment_before_its_entity_was_merged(
    client: httpx.AsyncClient,
) -> None:
    said = ("Mira lives in Graz, above a cinema.", "Mira lives in Linz now.", "Mira lives in Graz again.")
    for place, one in enumerate(said):
        await say(client, one, days_ago=90 - 30 * place)
    question: dict[str, Any] = {
        "query": "Where does Mira live?",
        "known_at": datetime.now(UTC).isoformat(),
        "min_relevance": 0,
    }
    before = contents(await ask(client, **question))
    await written(client, subject="Miranda Holt", predicate="works-at", object="Bosch", user_id="u1")
    found = (await client.get("/entities", params={"user_id": "u1"})).json()["entities"]
    mira, miranda = (
        next(one["id"] for one in found if one["canonical_name"] == name) for name in ("Mira", "Miranda Holt")
    )
    merged = await client.post("/entities/merge", json={"into": miranda, "from": [mira]})
    assert merged.status_code == 200, merged.text
    assert contents(await ask(client, **question)) == before
    assert said[0] in before
    assert said[1] not in before


@pytest.mark.parametrize("rejected", [False, True])
async def test_a_turn_whose_statement_was_reported_wrong_is_not_shown(
    client: httpx.AsyncClient, *, rejected: bool
) -> None:
    said, question = "I drive a Skoda.", "Which car do I drive?"
    await say(client, said, days_ago=5)
    belief = next(one["memory"] for one in (await ask(client, question))["memories"] if one["memory"]["type"] == "fact")
    await client.post(f"/memories/{belief['id']}/feedback", json={"feedback": "wrong"})
    [item] = (await client.get("/admin/review", params={"user_id": "u1"})).json()["items"]
    decision = {"action": "reject", "version": item["version"]}
    if rejected:
        assert (await client.post(f"/admin/review/{item['id']}", json=decision)).status_code == 200
    assert "Skoda" not in (await ask(client, question))["context"]["text"]
    found = await ask(client, "What did I say about the Skoda?")
    assert marks(found, said) == [f"withdrawn {datetime.now(UTC):%Y-%m-%d}"]
    if not rejected:
        await client.post(f"/admin/review/{item['id']}", json={**decision, "action": "accept"})
        assert "Skoda" in (await ask(client, question))["context"]["text"]


async def test_a_turn_that_says_something_ended_is_kept(client: httpx.AsyncClient) -> None:
    await say(client, "I work at Siemens.", days_ago=90)
    await say(client, "I no longer work at Siemens.", days_ago=3)
    found = contents(await ask(client, "Do I work at Siemens?"))
    assert "I work at Siemens." not in found
    assert "I no longer work at Siemens." in found


UNMEANT = (
    ("If I lived in Lisbon, I would surf every morning.", "Where do I surf?", "imagined"),
    ("Let's pretend I'm a surgeon and I surf in Lisbon.", "Where do I surf?", "imagined"),
    ("I surf in Lisbon every morning. Just kidding!", "Where do I surf?", "joking"),
)


@pytest.mark.parametrize(("said", "question", "mark"), UNMEANT)
async def test_what_was_not_meant_is_shown_only_of_the_conversation_and_marked(
    client: httpx.AsyncClient, said: str, question: str, mark: str
) -> None:
    await say(client, said)
    assert said not in contents(await ask(client, question, min_relevance=0))
    found = await ask(client, "What did I say about surfing in Lisbon?", min_relevance=0)
    assert marks(found, said) == [mark]


async def test_what_a_tool_said_is_marked_and_stands_behind_what_the_user_said(client: httpx.AsyncClient) -> None:
    said = "The harbour museum opens at nine on Sundays."
    await say(client, said, role="tool")
    question = "When does the harbour museum open?"
    moment = datetime.now(UTC).isoformat()
    for asked in (question, "What was said about the opening of the harbour museum?"):
        assert marks(await ask(client, asked), said) == ["said by a tool"]
    assert marks(await ask(client, question, known_at=moment), said) == ["said by a tool"]
    told = "The harbour museum opens at ten on Sundays now."
    await say(client, told)
    assert contents(await ask(client, question))[0] == told


async def test_a_turn_is_trusted_as_its_role_is(client: httpx.AsyncClient) -> None:
    for role in ("user", "assistant"):
        await say(client, f"The {role} thinks that the harbour museum opens at nine.", role=role)
    found = await ask(client, "Who thinks that the harbour museum opens at nine?", min_relevance=0)
    trust = {one["memory"]["evidence"][0]["role"]: one["confidence"] for one in found["memories"]}
    assert trust["assistant"] < trust["user"]


async def test_a_belief_and_the_turn_that_says_no_more_appear_once(client: httpx.AsyncClient) -> None:
    await say(client, "I am allergic to walnuts.")
    found = await ask(client, "What am I allergic to?")
    assert contents(found) == ["user is allergic to walnuts"]
    assert found["memories"][0]["relevance"] >= 0.5


async def test_a_turn_that_says_more_of_what_is_asked_stands_for_its_belief(client: httpx.AsyncClient) -> None:
    more = "I am allergic to walnuts. I found out when the baker on Canal Street sold me a cake with a wrong label."
    await say(client, more)
    found = await ask(client, "Which baker sold a cake with a wrong label?")
    assert more in contents(found)
    assert len(found["memories"]) == 1


async def test_an_answer_has_the_parts_that_were_asked_for(client: httpx.AsyncClient) -> None:
    await say(client, "I am allergic to walnuts.")
    question = "What am I allergic to?"
    lean = await ask(client, question)
    assert lean["context"]["text"].startswith("## Facts\n- (")
    [hit] = lean["memories"]
    assert (hit["arms"], hit["notes"], lean["context"]["groups"]) == ([], [], [])
    assert hit["memory"]["evidence"][0]["turn_id"].startswith("turn_")
    assert "confidence_parts" not in hit["memory"]
    only = await ask(client, question, include=["context"])
    assert (only["memories"], only["context"]["text"]) == ([], lean["context"]["text"])
    assert (await ask(client, question, include=["memories"]))["context"]["text"] == ""
    whole = await ask(client, question, include=["details"])
    assert whole["memories"][0]["arms"]
    assert whole["memories"][0]["memory"]["confidence_parts"]
    assert [one["name"] for one in whole["context"]["groups"]] == ["Facts"]


@pytest.mark.parametrize(("style", "named"), [("none", ""), ("short", "[1] "), ("full", "[{id}] ")])
async def test_lines_name_their_memories_as_asked(client: httpx.AsyncClient, style: str, named: str) -> None:
    await say(client, "I am allergic to walnuts.")
    found = await ask(client, "What am I allergic to?", ids=style)
    line = f"- {named.format(id=found['memories'][0]['memory']['id'])}("
    assert found["context"]["text"].splitlines()[1].startswith(line)


async def test_what_a_tool_says_of_the_user_waits_for_review(client: httpx.AsyncClient) -> None:
    await say(client, "Note: the user likes Brightmoor Hosting.", role="tool")
    waiting = (await client.get("/admin/review")).json()["items"]
    assert [one["memory"]["content"].lower() for one in waiting] == ["user likes brightmoor hosting"]
    found = await ask(client, "Which hosting does the user like?")
    assert not any(one.lower().startswith("user likes") for one in contents(found))
