"""How many values a predicate holds: by the caller, by what its slot holds already, by the vocabulary, by its form."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.conftest import fact, written


async def said(client: httpx.AsyncClient, predicate: str, value: str, **more: Any) -> dict[str, Any]:
    """Write a fact and return the answer."""
    body = fact(user_id="ann", predicate=predicate, object=value, **more)
    answer = await client.post("/memories/typed/fact", json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def values(client: httpx.AsyncClient, kind: str = "fact", field: str = "object") -> list[str]:
    page = await client.get("/memories", params={"user_id": "ann", "type": kind, "status": "active"})
    return sorted(one[field] for one in page.json()["memories"])


@pytest.mark.parametrize(
    "predicate",
    ["is allergic to", "has-condition", "daughter", "speaks", "knows", "visited", "possesses", "has-gadget"],
)
async def test_several_values_stand_side_by_side(client: httpx.AsyncClient, predicate: str) -> None:
    decisions = [(await said(client, predicate, one))["decision"] for one in ("Shellfish", "Wasps", "Pollen")]
    assert decisions == ["added"] * 3
    assert await values(client) == ["Pollen", "Shellfish", "Wasps"]
    assert (await said(client, predicate, "wasps"))["decision"] == "merged"


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("resides-in", "based-in"),
        ("spouse", "married-to"),
        ("birthplace", "born-in"),
        ("ceo", "chief-executive-officer"),
        ("citizen-of", "nationality"),
        ("profession", "has-job-title"),
        ("date-of-birth", "birthday"),
        ("diet", "has-diet"),
    ],
)
async def test_synonyms_share_a_slot_of_one_value(client: httpx.AsyncClient, first: str, then: str) -> None:
    await said(client, first, "Vilnius")
    assert (await said(client, then, "Tartu"))["decision"] == "superseded"
    assert await values(client) == ["Tartu"]


async def test_what_the_caller_says_counts_above_the_vocabulary(client: httpx.AsyncClient) -> None:
    for city in ("Turku", "Oulu"):
        await said(client, "lives-in", city, stateful=False)
        await said(client, "collects", f"{city} stamps", stateful=True)
    assert await values(client) == ["Oulu", "Oulu stamps", "Turku"]


async def test_a_slot_keeps_what_it_holds(client: httpx.AsyncClient) -> None:
    await said(client, "lives-in", "Turku", stateful=False)
    await said(client, "collects", "stamps", stateful=True)
    assert (await said(client, "lives-in", "Oulu"))["decision"] == "added"
    assert (await said(client, "collects", "coins"))["decision"] == "superseded"
    assert await values(client) == ["Oulu", "Turku", "coins"]


async def test_a_batch_means_what_its_items_mean_one_after_another(client: httpx.AsyncClient) -> None:
    body = [
        {"type": "fact", **fact(user_id="ann", predicate="rehearses", object="Bach", stateful=False)},
        {"type": "fact", **fact(user_id="ann", predicate="rehearses", object="Grieg")},
        {"type": "fact", **fact(user_id="ann", predicate="rehearses", object="Satie")},
    ]
    await client.post("/memories/batch", json={"memories": body})
    assert await values(client) == ["Bach", "Grieg", "Satie"]


async def test_an_unknown_predicate_holds_one_value_and_the_reason_says_so(client: httpx.AsyncClient) -> None:
    first = await said(client, "parks-on", "level 2")
    assert "holds one value at a time" in first["reason"]
    assert first["memory"]["stateful"] is True
    assert (await said(client, "parks-on", "level 3"))["decision"] == "superseded"
    assert "vocabulary" not in (await said(client, "lives-in", "Oulu"))["reason"]
    assert "several values" in (await said(client, "favourite-islands", "Hiiumaa"))["reason"]


@pytest.mark.parametrize(("one", "other"), [("180", "95"), ("1,250 m", "980.5 m"), ("12%", "-3%")])
async def test_a_measure_holds_one_value_whatever_its_predicate_is_called(
    client: httpx.AsyncClient, one: str, other: str
) -> None:
    assert (await said(client, "has-seat-total", one, subject="the hall"))["memory"]["stateful"] is True
    assert (await said(client, "has-seat-total", other, subject="the hall"))["decision"] == "superseded"
    assert (await said(client, "has-seat-cover", "red velvet", subject="the hall"))["memory"]["stateful"] is False


@pytest.mark.parametrize("predicate", ["was-conducted-by", "was-designed-by", "was-translated-by", "was-opened-in"])
async def test_what_was_done_by_somebody_stays_a_fact_with_a_slot(client: httpx.AsyncClient, predicate: str) -> None:
    first = await said(client, predicate, "Sibelius", subject="the concert")
    assert (first["memory"]["type"], first["decision"]) == ("fact", "added")
    assert (await said(client, predicate, "Salonen", subject="the concert"))["decision"] == "superseded"


@pytest.mark.parametrize("predicate", ["used-to-live-in", "was-married-to", "was-living-in", "had-been-renting"])
async def test_a_past_state_is_an_event_and_the_reason_says_so(client: httpx.AsyncClient, predicate: str) -> None:
    answer = await said(client, predicate, "Oulu")
    assert answer["memory"]["type"] == "event"
    assert "reclassified as event" in answer["reason"]


async def test_a_value_is_the_same_before_and_after_an_entity_has_its_name(client: httpx.AsyncClient) -> None:
    body: dict[str, Any] = {"occurred_at": "2026-03-01T00:00:00Z", "stateful": True}
    first = await said(client, "drives", "Blue Heron", **body)
    await written(client, "entity", entity_type="vehicle", canonical_name="Blue Heron", user_id="ann")
    again = await said(client, "drives", "blue heron", content="Ann drives the Blue Heron to work.", **body)
    assert (again["decision"], again["memory"]["id"]) == ("merged", first["memory"]["id"])
    assert await values(client) == ["Blue Heron"]


async def test_a_single_allergy_is_not_replaced_in_silence(client: httpx.AsyncClient) -> None:
    await said(client, "allergic-to", "pollen", stateful=True)
    other = await said(client, "allergic-to", "wasps")
    assert other["decision"] == "contradicted"
    assert other["memory"]["review_reason"] == "contradiction"
    assert "until a person decides" in other["reason"]
    await said(client, "allergic-to", "wasps")
    assert await values(client) == ["pollen", "wasps"]


async def test_an_allergy_that_was_ended_makes_room(client: httpx.AsyncClient) -> None:
    await said(client, "allergic-to", "pollen", stateful=True)
    await said(client, "allergic-to", "pollen", stateful=True, ends=True)
    assert (await said(client, "allergic-to", "wasps", stateful=True))["decision"] == "added"


async def test_another_dose_of_one_medicine_replaces_and_another_medicine_asks(client: httpx.AsyncClient) -> None:
    await said(client, "takes", "ramipril 5 mg", stateful=True)
    assert (await said(client, "takes", "ramipril 10 mg", stateful=True))["decision"] == "superseded"
    assert (await said(client, "takes", "warfarin 3 mg", stateful=True))["decision"] == "contradicted"


@pytest.mark.parametrize(
    ("first", "then"),
    [("tea.type", "drinks.tea"), ("font.terminal", "terminal.font"), ("favourite.season", "season.preferred")],
)
async def test_keys_about_one_thing_are_one_preference(client: httpx.AsyncClient, first: str, then: str) -> None:
    for key, value in ((first, "oolong"), (then, "sencha")):
        await written(client, "preference", preference_key=key, preference_value=value, user_id="ann")
    assert await values(client, "preference", "preference_value") == ["sencha"]


async def test_keys_about_different_things_are_apart(client: httpx.AsyncClient) -> None:
    for key, value in (("tea.type", "oolong"), ("tea.size", "large"), ("likes.tea", "likes")):
        await written(client, "preference", preference_key=key, preference_value=value, user_id="ann")
    assert await values(client, "preference", "preference_value") == ["large", "likes", "oolong"]
