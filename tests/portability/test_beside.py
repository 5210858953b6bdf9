"""Files that come more than once, from a service where things went on: what is here counts, and the log says so."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.api.conftest import Tenant


async def exported(client: httpx.AsyncClient) -> str:
    return (await client.get("/export", params={"user_id": "ana"})).text


async def imported(client: httpx.AsyncClient, content: str) -> dict[str, Any]:
    answer = await client.post("/import", content=content)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    assert (found["failed"], found["complete"]) == (0, True), found
    return found


async def prefers(client: httpx.AsyncClient, value: str, *, key: str = "editor.theme") -> str:
    body = {"user_id": "ana", "preference_key": key, "preference_value": value}
    answer = await client.post("/memories/typed/preference", json=body)
    assert answer.status_code == 201, answer.text
    found: str = answer.json()["memory"]["id"]
    return found


@pytest.mark.parametrize("here", ["as it came", "changed"])
async def test_the_log_says_what_memories_are_here(tenant: Tenant, other_tenant: Tenant, here: str) -> None:
    there, client = tenant.client, other_tenant.client
    memory = await prefers(there, "dark")
    await imported(client, await exported(there))
    if here == "changed":
        await prefers(client, "sepia")
    told = await there.post(f"/memories/{memory}/feedback", json={"feedback": "wrong"})
    assert told.json()["memory"]["status"] == "pending"
    await imported(client, await exported(there))
    verified = (await client.get("/admin/audit/verify", params={"memories": "true"})).json()
    assert verified["intact"], verified["rebuilt"]
    history = (await client.get(f"/memories/{memory}/history")).json()
    assert history["versions"][0]["status"] == ("superseded" if here == "changed" else "active")
    told = history["events"]
    assert {"memory.judged_wrong", "memory.standing"} <= {one["action"] for one in told}


async def test_mentions_are_counted_as_they_are_here(tenant: Tenant, other_tenant: Tenant) -> None:
    there, client = tenant.client, other_tenant.client
    for number in range(3):
        await prefers(there, "dark", key=f"editor.part{number}")
        content = await exported(there)
        lines = [json.loads(line) for line in content.splitlines()]
        assert [one["mention_count"] for one in lines if one["record"] == "entity"] == [number + 1]
        await imported(client, content)
        entities = (await client.get("/entities", params={"user_id": "ana"})).json()["entities"]
        assert [one["mention_count"] for one in entities] == [number + 1]
