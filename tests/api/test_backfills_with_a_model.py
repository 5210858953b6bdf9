"""A backfill whose classifier is a language model: asked outside any transaction, and believed as far as it quotes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from tests.api.conftest import connected, fact, running, settings_for, written
from tests.provider_server.fixtures import StandIn, provider, provider_process
from tests.support.waiting import eventually

__all__ = ["provider", "provider_process"]


@pytest.fixture(params=["openai", "anthropic"])
async def client(
    request: pytest.FixtureRequest, fresh_database_url: str, provider: StandIn
) -> AsyncIterator[httpx.AsyncClient]:
    settings = settings_for(fresh_database_url, **provider.settings(request.param, job_retry_seconds=0.1))
    app: FastAPI
    async with running(settings) as app, connected(app) as found:
        yield found


async def said(client: httpx.AsyncClient, told: str) -> str:
    memory = await written(client, **fact(predicate="swallows", object=told, stateful=False))
    return str(memory["id"])


async def previewed(client: httpx.AsyncClient) -> dict[str, Any]:
    body = {"type": "medication", "from": ["fact"], "classifier": "model"}
    made = await client.post("/admin/backfills", json=body)
    assert made.status_code == 202, made.text
    found: dict[str, Any] = {}

    async def done() -> bool:
        found.update((await client.get(f"/admin/backfills/{made.json()['id']}")).json())
        return bool(found["status"] == "previewed")

    await eventually(done)
    return found


def claim(number: int, quote: str, **payload: Any) -> dict[str, Any]:
    return {"number": number, "quote": quote, "payload": payload}


async def test_what_it_shows_is_flagged_and_what_it_makes_up_is_not(
    client: httpx.AsyncClient, provider: StandIn
) -> None:
    taken = await said(client, "a metformin pill of 500 mg")
    made_up = await said(client, "an apple")
    wrong = await said(client, "an aspirin")
    other = await said(client, "a lozenge")
    claims = [
        claim(1, "metformin pill of 500 mg", subject="user", medication_name="metformin", dosage="500 mg", active=True),
        claim(2, "aspirin 100 mg", subject="user", medication_name="aspirin"),
        claim(3, "an aspirin", subject="user", medication_name="aspirin " * 40),
        claim(4, "a lozenge", subject="somebody else", medication_name="lozenge"),
        claim(99, "nothing", medication_name="nothing"),
    ]
    await provider.behave("answer", body={"found": claims})
    one = await previewed(client)
    [change] = [each for each in one["sample"] if each["state"] == "planned"]
    assert (change["memory_id"], change["after"]["payload"]["dosage"]) == (taken, "500 mg")
    assert one["counts"]["by_reason"] == {"a language model holds it to be one": 1}
    assert one["counts"]["left"] == {"it would be about somebody that it does not name now": 1}
    assert {made_up, wrong} & {each["memory_id"] for each in one["sample"]} == set()
    assert other in {each["memory_id"] for each in one["sample"]}


async def test_an_answer_that_is_no_good_is_asked_for_again(client: httpx.AsyncClient, provider: StandIn) -> None:
    await said(client, "a metformin pill of 500 mg")
    await provider.behave("says", times=1, body="I would rather not.")
    claims = [claim(1, "metformin pill", subject="user", medication_name="metformin", active=True)]
    await provider.behave("answer", body={"found": claims})
    one = await previewed(client)
    assert one["counts"]["flagged"] == 1
