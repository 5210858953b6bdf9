"""What came before something: history that is asked for in words alone, over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.api.conftest import written
from tests.support.waiting import no_jobs_left

JOBS = ("Bosch", "Volkswagen", "Nimbus")
CITIES = ("Lisbon", "Berlin")
THEMES = ("sepia", "dark", "light")
BOSSES = ("Sarah", "Priya")


async def a_life(client: httpx.AsyncClient) -> None:
    """Jobs, homes, tastes and bosses of one user, each replacing the one before; and another person's jobs."""
    now = datetime.now(UTC)

    def said(place: int) -> str:
        return (now - timedelta(days=300 - 40 * place)).isoformat()

    for place, job in enumerate(JOBS):
        await written(client, object=job, occurred_at=said(place))
    for place, city in enumerate(CITIES):
        await written(client, predicate="lives-in", object=city, occurred_at=said(place))
    for place, street in enumerate(("12 Elm Street", "7 Oak Road")):
        await written(client, predicate="has-address", object=street, occurred_at=said(place))
    for place, theme in enumerate(THEMES):
        fields = {"preference_key": "editor.theme", "preference_value": theme, "user_id": "u1"}
        await written(client, "preference", occurred_at=said(place), **fields)
    for place, boss in enumerate(BOSSES):
        edge = {"from_entity": "user", "relation_type": "reports-to", "to_entity": boss, "user_id": "u1"}
        await written(client, "relation", occurred_at=said(place), **edge)
    for place, job in enumerate(("Siemens", "Volkswagen")):
        await written(client, subject="Tom", object=job, occurred_at=said(place))


async def ask(client: httpx.AsyncClient, query: str, **more: Any) -> dict[str, Any]:
    await no_jobs_left(client)
    answer = await client.post("/query", json={"query": query, "user_id": "u1", **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("where did I work before Volkswagen?", "user works at Bosch"),
        ("Where did I work before Nimbus?", "user works at Volkswagen"),
        ("Which company did I work for prior to Volkswagen?", "user works at Bosch"),
        ("before Volkswagen, where did I work?", "user works at Bosch"),
        ("Before joining Nimbus, where was I working?", "user works at Volkswagen"),
        ("my employer before Volkswagen?", "user works at Bosch"),
        ("Where did Tom work before Volkswagen?", "Tom works at Siemens"),
        ("where did I live before I moved to Berlin?", "user lives in Lisbon"),
        ("what was my old address", "user's address is 12 Elm Street"),
        ("who was my manager before Priya", "user reports to Sarah"),
        ("Who was I reporting to before Priya?", "user reports to Sarah"),
        ("Which editor theme did I prefer before dark?", "user prefers sepia for editor theme"),
        ("Which editor theme did I prefer before switching to light?", "user prefers dark for editor theme"),
    ],
)
async def test_the_answer_is_what_was_replaced(client: httpx.AsyncClient, question: str, expected: str) -> None:
    await a_life(client)
    found = await ask(client, question)
    assert found["understood"]["mode"] == "historical"
    assert found["memories"][0]["memory"]["content"] == expected
    assert found["memories"][0]["memory"]["status"] == "superseded"
    scores = [one["score"] for one in found["memories"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "question", ["what did I prefer before?", "which theme did I previously prefer?", "what theme did I use to prefer?"]
)
async def test_what_was_preferred_before_is_history(client: httpx.AsyncClient, question: str) -> None:
    await a_life(client)
    found = await ask(client, question, types=["preference"])
    assert found["understood"]["mode"] == "historical"
    assert found["memories"][0]["memory"]["status"] == "superseded"


@pytest.mark.parametrize(
    "question",
    [
        "do it before Friday",
        "before you answer, tell me my name",
        "Before you answer: where do I work?",
        "what should I do before leaving for Berlin?",
        "what do I need to finish before Priya comes back?",
        "where do I work?",
        "which theme do I prefer?",
        "remind me to call Sarah before noon",
        "what happened before March?",
    ],
)
async def test_other_befores_do_not_ask_for_history(client: httpx.AsyncClient, question: str) -> None:
    await a_life(client)
    found = await ask(client, question, top_k=100)
    assert found["understood"]["mode"] == "default"
    assert {one["memory"]["status"] for one in found["memories"]} <= {"active"}


async def test_a_mode_that_was_chosen_stays(client: httpx.AsyncClient) -> None:
    await a_life(client)
    found = await ask(client, "where did I work before Volkswagen?", mode="default", top_k=100)
    assert found["understood"]["mode"] == "default"
    assert {one["memory"]["status"] for one in found["memories"]} == {"active"}


async def test_what_came_before_is_asked_of_the_past_as_well(client: httpx.AsyncClient) -> None:
    """Bosch was told late: until then, Siemens was known to come before Volkswagen."""
    now = datetime.now(UTC)
    await written(client, object="Siemens", occurred_at=(now - timedelta(days=90)).isoformat())
    await written(client, object="Volkswagen", occurred_at=(now - timedelta(days=30)).isoformat())
    between = datetime.now(UTC).isoformat()
    await written(client, object="Bosch", occurred_at=(now - timedelta(days=60)).isoformat())
    question = "where did I work before Volkswagen?"
    assert (await ask(client, question))["memories"][0]["memory"]["content"] == "user works at Bosch"
    then = await ask(client, question, known_at=between)
    assert then["memories"][0]["memory"]["content"] == "user works at Siemens"


async def test_what_a_reviewer_rejected_came_before_nothing(client: httpx.AsyncClient) -> None:
    now = datetime.now(UTC)
    jobs = ("Bosch", "Siemens", "Volkswagen")
    stated = [(now - timedelta(days=90 - place)).isoformat() for place in range(len(jobs))]
    _, wrong, _ = [await written(client, object=job, occurred_at=at) for job, at in zip(jobs, stated, strict=True)]
    await client.post(f"/memories/{wrong['id']}/feedback", json={"feedback": "wrong"})
    item = next(
        one for one in (await client.get("/admin/review")).json()["items"] if one["memory"]["id"] == wrong["id"]
    )
    decided = await client.post(f"/admin/review/{item['id']}", json={"action": "reject", "version": item["version"]})
    assert decided.status_code == 200, decided.text
    found = await ask(client, "where did I work before Volkswagen?")
    assert "user works at Siemens" not in [one["memory"]["content"] for one in found["memories"]]


async def test_what_no_arm_finds_is_fetched_by_the_chain(client: httpx.AsyncClient) -> None:
    now = datetime.now(UTC)
    for place, job in enumerate(("Zzyzx", "Volkswagen")):
        await written(client, object=job, occurred_at=(now - timedelta(days=90 - place)).isoformat())
    crowd = [
        {"type": "fact", "subject": f"Worker {number}", "predicate": "worked-before", "object": "Volkswagen",
         "stateful": False, "user_id": "u1"}
        for number in range(130)
    ]  # fmt: skip
    answer = await client.post("/memories/batch", json={"memories": crowd})
    assert answer.status_code == 201, answer.text
    found = await ask(client, "where did I work before Volkswagen?", top_k=1)
    assert found["memories"][0]["memory"]["content"] == "user works at Zzyzx"
