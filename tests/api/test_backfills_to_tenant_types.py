"""Backfills to a tenant's own types, and from them, by a language model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI

from app.errors import Conflict
from app.features.backfill.service import Backfills
from tests.api.conftest import fact, running, settings_for, written
from tests.api.test_tenant_types import define
from tests.provider_server.fixtures import StandIn, provider, provider_process
from tests.support import owner
from tests.support.tenant_types import ticket
from tests.support.waiting import ended_job

__all__ = ["provider", "provider_process"]

CASE = ticket(event_time=None)


@pytest.fixture(scope="module")
async def app(module_database_url: str, provider_process: StandIn) -> AsyncIterator[FastAPI]:
    """One service for all of these tests; nothing but backfills is asked of its model."""
    told = provider_process.settings("openai", job_retry_seconds=0.1)
    async with running(settings_for(module_database_url, **told)) as found:
        yield found


async def newest(url: str) -> UUID:
    """Return the backfill that was begun last."""
    [row] = await owner.ask(url, "SELECT id FROM backfills ORDER BY id DESC LIMIT 1")
    found: UUID = row["id"]
    return found


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
    await ended_job(client, begun.json()["job_id"])
    found: dict[str, Any] = (await client.get(f"/admin/backfills/{one['id']}")).json()
    return found


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


OTHER = {
    **CASE,
    "payload": {
        "type": "object",
        "properties": {"customer": {"type": "string"}, "ref": {"type": "string"}},
        "required": ["customer", "ref"],
    },
    "render": "{customer} ref {ref}",
    "slot": ["customer"],
    "value": ["ref"],
    "importance": 0.5,
    "examples": [{"utterance": "Umbrella has ref A.", "payloads": [{"customer": "Umbrella", "ref": "A"}]}],
}


@pytest.mark.parametrize("again", [None, OTHER, CASE])
async def test_a_type_that_was_removed_since_the_preview_adopts_nothing(
    client: httpx.AsyncClient, provider: StandIn, again: dict[str, Any] | None
) -> None:
    await define(client, CASE)
    memory = await about(client, "Acme", 11)
    one = await asked(client, provider, claim("Acme has ticket 11", customer="Acme", number=11))
    assert (await client.delete("/admin/types/ticket")).status_code == 204
    if again is not None:
        await define(client, again)
    refused = await client.post(f"/admin/backfills/{one['id']}/commit")
    what = "removed" if again is None else "redefined"
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        f"ticket was {what} since the preview: preview again",
    )
    assert (await client.get(f"/memories/{memory}")).json()["type"] == "fact"
    assert (await client.post(f"/admin/backfills/{one['id']}/cancel")).json()["status"] == "cancelled"


async def test_a_next_version_is_previewed_anew(client: httpx.AsyncClient, provider: StandIn) -> None:
    await define(client, CASE)
    await about(client, "Acme", 11)
    noted = claim("Acme has ticket 11", customer="Acme", number=11)
    one = await asked(client, provider, noted)
    await define(client, {**CASE, "hints": ["case"]})
    assert "redefined" in (await client.post(f"/admin/backfills/{one['id']}/commit")).json()["detail"]
    done = await step(client, await asked(client, provider, noted), "commit")
    assert (done["status"], done["counts"]["committed"]) == ("committed", 1)


async def test_a_preview_does_not_go_on_under_another_definition(
    client: httpx.AsyncClient, app: FastAPI, provider: StandIn, module_database_url: str
) -> None:
    await define(client, CASE)
    await about(client, "Acme", 11)
    await asked(client, provider, claim("Acme has ticket 11", customer="Acme", number=11))
    await client.delete("/admin/types/ticket")
    await define(client, OTHER)
    previewing = "UPDATE backfills SET status = 'previewing' WHERE id = $1 RETURNING tenant_id, id"
    [row] = await owner.ask(module_database_url, previewing, await newest(module_database_url))
    with pytest.raises(Conflict, match="ticket was redefined since the preview began"):
        async for _ in app.state.runtime.service(Backfills).run(row["tenant_id"], row["id"], "worker"):
            pass


@pytest.mark.parametrize("again", [None, OTHER])
async def test_a_type_that_goes_while_a_commit_waits_is_skipped_and_the_backfill_ends(
    client: httpx.AsyncClient, provider: StandIn, module_database_url: str, again: dict[str, Any] | None
) -> None:
    await define(client, CASE)
    memory = await about(client, "Acme", 11)
    one = await asked(client, provider, claim("Acme has ticket 11", customer="Acme", number=11))
    await client.delete("/admin/types/ticket")
    if again is not None:
        await define(client, again)
    committing = "UPDATE backfills SET status = 'committing' WHERE id = $1"
    await owner.ask(module_database_url, committing, await newest(module_database_url))
    done = await step(client, one, "commit")
    assert (done["status"], done["counts"]["skipped"]) == ("committed", 1)
    [change] = done["sample"]
    assert change["why"] == f"ticket was {'removed' if again is None else 'redefined'} since the preview"
    assert (await client.get(f"/memories/{memory}")).json()["type"] == "fact"
    assert (await step(client, done, "undo"))["status"] == "undone"


HAS = {
    "number": 1,
    "quote": "Acme has ticket 11",
    "payload": {"subject": "Acme", "predicate": "has-ticket", "object": "11", "stateful": False},
}


async def ticketed(client: httpx.AsyncClient) -> str:
    body = {"user_id": "u1", "payload": {"customer": "Acme", "number": 11, "status": "open"}}
    memory: str = (await client.post("/memories/typed/ticket", json=body)).json()["memory"]["id"]
    return memory


async def test_from_an_own_type_and_back(client: httpx.AsyncClient, provider: StandIn) -> None:
    await define(client, CASE)
    memory = await ticketed(client)
    one = await asked(client, provider, HAS, **{"type": "fact", "from": ["support_ticket"]})
    assert (one["from"], one["counts"]["by_source"]) == (["ticket"], {"ticket": 1})
    assert (await step(client, one, "commit"))["counts"]["committed"] == 1
    assert (await client.get(f"/memories/{memory}")).json()["type"] == "fact"
    await define(client, {**CASE, "hints": ["case"]})
    assert (await step(client, one, "undo"))["counts"]["undone"] == 1
    back = (await client.get(f"/memories/{memory}")).json()
    assert (back["type"], back["type_version"], back["payload"]["number"]) == ("ticket", 1, 11)


@pytest.mark.parametrize("again", [None, OTHER])
async def test_what_has_no_type_to_go_back_to_is_kept_and_its_past_still_read(
    client: httpx.AsyncClient, provider: StandIn, again: dict[str, Any] | None
) -> None:
    await define(client, CASE)
    memory = await ticketed(client)
    then = (await client.get(f"/memories/{memory}")).json()["recorded_at"]
    one = await asked(client, provider, HAS, **{"type": "fact", "from": ["ticket"]})
    await step(client, one, "commit")
    assert (await client.delete("/admin/types/ticket")).status_code == 204
    if again is not None:
        await define(client, again)
    done = await step(client, one, "undo")
    assert (done["status"], done["counts"]["kept"]) == ("undone", 1)
    assert done["sample"][0]["why"] == f"ticket was {'removed' if again is None else 'redefined'} since the preview"
    assert (await client.get(f"/memories/{memory}")).json()["type"] == "fact"
    asked_then = await client.post("/query", json={"user_id": "u1", "query": "Acme ticket", "known_at": then})
    assert [one["memory"]["type"] for one in asked_then.json()["memories"]] == ["ticket"], asked_then.text
    assert (await client.get(f"/memories/{memory}/history")).status_code == 200


async def test_a_preview_that_fails_while_its_caller_waits_is_cancelled(
    client: httpx.AsyncClient, provider: StandIn
) -> None:
    await define(client, CASE)
    await about(client, "Acme", 11)
    await provider.behave("says", times=9, body="I would rather not.")
    given = {"type": "ticket", "from": ["fact"], "classifier": "model"}
    failed = await client.post("/admin/backfills", params={"mode": "sync"}, json=given)
    assert failed.status_code >= 400
    [left] = (await client.get("/admin/backfills")).json()["backfills"]
    assert left["status"] == "cancelled"


async def test_a_preview_whose_process_died_is_told_and_cancelled_by_the_next(
    client: httpx.AsyncClient, provider: StandIn, module_database_url: str
) -> None:
    await define(client, CASE)
    await about(client, "Acme", 11)
    one = await asked(client, provider, claim("Acme has ticket 11", customer="Acme", number=11))
    left = (
        "UPDATE backfills SET status = 'previewing', previewed_at = NULL, created_at = now() - interval '2 hours' "
        "WHERE id = $1"
    )
    await owner.ask(module_database_url, left, await newest(module_database_url))
    refused = await client.post(f"/admin/backfills/{one['id']}/commit")
    assert "cancel it, and preview again" in refused.json()["detail"]
    await asked(client, provider, claim("Acme has ticket 11", customer="Acme", number=11))
    assert (await client.get(f"/admin/backfills/{one['id']}")).json()["status"] == "cancelled"
    assert (await client.get(f"/admin/backfills/{one['id']}/memories")).json()["memories"] == []
