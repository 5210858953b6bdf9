"""A model refers to what it was shown: updates, endings and repetitions by reference, over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from tests.api.conftest import running, settings_for
from tests.provider_server.fixtures import StandIn, provider, provider_process

__all__ = ["provider", "provider_process"]

USER = "ann"


@pytest.fixture(scope="module")
async def app(module_database_url: str, provider_process: StandIn) -> AsyncIterator[FastAPI]:
    settings = settings_for(module_database_url, **provider_process.settings("openai", keep_episodes=False))
    async with running(settings) as started:
        yield started


async def say(client: httpx.AsyncClient, content: str, **more: Any) -> list[dict[str, Any]]:
    body = {"content": content, "user_id": USER, "session_id": "s1", **more}
    answer = await client.post("/turns", params={"mode": "sync"}, json=body)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["turns"][0]["candidates"]
    return found


async def store(client: httpx.AsyncClient, kind: str, **payload: Any) -> str:
    answer = await client.post(f"/memories/typed/{kind}", json={**payload, "user_id": USER})
    assert answer.status_code in {200, 201}, answer.text
    return str(answer.json()["memory"]["id"])


async def active(client: httpx.AsyncClient, user: str = USER) -> dict[str, dict[str, Any]]:
    answer = await client.get("/memories", params={"user_id": user})
    return {one["id"]: one for one in answer.json()["memories"] if one["status"] == "active"}


def fact(subject: str, predicate: str, value: str, **more: Any) -> dict[str, Any]:
    return {"type": "fact", "payload": {"subject": subject, "predicate": predicate, "object": value}, **more}


async def test_an_update_names_nobody_and_drifts_in_its_predicate(client: httpx.AsyncClient, provider: StandIn) -> None:
    old = await store(client, "fact", subject="Ingrid", predicate="lives-in", object="Malmö")
    words = "My aunt has settled in Ghent by now."
    sentence = "Ingrid, the user's aunt, has settled in Ghent after Malmö."
    await provider.script({words: [fact("Ingrid", "settled-in", "Ghent", replaces=["Malm"], sentence=sentence)]})
    [one] = await say(client, words)
    assert one["decision"] == "superseded", one
    left = await active(client)
    assert [each["content"] for each in left.values()] == [sentence]
    assert (await client.get(f"/memories/{old}")).json()["status"] == "superseded"


async def test_a_reference_alone_ends_a_belief_in_another_language(
    client: httpx.AsyncClient, provider: StandIn
) -> None:
    old = await store(client, "medication", medication_name="amlodipine", dosage="5 mg")
    other = await store(client, "medication", medication_name="ramipril", dosage="2.5 mg")
    words = "Das Mittel gegen den Blutdruck habe ich im Juni abgesetzt."
    ending = {"type": "medication", "payload": {"medication_name": "Amlodipin"}, "ends": ["amlodipine"], "ended": True}
    await provider.script({words: [ending]})
    [one] = await say(client, words)
    assert one["decision"] == "ended", one
    assert [*await active(client)] == [other]
    assert (await client.get(f"/memories/{old}")).json()["status"] == "expired"


async def test_what_happened_ends_the_plan_for_it(client: httpx.AsyncClient, provider: StandIn) -> None:
    await store(client, "plan", plan="buy a cargo bike")
    words = "The cargo bike finally arrived and I paid for it!"
    event = {
        "type": "event",
        "payload": {"event_description": "the cargo bike arrived and user paid for it"},
        "ends": ["cargo bike"],
    }
    await provider.script({words: [event]})
    decisions = [one["decision"] for one in await say(client, words)]
    assert sorted(decisions) == ["added", "ended"]
    assert [one["type"] for one in (await active(client)).values()] == ["event"]


async def test_an_update_of_one_field_keeps_the_others(client: httpx.AsyncClient, provider: StandIn) -> None:
    await store(
        client,
        "medication",
        medication_name="sertraline",
        dosage="50 mg",
        frequency="every morning",
        prescribed_by="Dr. Okafor",
    )
    words = "My sertraline dose is 75 mg by now."
    new = {"type": "medication", "payload": {"medication_name": "sertraline", "dosage": "75 mg"}}
    await provider.script({words: [{**new, "replaces": ["sertraline"]}]})
    [one] = await say(client, words)
    assert one["decision"] == "superseded", one
    [left] = (await active(client)).values()
    told = ("dosage", "frequency", "prescribed_by")
    assert [left[name] for name in told] == ["75 mg", "every morning", "Dr. Okafor"]


async def test_the_model_says_how_many_values_an_unknown_predicate_holds(
    client: httpx.AsyncClient, provider: StandIn
) -> None:
    async def told(predicate: str, value: str, *, several: bool) -> str:
        words = f"Put down {value} for {predicate.replace('-', ' ')}, please."
        one = fact("user", predicate, value)
        one["payload"]["several_can_be_true_at_once"] = several
        await provider.script({words: [one]})
        return str((await say(client, words))[0]["decision"])

    assert [await told("tutors", name, several=True) for name in ("Marek", "Ilse")] == ["added", "added"]
    assert [await told("berth", one, several=False) for one in ("dock nine", "dock four")] == ["added", "superseded"]
    # A slot keeps what it holds, and the vocabulary counts above the model.
    assert await told("berth", "dock seven", several=True) == "superseded"
    assert await told("tutors", "Bogdan", several=False) == "added"
    assert [await told("lives-in", city, several=True) for city in ("Pécs", "Győr")] == ["added", "superseded"]


async def test_a_repetition_by_reference_counts_once(client: httpx.AsyncClient, provider: StandIn) -> None:
    known = await store(client, "preference", preference_key="tea.kind", preference_value="green tea")
    words = "Green tea is still what I like best."
    again = {"type": "preference", "payload": {"preference_key": "drinks.hot", "preference_value": "green tea"}}
    await provider.script({words: [{**again, "same_as": "tea.kind"}]})
    [one] = await say(client, words)
    assert one["decision"] == "merged", one
    assert [*await active(client)] == [known]


async def test_an_allergy_stands_until_it_is_said_to_have_ended(client: httpx.AsyncClient, provider: StandIn) -> None:
    old = await store(client, "fact", subject="user", predicate="allergic-to", object="cashews", stateful=False)
    words = "I am allergic to sesame, it turns out."
    new = fact("user", "allergic-to", "sesame", replaces=["cashews"])
    new["payload"]["stateful"] = False
    await provider.script({words: [new]})
    await say(client, words)
    left = await active(client)
    assert old in left
    assert [one["review_reason"] for one in left.values() if one["id"] != old] == ["contradiction"]


async def test_a_new_value_must_be_said_whatever_it_refers_to(client: httpx.AsyncClient, provider: StandIn) -> None:
    old = await store(client, "fact", subject="Tove", predicate="works-at", object="Statoil")
    words = "My cousin has a new job now."
    await provider.script({words: [fact("Tove", "works-at", "Maersk", replaces=["Statoil"])]})
    [one] = await say(client, words)
    assert one["decision"] == "rejected"
    assert [*await active(client)] == [old]


async def test_a_reference_does_not_leave_its_scope(client: httpx.AsyncClient, provider: StandIn) -> None:
    body = {"subject": "Bruno", "predicate": "lives-in", "object": "Graz", "user_id": "b"}
    theirs = (await client.post("/memories/typed/fact", json=body)).json()["memory"]["id"]
    words = "Bruno lives in Linz these days."
    await provider.script({words: [fact("Bruno", "lives-in", "Linz", replaces=["Graz"])]})
    [one] = await say(client, words)  # no line has Graz, so that the number was never shown
    assert one["decision"] == "added"
    assert [*await active(client, "b")] == [theirs]


DOUBTFUL = "My flatmate would never, and I might join the chess club."
CLUB = "I might join the chess club"


@pytest.mark.parametrize(("says", "decision"), [(True, "added"), (False, "rejected"), (None, "review")])
async def test_a_doubtful_proposal_is_asked_about_once(
    client: httpx.AsyncClient, provider: StandIn, *, says: bool | None, decision: str
) -> None:
    doubted = fact("user", "member-of", "chess club", quote=CLUB)
    await provider.script({DOUBTFUL: [doubted if says is None else {**doubted, "says": says}]})
    before, cost = await doubts(provider), await requests(client)
    found = await say(client, DOUBTFUL)
    assert await requests(client) == cost + 2
    assert [one["decision"] for one in found if one["type"] == "fact"] == [decision], found
    kept = [one["decision"] for one in found if one["type"] == "episodic"]
    assert kept == ([] if says else ["added"])
    assert await doubts(provider) == before + 1


@pytest.mark.parametrize(("says", "decision"), [(True, "review"), (False, "rejected")])
async def test_what_a_turn_frames_as_a_text_waits_for_a_person_though_it_is_confirmed(
    client: httpx.AsyncClient, provider: StandIn, *, says: bool, decision: str
) -> None:
    words = f"Museum label, room {says:d}. I mend nets in Peniche. Is the second word legible?"
    await provider.script({words: [fact("user", "has-role", "mend nets", quote="I mend nets in Peniche", says=says)]})
    before = await doubts(provider)
    found = await say(client, words)
    assert {one["type"]: one["decision"] for one in found} == {"fact": decision, "episodic": "added"}, found
    assert await doubts(provider) == before + 1


async def requests(client: httpx.AsyncClient) -> int:
    return sum(day["requests"] for day in (await client.get("/admin/costs")).json()["days"])


async def doubts(provider: StandIn) -> int:
    return sum("says_exactly_this" in str(one["body"]) for one in (await provider.seen())["requests"])


@pytest.mark.parametrize(
    ("words", "quote", "stated"),
    [
        (
            "I don't touch shellfish, and my nephew Sverre has a walnut allergy, the bad kind.",
            "my nephew Sverre has a walnut allergy",
            fact("Sverre", "allergic-to", "walnuts"),
        ),
        (
            "I take my tea without milk and Bettina takes hers with honey.",
            "Bettina takes hers with honey",
            fact("Bettina", "drinks", "tea with honey"),
        ),
        (
            "Can you draft a note, I have a piano recital on Thursday?",
            "I have a piano recital on Thursday",
            {"type": "event", "payload": {"event_description": "piano recital on Thursday"}},
        ),
    ],
)
async def test_only_the_clause_of_the_quote_counts(
    client: httpx.AsyncClient, provider: StandIn, words: str, quote: str, stated: dict[str, Any]
) -> None:
    await provider.script({words: [{**stated, "quote": quote}]})
    before = await doubts(provider)
    assert [one["decision"] for one in await say(client, words)] == ["added"]
    assert await doubts(provider) == before


async def test_other_languages_are_left_to_the_model(client: httpx.AsyncClient, provider: StandIn) -> None:
    words = "Ich trinke nie Alkohol und meine Frau arbeitet bei Bosch."
    await provider.script({words: [fact("user", "avoids", "Alkohol", quote="Ich trinke nie Alkohol")]})
    assert [one["decision"] for one in await say(client, words)] == ["added"]


async def test_an_event_ends_its_plan_without_a_reference(client: httpx.AsyncClient, provider: StandIn) -> None:
    await store(client, "plan", plan="repaint the garden shed")
    kept = await store(client, "plan", plan="repaint the hallway")
    words = "Yesterday I repainted the garden shed, finally."
    await provider.script(
        {words: [{"type": "event", "payload": {"event_description": "user repainted the garden shed"}}]}
    )
    decisions = [one["decision"] for one in await say(client, words)]
    assert sorted(decisions) == ["added", "ended"]
    left = await active(client)
    assert kept in left
    assert sorted(one["type"] for one in left.values()) == ["event", "plan"]


async def test_a_request_to_forget_waits_for_a_person_in_any_language(
    client: httpx.AsyncClient, provider: StandIn
) -> None:
    meant = await store(client, "fact", subject="user", predicate="has-condition", object="Morbus Crohn")
    kept = await store(client, "fact", subject="user", predicate="owns", object="a canoe")
    words = "Puoi cancellare dalla memoria la mia malattia?"
    await provider.script({words: [{"forget": ["Morbus"], "what": "la malattia dell'utente"}]})
    await say(client, words)
    assert list(await active(client)) == [kept]
    [item] = (await client.get("/admin/review")).json()["items"]
    assert (item["memory"]["id"], item["reason"]) == (meant, "erasure")
    answer = await client.post("/query", json={"query": "Have I got an illness?", "user_id": USER})
    assert "Crohn" not in answer.text
