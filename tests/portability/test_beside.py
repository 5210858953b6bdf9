"""What an import makes of a scope: its activity, its log, its counts; a scope that was written to takes none."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from tests.api.conftest import Tenant


async def exported(client: httpx.AsyncClient) -> str:
    return (await client.get("/export", params={"user_id": "ana"})).text


async def imported(client: httpx.AsyncClient, content: str, *, whole: bool = True) -> dict[str, Any]:
    answer = await client.post("/import", content=content)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    assert not whole or (found["failed"], found["complete"]) == (0, True), found
    return found


async def prefers(client: httpx.AsyncClient, value: str, *, key: str = "editor.theme") -> str:
    body = {"user_id": "ana", "preference_key": key, "preference_value": value}
    answer = await client.post("/memories/typed/preference", json=body)
    assert answer.status_code == 201, answer.text
    found: str = answer.json()["memory"]["id"]
    return found


async def last_active(client: httpx.AsyncClient) -> datetime:
    [ana] = (await client.get("/users", params={"all": True})).json()["users"]
    return datetime.fromisoformat(ana["last_active_at"])


async def test_an_import_is_activity_of_when_it_came(tenant: Tenant, other_tenant: Tenant) -> None:
    there, client = tenant.client, other_tenant.client
    long_ago = {"occurred_at": "2024-03-01T00:00:00Z", "user_id": "ana"}
    theme = {"preference_key": "editor.theme", "preference_value": "dark"}
    assert (await there.post("/memories/typed/preference", json=theme | long_ago)).status_code == 201
    first = await exported(there)
    began = datetime.now(UTC)
    await imported(client, first)
    came = await last_active(client)
    assert began <= came <= datetime.now(UTC)
    await imported(client, first)
    assert await last_active(client) == came, "a file that brings nothing new is no activity"


async def test_the_log_says_what_memories_are_here(tenant: Tenant, other_tenant: Tenant) -> None:
    there, client = tenant.client, other_tenant.client
    memory = await prefers(there, "dark")
    told = await there.post(f"/memories/{memory}/feedback", json={"feedback": "wrong"})
    assert told.json()["memory"]["status"] == "pending"
    await imported(client, await exported(there))
    await prefers(client, "sepia")
    verified = (await client.get("/admin/audit/verify", params={"memories": "true"})).json()
    assert verified["intact"], verified["rebuilt"]
    history = (await client.get(f"/memories/{memory}/history")).json()
    assert history["versions"][0]["status"] == "pending"
    assert {"memory.judged_wrong"} <= {one["action"] for one in history["events"]}


async def test_mentions_are_counted_as_they_are_here(tenant: Tenant, other_tenant: Tenant) -> None:
    there, client = tenant.client, other_tenant.client
    for number in range(3):
        await prefers(there, "dark", key=f"editor.part{number}")
    content = await exported(there)
    # Of a memory that does not come, no mention counts.
    lines = content.splitlines()
    last = max(number for number, line in enumerate(lines) if json.loads(line)["record"] == "memory")
    await imported(client, "\n".join(lines[:last] + lines[last + 1 :]), whole=False)
    entities = (await client.get("/entities", params={"user_id": "ana"})).json()["entities"]
    assert [one["mention_count"] for one in entities] == [2]
    await imported(client, content)
    entities = (await client.get("/entities", params={"user_id": "ana"})).json()["entities"]
    assert [one["mention_count"] for one in entities] == [3]


HELD = "its scope was written to here: a file fills only scopes that nothing was written to"


@pytest.mark.parametrize("first", ["a write", "another file"])
async def test_a_scope_that_was_written_to_takes_no_file(tenant: Tenant, other_tenant: Tenant, first: str) -> None:
    there, client = tenant.client, other_tenant.client
    await prefers(there, "dark")
    if first == "a write":
        await prefers(client, "light")
    else:
        await imported(client, await exported(there))
        await prefers(there, "light")
    before = await exported(client)
    done = await imported(client, await exported(there), whole=False)
    assert done["imported"] == {}
    assert {one["message"] for one in done["errors"]} == {HELD}
    assert not done["as_exported"]
    assert (await exported(client)).splitlines()[1:-1] == before.splitlines()[1:-1]
    strict = await client.post("/import", params={"strict": True}, content=await exported(there))
    assert strict.status_code == 422
    assert HELD in strict.json()["detail"]


async def test_other_scopes_of_a_file_are_filled(tenant: Tenant, other_tenant: Tenant) -> None:
    there, client = tenant.client, other_tenant.client
    for user in ("ana", "ben"):
        body = {"user_id": user, "preference_key": "editor.theme", "preference_value": "dark"}
        assert (await there.post("/memories/typed/preference", json=body)).status_code == 201
    held = await prefers(client, "light")
    answer = (await client.post("/import", content=(await there.get("/export")).text)).json()
    assert answer["imported"]["memory"] == 1
    listed = (await client.get("/memories", params={"user_id": "ana"})).json()["memories"]
    assert [one["id"] for one in listed] == [held]
    ben = (await client.get("/memories", params={"user_id": "ben"})).json()["memories"]
    assert [one["preference_value"] for one in ben] == ["dark"]


async def test_a_file_goes_on_where_it_was_cut_off_though_more_was_said(tenant: Tenant, other_tenant: Tenant) -> None:
    """What is said between keeps its slot, and the line that had it is reported."""
    there, client = tenant.client, other_tenant.client
    await prefers(there, "dark")
    await prefers(there, "mono", key="editor.font")
    content = await exported(there)
    lines = content.splitlines()
    first = next(number for number, line in enumerate(lines) if json.loads(line)["record"] == "memory")
    await imported(client, "\n".join(lines[:first]), whole=False)
    said = await prefers(client, "light")
    done = await imported(client, content, whole=False)
    assert done["imported"]["memory"] == 1
    assert "slot: another active memory holds it" in {one["message"] for one in done["errors"]}
    assert (await client.get(f"/memories/{said}")).json()["status"] == "active"
