"""Backfills to a tenant's own types, and from them, by a language model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.api.conftest import connected, fact, running, settings_for, written
from tests.api.test_own_types import define
from tests.own_types import ticket
from tests.standin.fixtures import StandIn, provider, provider_process

__all__ = ["provider", "provider_process"]

CASE = ticket(event_time=None)


@pytest.fixture
async def client(fresh_database_url: str, provider: StandIn) -> AsyncIterator[httpx.AsyncClient]:
    settings = settings_for(fresh_database_url, **provider.settings("openai", job_retry_seconds=0.1))
    async with running(settings) as app, connected(app) as found:
        yield found


async def about(client: httpx.AsyncClient, customer: str, number: int) -> str:
    memory = await written(client, **fact(subject=customer, predicate="has-ticket", object=f"{number} open"))
    return str(memory["id"])


def claim(quote: str, note: int = 1, **payload: Any) -> dict[str, Any]:
    return {"number": note, "quote": quote, "payload": {"status": "open", **payload}}


async def asked(client: httpx.AsyncClient, provider: StandIn, *claims: dict[str, Any], **body: Any) -> dict[str, Any]:
    """Preview what a model claims of facts."""
    await provider.behave("answer", body={"found": list(claims)})
    given = {"type": "ticket", "from": ["fact"], "classifier": "model", **body}
    made = await client.post("/admin/backfills", params={"mode": "sync"}, json=given)
    assert made.status_code == 201, made.text
    found: dict[str, Any] = made.json()
    return found


async def step(client: httpx.AsyncClient, one: dict[str, Any], name: str) -> dict[str, Any]:
    """Have a job do a step, and return the backfill after it."""
    begun = await client.post(f"/admin/backfills/{one['id']}/{name}")
    assert begun.status_code == 202, begun.text
    async with asyncio.timeout(30):
        while True:
            job = (await client.get(f"/jobs/{begun.json()['job_id']}")).json()
            if job["finished_at"] is not None:
                found: dict[str, Any] = (await client.get(f"/admin/backfills/{one['id']}")).json()
                return found
            await asyncio.sleep(0.02)


async def test_a_commit_and_a_write_meet_in_one_slot(client: httpx.AsyncClient, provider: StandIn) -> None:
    await define(client, CASE)
    memory = await about(client, "Acme", 11)
    one = await asked(client, provider, claim("Acme has ticket 11", customer="Acme", number=11))
    assert (await step(client, one, "commit"))["status"] == "committed"
    body = {"user_id": "u1", "payload": {"customer": "Acme", "number": 11, "status": "closed"}}
    told = (await client.post("/memories/typed/ticket", json=body)).json()
    assert (told["decision"], told["memory"]["supersedes"]) == ("superseded", memory)


async def test_a_slot_that_would_hold_an_entity_is_not_made_of_its_name(
    client: httpx.AsyncClient, provider: StandIn
) -> None:
    await define(client, {**CASE, "subject": None})
    await about(client, "Acme", 11)
    one = await asked(client, provider, claim("Acme has ticket 11", customer="Acme", number=11))
    assert one["counts"]["left"] == {"it would be about somebody that it does not name now": 1}


@pytest.mark.parametrize(
    ("quote", "payload"),
    [
        ("a", {"customer": "Acme", "number": 11}),
        ("ticket", {"customer": "Acme", "number": 11}),
        ("Acme has ticket 11", {"customer": "Acme", "number": 999}),
        ("Acme has ticket 11", {"customer": "Zorg", "number": 11}),
    ],
)
async def test_what_a_note_does_not_say_is_not_claimed_of_it(
    client: httpx.AsyncClient, provider: StandIn, quote: str, payload: dict[str, Any]
) -> None:
    await define(client, CASE)
    await about(client, "Acme", 11)
    one = await asked(client, provider, claim(quote, **payload))
    assert (one["counts"]["flagged"], one["sample"]) == (0, [])
