"""A turn that was stored, and of which nothing was made before it is sent again: that one is not a repetition."""

from __future__ import annotations

from typing import Any

import httpx

from app import ids
from app.memory.extraction import Role, Turn
from app.model import Actor, Scope, ScopeKind
from tests.api.conftest import Tenant
from tests.api.test_jobs import tenant_of

SAID = "I moved to Lisbon last month to work at Volkswagen."


async def cut_off(tenant: Tenant) -> str:
    """Store a turn as a request with `mode=sync` does, whose process dies then; return its id."""
    runtime = tenant.app.state.runtime
    turn = Turn(
        id=ids.new(),
        scope=Scope(kind=ScopeKind.USER, user_id="ann"),
        role=Role.USER,
        content=SAID,
        occurred_at=runtime.clock(),
        session_id="s1",
    )
    actor = Actor(tenant_id=await tenant_of(tenant.client, runtime), key_id=None, name="first")
    await runtime.turns.store(actor, [turn], [{}])
    return ids.public(ids.TURN, turn.id)


async def said(client: httpx.AsyncClient) -> dict[str, Any]:
    body = {"content": SAID, "user_id": "ann", "session_id": "s1"}
    answer = await client.post("/turns", json=body, params={"mode": "sync"})
    assert answer.status_code == 200, answer.text
    [turn] = answer.json()["turns"]
    found: dict[str, Any] = turn
    return found


async def test_what_a_request_that_was_cut_off_left_behind_keeps_nothing_out(tenant: Tenant) -> None:
    left = await cut_off(tenant)
    again = await said(tenant.client)
    assert (again["status"], again["reason"]) == ("processed", None)
    assert {one["decision"] for one in again["candidates"]} == {"added"}
    third = await said(tenant.client)
    assert (third["status"], third["reason"]) == ("skipped", "the same was said within 60 seconds")
    assert (await tenant.client.get(f"/turns/{left}")).json()["status"] == "received"
